//! H-TCP (Leith, Shorten, "H-TCP: TCP for high-speed and long-distance networks", `PFLDnet` 2004;
//! draft-leith-tcp-htcp): the growth depends on the time since the last congestion, and the
//! backoff is just large enough to empty the queue.

use super::{AckEvent, CongestionEvent, ControlParameters, Rounds, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::PositiveDuration;
use crate::units::Time;

/// Parameters of H-TCP; defaults as in the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HtcpParams {
    /// Time after congestion during which the window grows as in standard TCP (`Delta_L`; paper:
    /// 1 s).
    pub low_speed_period: PositiveDuration,
    /// Multiply the growth per round trip by the smallest RTT over 100 ms, within 0.1 and 2, so
    /// that the growth per second depends less on the RTT (draft-leith-tcp-htcp and Linux: on).
    pub rtt_scaling: bool,
    /// On congestion, multiply the window by the smallest RTT over the largest, within 0.5 and
    /// 0.8. If off, multiply it by 0.5.
    pub adaptive_backoff: bool,
    /// Multiply the window by 0.5 if the throughput has changed by more than a fifth since the
    /// previous congestion, so that flows converge quickly when a flow starts or ends.
    pub throughput_check: bool,
    /// Which rules apply where the paper and Linux differ.
    pub variant: HtcpVariant,
}

/// Which rules H-TCP follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(rename_all = "snake_case")]
pub enum HtcpVariant {
    /// The paper: the time since congestion starts at the loss, the growth may be a fraction, and
    /// the backoff adapts as soon as two successive congestions occur at the same throughput.
    Paper,
    /// Linux (`net/ipv4/tcp_htcp.c`): the time starts at the end of the recovery, and alpha before
    /// its scaling is rounded down to a whole number. The backoff stays at 0.5 for one more
    /// congestion after a change of throughput, and while the smallest RTT is at most 10 ms.
    Linux,
}

impl Default for HtcpParams {
    fn default() -> Self {
        HtcpParams {
            low_speed_period: PositiveDuration::new(1_000_000_000_000),
            rtt_scaling: true,
            adaptive_backoff: true,
            throughput_check: true,
            variant: HtcpVariant::Paper,
        }
    }
}

impl ControlParameters for HtcpParams {}

const MIN_BACKOFF: f64 = 0.5; // Leith, Shorten 2004 sec. 3: beta in [0.5, 0.8]
const MAX_BACKOFF: f64 = 0.8;
const LINEAR_GROWTH: f64 = 10.0; // alpha = 1 + 10 (D - D_L) + ((D - D_L) / 2)^2
const SQUARE_GROWTH: f64 = 0.25;
const REFERENCE_RTT_S: f64 = 0.1;
const MIN_SCALE: f64 = 0.1; // Linux: 100 ms / RTT within 0.5 and 10
const MAX_SCALE: f64 = 2.0;
const THROUGHPUT_CHANGE: f64 = 0.2; // Delta_B
const RTT_MEMORY: f64 = 0.95; // Linux: factor of the excess of the largest RTT per congestion
const NEW_THROUGHPUT_WEIGHT: f64 = 0.25; // Linux
/// Round trips after congestion whose throughput samples are not averaged.
const UNSETTLED_ROUNDS: u32 = 3; // Linux
/// Smallest RTTs up to this value do not allow conclusions about the queue.
const MIN_ADAPTIVE_RTT: Time = Time::from_milliseconds(10); // Linux, htcp_beta_update

/// The state of H-TCP for one flow.
#[derive(Clone, Debug)]
pub struct Htcp {
    params: HtcpParams,
    /// The time from which the growth is computed: the last congestion, or the beginning of
    /// congestion avoidance. [`Time::NEVER`] before the first ACK in congestion avoidance; in the
    /// Linux variant also until the recovery is over.
    last_congestion: Time,
    min_rtt: Time,
    max_rtt: Time,
    backoff: f64,
    throughput: ThroughputMeter,
    /// Throughput before the last congestion, in packets/s; 0 before the first congestion.
    last_throughput: f64,
    /// Linux's `modeswitch`: whether the throughput was the same at the last two congestions.
    is_settled: bool,
    /// The state before the last congestion that an undo restores.
    before: Option<Before>,
}

/// What `htcp_cwnd_undo` of Linux restores.
#[derive(Clone, Copy, Debug)]
struct Before {
    last_congestion: Time,
    max_rtt: Time,
    last_throughput: f64,
}

/// The largest smoothed throughput since the last congestion.
#[derive(Clone, Debug, Default)]
struct ThroughputMeter {
    rounds: Rounds,
    round_trips: u32,
    began: Option<(Time, u64)>,
    smoothed: f64,
    largest: f64,
}

