//! Adaptive RED (Floyd, Gummadi, Shenker 2001, "Adaptive RED: an algorithm for increasing the
//! robustness of RED's active queue management"): RED whose `max_p` slowly follows the load, so
//! that the average queue stays halfway between the thresholds.

use super::red::rule::RedCore;
use super::red::{AboveMax, RedMode, RedParams};
use super::{
    ArrivalRule, BadParameter, EnqueueEvent, Gauge, LinkInfo, Parameters, Retune, Verdict,
};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::limit::QueueLimit;
use crate::quantity::{PositiveDuration, Size};
use crate::units::Time;

/// Parameters of Adaptive RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AdaptiveRedParams {
    /// Buffer size, excluding the packet in transmission. A packet that does not fit is dropped,
    /// whatever the average.
    #[schemars(example = "1 bdp")]
    pub limit: QueueLimit,
    /// Average queue from which packets are marked or dropped (`min_th`). Default: the amount that
    /// the link sends in 2.5 ms, but at least 5 packets (half of a target delay of 5 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_threshold: Option<QueueLimit>,
    /// Average queue at which the probability reaches `max_p` (`max_th`). Default: three times
    /// `min_threshold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<QueueLimit>,
    /// Initial probability at `max_threshold` (0.1, as in ns-2).
    #[serde(default = "super::red::default_max_p")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub max_p: f64,
    /// Lower bound of `max_p` (0.01). Fast links need a lower value, or the queue settles below the
    /// target; ns-2 takes 80 kbit/s divided by the link's rate if that is less, for instance 8e-5
    /// at 1 Gbit/s.
    #[serde(default = "default_lowest_max_p")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub lowest_max_p: f64,
    /// Upper bound of `max_p` (0.5).
    #[serde(default = "default_highest_max_p")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub highest_max_p: f64,
    /// Time between changes of `max_p` (500 ms). A change happens at an arrival, at most one per
    /// packet: changes that a longer silence has delayed are skipped.
    #[serde(default = "default_interval")]
    pub interval: PositiveDuration,
    /// Weight of a new sample in the average queue (`w_q`). Default: 1 - exp(-1/C), where C is the
    /// number of packets of mean size that the link sends per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub weight: Option<f64>,
    /// Mean packet size, used to convert between packets and bytes and to compute how many packets
    /// an idle link could have sent. Default: the largest packet that crosses the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet_size: Option<Size>,
    /// Whether the average counts packets or bytes. With bytes, the probability is proportional to
    /// the size of the arriving packet.
    #[serde(default)]
    pub mode: RedMode,
    /// Let the probability grow from `max_p` to 1 between `max_threshold` and its double, instead
    /// of jumping to 1 at `max_threshold`, as the authors recommend.
    #[serde(default = "super::red::yes")]
    pub gentle: bool,
    /// Accept at least 1/p and at most 2/p packets between two drops, where p is the probability at
    /// the average queue (`wait_` of ns-2, on by default there).
    #[serde(default)]
    pub wait: bool,
    /// As for `red`.
    #[serde(default)]
    pub above_max: AboveMax,
}

impl AdaptiveRedParams {
    /// A buffer of this size; the other parameters have their defaults.
    pub fn new(limit: QueueLimit) -> Self {
        AdaptiveRedParams {
            limit,
            min_threshold: None,
            max_threshold: None,
            max_p: super::red::default_max_p(),
            lowest_max_p: default_lowest_max_p(),
            highest_max_p: default_highest_max_p(),
            interval: default_interval(),
            weight: None,
            mean_packet_size: None,
            mode: RedMode::default(),
            gentle: super::red::yes(),
            wait: false,
            above_max: AboveMax::default(),
        }
    }
}

fn default_lowest_max_p() -> f64 {
    0.01
}

fn default_highest_max_p() -> f64 {
    0.5
}

fn default_interval() -> PositiveDuration {
    PositiveDuration::new(Time::from_milliseconds(500).picoseconds())
}

/// Largest increase (alpha); a quarter of `max_p` if that is less (sec. 4 of the paper).
const INCREASE: f64 = 0.01;
/// See [`INCREASE`].
const RELATIVE_INCREASE: f64 = 0.25;
/// Factor of a decrease (beta, sec. 4 of the paper).
const DECREASE: f64 = 0.9;
/// Distance of the target range from each threshold, as a fraction of the distance between the
/// thresholds: the target is the middle fifth.
const TARGET_MARGIN: f64 = 0.4;

