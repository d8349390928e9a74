//! Swift (Kumar et al. 2020, "Swift: Delay is simple and effective for congestion control in the
//! datacenter"): additive increase below a target delay, and a decrease in proportion to the delay
//! above it; the target grows with the path and for small windows, which may be below one packet.
//!
//! The delay is the RTT, all of which the fabric causes here. So there is one window, that of the
//! fabric; the paper's second one answers delay in the receiving host.

use super::rate_based::{BeginEvent, ControlOutput, RateBasedControl, RateSampleEvent};
use super::{CongestionEvent, CongestionKind, ControlParameters};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::BadParameter;
use crate::quantity::{Duration, PositiveDuration};
use crate::units::{Time, float, larger, smaller};

/// Parameters of Swift (Kumar et al. 2020, Algorithm 1 and sec. 3.5). The paper gives no numbers for
/// them; the defaults are those of the simulator csg-htsim, whose comments call them guesses. A link
/// stays busy if the target exceeds the RTT without queues. A flow starts with `initial_window`;
/// Swift needs an ACK per packet (`host = "data_center"`, or `delayed_ack = false`). The first of
/// several timeouts in succession reduces the window; the paper falls to `min_window` after some.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SwiftParams {
    /// Target delay of a path without hops and of a large window (20 us).
    pub base_target: PositiveDuration,
    /// Increase of the target per hop, which is a shared link of the path (3 us).
    pub hop_target: Duration,
    /// Largest increase of the target for a small window (`fs_range`; 100 us, or "0 s" for none).
    pub flow_range: Duration,
    /// Window in packets up to which the target is increased by all of `flow_range` (`fs_min_cwnd`;
    /// 0.1). In between, the increase depends on the square root of the window.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0))]
    pub flow_window_min: f64,
    /// Window in packets from which the target is not increased (`fs_max_cwnd`; 100).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0))]
    pub flow_window_max: f64,
    /// Growth of the window, in packets per round trip (ai; 1).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000.0))]
    pub additive_increase: f64,
    /// Decrease relative to the part of the delay above the target (beta; 0.8).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub beta: f64,
    /// Largest decrease per round trip, which a loss causes too (`max_mdf`; 0.5).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub max_decrease: f64,
    /// Smallest window, in packets (`min_cwnd`; 0.001).
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub min_window: f64,
}

impl Default for SwiftParams {
    fn default() -> Self {
        SwiftParams {
            base_target: PositiveDuration::new(20_000_000),
            hop_target: Duration::new(3_000_000),
            flow_range: Duration::new(100_000_000),
            flow_window_min: 0.1,
            flow_window_max: 100.0,
            additive_increase: 1.0,
            beta: 0.8,
            max_decrease: 0.5,
            min_window: 0.001,
        }
    }
}

impl ControlParameters for SwiftParams {
    fn validate(&self) -> Result<(), BadParameter> {
        let (least, most) = (self.flow_window_min, self.flow_window_max);
        if least < most {
            return Ok(());
        }
        let problem = format!("{least} is not below the flow_window_max of {most}");
        let remedy = format!("write less than {most}, or raise flow_window_max");
        Err(BadParameter::new("flow_window_min", problem, remedy))
    }

    fn needs_single_packets(&self) -> bool {
        true
    }
}

/// Rate in packets/s at which the packets that the window allows leave: at once.
const UNPACED: f64 = 1e15;

/// A running Swift. Times are in seconds.
#[derive(Clone, Debug)]
pub struct Swift {
    params: SwiftParams,
    /// The target for a large window.
    path_target: f64,
    flow_range: f64,
    /// alpha and beta of sec. 3.5.
    slope: f64,
    offset: f64,
    cwnd: f64,
    /// The latest RTT, and when the window was last reduced.
    rtt: Time,
    last_decrease: Time,
    /// A timeout has set the sender's window to one packet.
    has_timed_out: bool,
}

impl Swift {
    /// Starts the control.
    pub fn new(params: &SwiftParams) -> Self {
        let flow_range = params.flow_range.time().seconds();
        let (least, most) =
            (libm::sqrt(params.flow_window_min), libm::sqrt(params.flow_window_max));
        let slope = flow_range / (1.0 / least - 1.0 / most);
        Swift {
            params: params.clone(),
            path_target: params.base_target.time().seconds(),
            flow_range,
            slope,
            offset: slope / most,
            cwnd: 1.0,
            rtt: Time::ZERO,
            last_decrease: Time::ZERO,
            has_timed_out: false,
        }
    }

    /// Sec. 3.5: the target delay.
    fn target(&self) -> f64 {
        let scaled = self.slope / libm::sqrt(self.cwnd) - self.offset;
        self.path_target + larger(smaller(scaled, self.flow_range), 0.0)
    }

    /// Leaves `kept` of the window, unless it was reduced within the last round trip.
    fn decrease(&mut self, now: Time, kept: f64) {
        if now.since(self.last_decrease) >= self.rtt {
            let kept = larger(kept, 1.0 - self.params.max_decrease);
            self.cwnd = larger(kept * self.cwnd, self.params.min_window);
            self.last_decrease = now;
        }
    }

    /// A window below one packet is one packet per `rtt / cwnd`.
    fn output(&self) -> ControlOutput {
        let is_paced = self.cwnd < 1.0 && self.rtt > Time::ZERO;
        ControlOutput {
            cwnd_packets: larger(self.cwnd, 1.0),
            pacing_rate: if is_paced { self.cwnd / self.rtt.seconds() } else { UNPACED },
            send_quantum: 1,
            is_app_limited: false,
        }
    }
}

