//! Memory of a switch that the ingresses of links share: thresholds for pause frames that move with it.
//!
//! As buffer profiles of SAI and SONiC have it: an ingress has `xoff` bytes to itself and may take alpha
//! times the shared memory that is free. What arrives beyond takes headroom, which the packets that leave
//! free first; what is left in it when the sender resumes counts as shared memory from then on. Headroom
//! is memory outside the pool, or in it. A threshold moves when any ingress takes or frees memory of the
//! pool. Without pause frames, what arrives beyond the threshold is dropped
//! (`lossy_ingress.rs`).

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::Size;
use crate::units::float;

/// Memory that the ingresses of links share, at the switch to which the links lead.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "IngressPoolConfig")]
#[non_exhaustive]
pub struct IngressMemory {
    /// The memory beyond what each ingress has to itself, without headroom unless `includes_headroom`.
    #[schemars(example = "8 MB")]
    pub size: Size,
    /// Headroom that the ingresses share; `headroom` of a link is then the most that it may take. Default:
    /// each link has its headroom to itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "1 MB")]
    pub headroom: Option<Size>,
    /// Whether headroom is part of `size`: what arrives above a threshold takes shared memory that is
    /// free, and lowers the thresholds of all.
    #[serde(default)]
    pub includes_headroom: bool,
}

impl IngressMemory {
    /// Memory of this size, while each link has its headroom to itself.
    pub fn new(size: Size) -> Self {
        IngressMemory { size, headroom: None, includes_headroom: false }
    }

    /// What of the memory is in use while the ingresses occupy so much, in bytes.
    fn in_use(&self, occupied: Occupied) -> u64 {
        occupied.shared + if self.includes_headroom { occupied.headroom } else { 0 }
    }

    /// The most headroom that the ingresses may take together, in bytes; [`u64::MAX`] if nothing but
    /// their own limits binds.
    fn most_headroom(&self) -> u64 {
        self.headroom.map_or(u64::MAX, Size::bytes)
    }
}

/// The place of the ingress of a link in a pool.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct IngressMember {
    /// Index of the pool in the network.
    pub pool: usize,
    /// What it may take of the free memory, as a multiple of it.
    pub alpha: f64,
    /// How far below its threshold the link resumes, in bytes.
    pub xon_offset: u64,
}

/// What is free for an ingress.
#[derive(Clone, Copy, Debug)]
pub struct Free {
    /// Of the memory that ingresses share, in bytes; 0 without a pool.
    pub shared: u64,
    /// Of the headroom that ingresses share, in bytes; [`u64::MAX`] if each has its own.
    pub headroom: u64,
    /// Whether headroom takes shared memory.
    pub includes_headroom: bool,
}

impl Free {
    /// For an ingress that shares nothing.
    pub const OWN: Free = Free { shared: 0, headroom: u64::MAX, includes_headroom: false };
}

/// What an ingress occupies of the memory and of the headroom that it may share, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupied {
    /// Memory beyond what it has to itself.
    pub shared: u64,
    /// Headroom.
    pub headroom: u64,
}

impl IngressMember {
    /// An ingress that may take `alpha` times the free memory of the pool with this index, and resumes at
    /// its threshold.
    pub fn new(pool: usize, alpha: f64) -> Self {
        IngressMember { pool, alpha, xon_offset: 0 }
    }

    /// What the ingress may take beyond its own, in bytes.
    pub(super) fn allowance(&self, free: Free) -> u64 {
        (self.alpha * float(free.shared)) as u64
    }
}

/// The pools of a network.
#[derive(Clone, Debug, Default)]
pub struct IngressPools {
    pools: Vec<(IngressMemory, Occupied)>,
    /// By link, the index of its pool.
    places: Vec<Option<usize>>,
    /// By pool, its links, in order.
    members: Vec<Vec<usize>>,
}

impl IngressPools {
    /// The pools, empty; `links` has the place of each link in one.
    pub fn new(
        pools: &[IngressMemory],
        links: impl Iterator<Item = Option<IngressMember>>,
    ) -> Self {
        let places = links.map(|ingress| ingress.map(|member| member.pool));
        let places: Vec<Option<usize>> = places.collect();
        let members_of = |pool: usize| {
            let links = (0..places.len()).filter(|&link| places[link] == Some(pool));
            links.collect::<Vec<usize>>()
        };
        let members = (0..pools.len()).map(members_of).collect();
        let pools = pools.iter().map(|pool| (*pool, Occupied::default()));
        IngressPools { pools: pools.collect(), members, places }
    }

    /// Whether the ingress of a link shares memory.
    #[inline]
    pub fn has(&self, link: usize) -> bool {
        self.places[link].is_some()
    }

    /// What is free for the ingress of a link.
    pub fn free(&self, link: usize) -> Free {
        let Some(pool) = self.places[link] else { return Free::OWN };
        let (memory, occupied) = &self.pools[pool];
        let most = memory.most_headroom();
        Free {
            shared: memory.size.bytes().saturating_sub(memory.in_use(*occupied)),
            headroom: if most == u64::MAX { most } else { most.saturating_sub(occupied.headroom) },
            includes_headroom: memory.includes_headroom,
        }
    }

    /// Replaces what the ingress of a link occupied by what it occupies.
    pub fn replace(&mut self, link: usize, before: Occupied, after: Occupied) {
        let Some(pool) = self.places[link] else { return };
        let (memory, occupied) = &mut self.pools[pool];
        occupied.shared = occupied.shared + after.shared - before.shared;
        occupied.headroom = occupied.headroom + after.headroom - before.headroom;
        debug_assert!(memory.in_use(*occupied) <= memory.size.bytes(), "{memory:?}: {occupied:?}");
        debug_assert!(occupied.headroom <= memory.most_headroom(), "{memory:?}: {occupied:?}");
    }

    /// The index of a pool that has counted something else than its links occupy, what it has counted and what
    /// they do, in bytes; `occupied` says this for a link.
    pub fn unbalanced(&self, occupied: impl Fn(usize) -> Occupied) -> Option<(usize, u64, u64)> {
        let mut pools = self.pools.iter().zip(&self.members).enumerate();
        pools.find_map(|(index, ((_, counted), members))| {
            let sum = |part: fn(Occupied) -> u64| -> u64 {
                members.iter().map(|&link| part(occupied(link))).sum()
            };
            let parts: [fn(Occupied) -> u64; 2] = [|one| one.shared, |one| one.headroom];
            let mut pairs = parts.into_iter().map(|part| (part(*counted), sum(part)));
            let (counted, occupied) = pairs.find(|(counted, occupied)| counted != occupied)?;
            Some((index, counted, occupied))
        })
    }

    /// The links whose thresholds move with that of `link`, with it itself; `place` counts from 0.
    pub fn member(&self, link: usize, place: usize) -> Option<usize> {
        match self.places[link] {
            Some(pool) => self.members[pool].get(place).copied(),
            None => (place == 0).then_some(link),
        }
    }
}
