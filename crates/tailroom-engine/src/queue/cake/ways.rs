//! Set-associative hashing: 128 sets of 8 ways, as in a processor's cache, so that flows hardly ever share a
//! queue.

/// Queues of a tin, and hosts that it can tell apart.
pub(super) const SLOTS: usize = 1_024;
const WAYS: usize = 8;

/// The slot of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// It has this hash already.
    Own(usize),
    /// It is free.
    Free(usize),
    /// All of the set are taken: that of the hash, which is shared.
    Shared(usize),
}

/// Finds the slot of a hash in its set, from the slot that the hash names on: one that is its own, else a
/// free one.
#[inline]
pub(super) fn find(
    hash: u32,
    is_own: impl Fn(usize) -> bool,
    is_free: impl Fn(usize) -> bool,
) -> Slot {
    let named = hash as usize % SLOTS;
    let set = named - named % WAYS;
    let mut ways = (0..WAYS).map(|step| set + (named + step) % WAYS);
    if let Some(own) = ways.clone().find(|&way| is_own(way)) {
        return Slot::Own(own);
    }
    ways.find(|&way| is_free(way)).map_or(Slot::Shared(named), Slot::Free)
}
