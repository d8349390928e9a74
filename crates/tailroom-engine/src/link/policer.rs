//! A policer: a token bucket that drops what it does not let through.

use super::token_bucket::TokenBucket;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::{BitRate, Size};
use crate::units::Time;

/// A token bucket in front of the queue of a link, which drops arriving packets.
///
/// A packet passes if the bucket holds its tokens on arrival, and takes them; otherwise it is
/// dropped before the queue discipline sees it, as by Linux's `police` action with `conform-exceed
/// drop`. In the long run the link carries no more than this rate, so that utilization and bdp are
/// measured by it, if it is below the rate of the link; limits in time are measured by the rate at
/// which packets leave the queue.
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
pub(super) struct Policer {
    bucket: TokenBucket,
    /// The tokens that have been taken, in bytes.
    taken_bytes: u64,
}

impl Policer {
    /// A policer whose bucket is full.
    pub(super) fn new(spec: &PolicerSpec) -> Self {
        Policer { bucket: TokenBucket::new(spec.rate.rate(), spec.burst.bytes()), taken_bytes: 0 }
    }

    /// Whether a packet that arrives at `now` passes. Packets must arrive in order of time.
    pub(super) fn passes(&mut self, now: Time, bytes: u32) -> bool {
        let passes = self.bucket.take_if_held(now, bytes);
        self.taken_bytes += u64::from(bytes) * u64::from(passes);
        passes
    }

    /// The tokens that found the bucket full in `[0, now)`, in bit * ps / s.
    pub(super) fn unused(&self, now: Time) -> u128 {
        self.bucket.overflow(self.taken_bytes, now)
    }

    /// The tokens that arrive in `[from, to)`, in bit * ps / s.
    pub(super) fn capacity(&self, from: Time, to: Time) -> u128 {
        self.bucket.arriving(from, to)
    }

    /// The same in bits.
    pub(super) fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        self.bucket.arriving_bits(from, to)
    }
}
