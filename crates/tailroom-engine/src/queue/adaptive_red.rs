//! Adaptive RED (Floyd, Gummadi, Shenker 2001, "Adaptive RED: an algorithm for increasing the
//! robustness of RED's active queue management"): RED whose `max_p` follows the load, slowly, so
//! that the average queue stays halfway between the thresholds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::red::rule::RedCore;
use super::red::{RedMode, RedParams, default_max_p, yes};
use super::{Admission, BadParameter, EnqueueEvent, Gauge, LinkInfo, Parameters, Verdict};
use crate::quantity::limit::QueueLimit;
use crate::quantity::{PositiveDuration, Size};
use crate::units::Time;

/// Parameters of Adaptive RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveRedParams {
    /// How much may wait. A packet that does not fit is dropped, whatever the average.
    #[schemars(example = "1 bdp")]
    pub limit: QueueLimit,
    /// Average queue from which packets are marked or dropped (`min_th`). Left out, it is what the
    /// link sends in 2.5 ms, but at least 5 packets (half of a target delay of 5 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_threshold: Option<QueueLimit>,
    /// Average queue at which the probability reaches `max_p` (`max_th`). Left out, it is three
    /// times `min_threshold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<QueueLimit>,
    /// Probability at `max_threshold` in the beginning (0.1, as in ns-2).
    #[serde(default = "default_max_p")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub max_p: f64,
    /// `max_p` never falls below this (0.01). On fast links it needs to be lower, or the queue
    /// settles below the target; ns-2 takes 80 kbit/s over the link's rate where that is less, as
    /// 8e-5 at 1 Gbit/s.
    #[serde(default = "default_lowest_max_p")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub lowest_max_p: f64,
    /// `max_p` never grows above this (0.5).
    #[serde(default = "default_highest_max_p")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub highest_max_p: f64,
    /// Time from one change of `max_p` to the next (500 ms). Changes happen when packets arrive,
    /// one change a packet: a link that was silent for longer makes no changes up.
    #[serde(default = "default_interval")]
    pub interval: PositiveDuration,
    /// Weight of a new sample in the average queue (`w_q`). Left out, it is 1 - exp(-1/C), where C
    /// is how many packets of mean size the link sends in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub weight: Option<f64>,
    /// Typical packet: it converts between packets and bytes, and tells how many packets an idle
    /// link could have sent. Left out, it is the largest packet that crosses the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet_size: Option<Size>,
    /// What the average counts: packets, or bytes; the probability is then in proportion to the
    /// size of the arriving packet.
    #[serde(default)]
    pub mode: RedMode,
    /// Between `max_threshold` and its double the probability grows from `max_p` to 1, instead of
    /// jumping to 1 at `max_threshold`. The authors ask for it.
    #[serde(default = "yes")]
    pub gentle: bool,
    /// Let at least 1/p packets pass between two drops, where p is the probability at the average
    /// queue, and at most 2/p (`wait_` of ns-2, on there by default).
    #[serde(default)]
    pub wait: bool,
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

/// The largest increase (alpha); a quarter of `max_p` where that is less (sec. 4 of the paper).
const INCREASE: f64 = 0.01;
/// See [`INCREASE`].
const RELATIVE_INCREASE: f64 = 0.25;
/// The decrease (beta, sec. 4 of the paper).
const DECREASE: f64 = 0.9;
/// The target: the average should lie in the fifth of the way from `min_th` to `max_th` that begins
/// and ends so far from either.
const TARGET_MARGIN: f64 = 0.4;

impl AdaptiveRedParams {
    /// RED before the first change.
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

    fn validate(&self, link: &LinkInfo) -> Result<(), BadParameter> {
        self.red().validate(link)?;
        let (lowest, highest) = (self.lowest_max_p, self.highest_max_p);
        if lowest > highest {
            let problem = format!("{lowest} is more than highest_max_p, which is {highest}");
            let remedy = format!("lower it to at most {highest}, or raise highest_max_p");
            return Err(BadParameter::new("lowest_max_p", problem, remedy));
        }
        if !(lowest..=highest).contains(&self.max_p) {
            let start = self.max_p;
            let problem = format!("{start} lies outside of lowest_max_p to highest_max_p");
            let remedy = format!("write {lowest} to {highest}, or move the bounds");
            return Err(BadParameter::new("max_p", problem, remedy));
        }
        Ok(())
    }
}

/// An Adaptive RED buffer.
#[derive(Debug)]
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
    /// Starts the discipline.
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

    /// Moves `max_p` once. Unlike ns-2, which may pass a bound by one step, it stops there.
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

impl Admission for AdaptiveRed {
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
        serde_json::from_str(json).expect("the rest has defaults")
    }

    fn start(params: &AdaptiveRedParams) -> AdaptiveRed {
        AdaptiveRed::new(params, &script::link(8_000_000))
    }

    /// A packet at this time that finds these packets waiting at a busy link.
    fn packet(milliseconds: u64, waiting_packets: u64) -> EnqueueEvent {
        let now = Time::from_milliseconds(milliseconds);
        EnqueueEvent {
            now,
            bytes: 1_000,
            ecn: Ecn::NotEct,
            free_at: now + Time::from_milliseconds(1),
            waiting_packets,
            waiting_bytes: 1_000 * waiting_packets,
        }
    }

    /// `max_p` after each of so many intervals, the queue held at `waiting`.
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
    fn max_p_grows_by_a_hundredth_at_most_while_the_average_is_high() {
        let grown = held(&params(), 18, 60);
        for (index, found) in grown.iter().enumerate() {
            assert_near(*found, (0.1 + 0.01 * (index + 1) as f64).min(0.5));
        }
        assert_eq!(grown[39..], [0.5; 21]);
        // A quarter of it where that is less: 0.02 * 1.25^k while below 0.04, then 0.01 more.
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
    fn max_p_stays_while_the_average_is_on_target() {
        for waiting in [14, 15, 16] {
            assert_eq!(held(&params(), waiting, 5), [0.1; 5], "{waiting} wait");
        }
    }

    #[test]
    fn changes_once_an_interval_and_makes_no_changes_up() {
        let mut queue = start(&params());
        let steps = [(100, 0.1), (499, 0.1), (500, 0.11), (999, 0.11), (1_000, 0.12)];
        let late = [(9_999, 0.13), (10_000, 0.13), (10_498, 0.13), (10_499, 0.14)];
        for (milliseconds, expected) in steps.into_iter().chain(late) {
            queue.on_enqueue(&packet(milliseconds, 18));
            assert_near(queue.gauges(Time::ZERO)[1].1, expected);
        }
    }

    /// At `max_th` p is `max_p`; at 0.5 the gap after a drop is uniform on 1 to 1/p - 1 = 1.
    #[test]
    fn drops_with_the_probability_it_has_adapted_to() {
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

    #[test]
    fn refuses_bounds_that_contradict_one_another() {
        let link = script::link(8_000_000);
        let key = |params: AdaptiveRedParams| params.validate(&link).unwrap_err().key;
        assert_eq!(params().validate(&link), Ok(()));
        assert_eq!(key(AdaptiveRedParams { lowest_max_p: 0.6, ..params() }), "lowest_max_p");
        assert_eq!(key(AdaptiveRedParams { highest_max_p: 0.05, ..params() }), "max_p");
        assert_eq!(key(AdaptiveRedParams { max_p: 0.001, ..params() }), "max_p");
        let reversed = AdaptiveRedParams { max_threshold: params().min_threshold, ..params() };
        assert_eq!(key(reversed), "max_threshold");
    }
}
