//! Shapers and policers: closed forms of what leaves a token bucket.

use tailroom_engine::network::Network;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::results::Results;

use crate::support::case::{Case, Run, above, case, check, near, within};
use crate::support::disciplines;
use crate::support::scenario_run::finish;

/// A stream of 1500 B, one packet per 0.1 ms from time 0 on, over a link at 1.2 Gbit/s, on which a
/// packet takes 10 us.
fn flood(keys: &str) -> Case {
    case("200 ms")
        .link("link", format!("1.2 Gbit/s, 0 ms, 100000 packets, packet_log = 100000, {keys}"))
        .stream("flood", "link", "cbr 120 Mbit/s, 1500 B, source.phase = '0 s'")
}

/// When the last bits of packets leave the only link, in microseconds.
fn departures_us(run: &Run) -> Vec<f64> {
    let log = run.tables.packet_log.as_ref().expect("it is recorded");
    let rows = log.time_s.iter().zip(&log.event).filter(|(_, event)| **event == 1);
    rows.map(|(time_s, _)| (1e12 * time_s).round() / 1e6).collect()
}

#[track_caller]
fn assert_departures(run: &Run, first: usize, expected: impl Fn(f64) -> f64) {
    let departures = departures_us(run);
    assert!(departures.len() > 50, "{} packets", departures.len());
    for (number, departure) in departures.into_iter().enumerate().skip(first) {
        let expected = near(expected(number as f64), 1e-3);
        check(format!("packet {number}"), departure, expected);
    }
}

/// Tokens arrive at a tenth of the rate of the packets: packet n arrives at 100n us, and a packet's
/// tokens every ms. Packet n needs the tokens of n + 1 packets, of which 18 are there at time 0.
#[test]
fn a_burst_from_a_full_bucket_does_not_wait_and_the_rest_leaves_at_the_rate() {
    let run = flood("shaper = { rate = '12 Mbit/s', burst = '27 kB' }").run();
    let tokens_at = |number: f64| 1_000.0 * (number + 1.0 - 18.0);
    assert_departures(&run, 0, |number| tokens_at(number).max(100.0 * number) + 10.0);
}

/// The same with 48 Mbit/s as the peak: until the bucket is empty a packet leaves every 250 us.
#[test]
fn a_burst_with_a_peak_rate_leaves_at_the_peak_rate() {
    let shaper = "{ rate = '12 Mbit/s', burst = '27 kB', peak_rate = '48 Mbit/s' }";
    let run = flood(&format!("shaper = {shaper}")).run();
    let tokens_at = |number: f64| 1_000.0 * (number + 1.0 - 18.0);
    assert_departures(&run, 0, |number| tokens_at(number).max(250.0 * number) + 10.0);
}

/// tc-tbf(8): with a timer of 10 ms, "for 10 mbit/s you need at least a 10 kbyte buffer if you want
/// to reach your configured rate". A bucket of four packets lets four packets through per tick,
/// from the first tick after the bucket is empty; utilization is 4 packets in the tokens of ten.
#[test]
fn a_bucket_that_fills_within_a_tick_of_the_timer_sends_a_bucket_per_tick() {
    let ticking = |burst: &str| {
        let keys = format!("rate = '12 Mbit/s', burst = '{burst}', granularity = '10 ms'");
        flood(&format!("shaper = {{ {keys} }}")).run()
    };
    let four = ticking("6 kB");
    assert_departures(&four, 4, |number| {
        let tick = (number / 4.0).floor();
        10_000.0 * tick + 10.0 * (number - 4.0 * tick + 1.0)
    });
    four.expect("links.link.utilization", near(0.4, 0.01));
    ticking("16.5 kB").expect("links.link.utilization", above(0.99));
}

const CELLS: &str =
    "shaper = { rate = '12 Mbit/s', burst = '1749 B', overhead = '40 B', cells = 'atm' }";

/// A packet of 1500 B with 40 B of overhead takes 33 cells of 53 B, 1.166 ms at 12 Mbit/s.
#[test]
fn cells_and_overhead_cost_tokens() {
    let run = flood(CELLS).run();
    assert_departures(&run, 0, |number| 1_166.0 * number + 10.0);
    run.expect("links.link.capacity_bps", near(12e6 * 1_500.0 / 1_749.0, 1.0))
        .expect("links.link.utilization", near(1.0, 1e-3));
}

/// 1500 B cost 1749 B of tokens, so 20 ms are 25,730 B at 12 Mbit/s: 17 packets, of 1.166 ms each.
#[test]
fn a_limit_in_time_counts_cells_and_overhead() {
    flood(CELLS)
        .set("links.link.queue.limit", "20 ms")
        .run()
        .expect("links.link.queue_delay_s_max", near(17.0 * 1.166e-3, 0.2e-3));
}

