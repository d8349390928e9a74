//! DCQCN (Zhu et al. 2015, "Congestion control for large-scale RDMA deployments"), the control of
//! RDMA NICs (`RoCEv2`): congestion notifications from the receiver reduce the rate, and a timer and
//! a byte counter raise it again.
//!
//! The receiver's notification point is in the sender: an ACK per packet reports the same marks in
//! the same order and at the same distances as the receiver sees them, unless ACKs queue. Timers act
//! at the next ACK, in the order in which they expire; a rate only matters when a packet leaves,
//! which happens about as often.

use super::ControlParameters;
use super::rate_based::{BeginEvent, ControlOutput, RateBasedControl, RateSampleEvent, TimeEvent};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::BadParameter;
use crate::quantity::{BitRate, PositiveDuration, Size};
use crate::units::{Time, larger, smaller};

/// Parameters of DCQCN; defaults as in Zhu et al. 2015 and, where the paper gives no number, in the
/// authors' analysis (Zhu et al. 2016, "ECN or delay"), in their simulator (ns3-rdma) or in NVIDIA's
/// NICs. A flow starts at line rate: that of its access link, or of the first shared link. DCQCN
/// needs `ecn = "accurate"`, a queue that marks, such as `wred`, and an ACK per packet (`host =
/// "data_center"`, or `delayed_ack = false`). It has no window and does not answer losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DcqcnParams {
    /// Shortest time between two congestion notifications of a flow (sec. 3.1: 50 us).
    pub notification_interval: PositiveDuration,
    /// What a mark does within this time.
    #[serde(skip_serializing_if = "MarksInInterval::are_remembered")]
    #[schemars(extend("default" = "remembered"))]
    pub marks_in_interval: MarksInInterval,
    /// Weight of a notification in alpha, the estimate of congestion (g; Figure 14: 1/256). NVIDIA's
    /// parameter `dce_tcp_g` of 1019 stands for 1 - g = 1019/1024.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub gain: f64,
    /// Time without notification after which alpha decays, and again decays (K; sec. 3.1: 55 us).
    /// It must exceed `notification_interval`.
    pub alpha_timer: PositiveDuration,
    /// Time between two increases of the rate (T; Figure 14: 55 us).
    pub increase_timer: PositiveDuration,
    /// Bytes between two increases of the rate (B; Figure 14: 10 MB).
    pub byte_counter: Size,
    /// Number of increases by the timer, or by the byte counter, from which the target rate grows;
    /// those before only return half of the way to it (F; sec. 3.1: 5).
    #[schemars(range(min = 1, max = 1_000))]
    pub fast_recovery: u32,
    /// Growth of the target rate per increase (`R_AI`; Zhu et al. 2016: 40 Mbit/s).
    pub additive_increase: BitRate,
    /// Growth of the target rate per increase when timer and byte counter have both exceeded
    /// `fast_recovery`, times the number by which they have (`R_HAI`; authors' simulator: 200 Mbit/s).
    pub hyper_increase: BitRate,
    /// Lowest rate (NVIDIA: `rpg_min_rate`, 1 Mbit/s).
    pub min_rate: BitRate,
}

/// What a mark does in the `notification_interval` after a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(rename_all = "snake_case")]
pub enum MarksInInterval {
    /// Nothing: the next notification follows the first mark after the interval, as in NICs with a least
    /// time between notifications (NVIDIA's `min_time_between_cnps`).
    Ignored,
    /// It causes a notification at the end of the interval (Zhu et al. 2015, sec. 3.1).
    Remembered,
    /// Intervals follow one another from the first ACK on, and each with a mark ends with a notification, as
    /// in the fluid model of Zhu et al. 2016 and in the authors' simulator.
    Slotted,
}

impl MarksInInterval {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn are_remembered(&self) -> bool {
        *self == MarksInInterval::Remembered
    }
}

impl Default for DcqcnParams {
    fn default() -> Self {
        DcqcnParams {
            notification_interval: PositiveDuration::new(50_000_000),
            marks_in_interval: MarksInInterval::Remembered,
            gain: 1.0 / 256.0,
            alpha_timer: PositiveDuration::new(55_000_000),
            increase_timer: PositiveDuration::new(55_000_000),
            byte_counter: Size::new(10_000_000),
            fast_recovery: 5,
            additive_increase: BitRate::new(40_000_000),
            hyper_increase: BitRate::new(200_000_000),
            min_rate: BitRate::new(1_000_000),
        }
    }
}

