//! Dynamic thresholds (Choudhury and Hahne 1998, "Dynamic queue length thresholds for shared-memory
//! packet switches", IEEE/ACM Transactions on Networking 6(2)): "a queue whose length equals or
//! exceeds the threshold accepts no arrivals". The length is the one that the packet finds, so that
//! a queue exceeds its threshold by less than a packet.
//!
//! Two alphas in series limit a port, and each queue to a multiple of what its port may still take, as
//! on NVIDIA's Spectrum-4: `mellanox/qos_param_generator.py` of `sonic-mgmt` computes where its queues
//! stop.
//!
//! Packets of lower loss priority have smaller alphas (Hahne and Choudhury 2002, "Dynamic queue length
//! thresholds for multiple loss priorities", IEEE/ACM Transactions on Networking 10(3)). What the
//! threshold is compared with decides whether priority is strict: all packets of the queue, or those of
//! the packet's own priority.

use super::{Parameters, Policy, PoolInfo, QuickRule, Request};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::units::float;

/// Parameters of dynamic thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DynamicThresholdParams {
    /// The threshold of a queue, as a multiple of the shared memory that is free. Switches have
    /// powers of two, 2^n for n = `dynamic_th`; a link may have an `alpha` of its own.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0))]
    pub alpha: f64,
    /// Limit ports too: the queues of a port may together grow to this multiple of the shared memory
    /// that is free, and each of them to `alpha` times what its port may still take. Links with the same
    /// `port` are queues of one port. Off unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0), example = 8.0)]
    pub port_alpha: Option<f64>,
    /// Alphas of packets with `loss_priority` 1, 2 and so on; those with 0 have `alpha`, or that of
    /// their link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 7),
        inner(range(min = 0.000_001, max = 1_000_000.0)),
        example = vec![0.25]
    )]
    pub lower_alphas: Vec<f64>,
    /// What a packet's threshold limits, where packets have loss priorities.
    #[serde(default)]
    pub limits: Limits,
}

/// What the threshold of a loss priority limits.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
pub enum Limits {
    /// All packets of the queue. If those of a higher priority fill the queue to their own threshold,
    /// those of a lower one find no room.
    #[default]
    Queue,
    /// The packets of the same priority in the queue, so that each priority has memory.
    Priority,
}

fn one() -> f64 {
    1.0
}

impl Default for DynamicThresholdParams {
    fn default() -> Self {
        DynamicThresholdParams {
            alpha: one(),
            port_alpha: None,
            lower_alphas: Vec::new(),
            limits: Limits::default(),
        }
    }
}

impl Parameters for DynamicThresholdParams {
    fn alpha(&self) -> Option<f64> {
        Some(self.alpha)
    }

    fn lower_alphas(&self) -> &[f64] {
        &self.lower_alphas
    }

    fn counts_priorities(&self) -> bool {
        self.limits == Limits::Priority
    }

    fn has_ports(&self) -> bool {
        self.port_alpha.is_some()
    }

    fn quick(&self) -> QuickRule {
        if self.has_ports() || !self.lower_alphas.is_empty() {
            QuickRule::None
        } else {
            QuickRule::DynamicThreshold
        }
    }
}

/// Dynamic thresholds.
#[derive(Clone, Debug)]
pub struct DynamicThreshold {
    port_alpha: Option<f64>,
}

impl DynamicThreshold {
    /// The policy; the pool keeps the alphas of the queues.
    pub fn new(params: &DynamicThresholdParams, _pool: &PoolInfo) -> Self {
        DynamicThreshold { port_alpha: params.port_alpha }
    }
}

impl Policy for DynamicThreshold {
    #[inline]
    fn admits(&self, request: &Request) -> bool {
        let Some(alpha) = self.port_alpha else { return request.is_below_dynamic_threshold() };
        let allowance = alpha * float(request.size - request.occupied) - float(request.port);
        float(request.queue) < request.alpha * allowance
    }
}
