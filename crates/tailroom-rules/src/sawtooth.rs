//! One cycle of synchronised flows over a link: from a loss to the next, when the buffer is full.
//!
//! Equal flows of window w have n w packets in flight. Up to the bandwidth-delay product a round trip
//! lasts the propagation time; beyond it packets queue, and a round trip lasts n w / C.

use crate::bottleneck::FlowClass;
use crate::rule::NotApplicable;
use crate::window_law::{Epoch, WindowLaw};

/// Equal flows that lose packets at the same time, alone on a link.
#[derive(Debug)]
pub struct Flows {
    law: WindowLaw,
    kinks: Vec<f64>,
    count: f64,
    rtt_s: f64,
    capacity_pps: f64,
}

/// Means between two losses.
#[derive(Debug)]
pub struct Cycle {
    /// Mean share of the link's rate in use.
    pub utilization: f64,
    /// Utilization right after the loss.
    pub utilization_min: f64,
    /// Mean queue over time.
    pub queue_packets_mean: f64,
    /// Mean queueing delay over packets.
    pub queue_delay_s_mean: f64,
    /// Packets that all flows send between two losses, on average.
    pub packets: f64,
    /// Lost packets among these.
    pub lost_packets: f64,
    /// Time between two losses.
    pub seconds: f64,
    /// Largest window of each flow.
    pub peak_window: f64,
}

impl Flows {
    /// Equal flows with the control of a class.
    ///
    /// # Errors
    /// The control has no window law.
    pub fn new(
        control: &FlowClass,
        count: f64,
        rtt_s: f64,
        capacity_pps: f64,
    ) -> Result<Self, NotApplicable> {
        let law = WindowLaw::of(control)?;
        let kinks = law.kinks();
        Ok(Flows { law, kinks, count, rtt_s, capacity_pps })
    }

    fn bdp_packets(&self) -> f64 {
        self.capacity_pps * self.rtt_s
    }

    /// Round trip time at a window of each flow.
    fn round_trip_s(&self, window: f64) -> f64 {
        self.rtt_s.max(self.count * window / self.capacity_pps)
    }

    /// Window of each flow that fills link and buffer, at least one packet.
    fn peak(&self, limit: f64) -> f64 {
        ((self.bdp_packets() + limit) / self.count).max(1.0)
    }

    /// Window of each flow after the loss at a queue limit.
    pub fn trough(&self, limit: f64) -> f64 {
        self.after_loss(self.peak(limit))
    }

    fn after_loss(&self, peak: f64) -> f64 {
        peak * (1.0 - self.law.decrease(&self.epoch(peak, peak)))
    }

    fn epoch(&self, peak: f64, goal: f64) -> Epoch {
        let peak_rtt_s = self.round_trip_s(peak);
        Epoch {
            peak,
            goal,
            base_rtt_s: self.rtt_s,
            peak_rtt_s,
            window: 0.0,
            rtt_s: 0.0,
            elapsed_s: 0.0,
            rounds: 0.0,
        }
    }

    /// The windows of a flow between two losses, or over all distinct epochs.
    fn path(&self, limit: f64) -> Path {
        let peak = self.peak(limit);
        let trough = self.after_loss(peak);
        match self.law.increase(peak, self.round_trip_s(peak)) {
            Some(last) => {
                Path { steps: self.smooth_steps(trough, peak), lost: last.max(1.0), epochs: 1.0 }
            }
            None => self.epochs(trough, peak),
        }
    }

    /// By Gauss-Legendre quadrature in ln w between the kinks. The window grows by `increase` per
    /// round trip, so that dw takes dw / increase round trips.
    fn smooth_steps(&self, trough: f64, peak: f64) -> Vec<Step> {
        let kinks = self.kinks.iter().copied().chain([self.bdp_packets() / self.count]);
        let mut edges: Vec<f64> = kinks.filter(|&kink| trough < kink && kink < peak).collect();
        edges.extend([trough, peak]);
        edges.sort_by(f64::total_cmp);
        let mut steps = Vec::new();
        for pair in edges.windows(2) {
            let (from, half) = (pair[0].ln(), (pair[1] / pair[0]).ln() / 2.0);
            for (node, weight) in quadrature() {
                let window = (from + half * (1.0 + node)).exp();
                let growth = self.law.increase(window, self.round_trip_s(window));
                let rounds = half * weight * window / growth.unwrap_or(f64::NAN);
                steps.push(Step { window, rounds });
            }
        }
        steps
    }

