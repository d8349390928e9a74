//! Shapers and policers: closed forms of what leaves a token bucket.

use tailroom_engine::link::LinkSpec;
use tailroom_engine::link::policer::PolicerSpec;
use tailroom_engine::link::shaper::{Cells, ShaperSpec};
use tailroom_engine::network::Network;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::quantity::{BitRate, PositiveDuration, Size};
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::results::Results;
use tailroom_engine::traffic::cbr::CbrParams;
use tailroom_engine::units::Rate;

use crate::support::scenario_run::{finish, network, run};
use crate::support::summaries::{group, link};
use crate::support::{disciplines, networks};

const MEGABIT: u64 = 1_000_000;

fn shaper(rate_bps: u64, burst_bytes: u64) -> ShaperSpec {
    ShaperSpec::new(BitRate::new(rate_bps), Size::new(burst_bytes))
}

/// A stream of 1500 B, one packet per 0.1 ms from time 0 on, over a link at 1.2 Gbit/s, on which a
/// packet takes 10 us.
fn flood(change: impl FnOnce(&mut LinkSpec)) -> Network {
    let text = r#"
        duration = "200 ms"
        [links.link]
        rate = "1.2 Gbit/s"
        delay = "0 ms"
        queue = { kind = "drop_tail", limit = "100000 packets" }
        packet_log = 100000
        [flows.flood]
        path = ["link"]
        packet_size = "1500 B"
        source = { kind = "cbr", rate = "120 Mbit/s" }
    "#;
    let mut network = network(text, 1);
    network.groups[0].source = CbrParams::at_once(Rate::from_bits_per_second(120 * MEGABIT)).into();
    change(&mut network.links[0]);
    network
}

/// When the last bits of packets leave the only link, in microseconds.
fn departures_us(network: &Network) -> Vec<f64> {
    let log = finish(network).tables.packet_log.expect("it is recorded");
    let rows = log.time_s.iter().zip(&log.event).filter(|(_, event)| **event == 1);
    rows.map(|(time_s, _)| (1e12 * time_s).round() / 1e6).collect()
}

#[track_caller]
fn assert_departures(network: &Network, expected: impl Fn(u32) -> f64) {
    let departures = departures_us(network);
    assert!(departures.len() > 50, "{} packets", departures.len());
    for (number, departure) in (0..).zip(departures) {
        let expected = expected(number);
        assert!((departure - expected).abs() < 1e-3, "packet {number}: {departure}, {expected}");
    }
}

/// Tokens arrive at a tenth of the rate of the packets: packet n arrives at 100n us, and a packet's
/// tokens every ms. Packet n needs the tokens of n + 1 packets, of which 18 are there at time 0.
#[test]
fn a_burst_from_a_full_bucket_does_not_wait_and_the_rest_leaves_at_the_rate() {
    let change = |link: &mut LinkSpec| link.shaper = Some(shaper(12 * MEGABIT, 18 * 1_500));
    assert_departures(&flood(change), |number| {
        let tokens_at = 1_000.0 * (f64::from(number) + 1.0 - 18.0);
        tokens_at.max(100.0 * f64::from(number)) + 10.0
    });
}

/// The same with 48 Mbit/s as the peak: until the bucket is empty a packet leaves every 250 us.
#[test]
fn a_burst_with_a_peak_rate_leaves_at_the_peak_rate() {
    let peak_rate = Some(BitRate::new(48 * MEGABIT));
    let peaked = with!(shaper(12 * MEGABIT, 18 * 1_500), ShaperSpec { peak_rate });
    assert_departures(&flood(|link| link.shaper = Some(peaked)), |number| {
        let tokens_at = 1_000.0 * (f64::from(number) + 1.0 - 18.0);
        tokens_at.max(250.0 * f64::from(number)) + 10.0
    });
}

/// tc-tbf(8): with a timer of 10 ms, "for 10 mbit/s you need at least a 10 kbyte buffer if you want
/// to reach your configured rate". A bucket of four packets lets four packets through per tick,
/// from the first tick after the bucket is empty; utilization is 4 packets in the tokens of ten.
#[test]
fn a_bucket_that_fills_within_a_tick_of_the_timer_sends_a_bucket_per_tick() {
    let granularity = Some(PositiveDuration::from_milliseconds(10));
    let ticking = |burst_packets: u64| {
        with!(shaper(12 * MEGABIT, 1_500 * burst_packets), ShaperSpec { granularity })
    };
    let network = flood(|link| link.shaper = Some(ticking(4)));
    let departures = departures_us(&network);
    for (number, departure) in departures.iter().enumerate().skip(4) {
        let (tick, place) = (number / 4, number % 4);
        let expected = 10_000.0 * tick as f64 + 10.0 * (place as f64 + 1.0);
        assert!((departure - expected).abs() < 1e-3, "packet {number}: {departure}, {expected}");
    }
    let utilization = |network: &Network| link(&finish(network).summary, "link").utilization;
    let found = utilization(&network);
    assert!((found - 0.4).abs() < 0.01, "{found}");
    let found = utilization(&flood(|link| link.shaper = Some(ticking(11))));
    assert!(found > 0.99, "{found}");
}

