//! Occamy: heads of queues above their thresholds are dropped with what bandwidth the memory can spare.

use tailroom_engine::link::{Link, LinkOutcome};
use tailroom_engine::packet::Packet;
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::results::Results;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::Time;

use crate::pools::{PACKET, dynamic};
use crate::support::case::{Case, case, check, within};

/// What a queue holds at each millisecond, in bytes.
fn held(results: &Results, link: u32) -> Vec<f64> {
    let series = results.tables.pool_series.as_ref().expect("it is recorded");
    let rows = series.link.iter().zip(&series.memory_bytes);
    rows.filter(|(at, _)| **at == link).map(|(_, bytes)| *bytes).collect()
}

/// A case whose series has a row for each millisecond.
fn with_series(duration: &str) -> Case {
    case(duration).table("series", "interval = '1 ms'")
}

/// Bytes per millisecond of a rate in Mbit/s.
fn bytes_per_ms(mbps: f64) -> f64 {
    mbps * 125.0
}

/// Half of 1 MB is full when its input ends, and 200 kB arrive elsewhere at once: the threshold is 300 kB.
/// The first queue shrinks at the rate of its link and what the memory reads more than both links send, s,
/// until it meets the threshold, which rises as both queues drain: `500 - (1.25 + s) t = 300 + (2.5 + s) t`.
#[test]
fn a_queue_above_its_threshold_shrinks_at_the_rates_of_its_link_and_of_spare_bandwidth() {
    for memory in [None, Some(30.0), Some(50.0)] {
        let rate = memory.map_or(String::new(), |rate| format!(", memory_rate = '{rate} Mbit/s'"));
        let policy = format!("kind = 'occamy', alpha = 1, bucket = '100 B'{rate}");
        let run = with_series("1200 ms from 1 s")
            .ports(2, format!("size = '1 MB', policy = {{ {policy} }}"), "")
            .load("long", 0, 2.0, "stop = '1 s'")
            .load("burst", 1, 160.0, "start = '1 s', stop = '1001 ms'")
            .run();
        let queue = held(&run, 0);
        let (link_rate, spare) = (bytes_per_ms(10.0), bytes_per_ms(memory.unwrap_or(20.0) - 20.0));
        let shrinks = |from: usize, to: usize, rate: f64| {
            let (found, expected) = (queue[from] - queue[to], (to - from) as f64 * rate);
            // A packet at either end, and one that tokens are still owed for.
            let bound = expected - 3.0 * PACKET..=expected + 3.0 * PACKET;
            check(format!("{memory:?}, {from} to {to}"), found, within(bound));
        };
        let meets = 200e3 / (3.0 * link_rate + 2.0 * spare);
        shrinks(1_002, 1_000 + meets as usize - 2, link_rate + spare);
        shrinks(1_000 + meets as usize + 4, 1_100, link_rate);
        // Nothing arrives at the queue any more: each drop is that of a head, and counted for its reason.
        let at = run.link("l0");
        let (found, expected) = (at.by_reason.drops_head_packets as f64 * PACKET, spare * meets);
        assert_eq!((at.arrivals_packets, at.drops_packets), (0, at.by_reason.drops_head_packets));
        // Until the burst begins, its link leaves bandwidth for one head. The burst takes a millisecond to
        // arrive, in which the threshold falls, and the queues start off by a packet.
        let bound = if memory.is_none() { PACKET } else { spare + link_rate + 3.0 * PACKET };
        check(format!("{memory:?}: dropped"), found, within(expected - bound..=expected + bound));
    }
}

/// Next to a full queue, a burst at 8 times the rate of its link has its fair share, alpha B / (1 + 2
/// alpha), as soon as it has sent that much, if the memory has bandwidth to spare. Under dynamic thresholds
/// it is cut where the fluid model of [`crate::pools`] says, and grows as the full queue drains.
#[test]
fn a_burst_takes_its_fair_share_at_once_from_a_full_queue() {
    const SIZE: f64 = 1e6;
    const ALPHA: f64 = 8.0;
    let at_60_ms = |pool: &str| {
        let both = with_series("1100 ms").ports(2, pool, "").load("long", 0, 2.0, "");
        let run = both.load("burst", 1, 8.0, "start = '1 s'").run();
        [0, 1].map(|link| held(&run, link)[1_060])
    };
    let bound = (1.0 + 2.0 * ALPHA) * PACKET;
    let within_bound = |expected: f64| within(expected - bound..=expected + bound);
    let fair = ALPHA * SIZE / (1.0 + 2.0 * ALPHA);
    let occamy = "{ kind = 'occamy', memory_rate = '100 Gbit/s' }";
    for found in at_60_ms(&format!("size = '{SIZE} B', policy = {occamy}")) {
        check("under Occamy", found, within_bound(fair));
    }
    let [_, found] = at_60_ms(&dynamic(SIZE, ALPHA));
    // The full queue has drained for 60 ms, and the threshold follows.
    let left = ALPHA * SIZE / (1.0 + ALPHA) - 60.0 * bytes_per_ms(10.0);
    let expected = ALPHA * (SIZE - left) / (1.0 + ALPHA);
    check("under dynamic thresholds", found, within_bound(expected));
}

/// A memory that has nothing to spare drops no head: Occamy is dynamic thresholds.
#[test]
fn without_spare_bandwidth_the_results_are_those_of_dynamic_thresholds() {
    let with = |policy: &str| {
        case("3 s")
            .ports(3, format!("size = '30 kB', policy = {{ {policy}, alpha = 2 }}"), "")
            .toml("defaults = { congestion = 'cubic', rtt = '20 ms' }")
            .flows("a", "l0 l1", "count = 3, reverse_path = ['l2']")
            .flows("b", "l1", "")
            .run()
            .results
            .summary
            .links
    };
    let dynamic = with("kind = 'dynamic_threshold'");
    let none = "kind = 'occamy', memory_rate = '1 bit/s', bucket = '1 B'";
    assert_eq!(with(none), dynamic);
    assert_ne!(with("kind = 'occamy'"), dynamic, "heads are dropped");
}

/// Three packets wait behind the one that is sent: the first of them is dropped, once, and the second is
/// sent next.
#[test]
fn the_head_of_a_queue_is_the_packet_that_would_be_sent_next() {
    let ports = case("1 s").ports(1, "size = '1 MB', policy = 'occamy'", "");
    let network = ports.load("f", 0, 0.5, "").network();
    let mut link = Link::new(&network.links[0], &network.link_facts()[0], network.measured());
    let now = Time::from_milliseconds(1);
    let class = |_: Transit| 0;
    for sequence in 0..4 {
        let packet = Packet { sequence, bytes: 100, ..Packet::default() };
        let mut packet = Transit::arrival(now, 0, 0, &packet);
        assert_eq!(link.offer(&mut packet, 0), LinkOutcome::Held);
        if sequence == 0 {
            assert!(link.serve(class).is_some());
            assert!(!link.can_push_out(), "the packet that is sent does not wait");
        }
    }
    assert_eq!(link.push_out(now, DropReason::Head), Some(100));
    let mut dropped = Vec::new();
    link.drain_dropped(now, |one| {
        dropped.push((one.packet.slot(), one.reason));
        0
    });
    assert_eq!(dropped, [(1, DropReason::Head)]);
    let (next, _) = link.serve(class).expect("two packets wait");
    assert_eq!(next.slot(), 2);
    assert!(Simulation::new(&network).is_ok());
}