impl ThroughputMeter {
    #[inline]
    fn on_ack(&mut self, event: &AckEvent) {
        if self.rounds.is_over(event) {
            self.on_round(event);
        }
    }

    fn on_round(&mut self, event: &AckEvent) {
        let before = self.began.replace((event.now, event.delivered_packets));
        let Some((began, delivered)) = before.filter(|(began, _)| event.now > *began) else {
            return;
        };
        let sample =
            (event.delivered_packets - delivered) as f64 / event.now.since(began).seconds();
        self.round_trips = self.round_trips.saturating_add(1);
        if self.round_trips <= UNSETTLED_ROUNDS {
            (self.smoothed, self.largest) = (sample, sample);
        } else {
            self.smoothed += NEW_THROUGHPUT_WEIGHT * (sample - self.smoothed);
            self.largest = self.largest.max(self.smoothed);
        }
    }
}

impl Htcp {
    /// Creates the control in its initial state.
    pub fn new(params: &HtcpParams) -> Self {
        Htcp {
            params: params.clone(),
            last_congestion: Time::NEVER,
            min_rtt: Time::NEVER,
            max_rtt: Time::ZERO,
            backoff: MIN_BACKOFF,
            throughput: ThroughputMeter::default(),
            last_throughput: 0.0,
            is_settled: false,
            before: None,
        }
    }

    /// The growth alpha in packets per round trip.
    #[inline]
    fn growth(&self, now: Time) -> f64 {
        let since = now.since(self.last_congestion);
        let excess = since.since(self.params.low_speed_period.time()).seconds();
        let mut growth = 1.0 + excess * (LINEAR_GROWTH + SQUARE_GROWTH * excess);
        if self.params.variant == HtcpVariant::Linux {
            growth = libm::floor(growth);
        }
        if self.params.rtt_scaling && self.min_rtt != Time::NEVER {
            let scale = self.min_rtt.seconds() / REFERENCE_RTT_S;
            // As in Linux, scaling never makes a flow slower than standard TCP.
            growth = (growth * scale.clamp(MIN_SCALE, MAX_SCALE)).max(1.0);
        }
        // A flow with a smaller reduction must grow less, or it would take more than its share
        // alongside standard TCP.
        2.0 * (1.0 - self.backoff) * growth
    }

    /// Computes the backoff from the RTTs and the throughput since the last congestion.
    fn adapt_backoff(&mut self) {
        let throughput = self.throughput.largest;
        let change = (throughput - self.last_throughput).abs();
        let has_changed = change > THROUGHPUT_CHANGE * self.last_throughput;
        self.last_throughput = throughput;
        let is_steady = !(self.params.throughput_check && has_changed);
        let is_adaptive = self.params.adaptive_backoff
            && is_steady
            && self.max_rtt > Time::ZERO
            && self.may_adapt();
        self.is_settled = is_steady;
        self.backoff = if is_adaptive {
            let ratio = self.min_rtt.seconds() / self.max_rtt.seconds();
            ratio.clamp(MIN_BACKOFF, MAX_BACKOFF)
        } else {
            MIN_BACKOFF
        };
        let excess = self.max_rtt.since(self.min_rtt).seconds();
        if excess > 0.0 {
            self.max_rtt = self.min_rtt + Time::from_seconds(RTT_MEMORY * excess);
        }
    }
}

impl Htcp {
    /// The further conditions of Linux for an adaptive backoff.
    fn may_adapt(&self) -> bool {
        self.params.variant == HtcpVariant::Paper
            || self.is_settled && self.min_rtt > MIN_ADAPTIVE_RTT
    }
}

