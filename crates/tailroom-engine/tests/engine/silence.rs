//! Time without events takes no work.

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::reno::RenoParams;
use tailroom_engine::link::spec::FlowAdmissionSpec;
use tailroom_engine::network::{FlowSpec, GroupSpec, Network};
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::quantity::{BitRate, PositiveDuration};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::traffic::cbr::CbrParams;
use tailroom_engine::units::{Rate, Time};

use crate::support::case::case;
use crate::support::networks;

const HOURS: fn(u64) -> Time = |hours| Time::from_milliseconds(hours * 3_600_000);

/// A stream of 1 kbit/s that begins an hour before the end of 719, at the first of some links; over the others
/// go flows with windows, which begin in the last second.
fn late(links: usize) -> Network {
    let link = |at| networks::link(&format!("link{at}"), 10_000_000, HOURS(0), Limit::Packets(100));
    let rate = Rate::from_bits_per_second(1_000);
    let stream = GroupSpec::new("stream", vec![0], CbrParams::at_once(rate));
    let tcp = || TcpSpec::new(CongestionConfig::Reno(RenoParams::default()));
    let mut groups = vec![stream];
    let mut flow = FlowSpec::new(0, Time::from_milliseconds(10));
    flow.start = HOURS(718);
    let mut flows = vec![flow];
    for link in 1..links {
        let mut bulk = networks::bulk(&format!("bulk{link}"), tcp());
        bulk.path = vec![link];
        groups.push(bulk);
        let mut flow = FlowSpec::new(link, Time::from_milliseconds(900));
        flow.start = HOURS(719);
        flow.start = Time::from_picoseconds(flow.start.picoseconds() - 1_000_000_000_000);
        flows.push(flow);
    }
    let mut network = Network::new(HOURS(719), (0..links).map(link).collect(), groups, flows);
    network.measure_from = HOURS(0);
    network
}

/// The intervals of a second in which the flows begin, and of the hour before at most one a packet.
#[cfg(debug_assertions)]
#[test]
fn weeks_in_which_nothing_is_sent_are_a_few_steps() {
    let network = late(3);
    let mut simulation = Simulation::new(&network).expect("the network is valid");
    simulation.run_until(network.duration).expect("the run ends");
    assert!(simulation.most_steps_per_event() < 10);
    let links = simulation.finish().expect("it ends").summary.links;
    // One flow for a second of 719 hours.
    let expected = 1.0 / (719.0 * 3_600.0);
    let found = links.0[1].1.sharing.flows_in_progress_mean.expect("time has passed");
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
}

/// The reference walks through all of the silence.
#[cfg(debug_assertions)]
mod random {
    use proptest::prelude::*;

    use crate::ordering::assert_agreement;
    use crate::support::random_cases::config;
    use crate::support::random_networks;

    proptest! {
        #![proptest_config(config(25))]

        #[test]
        fn hours_of_silence_take_no_work_and_change_nothing(
            network in random_networks::network_with_silence()
        ) {
            assert_agreement(&network)?;
        }
    }
}

/// What piles up in a silence, or comes in pieces far smaller than what happens.
#[cfg(debug_assertions)]
mod piles {
    use proptest::prelude::*;
    use tailroom_engine::congestion::CongestionConfig;
    use tailroom_engine::congestion::reno::RenoParams;
    use tailroom_engine::distribution::{Distribution, Empirical};
    use tailroom_engine::link::serializer::RateChange;
    use tailroom_engine::network::{FlowSpec, GroupSpec, Network};
    use tailroom_engine::simulation::Simulation;
    use tailroom_engine::tcp::TcpSpec;
    use tailroom_engine::traffic::SourceSpec;
    use tailroom_engine::traffic::arrivals::FlowArrivals;
    use tailroom_engine::traffic::incast::{IncastSpec, Queries};
    use tailroom_engine::traffic::objects::ObjectsSpec;
    use tailroom_engine::traffic::on_off::OnOffSpec;
    use tailroom_engine::units::{Rate, Time};

    use crate::ordering::assert_agreement_within;
    use crate::support::random_cases::config;
    use crate::support::random_networks;

    const MS: fn(u64) -> Time = Time::from_milliseconds;

    /// What the links record, what a source draws, and what an application has in store, each at most 2^16.
    const MOST_STEPS: u64 = (3 << 16) + 300;

    /// On periods of a picosecond, until one of 100 ms comes in some 500,000; a packet takes 0.1 ms of them.
    fn gaps() -> OnOffSpec {
        let on = Distribution::Empirical(Empirical::mix(&[1.0, 1e11], &[1.0, 2e-6]));
        let rate = Rate::from_bits_per_second(100_000_000);
        OnOffSpec::new(rate, on, Distribution::Fixed(1_000.0))
    }

    /// A million objects a second, for a connection whose first link stands still for a while.
    fn objects() -> ObjectsSpec {
        ObjectsSpec::new(Distribution::Fixed(100.0), 1e6, 1e9)
    }

    /// 700,000 queries that are answered after 0.7 s, a millisecond before the end.
    fn queries(from: Time, rtt: Time) -> IncastSpec {
        let period = Time::from_picoseconds(1_000_000);
        let arrivals = FlowArrivals::Periodic { period, start: from, stop: Time::NEVER };
        let rtt = Distribution::Fixed(rtt.picoseconds() as f64);
        let mut spec = IncastSpec::new(Queries::Arrive(arrivals), 1, Distribution::Fixed(1.0), rtt);
        spec.service_time = Distribution::Fixed(0.7e12);
        spec
    }

