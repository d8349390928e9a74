//! Packets that were dropped though they had arrived over a link with pause frames.

use crate::queue::buffer::DropReason;

/// The packets that arrived over links with pause frames and were dropped behind them, in the whole run,
/// by reason.
///
/// A packet without headroom counts at the link over which it arrived, whose headroom it is. The others
/// count at the link that dropped them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LosslessDrops(Vec<[u64; DropReason::COUNT]>);

impl LosslessDrops {
    /// No drops, at this number of links.
    pub fn new(links: usize) -> Self {
        LosslessDrops(vec![[0; DropReason::COUNT]; links])
    }

    /// By link, the packets by reason; empty where no link pauses.
    pub(crate) fn by_link(&self) -> &[[u64; DropReason::COUNT]] {
        &self.0
    }

    /// A packet that arrived over the link `ingress` was dropped at the link `at`.
    pub fn count(&mut self, ingress: usize, at: usize, reason: DropReason) {
        let link = if reason == DropReason::Headroom { ingress } else { at };
        if let Some(drops) = self.0.get_mut(link) {
            drops[reason as usize] += 1;
        }
    }
}
