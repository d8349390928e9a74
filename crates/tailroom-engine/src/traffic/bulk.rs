//! Bulk data: the sender takes packets whenever its window allows, so there is no state.

use super::context::GroupContext;
use super::{OfferedData, Parameters};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::BadParameter;
use crate::quantity::Size;

/// Bulk data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BulkParams {
    /// Payload to send in all. Left out, the flow is permanent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
}

impl BulkParams {
    /// A transfer of this payload. [`BulkParams::default`] never ends.
    pub fn transfer(payload: Size) -> Self {
        BulkParams { bytes: Some(payload) }
    }
}

impl Parameters for BulkParams {
    type Spec = Self;

    fn resolve(&self, _context: &GroupContext<'_>) -> Result<Self, BadParameter> {
        Ok(self.clone())
    }
}

impl OfferedData for BulkParams {}
