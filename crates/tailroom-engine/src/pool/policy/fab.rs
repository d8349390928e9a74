//! FAB (Apostolaki, Vanbever and Ghobadi 2019, "FAB: Toward flow-aware buffer sharing on programmable
//! switches", Workshop on Buffer Sizing): dynamic thresholds whose alpha is large for the packets of
//! flows that have sent little.
//!
//! The paper's text was not to be had, so the rule is that of `GenQueueDisc::FlowAwareBuffer` of
//! inet-tub/ns3-datacenter (commit 6ddb4a4), and its values are the defaults: a flow is short as long as
//! its packets amount to less than a size, those that are refused and the arriving one included, and
//! starts afresh after a gap of more than the window. That code counts at each port; here it is the
//! pool, which is the whole device.

use super::{Parameters, Policy, PoolInfo, Request, ShortFlows};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::{PositiveDuration, Size};

/// Parameters of FAB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FabParams {
    /// The threshold of a queue, as a multiple of the shared memory that is free, for the packets of
    /// flows that are not short. A link may have an `alpha` of its own.
    #[serde(default = "half")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0))]
    pub alpha: f64,
    /// Alpha of the packets of short flows, at every queue.
    #[serde(default = "large")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0))]
    pub short_flow_alpha: f64,
    /// A flow is short as long as fewer bytes of it have reached the pool, those of the arriving packet
    /// and of packets that found no room included.
    #[serde(default = "fifteen_packets")]
    pub short_flow_size: Size,
    /// A flow of which nothing has reached the pool for longer than this counts as new.
    #[serde(default = "five_milliseconds")]
    pub window: PositiveDuration,
}

// The values of `examples/ABM/abm-evaluation.cc` and its scripts.

fn half() -> f64 {
    0.5
}

fn large() -> f64 {
    1024.0
}

fn fifteen_packets() -> Size {
    Size::new(15 * 1_400)
}

fn five_milliseconds() -> PositiveDuration {
    PositiveDuration::new(5_000_000_000)
}

impl Default for FabParams {
    fn default() -> Self {
        FabParams {
            alpha: half(),
            short_flow_alpha: large(),
            short_flow_size: fifteen_packets(),
            window: five_milliseconds(),
        }
    }
}

impl Parameters for FabParams {
    fn alpha(&self) -> Option<f64> {
        Some(self.alpha)
    }

    fn favoured_alpha(&self) -> Option<f64> {
        Some(self.short_flow_alpha)
    }

    fn short_flows(&self) -> Option<ShortFlows> {
        Some(ShortFlows { bytes: self.short_flow_size.bytes(), window: self.window.time() })
    }
}

/// FAB.
#[derive(Clone, Debug)]
pub struct Fab;

impl Fab {
    /// The policy; the pool keeps the alphas, and counts the bytes of flows.
    pub fn new(_params: &FabParams, _pool: &PoolInfo) -> Self {
        Fab
    }
}

impl Policy for Fab {
    #[inline]
    fn admits(&self, request: &Request) -> bool {
        request.is_below_dynamic_threshold()
    }
}