impl WindowLaw for Htcp {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        if self.last_congestion == Time::NEVER {
            self.last_congestion = event.now;
        }
        self.min_rtt = event.min_rtt;
        if let Some(rtt) = event.rtt {
            self.max_rtt = self.max_rtt.max(rtt);
        }
        self.throughput.on_ack(event);
        // A long time after congestion alpha exceeds the window; the growth must not exceed that
        // of slow start.
        let per_packet = (self.growth(event.now) / cwnd_packets).min(1.0);
        cwnd_packets + per_packet * event.acked_packets as f64
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        let Htcp { last_congestion, max_rtt, last_throughput, .. } = *self;
        self.before = Some(Before { last_congestion, max_rtt, last_throughput });
        self.adapt_backoff();
        self.last_congestion = match self.params.variant {
            HtcpVariant::Paper => event.now,
            // `on_ack` sets the time at its next call, which is after the recovery.
            HtcpVariant::Linux => Time::NEVER,
        };
        self.throughput = ThroughputMeter::default();
        self.backoff * event.cwnd_packets
    }

    fn on_undo(&mut self) {
        if let Some(before) = self.before.take() {
            self.last_congestion = before.last_congestion;
            self.max_rtt = before.max_rtt;
            self.last_throughput = before.last_throughput;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CongestionKind;
    use super::super::script::{ack, congestion};
    use super::*;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    #[track_caller]
    fn assert_near(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-6, "{actual}, expected {expected}");
    }

    /// The growth per round trip of a window of 10,000 packets, `since` after congestion.
    fn growth(params: &HtcpParams, since: Time, rtt: Time) -> f64 {
        let mut control = Htcp::new(params);
        control.on_congestion(&congestion(CongestionKind::Loss, 100.0)); // at time zero
        let event = AckEvent { now: since, rtt: Some(rtt), min_rtt: rtt, ..ack(1) };
        (control.on_ack(10_000.0, &event) - 10_000.0) * 10_000.0
    }

    /// With a backoff of 0.5, alpha = f(D) at an RTT of 100 ms.
    #[test]
    fn grows_with_the_square_of_the_time_since_congestion() {
        let params = HtcpParams::default();
        let at = |ms| growth(&params, MS(ms), MS(100));
        assert_near(at(0), 1.0);
        assert_near(at(1_000), 1.0);
        assert_near(at(1_500), 6.0625); // 1 + 10 / 2 + 1 / 16
        assert_near(at(3_000), 22.0); // 1 + 20 + 1
        assert_near(at(11_000), 126.0); // 1 + 100 + 25
    }

    #[test]
    fn the_growth_per_round_trip_is_proportional_to_the_rtt_within_bounds() {
        let params = HtcpParams::default();
        let at = |rtt| growth(&params, MS(11_000), rtt);
        assert_near(at(MS(50)), 63.0);
        assert_near(at(MS(150)), 189.0);
        assert_near(at(MS(300)), 252.0); // at most a factor of 2
        assert_near(at(MS(1)), 12.6); // at least a factor of 0.1
        // The growth is at least 1 soon after congestion too.
        assert_near(growth(&params, MS(500), MS(10)), 1.0);
        let unscaled = HtcpParams { rtt_scaling: false, ..params };
        assert_near(growth(&unscaled, MS(11_000), MS(10)), 126.0);
    }

    #[test]
    fn a_longer_low_speed_period_delays_the_growth() {
        let low_speed_period = PositiveDuration::new(3_000_000_000_000);
        let params = HtcpParams { low_speed_period, ..HtcpParams::default() };
        assert_near(growth(&params, MS(3_000), MS(100)), 1.0);
        assert_near(growth(&params, MS(5_000), MS(100)), 22.0);
    }

    #[test]
    fn never_grows_faster_than_slow_start() {
        let mut control = Htcp::new(&HtcpParams::default());
        control.on_congestion(&congestion(CongestionKind::Loss, 100.0));
        let event = AckEvent { now: MS(60_000), ..ack(2) };
        assert_near(control.on_ack(4.0, &event), 6.0);
    }

    /// Simulates ten round trips with `packets` per round trip and samples of both `rtts`, then a
    /// loss. Returns the backoff.
    fn epoch(control: &mut Htcp, event: &mut AckEvent, packets: u64, rtts: [Time; 2]) -> f64 {
        for _ in 0..10 {
            event.now += MS(100);
            event.delivered_packets += packets;
            event.next = event.delivered_packets;
            event.min_rtt = event.min_rtt.min(rtts[0]);
            for rtt in rtts {
                control.on_ack(100.0, &AckEvent { rtt: Some(rtt), ..*event });
            }
        }
        let loss = CongestionEvent { now: event.now, ..congestion(CongestionKind::Loss, 1_000.0) };
        control.on_congestion(&loss) / 1_000.0
    }

    #[test]
    fn the_backoff_is_the_ratio_of_the_rtts() {
        for (largest, expected) in [(120, 0.8), (160, 0.625), (400, 0.5)] {
            let mut control = Htcp::new(&HtcpParams::default());
            let mut event = ack(1);
            let rtts = [MS(100), MS(largest)];
            // At the first congestion there is no earlier throughput to compare with.
            assert_near(epoch(&mut control, &mut event, 100, rtts), 0.5);
            assert_near(epoch(&mut control, &mut event, 100, rtts), expected);
            // alpha = 2 (1 - beta) soon after congestion.
            let grown = control.on_ack(1_000.0, &event) - 1_000.0;
            assert_near(grown * 1_000.0, 2.0 * (1.0 - expected));
        }
    }

    /// The excess of 100 ms over the smallest RTT of 100 ms decays to 95 ms and then to 90.25 ms.
    #[test]
    fn the_largest_rtt_decays() {
        let mut control = Htcp::new(&HtcpParams::default());
        let mut event = ack(1);
        epoch(&mut control, &mut event, 100, [MS(100), MS(200)]);
        let low = [MS(100), MS(100)];
        assert_near(epoch(&mut control, &mut event, 100, low), 100.0 / 195.0);
        assert_near(epoch(&mut control, &mut event, 100, low), 100.0 / 190.25);
    }

    #[test]
    fn halves_after_the_throughput_has_changed_by_more_than_a_fifth() {
        let rtts = [MS(100), MS(125)];
        for (packets, expected) in [(119, 0.8), (81, 0.8), (121, 0.5), (79, 0.5)] {
            let mut control = Htcp::new(&HtcpParams::default());
            let mut event = ack(1);
            epoch(&mut control, &mut event, 100, rtts);
            let backoff = epoch(&mut control, &mut event, packets, rtts);
            assert_near(backoff, expected);
        }
        let params = HtcpParams { throughput_check: false, ..HtcpParams::default() };
        let mut control = Htcp::new(&params);
        assert_near(epoch(&mut control, &mut ack(1), 100, rtts), 0.8);
    }

    #[test]
    fn halves_without_adaptive_backoff() {
        let params = HtcpParams { adaptive_backoff: false, ..HtcpParams::default() };
        let mut control = Htcp::new(&params);
        let mut event = ack(1);
        for _ in 0..3 {
            assert_near(epoch(&mut control, &mut event, 100, [MS(100), MS(120)]), 0.5);
        }
    }

    /// Linux: the time starts at the first ACK after the recovery, and alpha before its scaling is
    /// a whole number: 1 + 10 / 2 + 1 / 16 and 1 + 10 * 1.57 + 0.616 are rounded down.
    #[test]
    fn in_linux_the_growth_is_a_whole_number_that_depends_on_the_time_since_the_recovery() {
        let params = HtcpParams { variant: HtcpVariant::Linux, ..HtcpParams::default() };
        for (since, expected) in [(1_000, 1.0), (1_500, 6.0), (2_570, 17.0)] {
            let mut control = Htcp::new(&params);
            control.on_congestion(&congestion(CongestionKind::Loss, 100.0)); // at time zero
            let rtt = Some(MS(100));
            let event = |now| AckEvent { now, rtt, min_rtt: MS(100), ..ack(1) };
            control.on_ack(10_000.0, &event(MS(150)));
            let grown = control.on_ack(10_000.0, &event(MS(150 + since))) - 10_000.0;
            assert_near(grown * 10_000.0, expected);
        }
    }

    /// Linux (`htcp_beta_update`): after a change of throughput, which includes the first
    /// congestion, the backoff adapts at the second congestion without such a change; at RTTs up
    /// to 10 ms it never adapts.
    #[test]
    fn in_linux_the_backoff_adapts_one_congestion_later() {
        let linux = HtcpParams { variant: HtcpVariant::Linux, ..HtcpParams::default() };
        let rtts = [MS(100), MS(125)];
        for (params, expected) in [
            (HtcpParams::default(), [0.5, 0.8, 0.8, 0.5, 0.8, 0.8]),
            (linux.clone(), [0.5, 0.5, 0.8, 0.5, 0.5, 0.8]),
        ] {
            let (mut control, mut event) = (Htcp::new(&params), ack(1));
            for (packets, expected) in [100, 100, 100, 150, 150, 150].into_iter().zip(expected) {
                assert_near(epoch(&mut control, &mut event, packets, rtts), expected);
            }
        }
        let (mut control, mut event) = (Htcp::new(&linux), ack(1));
        for _ in 0..4 {
            assert_near(epoch(&mut control, &mut event, 100, [MS(10), MS(12)]), 0.5);
        }
    }

    /// `htcp_cwnd_undo`: time since the last congestion, largest RTT and last throughput return.
    #[test]
    fn an_undo_restores_the_state_before_the_congestion() {
        let mut control = Htcp::new(&HtcpParams::default());
        control.on_congestion(&congestion(CongestionKind::Loss, 100.0));
        for second in 1..20 {
            let (now, delivered) = (MS(1_000 * second), 100 * second);
            let rtt = Some(MS(90 + second));
            let event = AckEvent { now, rtt, min_rtt: MS(90), ..ack(1) };
            control.on_ack(100.0, &AckEvent { delivered_packets: delivered, ..event });
        }
        let state = |control: &Htcp| {
            (control.last_congestion, control.max_rtt, control.last_throughput.to_bits())
        };
        let before = state(&control);
        let event = CongestionEvent { now: MS(20_000), ..congestion(CongestionKind::Loss, 100.0) };
        control.on_congestion(&event);
        assert_ne!(state(&control), before);
        control.on_undo();
        assert_eq!(state(&control), before);
    }
}
