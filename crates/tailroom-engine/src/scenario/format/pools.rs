//! The keys of the scenario file for memory that links share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kind_or_name;
use crate::link::ingress_pool::IngressMemory;
use crate::pool::Frees;
use crate::pool::policy::PolicyConfig;
use crate::quantity::{Size, SizeOrZero};

/// The place of the ingress of a link in memory that ingresses share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)] // serde cannot refuse them with `flatten`; the schema check does
pub(in crate::scenario) struct IngressConfig {
    /// Name of the memory, a table of `[ingress_pools]`.
    #[schemars(length(min = 1), example = &"tor")]
    pub(in crate::scenario) pool: String,
    /// The threshold.
    #[serde(flatten)]
    pub(in crate::scenario) threshold: ThresholdConfig,
}

/// Memory that the ingresses of each switch share, and how their thresholds follow it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)] // serde cannot refuse them with `flatten`; the schema check does
pub(in crate::scenario) struct SwitchIngressConfig {
    /// The memory, as a table of `[ingress_pools]`. Default: that of the table which `memory_of` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = serde_json::json!({ "size": "33 MB" }))]
    pub(in crate::scenario) pool: Option<IngressMemory>,
    /// The threshold.
    #[serde(flatten)]
    pub(in crate::scenario) threshold: ThresholdConfig,
}

/// How the threshold of an ingress follows the memory that is free.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(in crate::scenario) struct ThresholdConfig {
    /// What the ingress may take, beyond its `xoff` if it has pause frames, as a multiple of the memory that
    /// is free. Switches have powers of two, 2^n for n = `dynamic_th`.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0), example = 0.125)]
    pub(in crate::scenario) alpha: f64,
    /// The sender resumes when the bytes have fallen this far below the threshold, or to `xon`.
    #[serde(default = "no_bytes")]
    pub(in crate::scenario) xon_offset: SizeOrZero,
}

fn no_bytes() -> SizeOrZero {
    SizeOrZero::new(0)
}

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
    /// Packets with ECN that find more than this of the memory beyond all reserves in use are marked,
    /// whichever queue they join; others pass. Without it, only the disciplines mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1 MB")]
    pub(in crate::scenario) mark_above: Option<Size>,
}
