//! The contract of every queue discipline with its link. Random scripts of arrivals drive a
//! [`Link`] as the simulation does, and a ledger that knows only the rules checks it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tailroom_engine::link::served::ServedQueue;
use tailroom_engine::link::{Link, LinkOutcome};
use tailroom_engine::network::Network;
use tailroom_engine::packet::ties::Ties;
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::packet::{Ecn, Packet};
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::units::{PICOSECONDS_PER_SECOND, Rate, Time};

use crate::support::random_cases::config;
use crate::support::{disciplines, networks, transport};

/// Each flow has one ECN codepoint, so a discipline that sorts by codepoint keeps the order of a
/// flow.
const FLOWS: u32 = 8;
/// Those of disciplines.
const REASONS: [DropReason; 3] = [DropReason::Overflow, DropReason::Early, DropReason::Head];

/// An arriving packet.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    gap: Time,
    flow: u32,
    bytes: u32,
}

/// Events at a link, independent of its discipline.
#[derive(Clone, Debug)]
struct Script {
    arrivals: Vec<Arrival>,
    rate_bps: u64,
    limit: Limit,
    /// Time from the last arrival to the end.
    rest: Time,
    seed: u64,
}

fn arrival() -> impl Strategy<Value = Arrival> {
    // At 10 Mbit/s the transmission of a packet takes 32 us to 1.2 ms.
    let gap = prop_oneof![
        10 => Just(0),
        10 => 1_u64..1_000_000_000,
        3 => 1_000_000_000_u64..50_000_000_000,
        1 => 50_000_000_000_u64..5_000_000_000_000,
    ];
    let bytes = prop_oneof![1 => Just(40_u32), 3 => Just(1_500), 2 => 40_u32..1_500];
    (gap, 0..FLOWS, bytes).prop_map(|(gap, flow, bytes)| Arrival {
        gap: Time::from_picoseconds(gap),
        flow,
        bytes,
    })
}

fn script() -> impl Strategy<Value = Script> {
    let limit = prop_oneof![
        (1_u64..6).prop_map(Limit::Packets),
        (6_u64..100).prop_map(Limit::Packets),
        (1_500_u64..100_000).prop_map(Limit::Bytes),
    ];
    // Rates at which a byte takes a whole number of picoseconds.
    let rate_bps = prop::sample::select(vec![1_000_000_u64, 10_000_000, 100_000_000]);
    let rest = prop_oneof![Just(1_u64), 1_u64..20_000_000_000, Just(100_000_000_000_000)];
    let arrivals = prop::collection::vec(arrival(), 1..250);
    (arrivals, rate_bps, limit, rest, 0_u64..1_000).prop_map(
        |(arrivals, rate_bps, limit, rest, seed)| Script {
            arrivals,
            rate_bps,
            limit,
            rest: Time::from_picoseconds(rest),
            seed,
        },
    )
}

/// Two groups of flows over one link.
fn network(script: &Script, queue: QueueConfig) -> Network {
    let mut link = networks::link("queue", script.rate_bps, Time::ZERO, script.limit);
    link.queue = queue;
    let group = |name| networks::bulk(name, transport::reno());
    let mut flows = networks::alike(FLOWS as usize, Time::from_milliseconds(10));
    flows.iter_mut().skip(FLOWS as usize / 2).for_each(|flow| flow.group = 1);
    with!(
        Network::new(Time::NEVER, vec![link], vec![group("a"), group("b")], flows),
        Network {
            measure_from: Time::ZERO,
            seed: script.seed,
            ties: Ties::ByChance,
            memory_limit_bytes: u64::MAX,
            series_interval: None
        }
    )
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Its last bit leaves the link at this time.
    Sent(Time),
    Dropped(Time, DropReason),
    /// It waits in the queue at the end.
    Held,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    flow: u32,
    sequence: u64,
    arrived: Time,
    bytes: u32,
    ecn: Ecn,
    end: End,
}

/// A link and the ledger of its packets.
struct Observer {
    link: Link,
    limit: Limit,
    picoseconds_per_byte: u64,
    /// The end of the last transmission so far.
    free_at: Time,
    entries: Vec<Entry>,
    /// Start of transmission and size of each packet that waits behind an arrival rule.
    waiting: Vec<(Time, u32)>,
}