/// A timer of a NIC counts microseconds.
const SHORTEST_TIMER: PositiveDuration = PositiveDuration::new(1_000_000);

impl ControlParameters for DcqcnParams {
    fn validate(&self) -> Result<(), BadParameter> {
        let (alpha_timer, interval) = (self.alpha_timer, self.notification_interval);
        if alpha_timer.time() <= interval.time() {
            let problem =
                format!("{alpha_timer} is not above the notification_interval of {interval}");
            let remedy = format!("write more than {interval}, or lower notification_interval");
            return Err(BadParameter::new("alpha_timer", problem, remedy));
        }
        for (key, timer) in [("alpha_timer", alpha_timer), ("increase_timer", self.increase_timer)]
        {
            if timer.time() < SHORTEST_TIMER.time() {
                let problem = format!("{timer} is out of range");
                let remedy = format!("write at least \"{SHORTEST_TIMER}\"");
                return Err(BadParameter::new(key, problem, remedy));
            }
        }
        Ok(())
    }

    fn needs_marks(&self) -> bool {
        true
    }

    fn needs_single_packets(&self) -> bool {
        true
    }
}

/// Increases after an idle time; more of them would not raise a rate that has long reached the line
/// rate.
const MOST_INCREASES: u64 = 100_000;
/// Initial estimate of congestion (sec. 3.1).
const INITIAL_ALPHA: f64 = 1.0;

/// A running DCQCN. Rates are in packets/s.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    params: DcqcnParams,
    /// Packets/s per bit/s.
    scale: f64,
    packet_bytes: u64,
    line_rate: f64,
    min_rate: f64,
    /// `R_C`.
    rate: f64,
    /// `R_T`.
    target: f64,
    alpha: f64,
    /// No notification is generated before this time.
    quiet_until: Time,
    /// Whether one is generated then, as a mark arrived since the last one.
    is_due: bool,
    /// When the first ACK arrived.
    began: Option<Time>,
    /// The timers run from the first notification on.
    alpha_due: Time,
    increase_due: Time,
    /// Increases by the timer and by the byte counter since the last notification.
    timer_count: u32,
    byte_count: u32,
    /// Bytes sent when the byte counter expires next.
    bytes_due: u64,
    marked: u64,
    lost: u64,
}

impl Dcqcn {
    /// Starts the control.
    pub fn new(params: &DcqcnParams) -> Self {
        Dcqcn {
            params: params.clone(),
            scale: 0.0,
            packet_bytes: 0,
            line_rate: 1.0,
            min_rate: 1.0,
            rate: 1.0,
            target: 1.0,
            alpha: INITIAL_ALPHA,
            quiet_until: Time::ZERO,
            is_due: false,
            began: None,
            alpha_due: Time::NEVER,
            increase_due: Time::NEVER,
            timer_count: 0,
            byte_count: 0,
            bytes_due: u64::MAX,
            marked: 0,
            lost: 0,
        }
    }

    fn sent_bytes(&self, delivered: u64, in_flight: u64) -> u64 {
        (delivered + self.lost + in_flight) * self.packet_bytes
    }

    /// Eq. 1: a notification reduces the rate.
    fn on_notification(&mut self, now: Time, sent_bytes: u64) {
        self.target = self.rate;
        self.rate = larger(self.rate * (1.0 - self.alpha / 2.0), self.min_rate);
        self.alpha += self.params.gain * (1.0 - self.alpha);
        self.quiet_until = now + self.params.notification_interval.time();
        self.is_due = false;
        self.alpha_due = now + self.params.alpha_timer.time();
        self.increase_due = now + self.params.increase_timer.time();
        self.bytes_due = sent_bytes.saturating_add(self.params.byte_counter.bytes());
        (self.timer_count, self.byte_count) = (0, 0);
    }

