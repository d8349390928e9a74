//! What is on its way: a packet or an ACK until it arrives at a link, or a wake-up of a flow.

use super::ties::Instant;
use super::{Ecn, Packet};
use crate::units::Time;

/// What happens at the time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A packet (or an ACK) arrives at the link at this position of its flow's path; the links of
    /// the reverse path follow those of the forward path.
    Arrival(u8),
    /// A timer of the flow may be due.
    Wake,
}

/// A packet or an ACK on its way to a link, or a wake-up of a flow, as an event of 24 bytes: at
/// 100 Gbit/s and 100 ms, a million are pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transit {
    pub(crate) time: u64,
    /// Age of the packet (47 bits), retransmission (1 bit), bytes (16 bits).
    age_and_size: u64,
    /// Flow (24 bits), stage (8 bits), low bits of the sequence number (29 bits), CWR (1 bit), ECN
    /// field (2 bits). They share one word because a load of 64 bits stalls after two stores of 32
    /// bits.
    place_and_sequence: u64,
}

/// The largest age, 140 s. It stands for all greater ages and for an age that is stored elsewhere;
/// see [`Transit::is_kept`].
const MAX_AGE: u64 = (1 << 47) - 1;
/// Number of bits below the sequence number, and masks for these bits.
const SEQUENCE_SHIFT: u32 = 3;
const CWR_BIT: u32 = 0b100;
const ECN_BITS: u32 = 0b011;
/// Largest number of links of a path and its reverse path together: the 8 bits of the stage
/// represent a wake-up or one of these hops.
pub const MAX_HOPS: usize = 255;
/// Number of slots that fit in place of a sequence number.
pub const MAX_SLOTS: usize = 1 << 29;
/// Positions of stage and flow in the word.
const STAGE_SHIFT: u32 = 32;
const FLOW_SHIFT: u32 = 40;
/// Stage of a wake-up. Arrivals have their hop + 1, so a wake-up precedes the arrivals of its flow
/// at the same instant, which it may cause.
const WAKE: u64 = 0;

impl Transit {
    /// Creates the arrival of `packet` of `flow` (below 2^24) at the link at position `hop` (below
    /// [`MAX_HOPS`]) of the flow's path.
    #[inline]
    pub fn arrival(time: Time, flow: u32, hop: u8, packet: &Packet) -> Self {
        let age = time.since(packet.sent).picoseconds().min(MAX_AGE);
        Transit {
            time: time.picoseconds(),
            age_and_size: age << 17
                | u64::from(packet.is_retransmission) << 16
                | u64::from(packet.bytes & 0xffff),
            place_and_sequence: u64::from(flow) << FLOW_SHIFT
                | (u64::from(hop) + 1) << STAGE_SHIFT
                | u64::from((packet.sequence as u32) << SEQUENCE_SHIFT)
                | u64::from(packet.is_cwr) << 2
                | packet.ecn as u64,
        }
    }

    /// Writes the event to `place`, word by word. A copy as a whole waits until the words, which have
    /// just been computed, are in memory: that took 9 % of the time of a packet.
    #[inline]
    pub(crate) fn write_to(self, place: &mut Transit) {
        place.time = self.time;
        place.age_and_size = self.age_and_size;
        place.place_and_sequence = self.place_and_sequence;
    }

    /// Returns the words of the event; the inverse of [`Transit::from_words`].
    #[inline]
    pub(crate) fn words(self) -> [u64; 3] {
        [self.time, self.age_and_size, self.place_and_sequence]
    }

    /// The event of these [words](Transit::words).
    #[inline]
    pub(crate) fn from_words([time, age_and_size, place_and_sequence]: [u64; 3]) -> Self {
        Transit { time, age_and_size, place_and_sequence }
    }

    /// A copy of the event, for a call that takes it in memory: the original can then stay in registers.
    #[inline]
    #[must_use]
    pub(crate) fn copied(self) -> Self {
        Transit::from_words(self.words())
    }

    /// Creates the arrival at a link of the ACK that is stored in `slot`.
    pub fn ack_arrival(time: Time, flow: u32, hop: u8, bytes: u32, slot: u32) -> Self {
        let sequence = u64::from(slot);
        // Pure ACKs are not ECN-capable (RFC 3168 sec. 6.1.4).
        let packet = Packet { sequence, bytes, sent: time, ..Packet::default() };
        Transit::arrival(time, flow, hop, &packet)
    }

