//! RACK compared with a plain walk over all records, on random deliveries.

use super::*;
use crate::random::{SmallStream, below};

const RTT: u64 = 100;

/// A sender's records and scoreboard, and what they are told.
struct Bench {
    rack: Rack,
    board: Scoreboard,
    draws: SmallStream,
    now: u64,
    next: u64,
    una: u64,
    path: Path,
    /// Whether retransmissions may be among packets that were sent once.
    is_undone: bool,
    /// Packets sent, delivered and found lost, and ACKs: what the work may be proportional to.
    done: u64,
}

fn ms(milliseconds: u64) -> Time {
    Time::from_milliseconds(milliseconds)
}

impl Bench {
    fn new(seed: u64) -> Self {
        Bench {
            rack: Rack::new(Time::ZERO),
            board: Scoreboard::new(true),
            draws: SmallStream::seeded(seed),
            now: 0,
            next: 0,
            una: 0,
            path: Path { is_recovering: false, srtt: ms(RTT) },
            is_undone: false,
            done: 0,
        }
    }

    /// Records and suspects that were looked at.
    fn looks(&self) -> u64 {
        self.rack.looks + self.rack.first.looks + self.rack.again.looks
    }

    fn draw(&mut self, bound: u64) -> u64 {
        below(&mut self.draws, bound)
    }

    fn send(&mut self, packets: u64) {
        for _ in 0..packets {
            self.rack.on_sent(ms(self.now), self.next, false, self.board.lost_edge());
            self.next += 1;
        }
        self.done += packets;
    }

    fn send_again(&mut self) {
        if let Some(lost) = self.board.next_lost() {
            self.board.on_retransmission(lost);
            self.rack.on_sent(ms(self.now), lost, true, self.board.lost_edge());
            self.done += 1;
        }
    }

    /// A probe sends the last packet again.
    fn probe(&mut self) {
        let last = self.next - 1;
        if self.board.is_clear() && last >= self.una {
            self.rack.on_sent(ms(self.now), last, true, self.board.lost_edge());
            self.done += 1;
        }
    }

    fn sack(&mut self, start: u64, end: u64) {
        let block = Range { start, end: end.min(self.next) };
        if start >= block.end || start <= self.una {
            return;
        }
        let Bench { rack, board, now, next, .. } = self;
        self.done += board.add(&[block], *next, |packets| rack.on_sacked(ms(*now), packets));
    }

    fn acknowledge(&mut self, mut una: u64) {
        while una < self.next && self.board.is_sacked(una) {
            una += 1;
        }
        if una > self.una {
            self.rack.on_acked(ms(self.now), una);
            self.done += self.board.advance(una);
            self.una = una;
        }
    }

    /// Where the lost edge would be, and the wait, by the walk that RFC 8985 sec. 6.2 step 5 and Linux
    /// (`tcp_rack_detect_loss`) describe: over all records that were sent before the newest delivered.
    fn plain_walk(&self, patience: Time) -> (u64, Option<Time>) {
        let (rack, mut wait) = (&self.rack, None);
        let mut edge = self.board.lost_edge().max(rack.records.una());
        for (sequence, record) in rack.records.records_from(edge) {
            if rack.newest <= record.sent() {
                break;
            }
            let expiry = record.sent().saturating_add(patience);
            if expiry <= ms(self.now) {
                edge = sequence + 1;
            } else if !record.is_delivered() {
                wait = Some(expiry);
            }
        }
        (edge, wait)
    }

