//! Every fraction in the results lies in [0, 1], on any network and for any length of the measured
//! window: its numerator counts only packets of its denominator.

use proptest::prelude::*;
use serde_json::Value;
use tailroom_engine::link::serializer::RateChange;
use tailroom_engine::network::{GroupSpec, Network};
use tailroom_engine::observe::Act;
use tailroom_engine::observe::recorder::ArrivalLogSpec;
use tailroom_engine::packet::ties::Ties;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::results::Results;
use tailroom_engine::traffic::poisson::{PacketSizes, PoissonSpec};
use tailroom_engine::units::{Rate, Time};

use crate::support::case::{NULL, above, case, within};
use crate::support::random_cases::config;
use crate::support::scenario_run::finish;
use crate::support::{networks, random_networks, transport};

const MS: fn(u64) -> Time = Time::from_milliseconds;

/// Keys whose values are fractions of a whole. `share` is not a fraction, since a source may send
/// more than a link carries.
fn is_fraction(key: &str) -> bool {
    key.ends_with("fraction")
        || ["utilization", "utilization_without_duplicates"].contains(&key)
        || ["loss_synchronization", "jain_index"].contains(&key)
}

/// Every fraction of a summary, with its path from the root.
fn fractions(value: &Value, path: &str, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                let path = format!("{path}.{key}");
                if let Some(number) = value.as_f64().filter(|_| is_fraction(key)) {
                    found.push((path.clone(), number));
                }
                fractions(value, &path, found);
            }
        }
        Value::Array(entries) => {
            entries.iter().enumerate().for_each(|(index, entry)| {
                fractions(entry, &format!("{path}[{index}]"), found);
            });
        }
        _ => {}
    }
}

fn all_fractions(results: &Results) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    let summary = serde_json::to_value(&results.summary).expect("a summary can be serialized");
    fractions(&summary, "", &mut found);
    let series = results.tables.link_series.iter().flat_map(|series| &series.utilization);
    found.extend(series.map(|value| ("series.utilization".to_owned(), *value)));
    let counts = results.tables.flow_counts.as_ref().expect("it is recorded");
    let shares = counts.in_progress_fraction.iter().chain(&counts.bottlenecked_fraction);
    found.extend(shares.map(|value| ("flow_counts".to_owned(), *value)));
    found
}

/// A random network with a measured window of any length; most windows are as short as the
/// transmission of a few packets.
fn network() -> impl Strategy<Value = Network> {
    let window = prop_oneof![
        Just(1),
        1_u64..1_000_000_000,
        1_u64..20_000_000_000,
        1_u64..200_000_000_000,
        1_u64..2_000_000_000_000,
    ];
    let series = prop_oneof![Just(None), Just(Some(MS(1))), Just(Some(MS(7)))];
    (random_networks::network(), window, series, any::<bool>()).prop_map(
        |(network, window, series_interval, stops_at_window)| {
            let measure_from = network.duration.since(Time::from_picoseconds(window));
            let mut network = with!(network, Network { measure_from, series_interval });
            // Packets that are in flight when a group stops may be lost in a window in which the
            // group sends nothing.
            if stops_at_window {
                let permanent = |group: &&mut GroupSpec| group.source.dynamic_rtt().is_none();
                network.groups.iter_mut().filter(permanent).for_each(|group| {
                    group.stop = Some(measure_from.max(MS(501))); // after the last start
                });
            }
            network
        },
    )
}

