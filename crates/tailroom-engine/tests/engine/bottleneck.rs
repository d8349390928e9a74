//! A link with packets of somebody else: it does to them what it does to the packets of a simulation.

use tailroom_engine::bottleneck::{Bottleneck, Fate, Outcome};
use tailroom_engine::link::LinkSpec;
use tailroom_engine::link::ingress_pool::IngressMember;
use tailroom_engine::link::line::LineSpec;
use tailroom_engine::link::pause::PauseSpec;
use tailroom_engine::link::wire_loss::LossSpec;
use tailroom_engine::network::Network;
use tailroom_engine::packet::Ecn;
use tailroom_engine::pool::PoolMember;
use tailroom_engine::quantity::limit::{Limit, QueueLimit};
use tailroom_engine::quantity::{Size, SizeOrZero};
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::queue::codel::CodelParams;
use tailroom_engine::results::Results;
use tailroom_engine::units::{Rate, Time};

use crate::support::case::case;
use crate::support::{disciplines, networks, scenario_run};

const MS: fn(u64) -> Time = Time::from_milliseconds;

/// A time and a flow.
type Event = (Time, u32);

/// Flows of three kinds over one link: without ECN, with accurate ECN, and L4S. They stop early enough
/// for the queue to empty before the end of the run, so that the fate of each packet is known.
fn network(queue: &QueueConfig) -> Network {
    let logs = "packet_log = 1_000_000, arrival_log = { from = '0 s', to = '6 s' }";
    let mixed = "congestion = 'cubic', rtt = { from = '20 ms', to = '60 ms' }";
    let mut network = case("6 s")
        .seed(7)
        .link("link", format!("10 Mbit/s, 5 ms, 200 packets, {logs}"))
        .toml("defaults = { stop = '3 s' }")
        .flows("plain", "link", format!("count = 3, {mixed}"))
        .flows("marked", "link", "count = 2, congestion = 'cubic', rtt = '40 ms', ecn = 'accurate'")
        .flows("scalable", "link", "rtt = '30 ms', congestion = 'prague', ecn = 'l4s'")
        .stream("noise", "link", "poisson 2 Mbit/s, 1500 B")
        .network();
    network.links[0].queue = queue.clone();
    network
}

/// The ECN field that the packets of a flow have on arrival.
fn ecn(flow: u32) -> Ecn {
    match flow {
        3 | 4 => Ecn::Ect0,
        5 => Ecn::Ect1,
        _ => Ecn::NotEct,
    }
}

/// Departures and drops of the packet log.
fn of_simulation(results: &Results) -> (Vec<Event>, Vec<Event>) {
    let log = results.tables.packet_log.as_ref().expect("it is recorded");
    let events = |kind: u8| {
        let rows = log.event.iter().zip(&log.time_s).zip(&log.flow);
        let rows = rows.filter(|((event, _), _)| **event == kind);
        let mut events: Vec<Event> =
            rows.map(|((_, time), flow)| (Time::from_seconds(*time), *flow)).collect();
        events.sort_unstable();
        events
    };
    (events(1), events(2))
}

/// Feeds the arrivals of a run to a bottleneck, looking in between as `looks_between` says.
fn outcomes(network: &Network, results: &Results, looks_between: bool) -> Vec<Outcome<usize>> {
    let log = results.tables.packets.as_ref().expect("it is recorded");
    let mut link =
        Bottleneck::with_info(&network.links[0], &network.link_facts()[0]).expect("valid");
    let mut outcomes = Vec::new();
    for (number, time_s) in log.time_s.iter().enumerate() {
        let (now, flow) = (Time::from_seconds(*time_s), log.flow[number]);
        while looks_between && link.next_due() <= now {
            let due = link.next_due();
            outcomes.extend(std::iter::from_fn(|| link.poll(due)));
        }
        link.arrive(now, flow, log.bytes[number], ecn(flow), number);
    }
    outcomes.extend(std::iter::from_fn(|| link.poll(network.duration)));
    assert_eq!(link.queue_packets(network.duration), 0);
    assert_eq!(link.next_due(), Time::NEVER);
    outcomes
}

#[test]
fn every_discipline_does_the_same_to_the_packets_of_others() {
    for queue in disciplines::all("200 packets") {
        let kind = queue.name();
        let network = network(&queue);
        let results = scenario_run::finish(&network);
        let outcomes = outcomes(&network, &results, true);
        let (mut departures, mut drops, mut marks) = (Vec::new(), Vec::new(), 0);
        for outcome in &outcomes {
            match outcome.fate {
                Fate::Delivered { at, departure, is_marked, ecn: left, .. } => {
                    departures.push((departure, outcome.flow));
                    marks += u64::from(is_marked);
                    assert_eq!(at, departure + MS(5), "{kind}");
                    assert_eq!(left, if is_marked { Ecn::Ce } else { ecn(outcome.flow) }, "{kind}");
                }
                Fate::Dropped { at, .. } => drops.push((at, outcome.flow)),
                other => panic!("{kind}: {other:?}"),
            }
        }
        assert!(departures.is_sorted(), "{kind}: packets depart in order");
        drops.sort_unstable();
        let (expected_departures, expected_drops) = of_simulation(&results);
        assert!(departures == expected_departures, "{kind}: other departures");
        assert!(drops == expected_drops, "{kind}: other drops");
        let at = &results.summary.links.0[0].1;
        assert_eq!(marks, at.marks_packets, "{kind}");
        assert!(departures.len() > 2_000 && drops.len() + marks as usize > 10, "{kind}: no strain");
        let reasons = |reason| {
            let is_so = |one: &&Outcome<usize>| matches!(one.fate, Fate::Dropped { reason: found, .. } if found == reason);
            outcomes.iter().filter(is_so).count() as u64
        };
        let found = [DropReason::Overflow, DropReason::Early, DropReason::Head].map(reasons);
        let expected = [
            at.by_reason.drops_overflow_packets,
            at.by_reason.drops_early_packets,
            at.by_reason.drops_head_packets,
        ];
        assert_eq!(found, expected, "{kind}");
    }
}

