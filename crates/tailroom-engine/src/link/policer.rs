//! A policer: a token bucket that drops what it does not let through.

use super::token_bucket::TokenBucket;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::{BitRate, Size};
use crate::units::Time;

/// A token bucket in front of the queue of a link, which drops arriving packets.
///
/// A packet passes if the bucket holds its tokens on arrival, and takes them; otherwise it is
/// dropped before the queue discipline sees it, as by Linux's `police` action with `conform-exceed
/// drop`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PolicerConfig")]
#[non_exhaustive]
pub struct PolicerSpec {
    /// Rate at which tokens arrive.
    #[schemars(example = "50 Mbit/s")]
    pub rate: BitRate,
    /// Size of the bucket, in bytes; at least the largest packet.
    #[schemars(example = "250 kB")]
    pub burst: Size,
}

impl PolicerSpec {
    /// A policer with this rate and burst.
    pub fn new(rate: BitRate, burst: Size) -> Self {
        PolicerSpec { rate, burst }
    }
}

/// The state of a policer.
#[derive(Clone, Debug)]
pub(super) struct Policer(TokenBucket);

impl Policer {
    /// A policer whose bucket is full.
    pub(super) fn new(spec: &PolicerSpec) -> Self {
        Policer(TokenBucket::new(spec.rate.rate(), spec.burst.bytes()))
    }

    /// Whether a packet that arrives at `now` passes. Packets must arrive in order of time.
    pub(super) fn passes(&mut self, now: Time, bytes: u32) -> bool {
        self.0.take_if_held(now, bytes)
    }
}
