//! The parameters of a fair queue.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::longest::Length;
use crate::quantity::Size;
use crate::quantity::limit::QueueLimit;
use crate::queue::flow_queues::check_quantum;
use crate::queue::{BadParameter, LinkInfo, Parameters};

/// Parameters of per-flow fair queueing.
///
/// Only overflow tells of congestion: it drops, and marks nothing, whatever the packets' ECN field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FairParams {
    /// How much may wait, of all flows together.
    #[schemars(example = "1 bdp")]
    pub limit: QueueLimit,
    /// Whose packet leaves next (`start_time`).
    #[serde(default)]
    pub scheduler: FairScheduler,
    /// What the length of a queue counts when the longest must give way: `bytes` (ns-2's DRR; RFC
    /// 8290 sec. 4.1) or `packets`. The packet that arrives is counted in. Of several that are
    /// longest the queue that it has joined gives way, or else any of them, the same one in every
    /// run.
    #[serde(default)]
    pub longest: Length,
    /// Which packet of the longest queue is dropped: the `front` one, as TCP then learns of it
    /// sooner (Suter, Lakshman, Stiliadis, Choudhury 1998; so do ns-2's DRR, Cross-protect and RFC
    /// 8290), or the `tail`.
    #[serde(default)]
    pub drop_from: DropFrom,
    /// Bytes that the flow with the smallest weight may send at its turn, of `deficit_round_robin`
    /// only (the largest packet of the link; Shreedhar and Varghese 1996 sec. III). At least that
    /// packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Queues that the flows are spread over by a hash salted with the run's seed, as stochastic
    /// fairness queueing does (Infocom 1990); flows that meet in one share it. Without it every
    /// flow has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub buckets: Option<u32>,
    /// Weight of each flow of a group, by the group's name, 0.001 to 1000; a group that is not
    /// named has weight 1. Backlogged flows share the link in proportion.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
}

/// Whose packet leaves next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FairScheduler {
    /// Start-time fair queueing (Goyal, Vin, Cheng 1996): the packet with the smallest start tag;
    /// of equal tags the one whose tag was set first. It is set when its flow becomes active, or
    /// when the packet before it leaves.
    #[default]
    StartTime,
    /// Deficit round robin (Shreedhar, Varghese 1996): flows in turn, each with a quantum of bytes.
    DeficitRoundRobin,
    /// Priority fair queueing (Kortebi, Oueslati, Roberts 2004, "Cross-protect"): start-time fair
    /// queueing, except that a flow that becomes active goes first until it has sent as much as the
    /// largest packet of the link. Packets with priority are served first come, first served.
    PriorityFair,
}

/// Which packet of the longest queue is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DropFrom {
    /// The one that came first.
    #[default]
    Front,
    /// The one that came last.
    Tail,
}

/// Smallest and largest weight: what the fixed-point tags have room for.
const WEIGHTS: std::ops::RangeInclusive<f64> = 0.001..=1_000.0;

impl FairParams {
    /// The defaults, with this limit.
    pub fn with_limit(limit: QueueLimit) -> Self {
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

    /// The weight of a group.
    pub(super) fn weight(&self, group: &str) -> f64 {
        self.weights.get(group).copied().unwrap_or(1.0)
    }

    /// The smallest weight of the link's groups.
    pub(super) fn smallest_weight(&self, link: &LinkInfo) -> f64 {
        let weights = link.groups.iter().map(|(name, _)| self.weight(name));
        weights.reduce(f64::min).unwrap_or(1.0)
    }

    fn validate_weights(&self, link: &LinkInfo) -> Result<(), BadParameter> {
        if !self.weights.is_empty() && self.buckets.is_some() {
            let problem = "weigh flows, but `buckets` gives flows a queue together";
            return Err(BadParameter::new("weights", problem, "remove one of the two"));
        }
        for (name, weight) in &self.weights {
            if !link.groups.iter().any(|(group, _)| group == name) {
                let groups: Vec<&str> = link.groups.iter().map(|(group, _)| &**group).collect();
                let problem = format!("no group \"{name}\" crosses the link");
                let remedy = format!("name one of {}", groups.join(", "));
                return Err(BadParameter::new("weights", problem, remedy));
            }
            if link.groups.iter().any(|(group, members)| group == name && members.is_empty()) {
                let problem = format!("the flows of \"{name}\" come and go");
                let remedy = "weigh groups of permanent flows only";
                return Err(BadParameter::new("weights", problem, remedy));
            }
            if !WEIGHTS.contains(weight) {
                let problem = format!("the weight {weight} of \"{name}\" is out of range");
                let (least, most) = (WEIGHTS.start(), WEIGHTS.end());
                let remedy = format!("write {least} to {most}");
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
