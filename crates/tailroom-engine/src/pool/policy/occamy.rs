//! Occamy (Shan et al. 2025, "Occamy: A preemptive buffer management for on-chip shared-memory
//! switches", arXiv 2501.13570): dynamic thresholds with a large alpha, and in the background
//! the heads of queues above their thresholds are dropped, while the memory has bandwidth to spare.
//!
//! What is to spare is a token bucket's: transmissions take tokens whether or not there are any, and a
//! head is dropped only while the bucket owes none. The queues take turns. So it is in the authors'
//! programs, their DPDK switch (ants-xjtu/Occamy, commit 1bf6d5e, `src/dpdk/runtime.c`) and their
//! simulations (ants-xjtu/Occamy-Simulation, commit d762179,
//! `shared-memory-point-to-point-net-device.cc`), whose values are the defaults. These add tokens and drop
//! at fixed steps; here a head is dropped as soon as the tokens are there. They compare the threshold with
//! the queue and the arriving packet; here it is the queue alone, as under dynamic thresholds.

use super::{ExpulsionSpec, Parameters, Policy, PoolInfo, Request};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::{BitRate, Size};

/// Parameters of Occamy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OccamyParams {
    /// The threshold of a queue, as a multiple of the shared memory that is free. A link may have an
    /// `alpha` of its own.
    #[serde(default = "eight")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0))]
    pub alpha: f64,
    /// The rate at which the memory can be read, in whole cells, by transmissions and by drops of
    /// heads; 88 Gbit/s for eight ports of 10 Gbit/s in the authors' switch. Default: that of the links
    /// together, so that what idle links leave drops heads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1.1 Tbit/s")]
    pub memory_rate: Option<BitRate>,
    /// How much the memory can catch up with: the size of the bucket of tokens; 40 kB in the authors'
    /// switch.
    #[serde(default = "eight_cells")]
    pub bucket: Size,
}

fn eight() -> f64 {
    8.0 // run-100g_benchmark.sh
}

fn eight_cells() -> Size {
    Size::new(8 * 200) // switch.h
}

impl Default for OccamyParams {
    fn default() -> Self {
        OccamyParams { alpha: eight(), memory_rate: None, bucket: eight_cells() }
    }
}

impl Parameters for OccamyParams {
    fn alpha(&self) -> Option<f64> {
        Some(self.alpha)
    }

    fn drops_waiting(&self) -> bool {
        true
    }

    fn expulsion(&self) -> Option<ExpulsionSpec> {
        let rate = self.memory_rate.map(BitRate::rate);
        Some(ExpulsionSpec { rate, bucket_bytes: self.bucket.bytes() })
    }
}

/// Occamy.
#[derive(Clone, Debug)]
pub struct Occamy;

impl Occamy {
    /// The policy; the pool keeps the alphas, and drops heads.
    pub fn new(_params: &OccamyParams, _pool: &PoolInfo) -> Self {
        Occamy
    }
}

impl Policy for Occamy {
    #[inline]
    fn admits(&self, request: &Request) -> bool {
        request.is_below_dynamic_threshold()
    }
}