    /// A marked packet has arrived.
    fn on_mark(&mut self, now: Time, sent_bytes: u64) {
        let interval = self.params.notification_interval.time();
        match self.params.marks_in_interval {
            MarksInInterval::Slotted => {
                let began = *self.began.get_or_insert(now);
                let whole = now.since(began).picoseconds() / interval.picoseconds();
                let since_began = (whole + 1) * interval.picoseconds();
                self.quiet_until = began + Time::from_picoseconds(since_began);
                self.is_due = true;
            }
            _ if now >= self.quiet_until => self.on_notification(now, sent_bytes),
            MarksInInterval::Remembered => self.is_due = true,
            MarksInInterval::Ignored => {}
        }
    }

    /// Generates the notification whose time has come by `now`, if any, after what the timers did before.
    fn catch_up(&mut self, now: Time, sent_bytes: u64) {
        if self.is_due && now >= self.quiet_until {
            self.run_timers(self.quiet_until);
            self.on_notification(self.quiet_until, sent_bytes);
        }
    }

    /// Acts on the timers that have expired by `now`. Eq. 2: without a notification alpha decays.
    fn run_timers(&mut self, now: Time) {
        let decays = expirations(&mut self.alpha_due, now, self.params.alpha_timer.time());
        if decays > 0 {
            self.alpha *= libm::pow(1.0 - self.params.gain, decays as f64);
        }
        let increases = expirations(&mut self.increase_due, now, self.params.increase_timer.time());
        for _ in 0..increases.min(MOST_INCREASES) {
            self.timer_count = self.timer_count.saturating_add(1);
            self.increase();
        }
    }

    fn count_bytes(&mut self, sent_bytes: u64) {
        let period = self.params.byte_counter.bytes();
        if sent_bytes < self.bytes_due {
            return;
        }
        let increases = 1 + (sent_bytes - self.bytes_due) / period;
        self.bytes_due += increases * period;
        for _ in 0..increases.min(MOST_INCREASES) {
            self.byte_count = self.byte_count.saturating_add(1);
            self.increase();
        }
    }

    /// Fast recovery, additive increase or hyper increase (Figure 7).
    fn increase(&mut self) {
        let (most, least) =
            (self.timer_count.max(self.byte_count), self.timer_count.min(self.byte_count));
        let threshold = self.params.fast_recovery;
        if most >= threshold {
            let step = if least > threshold {
                self.params.hyper_increase.base_units() as f64 * f64::from(least - threshold)
            } else {
                self.params.additive_increase.base_units() as f64
            };
            self.target = smaller(self.target + step * self.scale, self.line_rate);
        }
        self.rate = f64::midpoint(self.rate, self.target);
    }
}

/// The number of times that a timer of this period has expired by `now`; sets it to its next expiry.
fn expirations(due: &mut Time, now: Time, period: Time) -> u64 {
    if now < *due {
        return 0;
    }
    let count = 1 + now.since(*due).picoseconds() / period.picoseconds();
    *due += Time::from_picoseconds(count * period.picoseconds());
    count
}

impl RateBasedControl for Dcqcn {
    fn begin(&mut self, event: &BeginEvent) -> ControlOutput {
        self.packet_bytes = u64::from(event.packet_bytes);
        self.scale = 1.0 / (8.0 * f64::from(event.packet_bytes));
        self.min_rate = self.params.min_rate.base_units() as f64 * self.scale;
        self.line_rate = larger(event.line_rate, self.min_rate);
        (self.rate, self.target) = (self.line_rate, self.line_rate);
        ControlOutput::paced(self.rate, self.line_rate, event.srtt)
    }

    fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput {
        self.began.get_or_insert(event.now);
        self.lost += event.newly_lost;
        let sent_bytes = self.sent_bytes(event.delivered, event.in_flight);
        self.catch_up(event.now, sent_bytes);
        self.run_timers(event.now);
        self.count_bytes(sent_bytes);
        if event.marked > self.marked {
            self.marked = event.marked;
            self.on_mark(event.now, sent_bytes);
        }
        ControlOutput::paced(self.rate, self.line_rate, event.srtt)
    }

    fn paces_what_waits(&self) -> bool {
        true
    }

    fn next_change(&self) -> Time {
        let notification = if self.is_due { self.quiet_until } else { Time::NEVER };
        self.increase_due.min(notification)
    }

