//! What the sender takes in of an ACK before it judges a recovery.

/// What an ACK has told about packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckNews {
    /// Advance of the cumulative ACK, in packets.
    pub(super) acked: u64,
    /// Whether packets are newly sacked.
    pub(super) has_sacked: bool,
    /// Whether the ACK echoes an ECN mark.
    pub(super) is_marked: bool,
    /// What [`Sender::awaited_originals`] returned before the ACK.
    pub(super) awaited: u64,
}
