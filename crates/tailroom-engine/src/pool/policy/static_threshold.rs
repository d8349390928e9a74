//! Static thresholds, or sharing with maximum queue lengths (Irland 1978, "Buffer management in a
//! packet switch"; Kamoun and Kleinrock 1980).

use super::{Parameters, Policy, PoolInfo, Request};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::Size;

/// Parameters of static thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StaticThresholdParams {
    /// The most memory that a queue may take beyond its reserve.
    #[schemars(example = "100 kB")]
    pub threshold: Size,
}

impl StaticThresholdParams {
    /// This threshold for each queue.
    pub fn new(threshold: Size) -> Self {
        StaticThresholdParams { threshold }
    }
}

impl Parameters for StaticThresholdParams {}

/// Static thresholds.
#[derive(Clone, Debug)]
pub struct StaticThreshold {
    threshold: u64,
}

impl StaticThreshold {
    /// The threshold in whole cells of `pool`.
    pub fn new(params: &StaticThresholdParams, pool: &PoolInfo) -> Self {
        StaticThreshold { threshold: params.threshold.bytes() / u64::from(pool.cell_bytes) }
    }
}

impl Policy for StaticThreshold {
    #[inline]
    fn admits(&self, request: &Request) -> bool {
        request.queue + request.needed <= self.threshold
    }
}
