//! The keys of a line that links share: they are the traffic classes of a port (IEEE 802.1Q, 8.6.8).

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};

/// The place of a link on a line that it shares with others.
///
/// A transmission that has begun is never interrupted. When the line is free, the link sends that has
/// the highest priority among those with a packet; a link that is paused has none. Links of equal
/// priority take turns: a turn grants a link bytes in proportion to its weight, of which it may
/// overdraw less than a packet, as in RFC 8290 sec. 4.2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LineConfig")]
#[non_exhaustive]
pub struct LineSpec {
    /// Name of the line. The links with the same name share it; they have the same rate, the same
    /// changes of rate and the same delay.
    #[schemars(length(min = 1), example = &"up")]
    pub name: String,
    /// Priority of the link among those of the line, 0 to 7; 7 is served first.
    #[serde(default)]
    #[schemars(range(max = 7))]
    pub priority: u32,
    /// Weight of the link among those of the same priority.
    #[serde(default = "one")]
    #[schemars(range(min = 0.001, max = 1_000.0))]
    pub weight: f64,
}

fn one() -> f64 {
    1.0
}

impl LineSpec {
    /// A link of this line with priority 0 and weight 1.
    pub fn new(name: impl Into<String>) -> Self {
        LineSpec { name: name.into(), priority: 0, weight: one() }
    }
}
