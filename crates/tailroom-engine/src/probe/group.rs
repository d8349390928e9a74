//! Delays of a group's packets over their whole path.

use super::delays::Delays;
use super::window::Window;
use crate::units::Time;

/// The delays of a group's packets in the measured window.
#[derive(Clone, Debug, Default)]
pub struct GroupProbe {
    /// The measured window.
    window: Window,
    /// Total queueing delays of the packets that the last link of their path began to send. Empty if the
    /// group's delays at one link are the same: see
    /// [`only_queue`](crate::network::GroupSpec::only_queue).
    pub waits: Delays,
    /// One-way delays of the packets of unresponsive flows, from sender to receiver.
    pub one_way: Delays,
    /// Packets that left the last link of their path in the measured window and that their receiver
    /// had already.
    pub duplicates: u64,
    /// Packets that left the last link of their path in the measured window and that their receiver
    /// discarded.
    pub discarded: u64,
    /// Bytes of the duplicates on the wire.
    pub duplicate_bytes: u64,
    /// In picoseconds: an integer, so that the result does not depend on the order in which flows
    /// receive packets.
    variation_sum: u128,
    variations: u64,
}

impl GroupProbe {
    /// A probe that measures queueing delays in this window.
    pub fn new(window: Window) -> Self {
        GroupProbe { window, ..GroupProbe::default() }
    }

    /// Records that the last link of the path begins at `start` to send a packet with a total
    /// queueing delay of `delay`.
    #[inline(never)]
    pub fn on_wait(&mut self, start: Time, delay: Time) {
        if self.window.contains(start) {
            self.waits.add(delay);
        }
    }

    /// Records a packet of this size that its receiver had already.
    pub fn on_duplicate(&mut self, bytes: u32) {
        self.duplicates += 1;
        self.duplicate_bytes += u64::from(bytes);
    }

    /// Records that a packet of an unresponsive flow has arrived after `delay`; `before` is the
    /// delay of the flow's previous packet to arrive.
    pub fn on_arrival(&mut self, delay: Time, before: Option<Time>) {
        self.one_way.add(delay);
        if let Some(before) = before {
            self.variation_sum += u128::from(delay.picoseconds().abs_diff(before.picoseconds()));
            self.variations += 1;
        }
    }

    /// Returns the mean absolute difference between the one-way delays of consecutive packets of a
    /// flow, in seconds: the mean of |D(i-1, i)|, of which RFC 3550 sec. 6.4.1 defines a moving
    /// average, and of the absolute ipdv of RFC 3393. `None` if no flow has received two packets.
    pub fn jitter_s(&self) -> Option<f64> {
        let mean = || 1e-12 * self.variation_sum as f64 / self.variations as f64;
        (self.variations > 0).then(mean)
    }
}
