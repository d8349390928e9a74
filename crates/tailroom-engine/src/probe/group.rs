//! What the packets of a group of flows meet on their whole way.

use super::delays::Delays;
use crate::units::Time;

/// The delays of a group's packets in the measured window.
#[derive(Clone, Debug, Default)]
pub struct GroupProbe {
    /// What packets waited in total before their transmissions at the links of their path, of those that
    /// the last link has sent. Empty where the group's wait at one link says the same: see
    /// [`only_queue`](crate::network::GroupSpec::only_queue).
    pub waits: Delays,
    /// From the sender to the receiver, of packets that nothing controls.
    pub one_way: Delays,
    /// Of picoseconds, so that the order in which flows receive leaves no trace.
    variation_sum: u128,
    variations: u64,
}

impl GroupProbe {
    /// The last link of its path sends a packet that has waited for `delay` in total.
    #[inline(never)]
    pub fn on_wait(&mut self, delay: Time) {
        self.waits.add(delay);
    }

    /// A packet of a flow that nothing controls has arrived after `delay`; the packet of the flow that
    /// arrived before it took `before`.
    pub fn on_arrival(&mut self, delay: Time, before: Option<Time>) {
        self.one_way.add(delay);
        if let Some(before) = before {
            self.variation_sum += u128::from(delay.picoseconds().abs_diff(before.picoseconds()));
            self.variations += 1;
        }
    }

    /// Mean absolute difference between the one-way delays of consecutive packets of a flow, in seconds:
    /// the mean of |D(i-1, i)|, of which RFC 3550 sec. 6.4.1 keeps a moving average, and of the absolute
    /// ipdv of RFC 3393. `None` if no flow has received two packets.
    pub fn jitter_s(&self) -> Option<f64> {
        let mean = || 1e-12 * self.variation_sum as f64 / self.variations as f64;
        (self.variations > 0).then(mean)
    }
}