proptest! {
    #![proptest_config(config(50))]

    #[test]
    fn every_fraction_lies_between_0_and_1(network in network()) {
        let results = finish(&network);
        for (place, value) in all_fractions(&results) {
            prop_assert!((0.0..=1.0).contains(&value), "{place} is {value}, seed {}", network.seed);
        }
        // An empty sum is 0 and not -0, which tables would show.
        for (name, link) in &results.summary.links.0 {
            let load = link.sharing.offered_load;
            prop_assert!(load.is_sign_positive(), "{name}: {load}, seed {}", network.seed);
        }
    }

    /// The log of arrivals holds the final fate of each packet.
    #[test]
    fn the_loss_fraction_of_a_link_covers_exactly_the_packets_that_arrived_in_the_window(
        network in network(),
    ) {
        let mut network = network;
        let log = ArrivalLogSpec::new(network.measure_from.into(), network.duration.into());
        network.links.iter_mut().for_each(|link| link.arrival_log = Some(log));
        let results = finish(&network);
        let log = &results.tables.packets.clone().unwrap_or_default();
        for (index, (name, link)) in results.summary.links.0.iter().enumerate() {
            let fates = log.link.iter().zip(&log.fate).filter(|(at, _)| **at as usize == index);
            let fates: Vec<u8> = fates.map(|(_, fate)| *fate).collect();
            let lost = fates.iter().filter(|fate| **fate > Act::Marked.fate()).count();
            let expected = (!fates.is_empty()).then(|| lost as f64 / fates.len() as f64);
            prop_assert!(link.loss_fraction == expected, "{name}: {:?}", link.loss_fraction);
        }
    }

    /// At a FIFO link at which a bit takes a whole number of picoseconds, the packet log gives the
    /// beginning and the end of each transmission.
    #[test]
    fn utilization_is_the_fraction_of_the_window_in_which_the_link_transmits(
        from in 0_u64..2_000_000_000_000,
        rate_kbit in prop::sample::select(vec![80_u64, 500, 4_000]),
        seed in any::<u64>(),
    ) {
        let network = poisson(from, rate_kbit, seed);
        let results = finish(&network);
        let found = results.summary.links.0[0].1.utilization;
        let end = network.duration.picoseconds();
        let span = 1_000 * 8 * 1_000_000_000 / rate_kbit;
        let log = results.tables.packet_log.as_ref().expect("it is recorded");
        let departures = log.time_s.iter().zip(&log.event).filter(|(_, event)| **event == 1);
        let busy = departures.map(|(time, _)| {
            let departure = libm::round(time * 1e12) as u64;
            departure - departure.saturating_sub(span).max(from).min(departure)
        });
        // A transmission that has not ended has no line in the log.
        let expected = busy.sum::<u64>() as f64 / (end - from) as f64;
        let one_packet = span as f64 / (end - from) as f64;
        prop_assert!(
            (-1e-12..=one_packet + 1e-12).contains(&(found - expected)),
            "{found}, by the log {expected}"
        );
    }
}

/// A Poisson stream of 400 kbit/s over a link with a buffer of 10 packets.
fn poisson(measure_from: u64, rate_kbit: u64, seed: u64) -> Network {
    let mut link = networks::link("link", rate_kbit * 1_000, MS(0), Limit::Packets(10));
    link.packet_log = 1_000_000;
    let source = PoissonSpec::new(Rate::from_bits_per_second(400_000), PacketSizes::Fixed);
    let source = source.into();
    let group =
        with!(networks::bulk("poisson", transport::reno()), GroupSpec { source, tcp: None });
    with!(
        Network::new(MS(2_000), vec![link], vec![group], networks::alike(1, Time::ZERO)),
        Network {
            measure_from: Time::from_picoseconds(measure_from),
            seed,
            ties: Ties::ByChance,
            series_interval: None,
            memory_limit_bytes: u64::MAX
        }
    )
}

#[test]
fn the_offered_load_is_0_and_not_minus_0_without_dynamic_flows() {
    let run = case("2 s")
        .link("b", "1 Mbit/s, 2 ms, 100 packets")
        .flows("f", "b", "congestion = 'reno', rtt = '20 ms'")
        .run();
    let load = run.link("b").sharing.offered_load;
    assert_eq!(format!("{load:?}"), "0.0");
}

