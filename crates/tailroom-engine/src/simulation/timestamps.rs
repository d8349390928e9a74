//! The timestamps that packets and ACKs carry (RFC 7323), of a run that records arrivals.
//!
//! No result follows from them: a sender measures the RTT by [`Ack::echo`](crate::packet::Ack), which
//! names a packet and thus tells an original from its retransmission. A timestamp on the wire is a
//! clock of milliseconds, and what it echoes follows from the sequence numbers alone.

use std::collections::VecDeque;

use crate::observe::Timestamps;
use crate::units::Time;

/// A packet that is older than this echoes the oldest timestamp that is still known.
const LONGEST_MEMORY: Time = Time::from_milliseconds(140_000);

/// The timestamps at the ends of all connections, and those of the ACKs on shared links.
#[derive(Clone, Debug, Default)]
pub(super) struct TimestampClocks {
    /// By number of the flow.
    ends: Vec<Ends>,
    /// By slot of the ACK.
    acks: Vec<Timestamps>,
}

/// What both ends of a connection hold.
#[derive(Clone, Debug, Default)]
struct Ends {
    receiver: ReceiverClock,
    sender: SenderClock,
}

/// The variables of RFC 7323 sec. 4.3 at the receiver.
#[derive(Clone, Debug, Default)]
struct ReceiverClock {
    /// `TS.Recent`, once there is one.
    recent_ms: Option<u32>,
    /// `Last.ACK.sent`, in packets.
    last_ack: u64,
    /// A packet that is about to arrive: when, its number, and its timestamp. The timer of a delayed
    /// ACK may fire before.
    coming: Option<(Time, u64, u32)>,
}

/// `TS.Recent` of the sender: from when it has had which value, in order of time.
#[derive(Clone, Debug, Default)]
struct SenderClock {
    heard: VecDeque<(Time, u32)>,
}

impl TimestampClocks {
    /// A new connection begins under this number.
    pub(super) fn begin(&mut self, flow: u32) {
        *self.ends_of(flow) = Ends::default();
    }

    /// A packet that was sent at `sent` reaches its receiver at `at`.
    pub(super) fn on_packet(&mut self, flow: u32, at: Time, sequence: u64, sent: Time) {
        let receiver = &mut self.ends_of(flow).receiver;
        receiver.take_in();
        receiver.coming = Some((at, sequence, milliseconds(sent)));
    }

    /// The receiver sends the ACK in `slot` at `sent`.
    pub(super) fn on_ack_sent(&mut self, flow: u32, sent: Time, cumulative: u64, slot: u32) {
        let timestamps = self.of_private_ack(flow, sent, cumulative);
        let slot = slot as usize;
        if slot >= self.acks.len() {
            self.acks.resize(slot + 1, Timestamps::default());
        }
        self.acks[slot] = timestamps;
    }

    /// The receiver sends an ACK at `sent` that crosses no shared link; returns its timestamps.
    pub(super) fn of_private_ack(&mut self, flow: u32, sent: Time, cumulative: u64) -> Timestamps {
        let echo_ms = self.ends_of(flow).receiver.acknowledge(sent, cumulative);
        Timestamps { value_ms: milliseconds(sent), echo_ms }
    }

    /// An ACK that the receiver sent at `sent` reaches the sender at `at`.
    pub(super) fn on_ack(&mut self, flow: u32, at: Time, sent: Time) {
        self.ends_of(flow).sender.hear(at, milliseconds(sent));
    }

    /// The ACK in `slot` leaves the last shared link, and reaches the sender at `at`.
    pub(super) fn on_stored_ack(&mut self, flow: u32, at: Time, slot: u32) {
        let value_ms = self.of_ack(slot).value_ms;
        self.ends_of(flow).sender.hear(at, value_ms);
    }

    /// The timestamps of the ACK in `slot`.
    pub(super) fn of_ack(&self, slot: u32) -> Timestamps {
        self.acks.get(slot as usize).copied().unwrap_or_default()
    }

