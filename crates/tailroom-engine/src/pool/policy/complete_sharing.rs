//! Complete sharing (Kamoun and Kleinrock 1980, "Analysis of shared finite storage in a computer
//! network node environment under general traffic conditions").

use super::{Parameters, Policy, PoolInfo, QuickRule, Request};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// Complete sharing has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CompleteSharingParams {}

impl Parameters for CompleteSharingParams {
    fn quick(&self) -> QuickRule {
        QuickRule::Fits
    }
}

/// Complete sharing.
#[derive(Clone, Debug)]
pub struct CompleteSharing;

impl CompleteSharing {
    /// The policy; it asks for nothing.
    pub fn new(_params: &CompleteSharingParams, _pool: &PoolInfo) -> Self {
        CompleteSharing
    }
}

impl Policy for CompleteSharing {
    #[inline]
    fn admits(&self, _request: &Request) -> bool {
        true
    }
}
