//! A link whose rate has changed before anything is sent is the link that had the rate all the time.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use tailroom_engine::link::serializer::RateChange;
use tailroom_engine::network::Network;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::results::Results;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::stepping::Action;
use tailroom_engine::traffic::arrivals::FlowArrivals;
use tailroom_engine::traffic::incast::Queries;
use tailroom_engine::traffic::{FlowSourceSpec, SourceSpec};
use tailroom_engine::units::{Rate, Time};

use crate::ordering::difference;
use crate::support::case::case;
use crate::support::random_cases::config;
use crate::support::{networks, random_fabrics, random_networks};

const MS: fn(u64) -> Time = Time::from_milliseconds;

/// When everything begins, after the changes of the first 300 ms.
const BEGIN: Time = Time::from_milliseconds(700);

/// How a link comes to its rate.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// As `changes` do.
    Change,
    /// As `rate_variation` and a trace without a period do: with a rate that lasts, zero in between.
    Variation,
    /// As a trace that repeats.
    Period,
    /// By an action of a caller between two steps.
    Action,
}

fn later(arrivals: &mut FlowArrivals) {
    match arrivals {
        FlowArrivals::Given(times) => times.iter_mut().for_each(|time| *time += BEGIN),
        FlowArrivals::Poisson { start, stop, .. } | FlowArrivals::Periodic { start, stop, .. } => {
            later_span(start, stop);
        }
        _ => {}
    }
}

fn later_span(start: &mut Time, stop: &mut Time) {
    *start += BEGIN;
    *stop = stop.saturating_add(BEGIN);
}

/// The network with all traffic later, at rates at which a byte takes whole picoseconds: a link whose rate
/// varies carries no fraction from packet to packet.
fn begun_later(mut network: Network) -> Network {
    network.duration += BEGIN;
    network.measure_from = BEGIN;
    for flow in &mut network.flows {
        flow.start += BEGIN;
    }
    for group in &mut network.groups {
        group.stop = group.stop.map(|stop| stop + BEGIN);
        match &mut group.source {
            SourceSpec::Flows(FlowSourceSpec::FiniteFlows(spec)) => later(&mut spec.arrivals),
            SourceSpec::Flows(FlowSourceSpec::Streaming(spec)) => later(&mut spec.arrivals),
            SourceSpec::Flows(FlowSourceSpec::Web(spec)) => later(&mut spec.arrivals),
            SourceSpec::Flows(FlowSourceSpec::Trace(spec)) => {
                let later = spec.flows.iter().map(|flow| {
                    let mut flow = *flow;
                    flow.start += BEGIN;
                    flow
                });
                spec.flows = later.collect();
            }
            SourceSpec::Flows(FlowSourceSpec::Incast(spec)) => match &mut spec.queries {
                Queries::Arrive(arrivals) => later(arrivals),
                Queries::Follow { start, stop, .. } => later_span(start, stop),
                _ => {}
            },
            SourceSpec::Flows(FlowSourceSpec::Collective(spec)) => {
                later_span(&mut spec.start, &mut spec.stop);
            }
            _ => {}
        }
    }
    for link in &mut network.links {
        (link.rate_changes, link.rate_period) = (Vec::new(), None);
        // A policer counts as the bottleneck if no rate of the link, the first included, is below its own.
        (link.shaper, link.policer) = (None, None);
        if link.rate.bits_per_second() == 7_777_777 {
            link.rate = Rate::from_bits_per_second(8_000_000);
        }
        // Their parameters are set for the first rate, as on a device.
        if ["red", "adaptive_red", "wred"].contains(&link.queue.name()) {
            link.queue = networks::drop_tail(Limit::Packets(20));
        }
    }
    network
}

/// The results of a network in which each link has been at another rate at first.
fn changed(network: &Network, kind: Kind, first: Rate) -> Results {
    let mut network = network.clone();
    let rates: Vec<Rate> = network.links.iter().map(|link| link.rate).collect();
    for (link, &rate) in network.links.iter_mut().zip(&rates) {
        let at = |ms, rate| RateChange::new(MS(ms), rate);
        let nothing = Rate::from_bits_per_second(0);
        link.rate = first;
        match kind {
            Kind::Change => link.rate_changes = vec![at(100, rate)],
            Kind::Variation => {
                link.rate_changes =
                    vec![at(50, rate), at(70, nothing), at(90, first), at(300, rate)];
            }
            Kind::Period => {
                link.rate_changes = vec![at(0, rate), at(250, rate)];
                link.rate_period = Some(MS(400));
            }
            Kind::Action => {}
        }
    }
    if matches!(kind, Kind::Action) {
        network.step_interval = Some(MS(100));
    }
    let mut simulation = Simulation::new(&network).expect("the network is valid");
    if matches!(kind, Kind::Action) {
        while simulation.step_some(u64::MAX).expect("the run goes on").is_none() {}
        for (link, rate) in rates.into_iter().enumerate() {
            simulation.act(Action::Rate { link, rate }).expect("the link is acted on");
        }
    }
    simulation.finish().expect("the account of packets balances")
}