impl AdaptiveRedParams {
    /// Returns the parameters of RED before the first change.
    fn red(&self) -> RedParams {
        RedParams {
            limit: self.limit,
            min_threshold: self.min_threshold,
            max_threshold: self.max_threshold,
            max_p: self.max_p,
            weight: self.weight,
            mean_packet_size: self.mean_packet_size,
            mode: self.mode,
            gentle: self.gentle,
            uniform: true,
            wait: self.wait,
            above_max: self.above_max,
        }
    }
}

impl Parameters for AdaptiveRedParams {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        let mut amounts = vec![("limit", &mut self.limit)];
        amounts.extend(self.min_threshold.as_mut().map(|amount| ("min_threshold", amount)));
        amounts.extend(self.max_threshold.as_mut().map(|amount| ("max_threshold", amount)));
        amounts
    }

    fn binding(&self) -> &'static [&'static str] {
        &["min_threshold"]
    }

    fn validate(&self, link: &LinkInfo) -> Result<(), BadParameter> {
        self.red().validate(link)?;
        let (lowest, highest) = (self.lowest_max_p, self.highest_max_p);
        if lowest > highest {
            let problem = format!("{lowest} is greater than highest_max_p, which is {highest}");
            let remedy = format!("lower it to at most {highest}, or raise highest_max_p");
            return Err(BadParameter::new("lowest_max_p", problem, remedy));
        }
        if !(lowest..=highest).contains(&self.max_p) {
            let start = self.max_p;
            let problem = format!("{start} is outside the range of lowest_max_p to highest_max_p");
            let remedy = format!("write a value from {lowest} to {highest}, or change the bounds");
            return Err(BadParameter::new("max_p", problem, remedy));
        }
        Ok(())
    }
}

/// An Adaptive RED buffer.
#[derive(Clone, Debug)]
pub struct AdaptiveRed {
    core: RedCore,
    lowest_max_p: f64,
    highest_max_p: f64,
    target_low: f64,
    target_high: f64,
    interval: Time,
    next_change: Time,
}

impl AdaptiveRed {
    /// Creates the discipline for `link`.
    pub fn new(params: &AdaptiveRedParams, link: &LinkInfo) -> Self {
        let core = RedCore::new(&params.red(), link);
        let margin = TARGET_MARGIN * (core.max_threshold - core.min_threshold);
        let interval = params.interval.time();
        AdaptiveRed {
            lowest_max_p: params.lowest_max_p,
            highest_max_p: params.highest_max_p,
            target_low: core.min_threshold + margin,
            target_high: core.max_threshold - margin,
            interval,
            next_change: interval,
            core,
        }
    }

    /// Changes `max_p` by one step, within its bounds; in ns-2, a step may pass a bound.
    fn adapt(&mut self) {
        let max_p = self.core.max_p;
        if self.core.average > self.target_high {
            let raised = max_p + INCREASE.min(RELATIVE_INCREASE * max_p);
            self.core.max_p = raised.min(self.highest_max_p);
        } else if self.core.average < self.target_low {
            self.core.max_p = (DECREASE * max_p).max(self.lowest_max_p);
        }
    }
}

impl Retune for AdaptiveRed {
    type Params = AdaptiveRedParams;
    const FIXED: &'static [&'static str] = &["max_p", "mode", "mean_packet_size"];

    fn retune(&mut self, params: &AdaptiveRedParams, link: &LinkInfo) {
        let mut other = AdaptiveRed::new(params, link);
        other.core.max_p = self.core.max_p.clamp(other.lowest_max_p, other.highest_max_p);
        self.core.retune(other.core);
        self.lowest_max_p = other.lowest_max_p;
        self.highest_max_p = other.highest_max_p;
        (self.target_low, self.target_high) = (other.target_low, other.target_high);
        self.interval = other.interval;
    }
}