/// Of 2,000 packets, one per 0.1 ms, the bucket of 18 lets 19 through, since 1.8 packets' tokens
/// arrive meanwhile, and then the tokens of every tenth arrive: numbers 20, 30 and so on.
#[test]
fn a_policer_drops_what_exceeds_its_bucket_before_the_queue() {
    let run = flood("policer = { rate = '12 Mbit/s', burst = '27 kB' }").run();
    let passed = (0..19).chain((20..2_000).step_by(10));
    let expected: Vec<f64> = passed.map(|number| f64::from(number) * 100.0 + 10.0).collect();
    assert_eq!(departures_us(&run), expected);
    run.expect("links.link.arrivals_packets", 2_000)
        .expect("links.link.drops_policed_packets", 1_783)
        .expect("links.link.drops_packets", 1_783)
        .expect("links.link.drops_overflow_packets", 0)
        .expect("links.link.queue_packets_max", 0)
        .expect("groups.flood.links.link.drops_packets", 1_783);
}

/// A source at the rate of the policer passes whole, though no time is a whole number of
/// picoseconds.
#[test]
fn a_stream_at_the_rate_of_a_policer_passes() {
    let policer = "policer = { rate = '7.777777 Mbit/s', burst = '1500 B' }";
    case("20 s")
        .link("link", format!("100 Mbit/s, 0 ms, 10 packets, {policer}"))
        .stream("stream", "link", "cbr 7.777777 Mbit/s, 1500 B")
        .run()
        .expect("links.link.drops_packets", 0);
}

/// What a link carries in the long run is the reference of utilization and bdp: half of 12 Mbit/s is
/// used. 50 ms are 75 kB at this rate, but 150 kB wait 12 ms at 100 Mbit/s. A link that is slower than
/// its policer is the reference itself.
#[test]
fn a_policed_rate_is_the_reference_of_utilization_and_bdp() {
    let policed = |rate: &str| {
        let policer = format!("policer = {{ rate = '{rate}', burst = '15 kB' }}");
        case("20 s from 1 s")
            .link("link", format!("100 Mbit/s, 0 ms, 150 kB, {policer}"))
            .stream("stream", "link", "cbr 6 Mbit/s, 1500 B")
            .flows("mute", "link", "rtt = '50 ms', congestion = 'reno', start = '19.99 s'")
            .run()
    };
    policed("12 Mbit/s")
        .expect("links.link.capacity_bps", 12e6)
        .expect("links.link.utilization", near(0.5, 2e-3))
        .expect("links.link.limit_ms", near(12.0, 1e-9))
        .expect("links.link.limit_bdp", 2);
    policed("200 Mbit/s")
        .expect("links.link.capacity_bps", 100e6)
        .expect("links.link.utilization", near(0.06, 2e-4))
        .expect("links.link.limit_bdp", 0.24);
}

/// A bucket that is never full again has no token to lose.
#[test]
fn a_policer_that_always_drops_is_fully_used() {
    flood("policer = { rate = '7777777 bit/s', burst = '3 kB' }")
        .run()
        .expect("links.link.utilization", near(1.0, 1e-12));
}

/// Flows of two controls and a stream over one link.
fn mixed() -> Case {
    let short = "source = { kind = 'finite_flows', size = '20 kB', load = 0.2 }";
    case("10 s from 2 s")
        .table("series", "interval = '100 ms'")
        .link("link", "7.777777 Mbit/s, 10 ms, 20 packets, packet_log = 100000")
        .flows("tcp", "link", "count = 3, congestion = 'cubic', rtt = '50 ms'")
        .stream("stream", "link", "poisson 0.5 Mbit/s, 200 B")
        .flows("short", "link", format!("congestion = 'reno', rtt = '40 ms', {short}"))
}

fn without_events(mut results: Results) -> String {
    results.summary.events = 0;
    format!("{results:?}")
}

#[test]
fn a_shaper_at_the_rate_of_the_link_changes_no_result() {
    let shaper = |burst: u32| format!("{{ rate = '7.777777 Mbit/s', burst = '{burst} B' }}");
    let with_burst = |burst| mixed().set("links.link.shaper", shaper(burst)).network();
    let under = |mut network: Network, queue: &QueueConfig| {
        network.links[0].queue = queue.clone();
        // A shaped link is served too; the series could tell.
        network.links[0].is_acted_on |= network.links[0].shaper.is_none();
        without_events(finish(&network))
    };
    for queue in disciplines::valid("20 packets") {
        let plain = under(mixed().network(), &queue);
        for burst in [1_500, 30_000] {
            assert!(
                plain == under(with_burst(burst), &queue),
                "{}, burst of {burst} B",
                queue.name()
            );
        }
    }
}

/// In any interval, no more leaves than the bucket and the rate allow; all of it over a long one.
#[test]
fn no_interval_carries_more_than_the_burst_and_the_rate() {
    let run = mixed()
        .set("links.link.queue.limit", "50 packets")
        .set("links.link.shaper", "{ rate = '3 Mbit/s', burst = '15 kB' }")
        .set("links.link.packet_log", "1_000_000")
        .run();
    run.expect("links.link.utilization", above(0.99))
        .expect("links.link.utilization", within(..=1.0));
    let log = run.tables.packet_log.as_ref().expect("it is recorded");
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