impl RateBasedControl for Swift {
    fn begin(&mut self, event: &BeginEvent) -> ControlOutput {
        self.path_target += f64::from(event.hops) * self.params.hop_target.time().seconds();
        self.cwnd = event.cwnd_packets;
        self.output()
    }

    fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput {
        // `max_window` bounds the window.
        if !std::mem::take(&mut self.has_timed_out) {
            self.cwnd = smaller(self.cwnd, event.cwnd_packets);
        }
        let Some(rtt) = event.rtt else { return self.output() };
        self.rtt = rtt;
        let (delay, target) = (rtt.seconds(), self.target());
        if delay >= target {
            self.decrease(event.now, 1.0 - self.params.beta * (delay - target) / delay);
        } else if event.is_cwnd_limited || self.cwnd < 1.0 {
            let increase = self.params.additive_increase * float(event.newly_delivered);
            self.cwnd += increase / larger(self.cwnd, 1.0);
        }
        self.output()
    }

    fn paces_what_waits(&self) -> bool {
        true
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match event.kind {
            CongestionKind::Mark => return,
            CongestionKind::Loss => {}
            CongestionKind::Timeout => self.has_timed_out = true,
        }
        self.decrease(event.now, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Path, assert_close, begin_event, congestion, ms};
    use super::*;

    /// A control with this window behind four hops: a target of 20 + 4 * 3 us, and more for a window
    /// below 100 packets.
    fn control(cwnd: f64) -> (Swift, Path) {
        let mut control = Swift::new(&SwiftParams::default());
        control.begin(&BeginEvent { hops: 4, cwnd_packets: cwnd, ..begin_event(1) });
        let mut path = Path::new(10);
        path.event.is_cwnd_limited = true;
        (control, path)
    }

    fn ack(control: &mut Swift, path: &mut Path, after_us: f64, rtt_us: f64) -> ControlOutput {
        let event = &mut path.event;
        event.now += ms(after_us / 1e3);
        event.rtt = Some(ms(rtt_us / 1e3));
        event.cwnd_packets = larger(control.cwnd, 1.0);
        control.on_rate_sample(event)
    }

    /// Sec. 3.5 by hand: 1/sqrt(0.1) - 1/sqrt(100) = 3.062278, so a window of 1 adds 100 us * (1 - 0.1)
    /// / 3.062278 = 29.3899 us, one of 25 a ninth of that, and those at and beyond the ends 100 us and
    /// nothing.
    #[test]
    fn the_target_grows_with_the_hops_and_for_small_windows() {
        for (cwnd, increase_us) in [
            (0.01, 100.0),
            (0.1, 100.0),
            (1.0, 29.389_886),
            (25.0, 29.389_886 / 9.0),
            (100.0, 0.0),
            (1e4, 0.0),
        ] {
            let (control, _) = control(cwnd);
            let target_us = control.target() * 1e6;
            assert!((target_us - 32.0 - increase_us).abs() < 1e-5, "{cwnd}: {target_us}");
        }
    }

    /// Algorithm 1: ai / cwnd per packet from one packet on, ai below.
    #[test]
    fn below_the_target_a_packet_adds_a_part_of_a_packet() {
        let (mut large, mut path) = control(200.0);
        path.event.newly_delivered = 3;
        assert_close(ack(&mut large, &mut path, 10.0, 31.0).cwnd_packets, 200.0 + 3.0 / 200.0);
        let (mut small, mut path) = control(0.5);
        ack(&mut small, &mut path, 10.0, 31.0);
        assert_close(small.cwnd, 1.5);
    }

    /// 40 us are 8 above the target of 32 us: 1 - 0.8 * 8/40 = 0.84 is left, once per round trip. 320
    /// us would leave 0.28: at least half stays.
    #[test]
    fn above_the_target_the_window_shrinks_in_proportion_once_per_round_trip() {
        let (mut control, mut path) = control(1_000.0);
        assert_close(ack(&mut control, &mut path, 100.0, 40.0).cwnd_packets, 840.0);
        assert_close(ack(&mut control, &mut path, 39.9, 40.0).cwnd_packets, 840.0);
        assert_close(ack(&mut control, &mut path, 0.2, 40.0).cwnd_packets, 840.0 * 0.84);
        assert_close(ack(&mut control, &mut path, 400.0, 320.0).cwnd_packets, 840.0 * 0.42);
    }

    #[test]
    fn a_loss_or_a_timeout_takes_the_largest_decrease_once_per_round_trip() {
        for kind in [CongestionKind::Loss, CongestionKind::Timeout] {
            let (mut control, mut path) = control(200.0);
            ack(&mut control, &mut path, 100.0, 31.0);
            let before = control.cwnd;
            for _ in 0..2 {
                control.on_congestion(&CongestionEvent {
                    now: path.event.now,
                    ..congestion(kind, 1.0)
                });
                assert_close(control.cwnd, before / 2.0);
            }
        }
    }

    /// A quarter of a packet at an RTT of 50 us is a packet every 200 us.
    #[test]
    fn a_window_below_one_packet_is_paced() {
        let (mut control, mut path) = control(0.25);
        control.last_decrease = ms(1.0);
        let output = ack(&mut control, &mut path, 1_000.0, 200.0);
        assert_close(output.cwnd_packets, 1.0);
        assert_close(output.pacing_rate, 0.25 / 200e-6);
    }

    #[test]
    fn windows_in_the_wrong_order_are_named() {
        let wrong = SwiftParams { flow_window_min: 100.0, ..SwiftParams::default() };
        assert!(wrong.check().is_err_and(|bad| bad.key == "flow_window_min"));
    }
}
