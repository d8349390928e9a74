//! Random Early Detection (Floyd and Jacobson 1993, "Random early detection gateways for congestion
//! avoidance"): an arriving packet is marked or dropped with a probability that grows with the
//! average queue. [`Red`] has a fixed `max_p`; [`super::adaptive_red`] adapts it.
//!
//! As in ns-2, the averaged queue excludes the packet in transmission, and no packet is dropped
//! early while fewer than two packets wait.

pub(super) mod rule;

use super::{
    ArrivalRule, BadParameter, EnqueueEvent, Gauge, LinkInfo, Parameters, Retune, Verdict,
};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::Size;
use crate::quantity::limit::{Limit, QueueLimit};
use crate::units::Time;
use rule::RedCore;

/// Parameters of RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RedParams {
    /// Buffer size, excluding the packet in transmission. A packet that does not fit is dropped,
    /// whatever the average.
    #[schemars(example = "1 bdp")]
    pub limit: QueueLimit,
    /// Average queue from which packets are marked or dropped (`min_th`). Default: the amount that
    /// the link sends in 2.5 ms, but at least 5 packets (Floyd, Gummadi, Shenker 2001: half of a
    /// target delay of 5 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_threshold: Option<QueueLimit>,
    /// Average queue at which the probability reaches `max_p` (`max_th`). Default: three times
    /// `min_threshold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<QueueLimit>,
    /// Probability at `max_threshold` (0.1, as in ns-2; Floyd and Jacobson used 0.02).
    #[serde(default = "default_max_p")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub max_p: f64,
    /// Weight of a new sample in the average queue (`w_q`). Default: 1 - exp(-1/C), where C is the
    /// number of packets of mean size that the link sends per second; the time constant of the
    /// average is then one second (Floyd, Gummadi, Shenker 2001). Floyd and Jacobson used 0.002;
    /// with 1, the average is the queue itself.
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
    /// of jumping to 1 at `max_threshold` (Floyd 2000, "Recommendation on using the gentle variant
    /// of RED").
    #[serde(default = "yes")]
    pub gentle: bool,
    /// Spread the drops evenly: the probability grows with the number of packets since the last
    /// drop, so that the gaps between drops are uniformly distributed (Floyd and Jacobson sec. 7).
    /// This doubles the share of marked packets (1 in 1/2p on average, not 1 in 1/p). If false, each
    /// packet is dropped independently of the others, as in switches: see `wred`.
    #[serde(default = "yes")]
    pub uniform: bool,
    /// Accept at least 1/p and at most 2/p packets between two drops, where p is the probability at
    /// the average queue (`wait_` of ns-2, on by default there). Requires `uniform`.
    #[serde(default)]
    pub wait: bool,
    /// What becomes of ECN-capable packets where the probability is 1: at `max_threshold`, with
    /// `gentle` at its double.
    #[serde(default)]
    pub above_max: AboveMax,
}

impl RedParams {
    /// A buffer of this size; the other parameters have their defaults.
    pub fn new(limit: QueueLimit) -> Self {
        RedParams {
            limit,
            min_threshold: None,
            max_threshold: None,
            max_p: default_max_p(),
            weight: None,
            mean_packet_size: None,
            mode: RedMode::default(),
            gentle: yes(),
            uniform: yes(),
            wait: false,
            above_max: AboveMax::default(),
        }
    }
}

/// What RED does with ECN-capable packets where the average queue lets no packet pass.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
pub enum AboveMax {
    /// Mark them, as Linux (`RED_HARD_MARK` in `net/sched/sch_red.c`) and switches do.
    #[default]
    Mark,
    /// Drop them, as ns-2 does, and Linux with `harddrop`: marks have had no effect.
    Drop,
}

/// Unit of the average queue of RED.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
pub enum RedMode {
    /// Waiting packets.
    #[default]
    Packets,
    /// Waiting bytes.
    Bytes,
}

pub(super) fn default_max_p() -> f64 {
    0.1 // ns-2: linterm_ 10
}

pub(super) fn yes() -> bool {
    true
}

/// Half of the target delay of 5 ms (Floyd, Gummadi and Shenker 2001 sec. 6).
const HALF_TARGET_DELAY_S: f64 = 2.5e-3;
/// Smallest automatic `min_th` in packets (same source).
const LEAST_MIN_THRESHOLD: f64 = 5.0;
/// Automatic `max_th` divided by `min_th` (same source).
const MAX_OVER_MIN: f64 = 3.0;

impl RedParams {
    pub(super) fn mean_packet_bytes(&self, link: &LinkInfo) -> u64 {
        self.mean_packet_size.map_or(u64::from(link.packet_bytes), Size::bytes).max(1)
    }

    /// Returns C, the number of packets of mean size that the link sends per second.
    fn packets_per_second(&self, link: &LinkInfo) -> f64 {
        link.rate.bits_per_second() as f64 / (8.0 * self.mean_packet_bytes(link) as f64)
    }

    /// Converts an amount to the unit of the average.
    fn counted(&self, amount: QueueLimit, link: &LinkInfo) -> f64 {
        let mean = self.mean_packet_bytes(link) as f64;
        match (link.limit(amount), self.mode) {
            (Limit::Packets(packets), RedMode::Packets) => packets as f64,
            (Limit::Packets(packets), RedMode::Bytes) => packets as f64 * mean,
            (Limit::Bytes(bytes), RedMode::Packets) => bytes as f64 / mean,
            (Limit::Bytes(bytes), RedMode::Bytes) => bytes as f64,
        }
    }

