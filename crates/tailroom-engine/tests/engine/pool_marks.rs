//! Marks on the memory of a pool in use: a closed form, and what other disciplines mark.

use tailroom_engine::link::{Link, LinkOutcome};
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::packet::{Ecn, Packet};
use tailroom_engine::results::LinkSummary;
use tailroom_engine::units::Time;

use crate::pools::{PACKET, links, stream};
use crate::support::scenario_run::{network, run};
use crate::support::summaries::link;

/// What becomes of the ECN field of packets of 100 B that arrive every 50 us at a link that sends one per
/// 80 us, in a pool that marks above `threshold`.
fn fields(threshold: u64, ecn: Ecn, packets: u64) -> Vec<Ecn> {
    let pool =
        format!("size = \"1 MB\"\npolicy = \"complete_sharing\"\nmark_above = \"{threshold} B\"");
    let text =
        "duration = \"1 s\"\n".to_owned() + &links(1, &pool, "") + &stream("f", 0, 1.6, "0 s");
    let network = network(&text, 1);
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
fn dctcp(queue: &str, pool: &str) -> LinkSummary {
    let text = format!(
        "duration = \"1 s\"
        measure_from = \"100 ms\"
        [pools.p]
        size = \"200 kB\"
        policy = \"complete_sharing\"
        {pool}
        [links.l0]
        rate = \"100 Mbit/s\"
        delay = \"100 us\"
        queue = {queue}
        pool = \"p\"
        [flows.f]
        path = [\"l0\"]
        count = 2
        congestion = \"dctcp\"
        ecn = \"accurate\"
        rtt = \"400 us\"\n"
    );
    link(&run(&text, 1).summary, "l0").clone()
}

/// Memory that is free at the start of a transmission is what waits. `step_mark` marks where at least K
/// bytes wait, and the pool where more than K - 1 are in use.
#[test]
fn a_pool_of_one_port_marks_what_a_threshold_of_its_queue_marks() {
    let step =
        "{ kind = \"step_mark\", threshold = \"20 kB\", limit = \"200 kB\", drop_others = false }";
    let of_queue = dctcp(step, "frees = \"at start\"");
    let of_pool = dctcp("\"drop_tail\"", "frees = \"at start\"\nmark_above = \"19999 B\"");
    assert!(of_queue.marks_packets > 100, "{} marks", of_queue.marks_packets);
    assert_eq!(of_pool.marks_packets, of_queue.marks_packets);
    assert_eq!(of_pool.queue_delay_s_p99, of_queue.queue_delay_s_p99);
    assert_eq!(of_pool.departures_packets, of_queue.departures_packets);
}

/// Nothing waits at the second link, whose packets find what waits at the first: with an alpha of 1, half
/// of the memory.
#[test]
fn packets_are_marked_for_what_others_hold() {
    let marks = |threshold: &str| {
        let policy = "policy = { kind = \"dynamic_threshold\", alpha = 1 }";
        let pool = format!("size = \"60 kB\"\n{policy}\n{threshold}");
        let mut text = "duration = \"1 s\"\n".to_owned() + &links(2, &pool, "");
        text += &stream("s", 0, 1.5, "0 s");
        text += "[flows.f]\npath = [\"l1\"]\ncongestion = \"reno\"\nmax_window = 2\n";
        text += "ecn = \"classic\"\nrtt = \"20 ms\"\n";
        link(&run(&text, 1).summary, "l1").marks_packets
    };
    assert_eq!(marks(""), 0);
    assert_eq!(marks("mark_above = \"40 kB\""), 0);
    assert!(marks("mark_above = \"20 kB\"") > 10);
}

#[test]
fn a_scheduler_sends_what_the_pool_has_marked() {
    let found = dctcp("\"fq_codel\"", "mark_above = \"20 kB\"");
    assert!(found.marks_packets > 100, "{} marks", found.marks_packets);
    assert_eq!(found.drops_packets, 0);
}
