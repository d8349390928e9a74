//! Parameters of a fair queue.

use std::collections::BTreeMap;

use super::longest::Length;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::Size;
use crate::quantity::limit::QueueLimit;
use crate::queue::flow_queues::check_quantum;
use crate::queue::{BadParameter, LinkInfo, Parameters};

/// Parameters of per-flow fair queueing.
///
/// Overflow is the only congestion signal: packets are dropped and never marked, whatever their ECN
/// field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FairParams {
    /// Size of all queues together.
    #[schemars(example = "1 bdp")]
    pub limit: QueueLimit,
    /// Scheduling algorithm (`start_time`).
    #[serde(default)]
    pub scheduler: FairScheduler,
    /// Unit in which the longest queue is determined: `bytes` (ns-2's DRR; RFC 8290 sec. 4.1) or
    /// `packets`. The arriving packet counts. In a tie, the queue of the arriving packet is taken
    /// if it is one of the longest, otherwise any of them, the same one in every run.
    #[serde(default)]
    pub longest: Length,
    /// Which packet of the longest queue is dropped: the one at the `front`, so that TCP learns of
    /// the drop sooner (Suter, Lakshman, Stiliadis, Choudhury 1998; also ns-2's DRR, Cross-protect
    /// and RFC 8290), or the one at the `tail`.
    #[serde(default)]
    pub drop_from: DropFrom,
    /// Bytes that the flow with the smallest weight may send per turn, at least the largest packet;
    /// only for `deficit_round_robin` (default: the largest packet of the link; Shreedhar and
    /// Varghese 1996 sec. III).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Number of queues that flows are hashed to, as in stochastic fairness queueing (Infocom
    /// 1990); the run's seed salts the hash. Flows with the same hash share a queue. Default: one
    /// queue per flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub buckets: Option<u32>,
    /// Weight of each flow of a group, by the name of the group, 0.001 to 1000; other groups have
    /// weight 1. Backlogged flows share the link in proportion to their weights.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
}

/// Scheduling algorithm of a fair queue.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
pub enum FairScheduler {
    /// Start-time fair queueing (Goyal, Vin, Cheng 1996): the packet with the smallest start tag
    /// leaves next; among equal tags, the packet whose tag was set first. A tag is set when its
    /// flow becomes active, or when the previous packet of the flow leaves.
    #[default]
    StartTime,
    /// Deficit round robin (Shreedhar, Varghese 1996): flows take turns, each with a quantum of
    /// bytes.
    DeficitRoundRobin,
    /// Priority fair queueing (Kortebi, Oueslati, Roberts 2004, "Cross-protect"): start-time fair
    /// queueing, except that a flow that becomes active has priority until it has sent as many
    /// bytes as the largest packet of the link. Packets with priority are served first come, first
    /// served.
    PriorityFair,
}

/// Which packet of the longest queue is dropped.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
pub enum DropFrom {
    /// The packet that arrived first.
    #[default]
    Front,
    /// The packet that arrived last.
    Tail,
}

/// Range of weights that the fixed-point tags can represent.
const WEIGHTS: std::ops::RangeInclusive<f64> = 0.001..=1_000.0;

impl FairParams {
    /// Returns the default parameters with the given limit.
    pub fn new(limit: QueueLimit) -> Self {
        FairParams {
            limit,
            scheduler: FairScheduler::default(),
            longest: Length::default(),
            drop_from: DropFrom::default(),
            quantum: None,
            buckets: None,
            weights: BTreeMap::new(),
        }
    }

    /// Returns the weight of a group.
    pub(super) fn weight(&self, group: &str) -> f64 {
        self.weights.get(group).copied().unwrap_or(1.0)
    }

    /// Returns the smallest weight of the groups that cross the link.
    pub(super) fn smallest_weight(&self, link: &LinkInfo) -> f64 {
        let weights = link.groups.iter().map(|(name, _)| self.weight(name));
        weights.reduce(f64::min).unwrap_or(1.0)
    }

    fn validate_weights(&self, link: &LinkInfo) -> Result<(), BadParameter> {
        if !self.weights.is_empty() && self.buckets.is_some() {
            let problem = "apply to single flows, but `buckets` lets flows share queues";
            return Err(BadParameter::new("weights", problem, "remove `weights` or `buckets`"));
        }
        for (name, weight) in &self.weights {
            if !link.groups.iter().any(|(group, _)| group == name) {
                let groups: Vec<&str> = link.groups.iter().map(|(group, _)| &**group).collect();
                let problem = format!("no group \"{name}\" crosses the link");
                let remedy = format!("name one of {}", groups.join(", "));
                return Err(BadParameter::new("weights", problem, remedy));
            }
            if link.groups.iter().any(|(group, members)| group == name && members.is_empty()) {
                let problem = format!("\"{name}\" is a group of dynamic flows");
                let remedy = "name groups of permanent flows only";
                return Err(BadParameter::new("weights", problem, remedy));
            }
            if !WEIGHTS.contains(weight) {
                let problem = format!("the weight {weight} of \"{name}\" is out of range");
                let (least, most) = (WEIGHTS.start(), WEIGHTS.end());
                let remedy = format!("write a weight from {least} to {most}");
                return Err(BadParameter::new("weights", problem, remedy));
            }
        }
        Ok(())
    }
}

impl Parameters for FairParams {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        vec![("limit", &mut self.limit)]
    }

    fn validate(&self, link: &LinkInfo) -> Result<(), BadParameter> {
        if let Some(quantum) = self.quantum {
            if self.scheduler != FairScheduler::DeficitRoundRobin {
                let problem = "only `deficit_round_robin` has a quantum";
                let remedy = "remove it, or set `scheduler = \"deficit_round_robin\"`";
                return Err(BadParameter::new("quantum", problem, remedy));
            }
            check_quantum(quantum, link)?;
        }
        self.validate_weights(link)
    }
}
