//! A sender whose application the caller is: it says when it has written how much.

use super::{PacketSink, Phase, Sender};
use crate::traffic::objects::Objects;
use crate::units::Time;

impl Sender {
    /// Nothing is written yet; all data come by [`write`](Sender::write), and the application may
    /// pause between two of them. To be called before the sender starts.
    pub fn expect_writes(&mut self) {
        self.send_objects(Objects::none());
    }

    /// The application writes `packets` more at `now`, and the sender sends what window and pacer
    /// allow. Timers that are due before `now` must have fired.
    pub fn write(&mut self, now: Time, packets: u64, out: &mut impl PacketSink) {
        self.record_until(now);
        self.send_queue.packets += packets;
        if self.phase != Phase::Opening {
            self.restart_after_idle(now);
            self.send_allowed(now, out);
        }
    }
}
