//! Dynamic thresholds (Choudhury and Hahne 1998, "Dynamic queue length thresholds for shared-memory
//! packet switches", IEEE/ACM Transactions on Networking 6(2)): "a queue whose length equals or
//! exceeds the threshold accepts no arrivals". The length is the one that the packet finds, so that
//! a queue exceeds its threshold by less than a packet.

use super::{Parameters, Policy, PoolInfo, Request};
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
}

fn one() -> f64 {
    1.0
}

impl Default for DynamicThresholdParams {
    fn default() -> Self {
        DynamicThresholdParams { alpha: one() }
    }
}

impl Parameters for DynamicThresholdParams {
    fn alpha(&self) -> Option<f64> {
        Some(self.alpha)
    }
}

/// Dynamic thresholds.
#[derive(Debug)]
pub struct DynamicThreshold;

impl DynamicThreshold {
    /// The policy; the pool keeps the alphas.
    pub fn new(_params: &DynamicThresholdParams, _pool: &PoolInfo) -> Self {
        DynamicThreshold
    }
}

impl Policy for DynamicThreshold {
    #[inline]
    fn admits(&self, request: &Request) -> bool {
        let free = request.size - request.occupied;
        float(request.queue) < request.alpha * float(free)
    }
}
