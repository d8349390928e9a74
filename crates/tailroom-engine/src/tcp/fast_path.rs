//! The fast path of a connection: packets arrive in order and unmarked, their ACKs return by a
//! private path, and no timer is due. Nearly all packets of a flow that loses little take it.
//!
//! It is the header prediction of TCP/IP stacks (Van Jacobson 1988, "4BSD header prediction") for both
//! ends at once. While a connection is on its fast path, a [`FastConnection`] holds everything that
//! changes; it lies together, and the dozen cache lines of sender, receiver and path are not touched.
//! A packet that is not the predicted one ends the fast path: [`Connection::leave_fast_path`] takes
//! the state back, and [`Connection::deliver`] handles the packet.

use super::Connection;
use super::receiver::InOrder;
use super::sender::{FastSender, PlainAck, Sender};
use crate::packet::transit::Transit;
use crate::private_path::{NetworkSink, PrivateRoundTrip};
use crate::units::Time;

/// What has become of a packet on the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastStep {
    /// Nothing: it is not the predicted packet, or something is due before it.
    NotPredicted,
    /// Everything is done. A timer of the flow must be looked at by this time, as
    /// [`Connection::next_wake`] says.
    Done(Time),
    /// The sender has reached the end of its data, and [`Connection::send_more`] must be called for
    /// this time.
    More(Time),
}

/// A connection on its fast path.
#[derive(Clone, Debug)]
#[repr(C)] // in the order of use
pub struct FastConnection {
    in_order: InOrder,
    private_path: PrivateRoundTrip,
    sender: FastSender,
}

impl Connection {
    /// The fast path, if the connection meets its conditions at `now`: those of the sender, no
    /// shared link on the way back, no packet missing at the receiver, no mark to echo.
    pub fn fast_path(&self, now: Time) -> Option<FastConnection> {
        let Connection { sender, receiver, private_path } = self;
        let in_order = receiver.complete_reception()?;
        let private_path = private_path.round_trip()?;
        let fast_sender =
            sender.fast_path(now, receiver.marked_packets())?.asking(in_order.minds_gaps());
        debug_assert_eq!(in_order.acknowledged(), sender.delivered(), "ACKs arrive at once");
        Some(FastConnection {
            in_order: in_order.clone(),
            private_path: private_path.clone(),
            sender: fast_sender,
        })
    }

    /// Takes the state back. Returns the number of packets that have arrived on the fast path.
    pub fn leave_fast_path(&mut self, fast: &FastConnection) -> u64 {
        let received = fast.in_order.next() - self.receiver.next();
        self.sender.leave_fast_path(&fast.sender, fast.in_order.acknowledged());
        self.receiver.resume(fast.in_order.clone());
        self.private_path.resume(fast.private_path.clone());
        received
    }
}

impl FastConnection {
    /// Whether the sender is asked at each ACK, since it records packets or sends bursts, or the receiver minds
    /// gaps between packets.
    #[inline]
    pub fn has_host(&self) -> bool {
        self.sender.has_host()
    }

    /// Handles a packet that leaves the last shared link at `time` and was sent at `sent`, as
    /// [`Connection::deliver`] does. Packets that leave go to `sink`, with the time at which they
    /// reach the first shared link. `HAS_HOST` is what [`FastConnection::has_host`] returns.
    #[expect(
        clippy::inline_always,
        reason = "two callers, of which one handles nearly all packets of its kind of sender"
    )]
    #[inline(always)]
    pub fn deliver<'a, const HAS_HOST: bool>(
        &mut self,
        time: Time,
        packet: Transit,
        sent: Time,
        sink: &mut impl NetworkSink,
        sender_of_flow: impl FnOnce() -> &'a mut Sender,
    ) -> FastStep {
        let FastConnection { in_order, private_path, sender } = self;
        let arrival = private_path.reach_receiver(time);
        let now = private_path.return_from_receiver(arrival);
        let (una, cumulative) = (in_order.acknowledged(), in_order.next() + 1);
        let is_expected = packet.is_new_packet(in_order.next(), sender.ecn());
        let is_in_time = !in_order.is_older(sent) && in_order.deadline() >= arrival;
        let is_after_gap = HAS_HOST && in_order.is_after_gap(arrival);
        if !is_expected || !is_in_time || is_after_gap || !sender.awaits(now, cumulative) {
            return FastStep::NotPredicted;
        }
        if HAS_HOST {
            in_order.note_arrival(arrival);
        }
        if in_order.on_next(arrival, sent, false, false) {
            let echo = in_order.acknowledge();
            let ack = PlainAck { now, cumulative, acked: cumulative - una, echo };
            if HAS_HOST {
                let is_at_end = sender.on_ack_of_host(ack, sender_of_flow(), |packet| {
                    let left = private_path.leave_sender(now);
                    sink.packet(private_path.enter(left, packet.bytes), packet);
                });
                return if is_at_end {
                    FastStep::More(now)
                } else {
                    FastStep::Done(self.next_wake())
                };
            }
            sender.on_ack(ack, sender_of_flow);
            while sender.has_room(cumulative) {
                let Some(packet) = sender.send(now) else {
                    if sender.is_drained() {
                        break;
                    }
                    return FastStep::More(now);
                };
                let left = private_path.leave_sender(now);
                sink.packet(private_path.enter(left, packet.bytes), &packet);
            }
        }
        FastStep::Done(self.next_wake())
    }

    /// As [`Connection::next_wake`].
    #[expect(clippy::inline_always, reason = "two callers a packet")]
    #[inline(always)]
    fn next_wake(&self) -> Time {
        let FastConnection { in_order, private_path, sender } = self;
        let deadline = in_order.deadline();
        let ack = if deadline == Time::NEVER {
            deadline
        } else {
            private_path.return_from_receiver(deadline)
        };
        ack.min(sender.deadline()).saturating_add(private_path.to_first_link())
    }
}
