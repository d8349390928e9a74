//! The steady state of a connection: packets arrive in order and unmarked, ACKs return by a private
//! path, and no timer is due. Nearly all packets of a flow that loses little meet it.
//!
//! While a connection is steady, a [`SteadyConnection`] holds what changes: some hundred and fifty
//! bytes that lie together, instead of a dozen cache lines of sender, receiver and path. It gives up
//! as soon as something else happens, and [`Connection::resume`] takes its state back.

use super::Connection;
use super::receiver::InOrder;
use super::sender::{Sender, SteadySender};
use crate::packet::in_network::Event;
use crate::private_path::{NetworkSink, PrivatePath};
use crate::units::Time;

/// What a packet has caused at a steady connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyStep {
    /// Nothing: the packet is not the one expected, or something is due before it.
    NotSteady,
    /// Everything is done. A timer of the flow must be looked at by this time, as
    /// [`Connection::next_wake`] says.
    Done(Time),
    /// The sender has reached the end of its data, and [`Connection::send_more`] must be called for
    /// this time.
    More(Time),
}

/// A connection in its steady state.
#[derive(Clone, Debug)]
#[repr(C)] // in the order of use
pub struct SteadyConnection {
    in_order: InOrder,
    sender: SteadySender,
    private_path: PrivatePath,
}

impl Connection {
    /// The steady state, if the connection is in it at `now`.
    pub fn steady_state(&self, now: Time) -> Option<SteadyConnection> {
        let Connection { sender, receiver, private_path } = self;
        if private_path.has_reverse_path() {
            return None;
        }
        let in_order = receiver.steady_state()?;
        let steady_sender = sender.steady_state(now, receiver.marked_packets())?;
        Some(SteadyConnection {
            in_order: in_order.clone(),
            sender: steady_sender,
            private_path: private_path.clone(),
        })
    }

    /// Takes the steady state back. Returns the number of packets that have arrived meanwhile.
    pub fn resume(&mut self, steady: &SteadyConnection) -> u64 {
        let received = steady.in_order.next() - self.receiver.next();
        self.receiver.resume(steady.in_order.clone());
        self.sender.resume(&steady.sender);
        self.private_path = steady.private_path.clone();
        received
    }
}

impl SteadyConnection {
    /// Handles a packet that leaves the last shared link at `time` and was sent at `sent`, as
    /// [`Connection::deliver`] does. Packets that leave go to `sink`, with the time at which they
    /// reach the first shared link.
    #[expect(clippy::inline_always, reason = "two callers, of which one handles nearly all packets")]
    #[inline(always)]
    pub fn deliver<'a>(
        &mut self,
        time: Time,
        event: Event,
        sent: Time,
        sink: &mut impl NetworkSink,
        sender_of_flow: impl FnOnce() -> &'a mut Sender,
    ) -> SteadyStep {
        let SteadyConnection { in_order, sender, private_path } = self;
        let arrival = private_path.reach_receiver(time);
        let now = private_path.leave_receiver(arrival);
        let cumulative = in_order.next() + 1;
        let is_expected = event.is_new_packet(in_order.next(), sender.ecn());
        if !is_expected || in_order.deadline() < arrival || !sender.awaits(now, cumulative) {
            return SteadyStep::NotSteady;
        }
        if in_order.on_next(arrival, sent, false, false) {
            let echo = in_order.acknowledge();
            sender.on_ack(now, cumulative, echo, sender_of_flow);
            while sender.has_room() {
                let Some(packet) = sender.send(now) else { return SteadyStep::More(now) };
                let left = private_path.leave_sender(now);
                sink.packet(private_path.enter(left, packet.bytes), &packet);
            }
        }
        SteadyStep::Done(self.next_wake())
    }

    /// As [`Connection::next_wake`].
    #[inline]
    fn next_wake(&self) -> Time {
        let SteadyConnection { in_order, sender, private_path } = self;
        let deadline = in_order.deadline();
        let ack =
            if deadline == Time::NEVER { deadline } else { private_path.leave_receiver(deadline) };
        ack.min(sender.deadline()).saturating_add(private_path.to_first_link())
    }
}
