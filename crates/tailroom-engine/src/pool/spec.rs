//! A pool of memory as a scenario describes it, and the place of a link in one.

use super::policy::PolicyConfig;
use crate::derives::{Deserialize, JsonSchema, Serialize};

/// Memory that several links share.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PoolSpec {
    /// Key in the scenario's `[pools]` table.
    pub name: String,
    /// The memory, in bytes.
    pub size_bytes: u64,
    /// The unit in which memory is given out: a packet takes whole cells. 1 counts bytes.
    pub cell_bytes: u32,
    /// Which packets find memory.
    pub policy: PolicyConfig,
    /// When the memory of a packet that is sent is free again.
    pub frees: Frees,
    /// A packet with ECN that finds more of the shared memory in use than this, in bytes, is marked;
    /// `None` marks nothing.
    pub mark_above_bytes: Option<u64>,
}

/// When the memory of a packet that is sent is free again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Frees {
    /// When its transmission begins, as in simulators that dequeue then.
    #[serde(rename = "at start")]
    AtStart,
    /// When its last bit leaves, as in the models of the literature.
    #[default]
    #[serde(rename = "at end")]
    AtEnd,
}

/// The place of a link in a pool.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PoolMember {
    /// Index of the pool in the network.
    pub pool: usize,
    /// Memory that no other link may use, in bytes; rounded up to cells.
    pub reserved_bytes: u64,
    /// The link's own alpha, instead of that of the policy.
    pub alpha: Option<f64>,
    /// The port to which the queue of the link belongs, where the policy has ports: those with the same
    /// number are of one port; `None` is a port of its own.
    pub port: Option<u32>,
    /// The priority of the queue, where the policy has priorities of queues; `None` is 0.
    pub priority: Option<u32>,
}

impl PoolSpec {
    /// A pool named `pool` that counts bytes and frees the memory of a packet when its last bit leaves.
    pub fn new(size_bytes: u64, policy: PolicyConfig) -> Self {
        PoolSpec {
            name: "pool".to_owned(),
            size_bytes,
            cell_bytes: 1,
            policy,
            frees: Frees::default(),
            mark_above_bytes: None,
        }
    }

    /// The cells that this many bytes of one packet take.
    #[inline]
    pub fn cells(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.cell_bytes))
    }

    /// Whole cells of the memory.
    pub fn size_cells(&self) -> u64 {
        self.size_bytes / u64::from(self.cell_bytes)
    }
}

impl PoolMember {
    /// A link that has nothing of its own in the pool with this index.
    pub fn new(pool: usize) -> Self {
        PoolMember { pool, reserved_bytes: 0, alpha: None, port: None, priority: None }
    }
}