    fn epochs(&self, trough: f64, peak: f64) -> Path {
        let (mut steps, mut lost, mut growth) = (Vec::new(), 0.0, 0.0);
        for part in self.law.goals() {
            // A round trip passes until the sender hears of the loss, and the window still grows.
            growth = self.walk(trough, peak, part * (peak + growth), &mut steps);
            lost += growth;
        }
        Path { steps, lost, epochs: self.law.goals().len() as f64 }
    }

    /// Goes from trough to peak in small steps, and returns the growth of the last round trip.
    fn walk(&self, trough: f64, peak: f64, goal: f64, steps: &mut Vec<Step>) -> f64 {
        let mut epoch = self.epoch(peak, goal);
        let mut last = 0.0;
        for pair in grid(trough, goal, peak).windows(2) {
            let middle = f64::midpoint(pair[0], pair[1]);
            epoch.window = pair[0];
            epoch.rtt_s = self.round_trip_s(middle);
            let seconds = self.law.seconds_to(&epoch, pair[1]);
            let rounds = seconds / epoch.rtt_s;
            steps.push(Step { window: middle, rounds });
            epoch.elapsed_s += seconds;
            epoch.rounds += rounds;
            last = if rounds > 0.0 { (pair[1] - pair[0]) / rounds } else { 0.0 };
        }
        last.max(1.0)
    }

    /// The cycle at a queue limit in waiting packets, 0 or more.
    pub fn cycle(&self, limit: f64) -> Cycle {
        let path = self.path(limit);
        let bdp = self.bdp_packets();
        let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
            path.steps.iter().map(|step| of(step.window) * step.rounds).sum()
        };
        let total = |window: f64| self.count * window;
        let queue = |window: f64| (total(window) - bdp).max(0.0).min(limit);
        let packets = sum(&total);
        let seconds = sum(&|window| self.round_trip_s(window));
        let queued_s = sum(&|window| queue(window) * self.round_trip_s(window));
        let queued = sum(&|window| queue(window) * total(window));
        let trough = self.count * self.trough(limit);
        Cycle {
            // A round trip moves a window, and could have moved a window that fills the link.
            utilization: (packets / sum(&|window| total(window).max(bdp))).min(1.0),
            utilization_min: if bdp > 0.0 { (trough / bdp).min(1.0) } else { 1.0 },
            // A mean of values up to the limit, but for rounding.
            queue_packets_mean: (queued_s / seconds).min(limit),
            queue_delay_s_mean: queued / packets / self.capacity_pps,
            packets: packets / path.epochs,
            lost_packets: self.count * path.lost / path.epochs,
            seconds: seconds / path.epochs,
            peak_window: self.peak(limit),
        }
    }
}

/// A window, and for how many round trips a flow has it.
struct Step {
    window: f64,
    rounds: f64,
}

/// Windows of a flow over some epochs.
struct Path {
    steps: Vec<Step>,
    /// Packets that a flow loses: the growth of the window in the round trip before the sender
    /// learns of the first loss.
    lost: f64,
    epochs: f64,
}

/// Windows from trough to peak, dense near the goal, where some laws hardly grow.
fn grid(trough: f64, goal: f64, peak: f64) -> Vec<f64> {
    const STEPS: u32 = 200;
    let left: Vec<f64> =
        (0..=STEPS).map(|step| (1.0 - f64::from(step) / f64::from(STEPS)).powi(2)).collect();
    if !(trough < goal && goal < peak) {
        return left.iter().map(|part| peak - (peak - trough) * part).collect();
    }
    let below = left.iter().map(|part| goal - (goal - trough) * part);
    below.chain(left.iter().rev().skip(1).map(|part| goal + (peak - goal) * part)).collect()
}

/// Nodes in (-1, 1) and weights of Gauss-Legendre quadrature with 16 points.
fn quadrature() -> impl Iterator<Item = (f64, f64)> {
    const HALF: [(f64, f64); 8] = [
        (0.095_012_509_837_637_44, 0.189_450_610_455_068_64),
        (0.281_603_550_779_258_9, 0.182_603_415_044_923_64),
        (0.458_016_777_657_227_37, 0.169_156_519_395_002_65),
        (0.617_876_244_402_643_8, 0.149_595_988_816_576_7),
        (0.755_404_408_355_003, 0.124_628_971_255_534_07),
        (0.865_631_202_387_831_8, 0.095_158_511_682_492_6),
        (0.944_575_023_073_232_6, 0.062_253_523_938_647_456),
        (0.989_400_934_991_649_9, 0.027_152_459_411_754_176),
    ];
    HALF.into_iter().flat_map(|(node, weight)| [(-node, weight), (node, weight)])
}