impl ArrivalRule for AdaptiveRed {
    #[inline]
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        self.core.update_average(event);
        if event.now >= self.next_change {
            self.next_change = event.now + self.interval;
            self.adapt();
        }
        self.core.decide(event)
    }

    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        self.core.gauges()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::buffer::DropReason;
    use crate::queue::script;

    /// Thresholds of 10 and 20 packets, so that the target is 14 to 16; the average is the queue.
    fn params() -> AdaptiveRedParams {
        let json = r#"{
            "limit": "100 packets",
            "min_threshold": "10 packets",
            "max_threshold": "20 packets",
            "weight": 1.0
        }"#;
        serde_json::from_str(json).expect("the other keys have defaults")
    }

    fn start(params: &AdaptiveRedParams) -> AdaptiveRed {
        AdaptiveRed::new(params, &script::link(8_000_000))
    }

    /// A packet that arrives at `milliseconds` and finds `waiting_packets` packets at a busy link.
    fn packet(milliseconds: u64, waiting_packets: u64) -> EnqueueEvent {
        let now = Time::from_milliseconds(milliseconds);
        EnqueueEvent {
            now,
            flow: 0,
            bytes: 1_000,
            ecn: Ecn::NotEct,
            idle_since: None,
            waiting_packets,
            waiting_bytes: 1_000 * waiting_packets,
        }
    }

    /// Returns `max_p` after each of `intervals` intervals in which `waiting` packets wait.
    fn held(params: &AdaptiveRedParams, waiting: u64, intervals: u64) -> Vec<f64> {
        let mut queue = start(params);
        let mut after = |interval| {
            queue.on_enqueue(&packet(500 * interval, waiting));
            queue.core.max_p
        };
        (1..=intervals).map(&mut after).collect()
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found}, expected {expected}");
    }

    #[test]
    fn max_p_grows_by_at_most_a_hundredth_while_the_average_is_high() {
        let grown = held(&params(), 18, 60);
        for (index, found) in grown.iter().enumerate() {
            assert_near(*found, (0.1 + 0.01 * (index + 1) as f64).min(0.5));
        }
        assert_eq!(grown[39..], [0.5; 21]);
        // A step is a quarter of `max_p` if that is less: 0.02 * 1.25^k while below 0.04, then +
        // 0.01.
        let small = held(&AdaptiveRedParams { max_p: 0.02, ..params() }, 18, 5);
        let by_hand = [0.025, 0.031_25, 0.039_062_5, 0.048_828_125, 0.058_828_125];
        small.iter().zip(by_hand).for_each(|(found, expected)| assert_near(*found, expected));
    }

    #[test]
    fn max_p_falls_by_a_tenth_while_the_average_is_low() {
        let fallen = held(&params(), 12, 30);
        for (found, expected) in fallen.iter().zip([0.09, 0.081, 0.0729, 0.065_61, 0.059_049]) {
            assert_near(*found, expected);
        }
        // 0.1 * 0.9^21 = 0.010942, 0.1 * 0.9^22 = 0.009848.
        assert!((fallen[20] - 0.010_942).abs() < 1e-6, "{}", fallen[20]);
        assert_eq!(fallen[21..], [0.01; 9]);
        // 0.1 * 0.9^67 = 8.6e-5, 0.1 * 0.9^68 = 7.7e-5.
        let low = held(&AdaptiveRedParams { lowest_max_p: 8e-5, ..params() }, 12, 69);
        assert!((low[66] - 8.6e-5).abs() < 1e-6, "{}", low[66]);
        assert_eq!(low[67..], [8e-5; 2]);
    }

    #[test]
    fn max_p_does_not_change_while_the_average_is_on_target() {
        for waiting in [14, 15, 16] {
            assert_eq!(held(&params(), waiting, 5), [0.1; 5], "{waiting} packets wait");
        }
    }

    #[test]
    fn changes_once_per_interval_and_skips_missed_changes() {
        let mut queue = start(&params());
        let steps = [(100, 0.1), (499, 0.1), (500, 0.11), (999, 0.11), (1_000, 0.12)];
        let late = [(9_999, 0.13), (10_000, 0.13), (10_498, 0.13), (10_499, 0.14)];
        for (milliseconds, expected) in steps.into_iter().chain(late) {
            queue.on_enqueue(&packet(milliseconds, 18));
            assert_near(queue.gauges(Time::ZERO)[1].1, expected);
        }
    }

    /// At `max_th`, p is `max_p`; at 0.5, the gap after a drop is uniform on 1 to 1/p - 1 = 1.
    #[test]
    fn drops_with_the_adapted_probability() {
        let mut queue = start(&params());
        for interval in 0..=40 {
            queue.on_enqueue(&packet(500 * interval, 18));
        }
        let early = Verdict::Drop(DropReason::Early);
        let verdicts = (0..100).map(|_| queue.on_enqueue(&packet(20_000, 20)));
        let after: Vec<Verdict> = verdicts.skip_while(|verdict| *verdict != early).collect();
        assert!(after.len() >= 90, "{}", after.len());
        assert!(after.iter().all(|verdict| *verdict == early));
    }
}