    /// Returns `min_th` and `max_th` in the unit of the average.
    pub(super) fn thresholds(&self, link: &LinkInfo) -> (f64, f64) {
        let automatic = || {
            let packets = self.packets_per_second(link) * HALF_TARGET_DELAY_S;
            packets.max(LEAST_MIN_THRESHOLD) * self.counted(QueueLimit::packets(1), link)
        };
        let min = self.min_threshold.map_or_else(automatic, |given| self.counted(given, link));
        let max = self.max_threshold.map_or(MAX_OVER_MIN * min, |given| self.counted(given, link));
        (min, max)
    }

    /// Returns `w_q`.
    pub(super) fn weight(&self, link: &LinkInfo) -> f64 {
        self.weight.unwrap_or_else(|| -libm::expm1(-1.0 / self.packets_per_second(link)))
    }

    /// Formats a number in the unit of the average, for a message.
    fn written(&self, counted: f64) -> String {
        let unit = match self.mode {
            RedMode::Packets => "packets",
            RedMode::Bytes => "B",
        };
        let decimals = usize::from(counted.fract() > 0.0);
        format!("{counted:.decimals$} {unit}")
    }
}

impl Parameters for RedParams {
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

    /// A `max_threshold` above the limit is allowed: the limit then cuts the slope off. Automatic
    /// thresholds above a small limit are allowed too: the buffer is then a tail-drop buffer.
    fn validate(&self, link: &LinkInfo) -> Result<(), BadParameter> {
        let (min, max) = self.thresholds(link);
        let low = self.written(min);
        if min >= max {
            let high = self.written(max);
            let problem = format!("{high} is not above min_threshold, which is {low}");
            let remedy = format!(
                "raise it above {low}, or set a lower min_threshold; kind = \"step_mark\" has one threshold"
            );
            return Err(BadParameter::new("max_threshold", problem, remedy));
        }
        let limit = self.counted(self.limit, link);
        if self.min_threshold.is_some() && min >= limit {
            let limit = self.written(limit);
            let problem = format!("{low} is not below the limit, which is {limit}");
            let remedy = format!("lower it below {limit}; the average never exceeds the limit");
            return Err(BadParameter::new("min_threshold", problem, remedy));
        }
        if self.wait && !self.uniform {
            let problem = "a minimum gap between drops contradicts independent drops";
            return Err(BadParameter::new("wait", problem, "remove `wait` or `uniform = false`"));
        }
        Ok(())
    }
}

/// A RED buffer.
#[derive(Clone, Debug)]
pub struct Red {
    core: RedCore,
}

impl Red {
    /// Creates the discipline for `link`.
    pub fn new(params: &RedParams, link: &LinkInfo) -> Self {
        Red { core: RedCore::new(params, link) }
    }
}

impl Retune for Red {
    type Params = RedParams;
    const FIXED: &'static [&'static str] = &["mode", "mean_packet_size"];

    fn retune(&mut self, params: &RedParams, link: &LinkInfo) {
        self.core.retune(RedCore::new(params, link));
    }
}

impl ArrivalRule for Red {
    #[inline]
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        self.core.on_enqueue(event)
    }

    fn gauges(&self, _now: Time) -> Vec<Gauge> {
        self.core.gauges()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::script;

    fn params() -> RedParams {
        let json = r#"{
            "limit": "100 packets",
            "min_threshold": "10 packets",
            "max_threshold": "20 packets"
        }"#;
        serde_json::from_str(json).expect("the other keys have defaults")
    }

    /// Floyd, Gummadi and Shenker 2001: C = 125,000 packets of 1,000 bytes per second at 1 Gbit/s,
    /// so `min_th` = C 2.5 ms = 312.5, `max_th` = 937.5, `w_q` = 1 - exp(-x) with x = 8e-6.
    #[test]
    fn automatic_parameters_are_those_of_the_paper() {
        let automatic = RedParams { min_threshold: None, max_threshold: None, ..params() };
        let fast = script::link(1_000_000_000);
        assert_eq!(automatic.thresholds(&fast), (312.5, 937.5));
        // x - x^2 / 2 + x^3 / 6 = 8e-6 - 3.2e-11 + 8.53e-17
        let ratio = automatic.weight(&fast) / 7.999_968_000_085_333e-6;
        assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
        assert_eq!(automatic.thresholds(&script::link(1_000_000)), (5.0, 15.0));
        let in_bytes = RedParams { mode: RedMode::Bytes, ..automatic.clone() };
        assert_eq!(in_bytes.thresholds(&fast), (312_500.0, 937_500.0));
        let small = RedParams { mean_packet_size: Some(Size::new(500)), ..automatic };
        assert_eq!(small.thresholds(&fast), (625.0, 1_875.0));
    }

    #[test]
    fn thresholds_may_be_given_in_any_unit() {
        let link = script::link(8_000_000);
        let read = |text| Some(QueueLimit::read(text).unwrap());
        let given = RedParams {
            min_threshold: read("12500 B"),
            max_threshold: read("40 ms"), // 40,000 bytes at 8 Mbit/s
            ..params()
        };
        assert_eq!(given.thresholds(&link), (12.5, 40.0));
        assert_eq!(RedParams { max_threshold: None, ..given }.thresholds(&link), (12.5, 37.5));
    }
}