    /// The timestamps of a packet that was sent at `sent`.
    pub(super) fn of_packet(&self, flow: u32, sent: Time) -> Timestamps {
        let sender = self.ends.get(flow as usize).map(|ends| &ends.sender);
        let echo_ms = sender.map_or(0, |sender| sender.recent_at(sent));
        Timestamps { value_ms: milliseconds(sent), echo_ms }
    }

    /// Memory, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let heard = self.ends.iter().map(|ends| ends.sender.heard.capacity());
        let bytes = heard.sum::<usize>() * size_of::<(Time, u32)>()
            + self.ends.capacity() * size_of::<Ends>()
            + self.acks.capacity() * size_of::<Timestamps>();
        bytes as u64
    }

    fn ends_of(&mut self, flow: u32) -> &mut Ends {
        let flow = flow as usize;
        if flow >= self.ends.len() {
            self.ends.resize_with(flow + 1, Ends::default);
        }
        &mut self.ends[flow]
    }
}

impl ReceiverClock {
    /// Takes in the packet that was about to arrive.
    fn take_in(&mut self) {
        // RFC 7323 sec. 4.3 (2): a packet behind a gap, and an old one, leave TS.Recent as it is. The
        // last packet acknowledged is not old yet (Linux `tcp_sequence`).
        if let Some((_, sequence, value_ms)) = self.coming.take()
            && sequence <= self.last_ack
            && sequence + 1 >= self.last_ack
            && !self.recent_ms.is_some_and(|recent_ms| is_before(value_ms, recent_ms))
        {
            self.recent_ms = Some(value_ms);
        }
    }

    /// Sends an ACK; returns what it echoes (RFC 7323 sec. 4.3 (3)).
    fn acknowledge(&mut self, sent: Time, cumulative: u64) -> u32 {
        if self.coming.is_some_and(|(at, ..)| at <= sent) {
            self.take_in();
        }
        self.last_ack = cumulative;
        self.recent_ms.unwrap_or(0)
    }
}

impl SenderClock {
    /// An ACK with this timestamp arrives. It has no data, so that it is never behind a gap.
    fn hear(&mut self, at: Time, value_ms: u32) {
        if self.heard.back().is_some_and(|(_, last)| !is_before(*last, value_ms)) {
            return;
        }
        while self.heard.get(1).is_some_and(|(from, _)| at.since(*from) > LONGEST_MEMORY) {
            self.heard.pop_front();
        }
        self.heard.push_back((at, value_ms));
    }

    /// What a packet that is sent at `sent` echoes; 0 before the first ACK.
    fn recent_at(&self, sent: Time) -> u32 {
        let after = self.heard.partition_point(|(from, _)| *from <= sent);
        match after.checked_sub(1) {
            Some(last) => self.heard[last].1,
            None => 0,
        }
    }
}

/// A time as a timestamp, which wraps (RFC 7323 sec. 5.4).
fn milliseconds(time: Time) -> u32 {
    (time.picoseconds() / 1_000_000_000) as u32
}

