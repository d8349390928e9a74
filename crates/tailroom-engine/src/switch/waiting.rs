//! What waits in switches that may pause the links over which it arrived.

use std::collections::BTreeMap;

/// The bytes that arrived over a link whose far end may pause it, and wait at another link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitingInSwitch {
    /// Index of the link over which they arrived.
    pub ingress: usize,
    /// Index of the link at which they wait.
    pub at: usize,
    /// Their number.
    pub bytes: u64,
}

impl WaitingInSwitch {
    /// Sums of the bytes of packets, by the link over which they arrived and the link at which they
    /// wait.
    pub fn sums(packets: impl Iterator<Item = (usize, usize, u32)>) -> Vec<Self> {
        let mut sums: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for (ingress, at, bytes) in packets {
            *sums.entry((ingress, at)).or_default() += u64::from(bytes);
        }
        let waiting = |((ingress, at), bytes)| WaitingInSwitch { ingress, at, bytes };
        sums.into_iter().map(waiting).collect()
    }
}