/// A packet of 1500 B with 40 B of overhead takes 33 cells of 53 B, 1.166 ms at 12 Mbit/s.
#[test]
fn cells_and_overhead_cost_tokens() {
    let cells = with!(
        shaper(12 * MEGABIT, 33 * 53),
        ShaperSpec { overhead: Some(Size::new(40)), cells: Some(Cells::Atm) }
    );
    let network = flood(|link| link.shaper = Some(cells));
    assert_departures(&network, |number| 1_166.0 * f64::from(number) + 10.0);
    let results = finish(&network);
    let at = link(&results.summary, "link");
    assert!((at.capacity_bps - 12e6 * 1_500.0 / 1_749.0).abs() < 1.0, "{}", at.capacity_bps);
    assert!((at.utilization - 1.0).abs() < 1e-3, "{}", at.utilization);
}

/// 1500 B cost 1749 B of tokens, so 20 ms are 25,730 B at 12 Mbit/s: 17 packets, of 1.166 ms each.
#[test]
fn a_limit_in_time_counts_cells_and_overhead() {
    let network = flood(|link| {
        let mut cells = shaper(12 * MEGABIT, 33 * 53);
        (cells.overhead, cells.cells) = (Some(Size::new(40)), Some(Cells::Atm));
        link.shaper = Some(cells);
        link.packet_bytes = 1_500.0;
        link.queue = disciplines::valid("20 ms").remove(0);
    });
    assert_eq!(network.links[0].queue.name(), "drop_tail");
    let results = finish(&network);
    let longest_s = link(&results.summary, "link").queue_delay_s_max.expect("packets wait");
    assert!((longest_s - 17.0 * 1.166e-3).abs() < 0.2e-3, "{longest_s}");
}

/// Of 2,000 packets, one per 0.1 ms, the bucket of 18 lets 19 through, since 1.8 packets' tokens
/// arrive meanwhile, and then the tokens of every tenth arrive: numbers 20, 30 and so on.
#[test]
fn a_policer_drops_what_exceeds_its_bucket_before_the_queue() {
    let policer = PolicerSpec::new(BitRate::new(12 * MEGABIT), Size::new(18 * 1_500));
    let network = flood(|link| link.policer = Some(policer));
    let departures = departures_us(&network);
    let passed = (0..19).chain((20..2_000).step_by(10));
    let expected: Vec<f64> = passed.map(|number| f64::from(number) * 100.0 + 10.0).collect();
    assert_eq!(departures, expected);
    let results = finish(&network);
    let at = link(&results.summary, "link");
    assert_eq!(at.arrivals_packets, 2_000);
    assert_eq!(at.by_reason.drops_policed_packets, 1_783);
    assert_eq!(at.drops_packets, at.by_reason.drops_policed_packets);
    assert_eq!(at.by_reason.drops_overflow_packets, 0);
    assert_eq!(at.queue_packets_max, Some(0.0));
    let of_group = group(&results.summary, "flood").links.get("link").map(|at| at.drops_packets);
    assert_eq!(of_group, Some(1_783));
}

/// A source at the rate of the policer passes whole, though no time is a whole number of
/// picoseconds.
#[test]
fn a_stream_at_the_rate_of_a_policer_passes() {
    let text = r#"
        duration = "20 s"
        [links.link]
        rate = "100 Mbit/s"
        delay = "0 ms"
        queue = { kind = "drop_tail", limit = "10 packets" }
        policer = { rate = "7.777777 Mbit/s", burst = "1500 B" }
        [flows.stream]
        path = ["link"]
        packet_size = "1500 B"
        source = { kind = "cbr", rate = "7.777777 Mbit/s" }
    "#;
    let results = run(text, 1);
    assert_eq!(link(&results.summary, "link").drops_packets, 0);
}