    fn on_time(&mut self, event: &TimeEvent) -> Option<ControlOutput> {
        self.catch_up(event.now, self.sent_bytes(event.delivered, event.in_flight));
        self.run_timers(event.now);
        Some(ControlOutput::paced(self.rate, self.line_rate, event.srtt))
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Path, assert_close, begin_event, ms};
    use super::*;

    /// 10 Gbit/s in packets of 1500 B.
    const LINE_RATE: f64 = 10e9 / 12_000.0;
    const STEP: f64 = 40e6 / 12_000.0;

    /// A control and a path on which time passes only when a test says so.
    struct Bench {
        control: Dcqcn,
        path: Path,
    }

    impl Bench {
        fn new(params: &DcqcnParams) -> Self {
            let mut control = Dcqcn::new(params);
            control.begin(&begin_event(1));
            Bench { control, path: Path::new(10) }
        }

        /// The rate after an ACK that comes `us` microseconds after the last one, and reports this
        /// many marks and delivered packets.
        fn ack(&mut self, us: f64, marks: u64, delivered: u64) -> f64 {
            let event = &mut self.path.event;
            event.now += ms(us / 1e3);
            event.marked += marks;
            event.delivered += delivered;
            self.control.on_rate_sample(event).pacing_rate
        }
    }

    /// Sec. 3.1, by hand: alpha is 1, so that the first notification halves the rate. Marks within 50
    /// us cause no further one; after 50 us the next one halves again, as alpha stays at 1.
    #[test]
    fn a_notification_per_interval_reduces_the_rate_by_half_of_alpha() {
        let params =
            DcqcnParams { marks_in_interval: MarksInInterval::Ignored, ..DcqcnParams::default() };
        let mut bench = Bench::new(&params);
        assert_close(bench.ack(10.0, 0, 1), LINE_RATE);
        assert_close(bench.ack(10.0, 1, 1), LINE_RATE / 2.0);
        assert_close(bench.ack(49.9, 5, 1), LINE_RATE / 2.0);
        assert_close(bench.ack(0.1, 1, 1), LINE_RATE / 4.0);
        assert_close(bench.control.target, LINE_RATE / 2.0);
    }

    /// The same marks, remembered: those within 50 us halve the rate once at their end, and the next 50 us
    /// begin there. Without a mark in them, the next mark halves it at once.
    #[test]
    fn a_remembered_mark_reduces_the_rate_at_the_end_of_the_interval() {
        let mut bench = Bench::new(&DcqcnParams::default());
        assert_close(bench.ack(10.0, 1, 1), LINE_RATE / 2.0);
        assert_close(bench.ack(10.0, 5, 1), LINE_RATE / 2.0);
        assert_close(bench.ack(39.9, 0, 1), LINE_RATE / 2.0);
        assert_close(bench.ack(0.2, 0, 1), LINE_RATE / 4.0);
        assert_close(bench.ack(49.8, 0, 1), LINE_RATE / 4.0);
        assert_close(bench.ack(0.2, 1, 1), LINE_RATE / 8.0);
        assert_close(bench.control.target, LINE_RATE / 4.0);
    }

    /// In intervals from the first ACK on, marks at 49 us and at 51 us halve the rate at 50 us and at 100 us, and
    /// a mark at 160 us at 200 us. By then the timer, which runs since 100 us, has returned half of the way
    /// at 155 us.
    #[test]
    fn a_slotted_mark_reduces_the_rate_at_the_end_of_its_interval() {
        let params =
            DcqcnParams { marks_in_interval: MarksInInterval::Slotted, ..DcqcnParams::default() };
        let mut bench = Bench::new(&params);
        assert_close(bench.ack(0.0, 0, 1), LINE_RATE);
        assert_close(bench.ack(49.0, 1, 1), LINE_RATE);
        assert_close(bench.ack(2.0, 1, 1), LINE_RATE / 2.0);
        assert_close(bench.ack(48.0, 0, 1), LINE_RATE / 2.0);
        assert_close(bench.ack(2.0, 0, 1), LINE_RATE / 4.0);
        assert_close(bench.ack(59.0, 1, 1), LINE_RATE * 3.0 / 8.0);
        // A decay at 155 us: alpha is 255/256.
        assert_close(bench.ack(41.0, 0, 1), LINE_RATE * 3.0 / 8.0 * (1.0 - 255.0 / 512.0));
    }

