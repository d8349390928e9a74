//! Block pacing: sends the window in blocks spread over the round trip (Su, Pan, Lv, Ping 2005,
//! Fig. 1).
//!
//! A block begins RTT / k after the beginning of the previous block, or at once if sending the
//! previous block took longer (the printed delay would be negative). The number of blocks k and the
//! length of a block follow from the window and the smoothed RTT at the time of sending; the printed
//! code computes them at each new ACK in congestion avoidance.

use crate::congestion::blocks::{BlockHold, BlockLength, BlockRules};
use crate::units::Time;

/// Packets in a block before congestion avoidance begins: with `block = 0`, as Fig. 1 initializes
/// it, `number > block` lets one packet pass and delays the next.
const INITIAL_LENGTH: f64 = 2.0;

/// The congestion state of a sender that determines its blocks.
#[derive(Clone, Copy, Debug)]
pub struct BlockState {
    /// The window in packets.
    pub cwnd_packets: f64,
    /// Whether the window is below ssthresh.
    pub is_slow_start: bool,
    /// Number of blocks per round trip.
    pub blocks: f64,
    /// Smoothed RTT; [`Time::ZERO`] before the first sample.
    pub srtt: Time,
}

/// A packet that waits for the beginning of its block while later packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPacket {
    /// When the packet leaves.
    pub departs: Time,
    /// Its sequence number.
    pub sequence: u64,
    /// Whether the packet has been sent before.
    pub is_retransmission: bool,
}

/// Divides the packets of a sender into blocks.
#[derive(Clone, Debug)]
pub struct BlockPacer {
    rules: BlockRules,
    /// Number of blocks per round trip, and packets per block, at the last packet sent in
    /// congestion avoidance.
    blocks: f64,
    length: f64,
    /// Packets of the current block; 0 if the next packet begins a block.
    in_block: f64,
    block_start: Time,
    /// When the next block may begin.
    next_block: Time,
    /// Packets that wait, in the order in which they leave.
    held: Vec<HeldPacket>,
}

impl BlockPacer {
    /// The state before the first packet.
    pub fn new(rules: BlockRules) -> Self {
        let mut pacer = BlockPacer {
            rules,
            blocks: 1.0,
            length: INITIAL_LENGTH,
            in_block: 0.0,
            block_start: Time::ZERO,
            next_block: Time::ZERO,
            held: Vec::new(),
        };
        pacer.restart(Time::ZERO);
        pacer
    }

    /// Begins a new block after a window reduction at `now`.
    pub fn restart(&mut self, now: Time) {
        match self.rules.length {
            BlockLength::WindowShare => self.in_block = 0.0,
            // `number = 0; time_0 = now`: the reduction stands for the delayed packet.
            BlockLength::Printed => (self.in_block, self.block_start) = (1.0, now),
        }
    }

    /// Records a packet that the sender sends at `now`; returns when the packet departs, `now` or
    /// later.
    pub fn on_sent(&mut self, now: Time, state: BlockState) -> Time {
        if state.is_slow_start {
            if !self.rules.in_slow_start {
                return now;
            }
        } else {
            // Each block has at least one packet.
            self.blocks = state.blocks.min(state.cwnd_packets).max(1.0);
            self.length = match self.rules.length {
                BlockLength::WindowShare => state.cwnd_packets / self.blocks,
                BlockLength::Printed => (state.cwnd_packets / self.blocks).floor() + 2.0,
            };
        }
        let mut departs = now;
        if self.in_block == 0.0 {
            if self.rules.hold == BlockHold::Packet {
                departs = now.max(self.next_block);
            }
            self.block_start = departs;
        }
        self.in_block += 1.0;
        if self.in_block >= self.length {
            let interval = state.srtt.picoseconds() as f64 / self.blocks;
            let interval = Time::from_picoseconds(interval as u64);
            self.next_block = self.block_start.saturating_add(interval);
            self.in_block = 0.0;
        }
        departs
    }