/// Takes out of `column` what was sampled before the window, or at its beginning, when gauges still cover the time before; a NaN, for a gauge that is not reported,
/// becomes a number.
fn keep_begun(column: &mut Vec<f64>, times: &[f64]) {
    let mut times = times.iter();
    column.retain(|_| times.next().is_some_and(|time| *time > BEGIN.seconds()));
    column.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = -1.0);
}

/// The results without what the scenario says of the first rate, and the count of events.
fn of_the_window(mut results: Results) -> Results {
    results.summary.events = 0;
    if let Some(series) = &mut results.tables.link_series {
        let gauges = series.discipline_state.iter_mut().map(|(_, column)| column);
        let columns = [&mut series.queue_packets, &mut series.utilization]
            .into_iter()
            .chain([&mut series.drops_packets, &mut series.marks_packets]);
        columns.chain(gauges).for_each(|column| keep_begun(column, &series.time_s));
    }
    results.summary.warnings.clear();
    for (_, link) in &mut results.summary.links.0 {
        link.limit_ms = 0.0;
        // A NaN, for a gauge that is not reported.
        link.discipline_state
            .0
            .iter_mut()
            .filter(|(_, value)| value.is_nan())
            .for_each(|one| one.1 = -1.0);
    }
    results
}

fn assert_equal(network: Network, kind: Kind, first: u64) -> Result<(), TestCaseError> {
    let mut network = begun_later(network);
    if matches!(kind, Kind::Action) {
        for link in &mut network.links {
            link.is_acted_on = true;
        }
    }
    prop_assume!(network.validate().is_ok());
    let throughout = Simulation::new(&network).expect("it is valid").finish();
    let throughout = of_the_window(throughout.expect("the account of packets balances"));
    let changed = of_the_window(changed(&network, kind, Rate::from_bits_per_second(first)));
    let difference = difference(&throughout, &changed);
    prop_assert!(
        difference.is_none(),
        "seed {}, {kind:?}:\n{}",
        network.seed,
        difference.unwrap_or_default()
    );
    Ok(())
}

fn kind() -> impl Strategy<Value = (Kind, u64)> {
    let kinds = vec![Kind::Change, Kind::Variation, Kind::Period, Kind::Action];
    (select(kinds), select(vec![500_000, 3_000_000, 50_000_000]))
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn a_link_has_the_rate_of_the_moment(
        network in random_networks::network(),
        (kind, first) in kind(),
    ) {
        assert_equal(network, kind, first)?;
    }

    #[test]
    fn a_link_of_a_fabric_has_the_rate_of_the_moment(
        network in random_fabrics::network(),
        series in option::of(3_u64..50),
        (kind, first) in kind(),
    ) {
        let mut network = network;
        network.series_interval = series.map(MS);
        assert_equal(network, kind, first)?;
    }

    #[test]
    fn pauses_take_the_time_of_the_rate_of_the_moment(
        network in random_networks::network_with_pauses(),
        (kind, first) in kind(),
    ) {
        assert_equal(network, kind, first)?;
    }

    #[test]
    fn a_pool_reads_at_the_rate_of_the_moment(
        network in random_networks::network_with_flows_and_heads(),
        (kind, first) in kind(),
    ) {
        assert_equal(network, kind, first)?;
    }
}

/// A limit in time is the number of bytes that a device computes when it is configured (Junos, `buffer-size
/// temporal`; IOS XR, `queue-limit`): 20 ms at the first rate of 8 Mbit/s are 20 packets of 1000 B, at any
/// rate.
#[test]
fn a_limit_in_time_stays_what_the_first_rate_sends_in_it() {
    for changes in ["", "changes = [{ at = '500 ms', rate = '1 Mbit/s' }]"] {
        case("4 s from 1 s")
            .link("link", format!("8 Mbit/s, 1 ms, 20 ms, {changes}"))
            .stream("stream", "link", "cbr 20 Mbit/s, 1000 B")
            .run()
            .expect("links.link.queue_packets_max", 20);
    }
}
