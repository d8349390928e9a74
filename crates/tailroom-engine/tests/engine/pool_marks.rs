//! Marks on the memory of a pool in use: a closed form, and what other disciplines mark.

use tailroom_engine::link::{Link, LinkOutcome};
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::packet::{Ecn, Packet};
use tailroom_engine::units::Time;

use crate::pools::{PACKET, dynamic};
use crate::support::case::{Run, above, case};

/// What becomes of the ECN field of packets of 100 B that arrive every 50 us at a link that sends one per
/// 80 us, in a pool that marks above `threshold`.
fn fields(threshold: u64, ecn: Ecn, packets: u64) -> Vec<Ecn> {
    let pool = format!("size = '1 MB', policy = 'complete_sharing', mark_above = '{threshold} B'");
    let network = case("1 s").ports(1, pool, "").load("f", 0, 1.6, "").network();
    let mut pools = network.empty_pools();
    let mut link = Link::new(&network.links[0], &network.link_facts()[0], network.measured());
    let arrive = |sequence: u64| {
        let now = Time::from_picoseconds(50_000_000 * sequence);
        let packet = Packet { sequence, bytes: PACKET as u32, ecn, ..Packet::default() };
        let mut packet = Transit::arrival(now, 0, 0, &packet);
        let grant = pools.ask((0, 0), now, packet.bytes(), false).expect("there is room");
        let is_marked = pools.is_to_be_marked(0, now);
        let outcome = link.offer_from_pool(&mut packet, 0, is_marked);
        assert!(matches!(outcome, LinkOutcome::Delivered(_)));
        pools.pass(0, now, grant, now + link.last_wait(), link.busy_until());
        packet.ecn()
    };
    (0..packets).map(arrive).collect()
}

/// Packet k finds the k before it less those that have left by then, one per 80 us:
/// k - floor(50 k / 80) packets. The threshold marks what finds more.
#[test]
fn the_first_mark_is_where_the_memory_in_use_exceeds_the_threshold() {
    for threshold in [1, 99, 100, 1_000, 3_750] {
        let found = fields(threshold, Ecn::Ect0, 200);
        let expected = (0..200).map(|k: u64| {
            let in_use = 100 * (k - 50 * k / 80);
            if in_use > threshold { Ecn::Ce } else { Ecn::Ect0 }
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{threshold} B");
        assert!(found.contains(&Ecn::Ce) && found.contains(&Ecn::Ect0));
    }
}

#[test]
fn packets_without_ecn_pass_unmarked() {
    assert!(fields(100, Ecn::NotEct, 200).iter().all(|ecn| *ecn == Ecn::NotEct));
}

/// Two DCTCP flows over one port, whose discipline and pool are given.
fn dctcp(queue: &str, pool: &str) -> Run {
    let flows = "count = 2, congestion = 'dctcp', ecn = 'accurate', rtt = '400 us'";
    case("1 s from 100 ms")
        .table("pools.p", format!("size = '200 kB', policy = 'complete_sharing', {pool}"))
        .link("l0", format!("100 Mbit/s, 100 us, queue = {queue}, pool = 'p'"))
        .flows("f", "l0", flows)
        .run()
}

/// Memory that is free at the start of a transmission is what waits. `step_mark` marks where at least K
/// bytes wait, and the pool where more than K - 1 are in use.
#[test]
fn a_pool_of_one_port_marks_what_a_threshold_of_its_queue_marks() {
    let step = "kind = 'step_mark', threshold = '20 kB', limit = '200 kB', drop_others = false";
    let of_queue = dctcp(&format!("{{ {step} }}"), "frees = 'at start'");
    let of_pool = dctcp("'drop_tail'", "frees = 'at start', mark_above = '19999 B'");
    of_queue.expect("links.l0.marks_packets", above(100.0));
    for name in ["marks_packets", "queue_delay_s_p99", "departures_packets"] {
        let place = format!("links.l0.{name}");
        of_pool.expect(&place, of_queue.get(&place));
    }
}

/// Nothing waits at the second link, whose packets find what waits at the first: with an alpha of 1, half
/// of the memory.
#[test]
fn packets_are_marked_for_what_others_hold() {
    let marks = |threshold: &str| {
        let tcp = "congestion = 'reno', max_window = 2, ecn = 'classic', rtt = '20 ms'";
        let case = case("1 s").ports(2, dynamic(60_000.0, 1.0) + threshold, "");
        let run = case.load("s", 0, 1.5, "").flows("f", "l1", tcp).run();
        run.link("l1").marks_packets
    };
    assert_eq!(marks(""), 0);
    assert_eq!(marks(", mark_above = '40 kB'"), 0);
    assert!(marks(", mark_above = '20 kB'") > 10);
}

#[test]
fn a_scheduler_sends_what_the_pool_has_marked() {
    dctcp("'fq_codel'", "mark_above = '20 kB'")
        .expect("links.l0.marks_packets", above(100.0))
        .expect("links.l0.drops_packets", 0);
}