    /// Creates a wake-up of `flow`.
    pub fn wake(time: Time, flow: u32) -> Self {
        Transit {
            time: time.picoseconds(),
            age_and_size: 0,
            place_and_sequence: u64::from(flow) << FLOW_SHIFT | WAKE << STAGE_SHIFT,
        }
    }

    /// Returns the arrival of the same packet at the next link of its path, at `time`.
    #[inline]
    #[must_use]
    pub fn at_next_link(self, time: Time) -> Self {
        let age = (self.age_and_size >> 17) + (time.picoseconds() - self.time);
        Transit {
            time: time.picoseconds(),
            age_and_size: age.min(MAX_AGE) << 17 | self.age_and_size & 0x1_ffff,
            place_and_sequence: self.place_and_sequence + (1 << STAGE_SHIFT),
        }
    }

    /// Returns the event at another time. Its age is meaningless then.
    #[must_use]
    pub fn at(self, time: Time) -> Self {
        Transit { time: time.picoseconds(), ..self }
    }

    /// Returns the time of the event.
    #[inline]
    pub fn time(self) -> Time {
        Time::from_picoseconds(self.time)
    }

    /// Returns the number of the flow.
    #[inline]
    pub fn flow(self) -> u32 {
        (self.place_and_sequence >> FLOW_SHIFT) as u32
    }

    /// Returns what happens at the event.
    #[inline]
    pub fn stage(self) -> Stage {
        let stage = self.place_and_sequence >> STAGE_SHIFT & 0xff;
        if stage == WAKE { Stage::Wake } else { Stage::Arrival((stage - 1) as u8) }
    }

    /// Returns whether the event does not contain the packet's age, because the packet is too old
    /// or because more of its data is stored elsewhere. [`Transit::sent`] is then meaningless.
    #[inline]
    pub fn is_kept(self) -> bool {
        self.age_and_size >> 17 == MAX_AGE
    }

    /// Returns whether this is the data packet of number `sequence` or of one with the same low bits,
    /// sent for the first time, with this ECN field and without CWR.
    #[inline]
    pub fn is_new_packet(self, sequence: u64, ecn: Ecn) -> bool {
        let expected = (sequence as u32) << SEQUENCE_SHIFT | ecn as u32;
        self.sequence_and_ecn() == expected && self.age_and_size >> 16 & 1 == 0
    }

    /// Returns when the packet left its sender, unless the packet is [kept](Transit::is_kept)
    /// elsewhere.
    #[inline]
    pub fn sent(self) -> Time {
        Time::from_picoseconds(self.time - (self.age_and_size >> 17))
    }

    /// Returns the size on the wire, in bytes.
    #[inline]
    pub fn bytes(self) -> u32 {
        (self.age_and_size & 0xffff) as u32
    }

    /// Returns whether both are the same arrival of the same packet, regardless of marks.
    pub fn is_same_packet(self, other: Transit) -> bool {
        let unmarked = |event: Transit| {
            let place_and_sequence = event.place_and_sequence & !u64::from(ECN_BITS);
            Transit { place_and_sequence, ..event }
        };
        unmarked(self) == unmarked(other)
    }

    /// Returns the event of a [kept](Transit::is_kept) packet, whose data is in `slot` (below 2^29).
    #[inline]
    #[must_use]
    pub fn kept_in(self, slot: u32) -> Self {
        Transit { age_and_size: self.age_and_size | MAX_AGE << 17, ..self }.with_slot(slot)
    }

    /// Returns the event with the slot (below 2^29) of an ACK or of a kept packet in place of the
    /// sequence number.
    #[inline]
    #[must_use]
    pub fn with_slot(self, slot: u32) -> Self {
        let others = u64::from(u32::MAX) << STAGE_SHIFT | u64::from(CWR_BIT | ECN_BITS);
        let place_and_sequence =
            self.place_and_sequence & others | u64::from(slot << SEQUENCE_SHIFT);
        Transit { place_and_sequence, ..self }
    }

    /// Returns the slot (below 2^29) of an ACK or of a kept packet; for other packets, the low bits
    /// of the sequence number.
    #[inline]
    pub fn slot(self) -> u32 {
        self.sequence_and_ecn() >> SEQUENCE_SHIFT
    }

    /// Returns the packet's ECN field.
    #[inline]
    pub fn ecn(self) -> Ecn {
        Ecn::from_bits(self.sequence_and_ecn() & ECN_BITS)
    }