impl Observer {
    fn new(script: &Script, queue: QueueConfig) -> Self {
        let network = network(script, queue);
        let mut link = Link::new(&network.links[0], &network.link_facts()[0], network.measured());
        link.begin_measuring(Time::ZERO);
        Observer {
            link,
            limit: script.limit,
            picoseconds_per_byte: 8 * PICOSECONDS_PER_SECOND / script.rate_bps,
            free_at: Time::ZERO,
            entries: Vec::new(),
            waiting: Vec::new(),
        }
    }

    fn record(&mut self, packet: Transit, end: End) {
        self.entries.push(Entry {
            flow: packet.flow(),
            sequence: packet.packet(0).sequence,
            arrived: packet.time(),
            bytes: packet.bytes(),
            ecn: packet.ecn(),
            end,
        });
    }

    /// Transmission begins when the link is free and takes the time of the bits of the packet.
    fn send(&mut self, packet: Transit, start: Time, departure: Time) {
        assert!(start >= self.free_at, "two transmissions overlap");
        let span = Time::from_picoseconds(u64::from(packet.bytes()) * self.picoseconds_per_byte);
        assert_eq!(departure, start + span, "transmission time of {} bytes", packet.bytes());
        self.free_at = departure;
        self.record(packet, End::Sent(departure));
    }

    fn arrive(&mut self, mut packet: Transit) {
        let now = packet.time();
        let free_at = self.free_at;
        match self.link.arrive(&mut packet, 0) {
            LinkOutcome::Delivered(departure) => {
                let start = now.max(free_at);
                self.send(packet, start, departure);
                if start > now {
                    self.waiting.push((start, packet.bytes()));
                }
            }
            LinkOutcome::Dropped(reason) => {
                let is_full = reason == DropReason::Overflow;
                assert!(!is_full || now < free_at, "no buffer overflows at an idle link");
                self.record(packet, End::Dropped(now, reason));
            }
            LinkOutcome::Held => {}
            LinkOutcome::Lost => panic!("the wire loses nothing here"),
        }
        self.check(now);
    }

    fn serve(&mut self) {
        let now = self.link.next_service();
        if let Some((packet, fate)) = self.link.serve(|_| 0) {
            let LinkOutcome::Delivered(departure) = fate else {
                panic!("{fate:?} of a served packet")
            };
            assert!(packet.time() <= now, "sent before it came");
            self.send(packet, now, departure);
        } else {
            assert_eq!(self.link.held().count(), 0, "packets wait but the link serves none");
        }
        self.check(now);
    }

    /// Checks the invariants of every instant.
    fn check(&mut self, now: Time) {
        let mut dropped = Vec::new();
        self.link.drain_dropped(now, |one| {
            dropped.push(one);
            0
        });
        for drop in dropped {
            self.record(drop.packet, End::Dropped(now, drop.reason));
        }
        assert!(!self.link.served().is_some_and(ServedQueue::has_dropped));
        self.waiting.retain(|&(start, _)| start > now);
        let held: Vec<u32> = self.link.held().map(Transit::bytes).collect();
        let bytes = held.iter().chain(self.waiting.iter().map(|(_, bytes)| bytes));
        let bytes: u64 = bytes.map(|&bytes| u64::from(bytes)).sum();
        let packets = (held.len() + self.waiting.len()) as u64;
        assert!(self.limit.holds(packets, bytes), "{packets} packets, {bytes} bytes wait");
        // The link is work conserving: a waiting packet is served as soon as the link is free.
        let next = if held.is_empty() { Time::NEVER } else { now.max(self.free_at) };
        assert_eq!(self.link.next_service(), next, "{} packets wait", held.len());
    }

    fn finish(&mut self, end: Time) {
        while self.link.next_service() < end {
            self.serve();
        }
        self.link.end_measuring(end);
        let held: Vec<Transit> = self.link.held().collect();
        for packet in held {
            self.record(packet, End::Held);
        }
    }
}