    /// Eq. 2: alpha decays by 1 - 1/256 per 55 us, counted from the notification. 256 of them leave
    /// 0.3672; the next notification finds this alpha, and only then raises it.
    #[test]
    fn alpha_decays_without_notifications_and_is_used_before_it_is_raised() {
        let params = DcqcnParams { min_rate: BitRate::new(1), ..DcqcnParams::default() };
        let mut bench = Bench::new(&params);
        bench.ack(0.0, 1, 1);
        bench.ack(55.0 * 256.0, 0, 1);
        let alpha = libm::pow(255.0 / 256.0, 256.0);
        assert!((bench.control.alpha - 0.367_160_5).abs() < 1e-6, "{}", bench.control.alpha);
        let before = bench.control.rate;
        assert_close(bench.ack(1.0, 1, 1), before * (1.0 - alpha / 2.0));
        assert_close(bench.control.alpha, alpha + (1.0 - alpha) / 256.0);
    }

    /// From a halving on, by the timer alone: four steps return half of the way each, 1 - 1/2^n, and
    /// from the fifth on the target grows by 40 Mbit/s. Two notifications first, so that the target
    /// is below the line rate.
    #[test]
    fn fast_recovery_returns_half_of_the_way_and_then_the_target_grows() {
        let mut bench = Bench::new(&DcqcnParams::default());
        bench.ack(0.0, 1, 1);
        bench.ack(50.0, 1, 1);
        let (mut target, mut rate) = (LINE_RATE / 2.0, LINE_RATE / 4.0);
        for step in 1..=7 {
            if step >= 5 {
                target += STEP;
            }
            assert_close(bench.ack(54.99, 0, 1), rate);
            rate = f64::midpoint(rate, target);
            assert_close(bench.ack(0.01, 0, 1), rate);
        }
    }

    /// The byte counter, here of 15 kB or ten packets, does the same without time passing; when both
    /// exceed 5, the hyper increase is 200 Mbit/s times the lesser excess.
    #[test]
    fn the_byte_counter_increases_too_and_both_together_hyper() {
        let params = DcqcnParams { byte_counter: Size::new(15_000), ..DcqcnParams::default() };
        let mut bench = Bench::new(&params);
        bench.ack(0.0, 1, 1);
        bench.ack(50.0, 1, 1);
        bench.ack(0.0, 0, 40);
        assert_close(bench.control.target, LINE_RATE / 2.0);
        bench.ack(0.0, 0, 20);
        assert_close(bench.control.target, LINE_RATE / 2.0 + 2.0 * STEP);
        bench.ack(6.0 * 55.0, 0, 0);
        // The first five expiries of the timer are additive: the lesser count is at most 5.
        assert_close(bench.control.target, LINE_RATE / 2.0 + 7.0 * STEP + 5.0 * STEP);
        bench.ack(55.0, 0, 0);
        assert_close(bench.control.target, LINE_RATE / 2.0 + 12.0 * STEP + 5.0 * STEP);
        bench.ack(0.0, 0, 10);
        assert_close(bench.control.target, LINE_RATE / 2.0 + 17.0 * STEP + 10.0 * STEP);
    }

    #[test]
    fn neither_rate_exceeds_the_line_rate() {
        let mut bench = Bench::new(&DcqcnParams::default());
        bench.ack(0.0, 1, 1);
        assert_close(bench.ack(1e7, 0, 1), LINE_RATE);
        assert_close(bench.control.target, LINE_RATE);
    }

    #[test]
    fn timers_that_contradict_one_another_are_named() {
        let us = |us: u64| PositiveDuration::new(us * 1_000_000);
        let wrong = DcqcnParams { alpha_timer: us(50), ..DcqcnParams::default() };
        assert!(wrong.check().is_err_and(|bad| bad.key == "alpha_timer"));
        let wrong =
            DcqcnParams { increase_timer: PositiveDuration::new(1), ..DcqcnParams::default() };
        assert!(wrong.check().is_err_and(|bad| bad.key == "increase_timer"));
        assert_eq!(DcqcnParams::default().check(), Ok(()));
    }
}