/// What a link carries in the long run is the reference of utilization and bdp: half of 12 Mbit/s is
/// used. 50 ms are 75 kB at this rate, but 150 kB wait 12 ms at 100 Mbit/s.
#[test]
fn a_policed_rate_is_the_reference_of_utilization_and_bdp() {
    let text = |policed: &str| {
        format!(
            r#"
            duration = "20 s"
            measure_from = "1 s"
            [links.link]
            rate = "100 Mbit/s"
            delay = "0 ms"
            queue = {{ kind = "drop_tail", limit = "150 kB" }}
            policer = {{ rate = "{policed}", burst = "15 kB" }}
            [flows.stream]
            path = ["link"]
            packet_size = "1500 B"
            source = {{ kind = "cbr", rate = "6 Mbit/s" }}
            [flows.mute]
            path = ["link"]
            rtt = "50 ms"
            congestion = "reno"
            start = "19.99 s"
            "#
        )
    };
    let results = run(&text("12 Mbit/s"), 1);
    let at = link(&results.summary, "link");
    assert!(at.capacity_bps.total_cmp(&12e6).is_eq());
    assert!((at.utilization - 0.5).abs() < 2e-3, "{}", at.utilization);
    assert!((at.limit_ms - 12.0).abs() < 1e-9);
    assert_eq!(at.limit_bdp, Some(2.0));
    let results = run(&text("200 Mbit/s"), 1);
    let at = link(&results.summary, "link");
    assert!(at.capacity_bps.total_cmp(&100e6).is_eq(), "the link is the slower one");
    assert!((at.utilization - 0.06).abs() < 2e-4, "{}", at.utilization);
    assert_eq!(at.limit_bdp, Some(0.24));
}

/// A bucket that is never full again has no token to lose.
#[test]
fn a_policer_that_always_drops_is_fully_used() {
    let policer = PolicerSpec::new(BitRate::new(7_777_777), Size::new(3_000));
    let network = flood(|link| link.policer = Some(policer));
    let results = finish(&network);
    let used = link(&results.summary, "link").utilization;
    assert!((used - 1.0).abs() < 1e-12, "{used}");
}

/// Flows of two controls and a stream over one link behind `queue`.
fn mixed(queue: QueueConfig) -> Network {
    let text = r#"
        duration = "10 s"
        measure_from = "2 s"
        series = { interval = "100 ms" }
        [links.link]
        rate = "7.777777 Mbit/s"
        delay = "10 ms"
        queue = { kind = "drop_tail", limit = "20 packets" }
        packet_log = 100000
        [flows.tcp]
        count = 3
        path = ["link"]
        congestion = "cubic"
        rtt = "50 ms"
        [flows.stream]
        path = ["link"]
        packet_size = "200 B"
        source = { kind = "poisson", rate = "0.5 Mbit/s" }
        [flows.short]
        path = ["link"]
        congestion = "reno"
        rtt = "40 ms"
        source = { kind = "finite_flows", size = "20 kB", load = 0.2 }
    "#;
    let mut network = network(text, 1);
    network.links[0].queue = queue;
    network
}

fn without_events(mut results: Results) -> String {
    results.summary.events = 0;
    format!("{results:?}")
}

#[test]
fn a_shaper_at_the_rate_of_the_link_changes_no_result() {
    for queue in disciplines::valid("20 packets") {
        let name = queue.name().to_owned();
        let mut plain = mixed(queue);
        // A shaped link is served too; the series could tell.
        plain.links[0].is_acted_on = true;
        for burst in [1_500, 30_000] {
            let mut shaped = plain.clone();
            shaped.links[0].shaper = Some(shaper(7_777_777, burst));
            let (plain, shaped) = (without_events(finish(&plain)), without_events(finish(&shaped)));
            assert!(plain == shaped, "{name}, burst of {burst} B");
        }
    }
}

/// In any interval, no more leaves than the bucket and the rate allow; all of it over a long one.
#[test]
fn no_interval_carries_more_than_the_burst_and_the_rate() {
    let mut network = mixed(networks::drop_tail(Limit::Packets(50)));
    network.links[0].shaper = Some(shaper(3_000_000, 15_000));
    network.links[0].packet_log = 1_000_000;
    let results = finish(&network);
    let at = link(&results.summary, "link");
    assert!(at.utilization > 0.99 && at.utilization <= 1.0, "{}", at.utilization);
    let log = results.tables.packet_log.as_ref().expect("it is recorded");
    let rows = log.time_s.iter().zip(&log.event).zip(&log.flow);
    // The three flows under congestion control send full packets.
    let full = rows.filter(|((_, event), flow)| **event == 1 && **flow < 3);
    let ends: Vec<f64> = full.map(|((time_s, _), _)| *time_s).collect();
    assert!(ends.len() > 500, "{}", ends.len());
    for packets in [2, 10, 11, 20, 40] {
        for part in ends.windows(packets) {
            // The first transmission begins a packet's time before its end.
            let span = part[packets - 1] - part[0];
            let (sent, most) = (packets as f64 * 12_000.0, 8.0 * 15_000.0 + 3e6 * span + 1.0);
            assert!(sent <= most, "{packets} packets in {span} s");
        }
    }
}