    /// Sets the ECN field to Congestion Experienced.
    #[inline]
    pub fn set_congestion_experienced(&mut self) {
        self.place_and_sequence |= Ecn::Ce as u64;
    }

    /// Returns the data packet that arrives. Its sequence number is the number nearest to
    /// `expected` with the same low bits. Its send time is meaningless if the packet is
    /// [kept](Transit::is_kept).
    #[inline]
    pub fn packet(self, expected: u64) -> Packet {
        let sequence = self.sequence_and_ecn() & !(CWR_BIT | ECN_BITS);
        let ahead = sequence.wrapping_sub((expected as u32) << SEQUENCE_SHIFT).cast_signed();
        Packet {
            sequence: expected.wrapping_add_signed(i64::from(ahead >> SEQUENCE_SHIFT)),
            bytes: self.bytes(),
            sent: Time::from_picoseconds(self.time.wrapping_sub(self.age_and_size >> 17)),
            is_retransmission: self.age_and_size >> 16 & 1 == 1,
            ecn: self.ecn(),
            is_cwr: self.sequence_and_ecn() & CWR_BIT != 0,
        }
    }

    #[inline]
    fn sequence_and_ecn(self) -> u32 {
        self.place_and_sequence as u32
    }

    /// Returns the order of events at the same instant: the smaller value comes first. Flows come by
    /// their [turn](Instant::turn), the events of a flow by stage.
    #[inline]
    pub(crate) fn order_at(self, instant: Instant) -> u32 {
        let flow_and_stage = (self.place_and_sequence >> STAGE_SHIFT) as u32;
        instant.turn(self.flow()) << 8 | flow_and_stage & 0xff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_and_unpacking_preserve_a_packet() {
        let sequence = 5 << 32 | 0xffff_fff0;
        let sent = Time::from_milliseconds(1);
        let packet = Packet {
            sequence,
            bytes: 65_535,
            sent,
            is_retransmission: true,
            ecn: Ecn::Ect1,
            is_cwr: true,
        };
        let event = Transit::arrival(Time::from_milliseconds(5_000), 16_777_215, 249, &packet);
        let moved = event.at_next_link(Time::from_milliseconds(6_000));
        for expected in [sequence - 1_000_000, sequence, sequence + 1_000_000] {
            assert_eq!(event.packet(expected), packet);
            assert_eq!(moved.packet(expected), packet);
        }
        let mut marked = moved;
        marked.set_congestion_experienced();
        assert_eq!(marked.packet(sequence), Packet { ecn: Ecn::Ce, ..packet });
        assert_eq!((event.flow(), event.stage()), (16_777_215, Stage::Arrival(249)));
        assert_eq!((moved.flow(), moved.stage()), (16_777_215, Stage::Arrival(250)));
        assert_eq!(size_of::<Transit>(), 24);
    }

    /// Ages of 2^47 - 1 ps and more are not stored; replacing the slot and restoring it leaves the
    /// rest unchanged.
    #[test]
    fn a_packet_older_than_140_seconds_is_kept_elsewhere() {
        let packet = Packet { sequence: 77, bytes: 1_500, is_cwr: true, ..Packet::default() };
        let at = |picoseconds| Transit::arrival(Time::from_picoseconds(picoseconds), 9, 3, &packet);
        assert!(!at((1 << 47) - 2).is_kept());
        let event = at((1 << 47) - 1);
        assert!(event.is_kept() && at(1 << 60).is_kept());
        assert!(at((1 << 47) - 2).at_next_link(Time::from_picoseconds(1 << 47)).is_kept());
        let slot = (1 << 29) - 1;
        let kept = event.with_slot(slot);
        assert_eq!((kept.slot(), event.slot()), (slot, 77));
        assert_eq!((kept.flow(), kept.stage(), kept.bytes()), (9, Stage::Arrival(3), 1_500));
        assert!(kept.is_kept() && kept.with_slot(77) == event);
        // A young packet can be kept elsewhere too; only its age changes.
        let young = at(1_000).kept_in(slot);
        assert!(young.is_kept() && young.at_next_link(Time::from_picoseconds(2_000)).is_kept());
        assert_eq!(
            (young.slot(), young.bytes(), young.with_slot(77).packet(77).is_cwr),
            (slot, 1_500, true)
        );
    }
}