/// Runs `script` as the simulation does: at one instant, services precede arrivals.
fn run(script: &Script, queue: QueueConfig) -> (Observer, Vec<Transit>, Time) {
    let mut observer = Observer::new(script, queue);
    let mut now = Time::ZERO;
    let mut next = BTreeMap::new();
    let mut arrivals = Vec::new();
    for arrival in &script.arrivals {
        now += arrival.gap;
        while observer.link.next_service() <= now {
            observer.serve();
        }
        let sequence = next.entry(arrival.flow).or_insert(0);
        let ecn = Ecn::from_bits(arrival.flow);
        let bytes = arrival.bytes;
        let packet = Packet { sequence: *sequence, bytes, sent: now, ecn, ..Packet::default() };
        *sequence += 1;
        let packet = Transit::arrival(now, arrival.flow, 0, &packet);
        arrivals.push(packet);
        observer.arrive(packet);
    }
    let end = now + script.rest;
    observer.finish(end);
    (observer, arrivals, end)
}

/// Checks that every packet that arrived was sent, dropped or held exactly once, and is otherwise
/// unchanged.
fn check_every_packet(entries: &[Entry], arrivals: &[Transit]) {
    let mut open: BTreeMap<(u32, u64), &Transit> = arrivals
        .iter()
        .map(|packet| ((packet.flow(), packet.packet(0).sequence), packet))
        .collect();
    for entry in entries {
        let packet = open.remove(&(entry.flow, entry.sequence));
        let packet =
            packet.unwrap_or_else(|| panic!("more than once, or never arrived: {entry:?}"));
        assert_eq!((entry.bytes, entry.arrived), (packet.bytes(), packet.time()), "{entry:?}");
        let before = packet.ecn();
        let may_change = before.is_capable() && entry.ecn == Ecn::Ce;
        assert!(entry.ecn == before || may_change, "{before:?} became {entry:?}");
    }
    assert!(open.is_empty(), "without a fate: {open:?}");
}

/// Checks that the packets of each flow leave in the order of their arrival.
fn check_order(entries: &[Entry]) {
    let mut last = BTreeMap::new();
    for entry in entries.iter().filter(|entry| matches!(entry.end, End::Sent(_))) {
        let before = last.insert(entry.flow, entry.sequence);
        assert!(before.is_none_or(|before| before < entry.sequence), "out of order: {entry:?}");
    }
}

/// How long a packet waited, up to `end`, until its transmission or its drop.
fn wait(entry: &Entry, end: Time, picoseconds_per_byte: u64) -> u128 {
    let until = match entry.end {
        End::Sent(departure) => {
            let span = u64::from(entry.bytes) * picoseconds_per_byte;
            departure.since(Time::from_picoseconds(span)).min(end)
        }
        End::Dropped(at, _) => at,
        End::Held => end,
    };
    u128::from(until.since(entry.arrived).picoseconds())
}

/// Checks the counters of the probe against the ledger.
fn check_counters(observer: &Observer, arrivals: u64, end: Time) {
    let entries = &observer.entries;
    let probe = &observer.link.probe;
    let count = |is: &dyn Fn(&Entry) -> bool| entries.iter().filter(|entry| is(entry)).count();
    let dropped = count(&|entry| matches!(entry.end, End::Dropped(..))) as u64;
    let sent = count(&|entry| matches!(entry.end, End::Sent(_))) as u64;
    assert_eq!(probe.account(), (arrivals, dropped, sent));
    let totals = probe.totals();
    assert_eq!((totals.arrivals, totals.random_losses), (arrivals, 0));
    assert_eq!(totals.drops.iter().sum::<u64>(), dropped);
    for reason in REASONS {
        let found = count(&|entry| matches!(entry.end, End::Dropped(_, cause) if cause == reason));
        assert_eq!(totals.drops[reason as usize], found as u64, "{reason:?}");
    }
    let arrived_marked = |entry: &Entry| Ecn::from_bits(entry.flow) == Ecn::Ce;
    let marked = count(&|entry| entry.ecn == Ecn::Ce && !arrived_marked(entry));
    assert_eq!(totals.marks, marked as u64);
    let left = |entry: &&Entry| matches!(entry.end, End::Sent(departure) if departure <= end);
    assert_eq!(totals.departures, entries.iter().filter(left).count() as u64);
    let bytes: u64 = entries.iter().filter(left).map(|entry| u64::from(entry.bytes)).sum();
    assert_eq!(totals.departed_bytes, bytes);
    assert_eq!(probe.queue_lengths.over_time().total() as u64, end.picoseconds());
    let waits = entries.iter().map(|entry| wait(entry, end, observer.picoseconds_per_byte));
    let area = waits.sum::<u128>() as f64;
    let found = probe.mean_queue(end) * end.picoseconds() as f64;
    assert!(
        (found - area).abs() <= 1e-9 * area,
        "integral of the queue {found}, by packets {area}"
    );
}

