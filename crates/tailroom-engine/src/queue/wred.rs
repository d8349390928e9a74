//! Weighted RED with ECN in the terms in which switches are configured: Kmin, Kmax and Pmax (Zhu et
//! al. 2015, "Congestion control for large-scale RDMA deployments", Figure 5).
//!
//! It is [`Red`](super::red::Red) with each packet on its own, a jump to 1 at Kmax, marks above it,
//! and, unless a weight is given, the queue itself in place of its average.

use super::red::rule::RedCore;
use super::red::{AboveMax, RedMode, RedParams};
use super::{
    ArrivalRule, BadParameter, EnqueueEvent, Gauge, LinkInfo, Parameters, Retune, Verdict,
};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::limit::QueueLimit;
use crate::units::Time;

/// Parameters of WRED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct WredParams {
    /// Buffer size, excluding the packet in transmission. A packet that does not fit is dropped.
    #[schemars(example = "1 bdp")]
    pub limit: QueueLimit,
    /// Queue from which packets are marked, or dropped if they are not ECN-capable (Kmin).
    #[schemars(example = "100 kB")]
    pub k_min: QueueLimit,
    /// Queue from which all packets are (Kmax).
    #[schemars(example = "400 kB")]
    pub k_max: QueueLimit,
    /// Share of the packets that are just below `k_max` (Pmax).
    #[serde(default = "default_p_max")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub p_max: f64,
    /// Weight of a new sample in the average queue; with 1, the average is the queue itself. A
    /// switch's exponent n is 2^-n.
    #[serde(default = "no_average")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub weight: f64,
}

impl WredParams {
    /// A buffer of this size that marks from `k_min` on; the other parameters have their defaults.
    pub fn new(limit: QueueLimit, k_min: QueueLimit, k_max: QueueLimit) -> Self {
        WredParams { limit, k_min, k_max, p_max: default_p_max(), weight: no_average() }
    }
}

fn default_p_max() -> f64 {
    0.01 // Zhu et al. 2015, Figure 14
}

fn no_average() -> f64 {
    1.0
}

impl WredParams {
    fn red(&self) -> RedParams {
        RedParams {
            limit: self.limit,
            min_threshold: Some(self.k_min),
            max_threshold: Some(self.k_max),
            max_p: self.p_max,
            weight: Some(self.weight),
            mean_packet_size: None,
            mode: RedMode::Bytes,
            gentle: false,
            uniform: false,
            wait: false,
            above_max: AboveMax::Mark,
        }
    }
}

impl Parameters for WredParams {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        vec![("limit", &mut self.limit), ("k_min", &mut self.k_min), ("k_max", &mut self.k_max)]
    }

    fn binding(&self) -> &'static [&'static str] {
        &["k_min"]
    }

    fn validate(&self, link: &LinkInfo) -> Result<(), BadParameter> {
        self.red().validate(link).map_err(|bad| {
            if bad.key == "min_threshold" {
                let problem = format!("{} is not below the limit of {}", self.k_min, self.limit);
                let remedy = format!("lower it below {}, or raise limit", self.limit);
                return BadParameter::new("k_min", problem, remedy);
            }
            let problem = format!("{} is not above k_min, which is {}", self.k_max, self.k_min);
            let remedy = "raise it, or lower k_min; kind = \"step_mark\" has one threshold";
            BadParameter::new("k_max", problem, remedy)
        })
    }
}

/// A WRED buffer.
#[derive(Clone, Debug)]
pub struct Wred {
    core: RedCore,
}

impl Wred {
    /// Creates the discipline for `link`.
    pub fn new(params: &WredParams, link: &LinkInfo) -> Self {
        Wred { core: RedCore::new(&params.red(), link) }
    }
}

impl Retune for Wred {
    type Params = WredParams;

    fn retune(&mut self, params: &WredParams, link: &LinkInfo) {
        self.core.retune(RedCore::new(&params.red(), link));
    }
}

impl ArrivalRule for Wred {
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
    use crate::packet::Ecn;
    use crate::queue::buffer::DropReason;
    use crate::queue::script;

    /// What a switch was asked for in the test plan of openconfig/featureprofiles: 500 kB, 2 MB, 5 %.
    fn params() -> WredParams {
        let json = r#"{"limit": "12 MB", "k_min": "500 kB", "k_max": "2000 kB", "p_max": 0.05}"#;
        serde_json::from_str(json).expect("the other keys have defaults")
    }

    /// Of 100,000 packets that find `waiting_bytes`, the shares that are marked and dropped.
    fn shares(waiting_bytes: u64, ecn: Ecn) -> (f64, f64) {
        let mut wred = Wred::new(&params(), &script::link(100_000_000_000));
        let event = EnqueueEvent {
            now: Time::ZERO,
            flow: 0,
            bytes: 1_000,
            ecn,
            idle_since: None,
            waiting_packets: waiting_bytes / 1_000,
            waiting_bytes,
        };
        let (mut marked, mut dropped) = (0, 0);
        for _ in 0..100_000 {
            match wred.on_enqueue(&event) {
                Verdict::Accept => {}
                Verdict::Mark => marked += 1,
                Verdict::Drop(reason) => {
                    assert_eq!(reason, DropReason::Early);
                    dropped += 1;
                }
            }
        }
        (f64::from(marked) * 1e-5, f64::from(dropped) * 1e-5)
    }

    /// Pmax (q - Kmin) / (Kmax - Kmin), within four standard deviations of 100,000 draws.
    #[test]
    fn the_share_of_marks_grows_from_k_min_to_k_max_and_is_one_above() {
        for kilobytes in [600_u64, 749, 1_000, 1_249, 1_500, 1_749, 1_998] {
            let expected = 0.05 * (kilobytes as f64 - 500.0) / 1_500.0;
            let (marked, dropped) = shares(1_000 * kilobytes, Ecn::Ect0);
            let tolerance = 4.0 * (expected * (1.0 - expected) * 1e-5).sqrt();
            assert!((marked - expected).abs() < tolerance, "{kilobytes} kB: {marked}, {expected}");
            assert!(dropped < f64::EPSILON);
        }
        assert_eq!(shares(499_000, Ecn::Ect0), (0.0, 0.0));
        for above in [2_000_000, 9_000_000] {
            assert_eq!(shares(above, Ecn::Ect0), (1.0, 0.0));
            assert_eq!(shares(above, Ecn::NotEct), (0.0, 1.0));
        }
    }
}