/// The group `f` stops when the window begins and leaves 670 packets in the queue. The link drops
/// most of them in the window: 375 times the packets that arrive there, by which the drops were
/// divided once.
#[test]
fn a_group_that_sends_nothing_in_the_window_has_no_loss_fraction() {
    case("6 s from 2 s")
        .link("b", "1 Mbit/s, 2 ms, codel 1000 packets")
        .stream("f", "b", "cbr 5 Mbit/s, 1500 B, stop = '2 s'")
        .stream("g", "b", "cbr 100 kbit/s, 1500 B")
        .run()
        .expect("links.b.drops_packets", above(300.0))
        .expect("groups.f.loss_fraction", NULL)
        .expect("groups.f.links.b.loss_fraction", NULL)
        .expect("links.b.loss_fraction", within(0.0..=1.0))
        .expect("groups.g.links.b.loss_fraction", within(0.0..=1.0));
}

/// The transmission of 1,500 bytes takes 12 ms at 1 Mbit/s, longer than the window of 10 ms.
#[test]
fn utilization_is_1_in_a_window_shorter_than_a_transmission() {
    case("1.01 s from 1 s")
        .table("series", "interval = '5 ms'")
        .link("b", "1 Mbit/s, 2 ms, 100 packets")
        .stream("f", "b", "cbr 5 Mbit/s, 1500 B")
        .run()
        .expect("links.b.utilization", 1);
}

/// A departure counts when its last bit leaves, and the capacity from the beginning of the window:
/// their plain ratio would be 1.0000095.
#[test]
fn the_utilization_of_a_link_that_is_never_idle_is_exactly_1() {
    for (rate, queue) in
        [(7_777_777, "drop_tail"), (7_777_777, "codel"), (10_000_000, "drop_tail"), (3, "codel")]
    {
        case("60 s from 7.3 s")
            .link("b", format!("{rate} bit/s, 2 ms, {queue} 1000 packets"))
            .stream("f", "b", "cbr 50 Mbit/s, 1499 B")
            .run()
            .expect("links.b.utilization", 1);
    }
}

/// The rate changes during a transmission and is 0 for a second. The link transmits all the time,
/// so it uses all of the capacity of its schedule.
#[test]
fn utilization_counts_the_capacity_of_a_link_whose_rate_changes_during_transmissions() {
    let mut network = poisson(0, 1_000, 7);
    let rate = Rate::from_bits_per_second;
    network.links[0].rate_changes = vec![
        RateChange::new(MS(100), rate(0)),
        RateChange::new(MS(1_100), rate(10_000)),
        RateChange::new(MS(1_900), rate(0)),
    ];
    // From 100 ms on packets always wait, since 10 kbit/s is less than the arrival rate.
    network.measure_from = MS(1_000);
    let results = finish(&network);
    let link = &results.summary.links.0[0].1;
    assert_eq!((link.capacity_bps, link.utilization), (8_000.0, 1.0));
    // The link has no capacity any more.
    network.measure_from = MS(1_900);
    let link = &finish(&network).summary.links.0[0].1;
    assert_eq!((link.capacity_bps, link.utilization), (0.0, 0.0));
}

/// A source loses some packets at a link: only those that it sent in the window count.
#[test]
fn the_loss_fraction_of_a_flow_covers_exactly_the_packets_that_it_sent_in_the_window() {
    let mut network = poisson(700_000_000_000, 80, 3);
    let (from, to) = (network.measure_from.into(), network.duration.into());
    network.links[0].arrival_log = Some(ArrivalLogSpec::new(from, to));
    let results = finish(&network);
    // There is no way to the link: a packet arrives when it is sent.
    let fates = &results.tables.packets.as_ref().expect("it is recorded").fate;
    let is_lost = |fate: &&u8| **fate != Act::Arrived.fate();
    let lost = fates.iter().filter(is_lost).count();
    assert!(lost > 20 && lost < fates.len(), "{lost} of {}", fates.len());
    let expected = lost as f64 / fates.len() as f64;
    assert_eq!(results.summary.flows[0].loss_fraction, Some(expected));
    assert_eq!(results.summary.groups.0[0].1.loss_fraction, Some(expected));
}
