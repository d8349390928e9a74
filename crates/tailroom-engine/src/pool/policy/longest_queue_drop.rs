//! Push-out from the longest queue (Thareja and Agrawala 1984, "On the design of optimal policy for
//! sharing finite buffers"; Hahne, Kesselman and Mansour 2001, "Competitive buffer management for
//! shared-memory switches").

use super::{Parameters, Policy, PoolInfo, QuickRule, Request};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Push-out from the longest queue has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LongestQueueDropParams {}

impl Parameters for LongestQueueDropParams {
    fn pushes_out(&self) -> bool {
        true
    }

    fn quick(&self) -> QuickRule {
        QuickRule::Fits
    }
}

/// Push-out from the longest queue.
#[derive(Clone, Debug)]
pub struct LongestQueueDrop;

impl LongestQueueDrop {
    /// The policy; the pool finds the longest queue.
    pub fn new(_params: &LongestQueueDropParams, _pool: &PoolInfo) -> Self {
        LongestQueueDrop
    }
}

impl Policy for LongestQueueDrop {
    #[inline]
    fn admits(&self, _request: &Request) -> bool {
        true
    }
}