/// Whether a timestamp is older than another (RFC 7323 sec. 5.2).
fn is_before(value_ms: u32, other_ms: u32) -> bool {
    value_ms.wrapping_sub(other_ms).cast_signed() < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    /// Lets packets (number, timestamp in ms) arrive one by one, each of which is acknowledged with
    /// these cumulative numbers; returns what the ACKs echo.
    fn echoes(arrivals: &[(u64, u64, u64)]) -> Vec<u32> {
        let mut clocks = TimestampClocks::default();
        let acks = arrivals.iter().zip(100..).map(|(&(sequence, sent, cumulative), at)| {
            clocks.on_packet(7, MS(at), sequence, MS(sent));
            clocks.on_ack_sent(7, MS(at), cumulative, 3);
            assert_eq!(clocks.of_ack(3).value_ms, at as u32);
            clocks.of_ack(3).echo_ms
        });
        acks.collect()
    }

    /// The second example of RFC 7323 sec. 4.3: packets A to E are numbers 0 to 4, and the hole is
    /// filled twice.
    #[test]
    fn an_ack_of_a_packet_behind_a_gap_echoes_the_last_packet_that_advanced_the_window() {
        let arrivals = [(0, 1, 1), (2, 3, 1), (1, 2, 3), (4, 5, 3), (3, 4, 5)];
        assert_eq!(echoes(&arrivals), [1, 1, 2, 2, 4]);
    }

    /// The first example of RFC 7323 sec. 4.3: the ACK of A, B and C echoes A.
    #[test]
    fn a_delayed_ack_echoes_the_first_packet_that_it_covers() {
        let mut clocks = TimestampClocks::default();
        for (sequence, sent) in [(0, 1), (1, 2), (2, 3)] {
            clocks.on_packet(0, MS(10 + sequence), sequence, MS(sent));
        }
        clocks.on_ack_sent(0, MS(12), 3, 0);
        assert_eq!(clocks.of_ack(0), Timestamps { value_ms: 12, echo_ms: 1 });
        clocks.on_packet(0, MS(13), 3, MS(4));
        // The timer of the ACK has fired before the packet arrives.
        clocks.on_packet(0, MS(60), 4, MS(50));
        clocks.on_ack_sent(0, MS(53), 4, 0);
        assert_eq!(clocks.of_ack(0), Timestamps { value_ms: 53, echo_ms: 4 });
        clocks.on_ack_sent(0, MS(60), 5, 0);
        assert_eq!(clocks.of_ack(0), Timestamps { value_ms: 60, echo_ms: 50 });
    }

    #[test]
    fn a_duplicate_with_a_newer_timestamp_is_echoed_and_one_with_an_older_is_not() {
        assert_eq!(echoes(&[(0, 5, 1), (0, 9, 1), (0, 7, 1)]), [5, 9, 9]);
    }

    #[test]
    fn a_packet_echoes_the_last_ack_before_it_whatever_has_arrived_since() {
        let mut clocks = TimestampClocks::default();
        assert_eq!(clocks.of_packet(1, MS(3)), Timestamps { value_ms: 3, echo_ms: 0 });
        for (at, sent) in [(10, 4), (20, 8), (20, 9), (30, 7)] {
            clocks.on_ack(1, MS(at), MS(sent));
        }
        for (sent, echo_ms) in [(9, 0), (10, 4), (19, 4), (20, 9), (40, 9)] {
            assert_eq!(
                clocks.of_packet(1, MS(sent)),
                Timestamps { value_ms: sent as u32, echo_ms }
            );
        }
        clocks.begin(1);
        assert_eq!(clocks.of_packet(1, MS(40)).echo_ms, 0);
    }

    /// 2^32 ms are 49.7 days.
    #[test]
    fn timestamps_wrap() {
        let (last, first) = (MS(u64::from(u32::MAX)), MS(1 << 32));
        let mut clocks = TimestampClocks::default();
        clocks.on_packet(0, first, 0, last);
        clocks.on_ack_sent(0, first, 1, 0);
        assert_eq!(clocks.of_ack(0), Timestamps { value_ms: 0, echo_ms: u32::MAX });
        clocks.on_packet(0, first, 1, first);
        clocks.on_ack_sent(0, first, 2, 0);
        assert_eq!(clocks.of_ack(0), Timestamps { value_ms: 0, echo_ms: 0 });
        clocks.on_ack(0, first, last);
        clocks.on_ack(0, first + MS(1), first + MS(1));
        assert_eq!(clocks.of_packet(0, first + MS(1)).echo_ms, 1);
    }

    #[test]
    fn what_was_heard_long_ago_is_forgotten() {
        let mut clocks = TimestampClocks::default();
        for at in 0..1_000_000 {
            clocks.on_ack(0, MS(at), MS(at));
        }
        assert!(clocks.ends[0].sender.heard.len() <= 140_002);
        assert_eq!(clocks.of_packet(0, MS(999_000)).echo_ms, 999_000);
    }
}