    fn add(network: &mut Network, name: &str, source: impl Into<SourceSpec>, tcp: Option<TcpSpec>) {
        let mut group = GroupSpec::new(name, vec![0], source);
        group.tcp = tcp;
        let has_flows = group.source.dynamic_rtt().is_none();
        network.groups.push(group);
        if has_flows {
            network.flows.push(FlowSpec::new(network.groups.len() - 1, MS(10)));
        }
    }

    fn tcp() -> TcpSpec {
        TcpSpec::new(CongestionConfig::Reno(RenoParams::default()))
    }

    fn with_piles(mut network: Network) -> Network {
        network.duration = MS(900);
        network.measure_from = network.measure_from.min(MS(800));
        // Links that record 180,000 samples, of flows that do nothing meanwhile.
        network.series_interval = Some(Time::from_picoseconds(5_000_000));
        let at = |ms, rate| RateChange::new(MS(ms), Rate::from_bits_per_second(rate));
        network.links[0].rate_changes = vec![at(100, 0), at(600, 5_000_000)];
        network.links[0].rate_period = None;
        add(&mut network, "gaps", gaps(), None);
        add(&mut network, "objects", objects(), Some(tcp()));
        add(&mut network, "queries", queries(MS(199), MS(10)), Some(tcp()));
        network
    }

    fn steps(network: &Network) -> u64 {
        let mut simulation = Simulation::new(network).expect("the network is valid");
        simulation.run_until(network.duration).expect("the run ends");
        simulation.most_steps_per_event()
    }

    proptest! {
        #![proptest_config(config(10))]

        #[test]
        fn an_event_does_a_part_of_what_has_piled_up(network in random_networks::network()) {
            let network = with_piles(network);
            prop_assume!(network.validate().is_ok());
            let steps = steps(&network);
            prop_assert!(steps <= MOST_STEPS, "{steps} steps in an event, seed {}", network.seed);
        }
    }

    /// The reference asks its sources until they know, and takes all samples one by one.
    #[test]
    fn what_is_done_in_parts_is_the_same() {
        let mut network = super::late(2);
        network.duration = MS(900);
        network.measure_from = MS(300);
        network.flows.iter_mut().for_each(|flow| flow.start = MS(1));
        network.series_interval = Some(MS(7));
        add(&mut network, "gaps", gaps(), None);
        add(&mut network, "objects", objects(), Some(tcp()));
        add(&mut network, "queries", queries(MS(199), MS(10)), Some(tcp()));
        assert!(steps(&network) >= 1 << 16, "parts of the work are as large as they may be");
        assert_agreement_within(&network, MOST_STEPS).expect("both loops agree");
    }
}

/// A sample each second of 100 hours is 360,000 samples: the caller gets its turn after each 2^16.
#[test]
fn a_caller_gets_its_turn_while_links_record_hours() {
    let mut network = late(1);
    network.duration = HOURS(100);
    network.flows[0].start = HOURS(99);
    network.series_interval = Some(Time::from_milliseconds(1_000));
    let mut simulation = Simulation::new(&network).expect("the network is valid");
    let mut turns = 1;
    while !simulation.run_some(HOURS(99), u64::MAX).expect("it goes on") {
        turns += 1;
    }
    assert_eq!(turns, 1 + 99 * 3_600 / (1 << 16));
}

/// Without a skip, the meter would end two billion intervals, which take an hour.
#[test]
fn admission_control_waits_for_weeks_in_no_time() {
    let mut network = late(2);
    let mut admission = FlowAdmissionSpec::default();
    admission.interval = PositiveDuration::from_milliseconds(1);
    admission.min_fair_rate = Some(BitRate::new(1_000_000));
    network.links[0].admission = Some(admission);
    let results = Simulation::new(&network).expect("it is valid").finish().expect("it ends");
    assert_eq!(results.summary.links.0[0].1.arrivals_packets, 300);
}

/// The policy of the pool looks every millisecond at what the link `stuck` holds for weeks.
#[test]
fn a_pool_looks_once_at_queues_that_stay_the_same() {
    let shared = "10 Mbit/s, 1 ms, 100 packets, pool = 'memory'";
    case("719 h")
        .table("pools.memory", "size = '100 kB', policy = { kind = 'abm', interval = '1 ms' }")
        .link("stuck", format!("{shared}, changes = [{{ at = '100 ms', rate = '0 bit/s' }}]"))
        .link("other", shared)
        .stream("early", "stuck", "cbr 20 Mbit/s, 1500 B, stop = '200 ms'")
        .stream("late", "other", "cbr 1 Mbit/s, 1500 B, start = '718 h', stop = '718.0001 h'")
        .run()
        .expect("links.other.drops_packets", 0);
}

/// A stream of ten million packets a second, whose packets are on the way to their first link for longer than
/// the run: they are sent in pieces, and all of them count.
#[test]
fn a_caller_gets_its_turn_while_packets_are_sent_that_reach_no_link() {
    let link = networks::link("link", 1_000_000_000, HOURS(0), Limit::Packets(100));
    let rate = Rate::from_bits_per_second(120_000_000_000);
    let stream = GroupSpec::new("stream", vec![0], CbrParams::at_once(rate));
    let flow = FlowSpec::new(0, HOURS(1));
    let run = Time::from_milliseconds(10);
    let mut network = Network::new(run, vec![link], vec![stream], vec![flow]);
    network.measure_from = HOURS(0);
    let mut simulation = Simulation::new(&network).expect("the network is valid");
    let mut pieces = 1;
    while !simulation.run_some(run, 1_000).expect("it runs") {
        pieces += 1;
    }
    let results = simulation.finish().expect("it ends");
    let sent = results.summary.groups.0[0].1.throughput_bps * 0.01 / 12_000.0;
    assert_eq!((sent.round() as u64, pieces), (100_000, 101));
}