#[test]
fn outcomes_depend_neither_on_when_the_caller_looks_nor_on_anything_but_the_seed() {
    let queue = disciplines::all("200 packets");
    let queue = queue.iter().find(|queue| queue.name() == "pie").expect("it is registered");
    let network = network(queue);
    let results = scenario_run::finish(&network);
    let first = outcomes(&network, &results, true);
    assert_eq!(first, outcomes(&network, &results, false));
    let mut info = network.link_facts().swap_remove(0);
    info.seed += 1;
    let mut other = Bottleneck::with_info(&network.links[0], &info).expect("valid");
    let log = results.tables.packets.expect("it is recorded");
    for (number, time_s) in log.time_s.iter().enumerate() {
        let flow = log.flow[number];
        other.arrive(Time::from_seconds(*time_s), flow, log.bytes[number], ecn(flow), number);
    }
    let others: Vec<_> = std::iter::from_fn(|| other.poll(network.duration)).collect();
    assert_ne!(first, others);
}

/// By hand: 1,000 bytes take 1 ms at 8 Mbit/s. One is in transmission and two wait.
#[test]
fn a_full_buffer_drops_the_next_packet_and_the_wire_loses_every_second() {
    let queue = networks::drop_tail(Limit::Packets(2));
    let mut spec = LinkSpec::new(Rate::from_bits_per_second(8_000_000), MS(10), queue);
    spec.loss = LossSpec::Periodic { every: 2 };
    let mut link = Bottleneck::new(&spec, 1).expect("the link is valid");
    for name in ["a", "b", "c", "d"] {
        link.arrive(MS(5), 0, 1_000, Ecn::NotEct, name);
    }
    assert_eq!((link.queue_packets(MS(5)), link.next_due()), (2, MS(5)));
    let fates: Vec<_> =
        std::iter::from_fn(|| link.poll(MS(5))).map(|one| (one.packet, one.fate)).collect();
    let sent = |departure, waited| Fate::Delivered {
        at: MS(departure + 10),
        departure: MS(departure),
        waited: MS(waited),
        ecn: Ecn::NotEct,
        is_marked: false,
    };
    let lost = Fate::Lost { departure: MS(7), waited: MS(1), is_marked: false };
    let dropped = Fate::Dropped { at: MS(5), reason: DropReason::Overflow };
    assert_eq!(fates, [("a", sent(6, 0)), ("b", lost), ("c", sent(8, 2)), ("d", dropped)]);
    assert_eq!((link.queue_packets(MS(6)), link.next_due()), (1, Time::NEVER));
}

#[test]
fn a_wrong_link_is_refused() {
    let rate = Rate::from_bits_per_second;
    let tail_drop = networks::drop_tail(Limit::Packets(2));
    let wrong =
        |spec: &LinkSpec| Bottleneck::<()>::new(spec, 1).expect_err("the link is wrong").key;
    assert_eq!(wrong(&LinkSpec::new(rate(0), MS(1), tail_drop.clone())), "rate");
    let alone = LinkSpec::new(rate(1_000_000), MS(1), tail_drop);
    let refused = |change: fn(&mut LinkSpec)| {
        let mut spec = alone.clone();
        change(&mut spec);
        wrong(&spec)
    };
    assert_eq!(refused(|link| link.pool = Some(PoolMember::new(0))), "pool");
    assert_eq!(refused(|link| link.ingress = Some(IngressMember::new(0, 1.0))), "ingress");
    assert_eq!(refused(|link| link.line = Some(LineSpec::new("up"))), "line");
    let pauses = |link: &mut LinkSpec| {
        let [xoff, headroom] = [9_000, 3_000].map(Size::new);
        link.pause = Some(PauseSpec::new(xoff, SizeOrZero::new(6_000), headroom));
    };
    assert_eq!(refused(pauses), "pause");
    let mut impatient = CodelParams::default();
    (impatient.limit, impatient.interval) = (QueueLimit::packets(9), impatient.target);
    let codel = QueueConfig::Codel(impatient);
    assert!(wrong(&LinkSpec::new(rate(1_000_000), MS(1), codel)).starts_with("queue."));
}