/// Every discipline with the limit of the script.
fn all(script: &Script) -> Vec<QueueConfig> {
    let limit = match script.limit {
        Limit::Packets(packets) => format!("{packets} packets"),
        Limit::Bytes(bytes) => format!("{bytes} B"),
    };
    disciplines::all(&limit)
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn every_discipline_keeps_the_contract(script in script()) {
        for queue in all(&script) {
            let name = queue.name().to_owned();
            println!("{name}"); // after a failure, the last name is the discipline that failed
            let (observer, arrivals, end) = run(&script, queue.clone());
            check_every_packet(&observer.entries, &arrivals);
            check_order(&observer.entries);
            check_counters(&observer, arrivals.len() as u64, end);
            let (again, ..) = run(&script, queue);
            prop_assert!(observer.entries == again.entries, "{} is not deterministic", name);
            let gauges = |observer: &Observer| {
                let gauges = observer.link.gauges(end);
                gauges.iter().map(|(name, value)| (*name, value.to_bits())).collect::<Vec<_>>()
            };
            prop_assert_eq!(gauges(&observer), gauges(&again));
            let names: BTreeSet<&str> = gauges(&observer).iter().map(|gauge| gauge.0).collect();
            prop_assert_eq!(names.len(), gauges(&observer).len(), "{}: a duplicate name", name);
        }
    }
}

/// The scripts cover full buffers, idle links and simultaneous arrivals.
#[test]
fn the_scripts_fill_the_buffers_and_leave_the_link_idle() {
    let mut runner = TestRunner::deterministic();
    let (mut drops, mut ties, mut idle, mut waits) = (0, 0, 0, 0);
    for _ in 0..50 {
        let script = script().new_tree(&mut runner).unwrap().current();
        let (observer, arrivals, end) = run(&script, networks::drop_tail(script.limit));
        check_counters(&observer, arrivals.len() as u64, end);
        let ends = |is: &dyn Fn(&Entry) -> bool| observer.entries.iter().filter(|e| is(e)).count();
        drops += ends(&|entry| matches!(entry.end, End::Dropped(..)));
        waits += ends(&|entry| wait(entry, end, observer.picoseconds_per_byte) > 0);
        idle += script.arrivals.iter().filter(|arrival| arrival.gap.seconds() > 0.5).count();
        ties += script.arrivals.iter().filter(|arrival| arrival.gap == Time::ZERO).count();
    }
    assert!(drops > 100 && waits > 1_000, "{drops} drops, {waits} waits");
    assert!(idle > 50 && ties > 1_000, "{idle} pauses, {ties} ties");
}

/// The ledger detects a wrong order.
#[test]
#[should_panic(expected = "out of order")]
fn the_ledger_detects_a_packet_that_overtakes_another_of_its_flow() {
    let entry = |sequence| Entry {
        flow: 0,
        sequence,
        arrived: Time::ZERO,
        bytes: 100,
        ecn: Ecn::NotEct,
        end: End::Sent(Time::ZERO),
    };
    check_order(&[entry(1), entry(0)]);
}

/// The ledger requires rates at which a byte takes a whole number of picoseconds.
#[test]
fn a_byte_takes_a_whole_number_of_picoseconds() {
    for rate_bps in [1_000_000_u64, 10_000_000, 100_000_000] {
        assert_eq!(8 * PICOSECONDS_PER_SECOND % rate_bps, 0);
        let second = Time::from_picoseconds(PICOSECONDS_PER_SECOND);
        assert_eq!(Rate::from_bits_per_second(rate_bps).bytes_in(second), rate_bps / 8);
    }
}