    /// When the next packet may be sent, if all packets of a block wait; in the past otherwise.
    pub fn next_departure(&self) -> Time {
        match self.rules.hold {
            BlockHold::Block => self.next_block,
            BlockHold::Packet => Time::ZERO,
        }
    }

    /// Keeps a packet back.
    pub fn hold(&mut self, packet: HeldPacket) {
        let place = self.held.partition_point(|other| other.departs <= packet.departs);
        self.held.insert(place, packet);
    }

    /// When the first of the packets kept back departs; [`Time::NEVER`] if there is none.
    pub fn next_held(&self) -> Time {
        self.held.first().map_or(Time::NEVER, |packet| packet.departs)
    }

    /// Takes the first of the packets kept back, if it departs at `now` or before.
    pub fn release(&mut self, now: Time) -> Option<HeldPacket> {
        (self.next_held() <= now).then(|| self.held.remove(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Time {
        Time::from_milliseconds(milliseconds)
    }

    /// Congestion avoidance with an RTT of 100 ms.
    fn avoidance(cwnd_packets: f64, blocks: f64) -> BlockState {
        BlockState { cwnd_packets, is_slow_start: false, blocks, srtt: ms(100) }
    }

    /// 20 packets in 4 blocks over 100 ms: five packets per block, and a block every 25 ms.
    #[test]
    fn blocks_begin_at_equal_intervals_of_the_round_trip() {
        let mut pacer = BlockPacer::new(BlockRules::default());
        for block in [100, 125, 150] {
            for packet in 0..5 {
                // The packets of a block are 1 ms apart; the interval runs from the first of them.
                let now = ms(block + packet);
                assert!(pacer.next_departure() <= now);
                assert_eq!(pacer.on_sent(now, avoidance(20.0, 4.0)), now);
            }
            assert_eq!(pacer.next_departure(), ms(block + 25));
        }
    }

    /// The "negative delay" of Su et al. 2005: the next block follows at once if a block took
    /// longer than its interval.
    #[test]
    fn a_block_that_took_longer_than_its_interval_is_followed_at_once() {
        let mut pacer = BlockPacer::new(BlockRules::default());
        for now in [0, 60] {
            pacer.on_sent(ms(now), avoidance(4.0, 2.0));
        }
        assert!(pacer.next_departure() <= ms(60));
    }

    /// Su et al. 2005: "If (k > cwnd) k = cwnd".
    #[test]
    fn there_are_no_more_blocks_than_packets() {
        let mut pacer = BlockPacer::new(BlockRules::default());
        pacer.on_sent(Time::ZERO, avoidance(2.0, 50.0));
        assert_eq!(pacer.next_departure(), ms(50));
    }

    /// k = 2.4 for an RTT of 140 ms and c = 10: 12 packets make blocks of 5, each of which lasts
    /// 100 ms / 2.4 = 41.666 ms.
    #[test]
    fn a_fractional_number_of_blocks_divides_window_and_round_trip() {
        let mut pacer = BlockPacer::new(BlockRules::default());
        for _ in 0..5 {
            assert_eq!(pacer.next_departure(), Time::ZERO);
            pacer.on_sent(Time::ZERO, avoidance(12.0, 2.4));
        }
        assert_eq!(pacer.next_departure().picoseconds(), 41_666_666_666);
    }

    /// Six packets at once, three per block, blocks 50 ms apart: only the first packet of the second
    /// block is late. The first packet of the third block waits for 50 ms more.
    #[test]
    fn only_the_first_packet_of_a_block_waits_if_packets_are_held() {
        let rules = BlockRules { hold: BlockHold::Packet, ..BlockRules::default() };
        let mut pacer = BlockPacer::new(rules);
        let departures: Vec<Time> =
            (0..8).map(|_| pacer.on_sent(ms(10), avoidance(6.0, 2.0))).collect();
        let at_once = ms(10);
        let expected = [at_once, at_once, at_once, ms(60), at_once, at_once, ms(110), at_once];
        assert_eq!(departures, expected);
        assert_eq!(pacer.next_departure(), Time::ZERO);
    }

    /// Fig. 1 by hand, with cwnd = 6, k = 2, RTT = 100 ms, and `number = 0, time_0 = 0` at the
    /// beginning. Packets 1 to 4 pass (`number` 0 to 3), packet 5 (`number` 4 > 3) is delayed by 50
    /// ms less the 10 ms since `time_0`; packets 6 to 9 pass, and packet 10 is delayed by 50 ms
    /// more.
    #[test]
    fn a_printed_block_has_two_packets_more_than_the_windows_share() {
        let rules = BlockRules {
            hold: BlockHold::Packet,
            length: BlockLength::Printed,
            ..BlockRules::default()
        };
        let mut pacer = BlockPacer::new(rules);
        let late = |pacer: &mut BlockPacer, now: Time| -> Vec<(usize, Time)> {
            (1..=10)
                .map(|packet| (packet, pacer.on_sent(now, avoidance(6.0, 2.0))))
                .filter(|(_, departs)| *departs > now)
                .collect()
        };
        assert_eq!(late(&mut pacer, ms(10)), [(5, ms(50)), (10, ms(100))]);
        // A window reduction at 200 ms: `number = 0, time_0 = 200 ms`.
        pacer.restart(ms(200));
        assert_eq!(late(&mut pacer, ms(230)), [(5, ms(250)), (10, ms(300))]);
    }

    /// Fig. 1 with `block = 0` and k = 1: one packet passes, the next is delayed.
    #[test]
    fn two_packets_leave_per_round_trip_of_a_first_slow_start_in_blocks() {
        let rules = BlockRules { in_slow_start: true, ..BlockRules::default() };
        let mut pacer = BlockPacer::new(rules);
        let slow_start = BlockState { is_slow_start: true, ..avoidance(64.0, 3.0) };
        for start in [100, 200, 300] {
            for _ in 0..2 {
                assert!(pacer.next_departure() <= ms(start));
                pacer.on_sent(ms(start), slow_start);
            }
            assert_eq!(pacer.next_departure(), ms(start + 100));
        }
        // A slow start after congestion avoidance keeps its blocks: 64 / 2 packets every 50 ms.
        pacer.on_sent(ms(400), avoidance(64.0, 2.0));
        for _ in 0..31 {
            pacer.on_sent(ms(400), slow_start);
        }
        assert_eq!(pacer.next_departure(), ms(450));
    }

    #[test]
    fn slow_start_is_not_divided_into_blocks_by_default() {
        let mut pacer = BlockPacer::new(BlockRules::default());
        let slow_start = BlockState { is_slow_start: true, ..avoidance(64.0, 3.0) };
        for _ in 0..100 {
            assert_eq!(pacer.on_sent(ms(5), slow_start), ms(5));
        }
        assert_eq!(pacer.next_departure(), Time::ZERO);
    }

    #[test]
    fn held_packets_leave_in_the_order_of_their_departures() {
        let mut pacer = BlockPacer::new(BlockRules::default());
        let held =
            |at, sequence| HeldPacket { departs: ms(at), sequence, is_retransmission: false };
        for packet in [held(30, 1), held(10, 2), held(30, 3)] {
            pacer.hold(packet);
        }
        assert_eq!(pacer.release(ms(9)), None);
        assert_eq!(pacer.release(ms(30)), Some(held(10, 2)));
        assert_eq!(pacer.release(ms(30)), Some(held(30, 1)));
        assert_eq!(pacer.next_held(), ms(30));
        assert_eq!(pacer.release(ms(30)), Some(held(30, 3)));
        assert_eq!(pacer.next_held(), Time::NEVER);
    }
}
