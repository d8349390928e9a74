//! The keys of the scenario file for memory that links share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kind_or_name;
use crate::pool::Frees;
use crate::pool::policy::PolicyConfig;
use crate::quantity::Size;

/// Memory that several links share, as the ports of a switch do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct PoolConfig {
    /// The memory.
    #[schemars(example = "16 MB")]
    pub(in crate::scenario) size: Size,
    /// The unit in which memory is given out: a packet takes whole cells. Without it, a packet takes
    /// its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "208 B")]
    pub(in crate::scenario) cell: Option<Size>,
    /// Which packets find room.
    #[serde(deserialize_with = "kind_or_name::read")]
    #[schemars(
        schema_with = "kind_or_name::schema::<PolicyConfig>",
        example = serde_json::json!({ "kind": "dynamic_threshold", "alpha": 1 })
    )]
    pub(in crate::scenario) policy: PolicyConfig,
    /// When the memory of a packet that is sent is free again. Chips free its cells one by one in
    /// between, as they read them.
    #[serde(default)]
    pub(in crate::scenario) frees: Frees,
}