    /// Looks for losses, by the engine and by the plain walk.
    fn detect(&mut self) {
        let sacked = self.board.sacked();
        let window = self.rack.reordering_window(self.path, sacked);
        let (edge, wait) = self.plain_walk(self.rack.rtt.saturating_add(window));
        let (now, mut expected) = (ms(self.now), self.board.clone());
        expected.raise_lost_edge(edge);
        let before = self.board.pipe(self.next);
        // The retransmissions have a list of their own.
        let mut again = 0;
        let found = self.rack.detect(now, self.path, &mut self.board, |_| again += 1);
        let lost = expected.pipe(self.next) - again;
        assert_eq!(self.board.pipe(self.next), lost);
        assert!(found > now, "the timer is set to {found:?}");
        let newest = self.rack.first.last(|_| false).map(|(sent, _)| sent);
        let window = self.rack.reordering_window(self.path, sacked);
        let expiry = newest.map(|sent| sent.saturating_add(self.rack.rtt.saturating_add(window)));
        assert!(self.is_undone || expiry == wait, "{expiry:?}, not {wait:?}");
        self.done += before - self.board.pipe(self.next) + 1;
    }

    fn step(&mut self) {
        self.now += self.draw(10);
        match self.draw(12) {
            0..3 => {
                let packets = 1 + self.draw(20);
                self.send(packets);
            }
            3..5 => self.send_again(),
            5..8 if self.next > self.una => {
                let start = self.una + self.draw(self.next - self.una);
                let end = start + 1 + self.draw(15);
                self.sack(start, end);
            }
            8 if self.next > self.una => {
                let una = self.una + self.draw(self.next - self.una + 1).min(10);
                self.acknowledge(una);
            }
            9 if self.next > 0 => self.probe(),
            10 if self.draw(4) == 0 => {
                self.is_undone = true;
                self.board.unmark_lost();
                self.rack.forget_retransmissions();
            }
            10 if self.draw(8) == 0 && self.next > self.una => {
                self.rack.lose_at_timeout(ms(self.now), self.path, &mut self.board, |_| {});
            }
            _ => self.path.is_recovering = self.draw(2) == 0,
        }
        self.detect();
    }
}

#[test]
fn the_same_packets_are_lost_as_by_a_walk_over_all_records() {
    for seed in 0..300 {
        let mut bench = Bench::new(seed);
        for _ in 0..200 {
            bench.step();
        }
    }
}

/// Each packet is looked at a bounded number of times, though a hole stays open while a window of packets
/// arrives behind it, one in an ACK.
#[test]
fn work_is_proportional_to_what_is_sent_delivered_and_lost() {
    let mut most = 0.0_f64;
    for seed in 0..100 {
        let mut bench = Bench::new(seed);
        for _ in 0..200 {
            bench.step();
        }
        most = most.max(bench.looks() as f64 / bench.done as f64);
    }
    assert!(most <= 4.0, "{most} looks for each packet and ACK");
}

/// A path that reorders: the first packet waits for a quarter of the RTT while others arrive behind it.
#[test]
fn a_window_that_arrives_behind_a_hole_is_looked_at_once() {
    for window in [1_000, 10_000, 100_000] {
        let mut bench = Bench::new(1);
        bench.rack.is_reordering_seen = true;
        bench.send(window);
        bench.now = RTT;
        for packet in 1..window {
            bench.sack(packet, packet + 1);
            bench.rack.detect(ms(bench.now), bench.path, &mut bench.board, |_| {});
        }
        assert!(bench.looks() <= 3 * window, "{} looks", bench.looks());
        bench.now += RTT / 4;
        bench.detect();
        assert_eq!(bench.board.next_lost(), Some(0));
    }
}

/// The first of the blocks holds the packet that arrived last, which is not the first that left.
#[test]
fn ranges_that_one_ack_reports_have_not_overtaken_each_other() {
    let mut bench = Bench::new(1);
    bench.send(20);
    let blocks = [(15, 17), (9, 12), (3, 5)].map(|(start, end)| Range { start, end });
    let Bench { rack, board, .. } = &mut bench;
    let mut order = Vec::new();
    board.add(&blocks, 20, |packets| {
        order.push(packets.start);
        rack.on_sacked(ms(RTT), packets);
    });
    assert_eq!(order, [3, 9, 15]);
    assert!(!rack.is_reordering_seen);
    bench.sack(6, 8); // a later ACK
    assert!(bench.rack.is_reordering_seen);
}
