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

use crate::support::{networks, scenario_run};

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
    assert!(simulation.most_checkpoints_per_event() < 10);
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
    use tailroom_engine::simulation::Simulation;

    use crate::ordering::assert_agreement;
    use crate::support::random_cases::config;
    use crate::support::random_networks;

    proptest! {
        #![proptest_config(config(25))]

        #[test]
        fn hours_of_silence_take_no_work_and_change_nothing(
            network in random_networks::network_with_silence()
        ) {
            let mut simulation = Simulation::new(&network).expect("the network is valid");
            simulation.run_until(network.duration).expect("the run ends");
            // A sample is taken at most 40 times; the rest is edges, changes of rate and the ends of flows.
            prop_assert!(
                simulation.most_checkpoints_per_event() <= 40 + 40,
                "{} checkpoints in an event, seed {}",
                simulation.most_checkpoints_per_event(),
                network.seed
            );
            assert_agreement(&network)?;
        }
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
    let text = r#"
        duration = "719 h"
        [pools.memory]
        size = "100 kB"
        policy = { kind = "abm", interval = "1 ms" }
        [links.stuck]
        rate = "10 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        pool = "memory"
        changes = [{ at = "100 ms", rate = "0 bit/s" }]
        [links.other]
        rate = "10 Mbit/s"
        delay = "1 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        pool = "memory"
        [flows.early]
        path = ["stuck"]
        stop = "200 ms"
        source = { kind = "cbr", rate = "20 Mbit/s" }
        [flows.late]
        path = ["other"]
        start = "718 h"
        stop = "718.0001 h"
        source = { kind = "cbr", rate = "1 Mbit/s" }
    "#;
    let network = scenario_run::network(text, 1);
    let results = Simulation::new(&network).expect("it is valid").finish().expect("it ends");
    assert_eq!(results.summary.links.0[1].1.drops_packets, 0);
}
