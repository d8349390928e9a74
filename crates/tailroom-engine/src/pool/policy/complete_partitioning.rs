//! Complete partitioning (Kamoun and Kleinrock 1980, "Analysis of shared finite storage in a
//! computer network node environment under general traffic conditions"): as if each queue had a
//! memory of its own.

use super::{Parameters, Policy, PoolInfo, Request};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Complete partitioning has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CompletePartitioningParams {}

impl Parameters for CompletePartitioningParams {}

/// Complete partitioning.
#[derive(Clone, Debug)]
pub struct CompletePartitioning {
    part: u64,
}

impl CompletePartitioning {
    /// Equal parts of `pool`, rounded down to cells.
    pub fn new(_params: &CompletePartitioningParams, pool: &PoolInfo) -> Self {
        CompletePartitioning { part: pool.size / (pool.queues.len() as u64).max(1) }
    }
}

impl Policy for CompletePartitioning {
    #[inline]
    fn admits(&self, request: &Request) -> bool {
        request.queue + request.needed <= self.part
    }
}
