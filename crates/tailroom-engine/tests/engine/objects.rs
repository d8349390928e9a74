//! Objects on persistent connections: the load that they offer, and slow start after idle times.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::results::Results;

use crate::support::case::{Case, Run, above, case, check, close, near, within};

/// Connections with an RTT of 100 ms and a window of 2 over a link that transmits 1000 B in 8 us. Packets
/// arrive at the link 20 ms after they were sent.
fn connections(duration_s: u32, source: &str, keys: &str) -> Case {
    let reno = "congestion = 'reno', packet_size = '1000 B', rtt = '100 ms'";
    let window = if keys.contains("initial_window") { "" } else { "initial_window = 2, " };
    case(&format!("{duration_s} s"))
        .link("link", "1 Gbit/s, 10 ms, 100000 packets, packet_log = 1_000_000")
        .flows(
            "users",
            "link",
            format!("{reno}, source = {{ kind = 'objects', {source} }}, {window}{keys}"),
        )
}

fn run(duration_s: u32, source: &str, keys: &str) -> Run {
    connections(duration_s, source, keys).run()
}

/// The times at which packets arrive at the link.
fn arrivals(results: &Results) -> Vec<f64> {
    let log = results.tables.packet_log.as_ref().expect("it is recorded");
    let lines = log.time_s.iter().zip(&log.event).filter(|line| *line.1 == 0);
    lines.map(|line| *line.0).collect()
}

/// The start of each burst and its number of packets; bursts are at least 20 ms apart.
fn bursts(results: &Results) -> Vec<(f64, u32)> {
    let mut bursts: Vec<(f64, u32)> = Vec::new();
    let mut last = f64::NEG_INFINITY;
    for time in arrivals(results) {
        match bursts.last_mut().filter(|_| time - last < 0.02) {
            Some(burst) => burst.1 += 1,
            None => bursts.push((time, 1)),
        }
        last = time;
    }
    bursts
}

/// The bursts of each object, with the idle time before it; objects are at least 150 ms apart.
fn bursts_of_objects(results: &Results) -> Vec<(f64, Vec<u32>)> {
    let mut objects: Vec<(f64, Vec<u32>)> = Vec::new();
    let mut last = f64::NEG_INFINITY;
    for (time, packets) in bursts(results) {
        match objects.last_mut().filter(|_| time - last < 0.15) {
            Some(object) => object.1.push(packets),
            None => objects.push((time - last, vec![packets])),
        }
        last = time;
    }
    objects
}

/// A window that is never full lets each packet leave on arrival: the packets at the link are the
/// Poisson process itself, whose counts have a variance equal to their mean.
#[test]
fn objects_arrive_in_a_poisson_process() {
    let source = "size = '960 B', arrivals_per_second = 10";
    let results = run(2_000, source, "count = 5, slow_start_after_idle = false");
    // After some seconds every window holds the packets that arrive in a round trip.
    let times = arrivals(&results);
    let mut counts = vec![0.0_f64; 1_900];
    for time in times.iter().filter(|time| (100.0..2_000.0).contains(*time)) {
        counts[*time as usize - 100] += 1.0;
    }
    let mean = counts.iter().sum::<f64>() / 1_900.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 1_899.0;
    // The mean is 50 with a standard deviation of sqrt(50 / 1900); that of the variance is 50
    // sqrt(2 / 1900).
    check("mean", mean, near(50.0, 3.29 * 0.162));
    check("variance", variance, near(50.0, 3.29 * 1.64));
}

/// Two objects of five packets at 1 s and one at 3 s reach the link 20 ms later; in between the
/// application is silent. The offered load counts three in three seconds.
#[test]
fn objects_arrive_at_given_times() {
    let source = "size = '4800 B', arrivals = ['1 s', '1 s', '3 s']";
    let results = run(10, source, "initial_window = 20");
    let bursts = bursts(&results);
    assert_eq!(bursts.iter().map(|burst| burst.1).collect::<Vec<_>>(), [10, 5]);
    for (found, expected) in bursts.iter().zip([1.02, 3.02]) {
        assert!((found.0 - expected).abs() < 1e-4, "{bursts:?}");
    }
    results.expect("links.link.offered_load", near(8.0 * 5_000.0 / 1e9, 1e-12));
}

/// 961 B need two packets of 960 B of payload. Rounding adds a mean of 0.5 packets for spread
/// sizes.
#[test]
fn objects_take_whole_packets_and_the_offered_load_counts_these() {
    // (size, mean packets, their second moment)
    let uniform = "{ kind = 'uniform', from = '1 B', to = '9600 B' }";
    for (size, packets, square) in
        [("'960 B'", 1.0, 1.0), ("'961 B'", 2.0, 4.0), (uniform, 5.5, 38.5)]
    {
        let source = format!("size = {size}, arrivals_per_second = 20");
        let run = run(1_000, &source, "count = 10, initial_window = 100");
        let expected = 20.0 * 10.0 * 1_000.0 * packets;
        // A compound Poisson process: 200,000 objects.
        let deviation = (200_000.0_f64 * square).sqrt();
        // The offered load is estimated from 10,000 draws; rounding adds a uniform fraction of a
        // packet.
        let load = expected * 8_000.0 / 1e9 / 1_000.0;
        run.expect("links.link.arrivals_packets", near(expected, 3.29 * deviation))
            .expect("links.link.offered_load", close(load, 0.003));
        // No packet is lost or sent twice, and few are in flight when the run ends.
        let delivered = run.group("users").goodput_bps * 1_000.0 / 7_680.0;
        run.expect("links.link.arrivals_packets", near(delivered, 300.0));
    }
}

/// RFC 5681 sec. 4.1, by hand: from a window of 2, slow start sends 30 packets as 2 + 4 + 8 + 16,
/// one round trip each. After an idle time longer than the timeout (100 ms plus the granularity of
/// 1 s) it starts again. After a shorter idle time the window is unchanged, as in the next test.
#[test]
fn slow_start_begins_again_after_a_long_idle_time() {
    let source = "size = '28800 B', arrivals_per_second = 0.1";
    let results = run(1_000, source, "min_rto = '1 s'");
    let objects = bursts_of_objects(&results);
    let (mut long, mut short) = (0, 0);
    for (idle, packets) in objects {
        if packets.iter().sum::<u32>() != 30 {
            continue; // another object arrived before this object was sent
        }
        if idle > 1.1 {
            long += 1;
            assert_eq!(packets, [2, 4, 8, 16], "after {idle} s");
        } else {
            short += 1;
            assert!(packets[0] >= 17, "after {idle} s: {packets:?}");
        }
    }
    assert!(long > 50 && short > 3, "{long} long idle times, {short} short idle times");
}

/// Without a restart the window stays. It was 16 packets when the last 16 packets left and filled it, so
/// that each of their ACKs adds one. The next object leaves at once.
#[test]
fn the_window_stays_without_a_restart_after_idle() {
    let source = "size = '28800 B', arrivals_per_second = 0.02";
    let results = run(1_000, source, "min_rto = '1 s', slow_start_after_idle = false");
    let objects = bursts_of_objects(&results);
    assert_eq!(objects[0].1, [2, 4, 8, 16]);
    assert_eq!(objects[1].1, [30], "{objects:?}");
}

/// RFC 5681 Eq. 4: ssthresh is half of the data in flight. Objects of 5 packets leave a window of
/// 100 unused. The first loss halves 5 packets, or those of two objects that arrived together, and
/// not 100.
#[test]
fn a_loss_halves_the_data_in_flight_and_not_an_unused_window() {
    let source = "size = '4800 B', arrivals_per_second = 2";
    let keys = "initial_window = 100, initial_ssthresh = 100, slow_start_after_idle = false";
    let case = connections(200, source, keys)
        .set("links.link.loss", "{ kind = 'bernoulli', probability = 0.01 }")
        .set("series.interval", "100 ms");
    for seed in 1..=5 {
        let series = case.clone().seed(seed).run().results.tables.flow_series.unwrap();
        let after = series.ssthresh_packets.iter().find(|ssthresh| **ssthresh < 100.0).unwrap();
        check(format!("seed {seed}"), *after, within(2.0..=5.0));
    }
}

/// With a timeout of 60 s no idle time is long enough for a restart, so the key makes no
/// difference.
#[test]
fn an_idle_time_shorter_than_the_timeout_causes_no_restart() {
    let source = "size = '28800 B', arrivals_per_second = 0.1";
    let switch = |is_on: bool, min_rto: &str| {
        let keys = format!("min_rto = '{min_rto}', slow_start_after_idle = {is_on}");
        run(200, source, &keys).results.tables.packet_log.expect("it is recorded")
    };
    let bursts = bursts(&run(200, source, ""));
    let idles = bursts.windows(2).map(|pair| pair[1].0 - pair[0].0);
    assert!(idles.fold(0.0, f64::max) < 60.0);
    assert!(switch(true, "60 s") == switch(false, "60 s"));
    assert!(switch(true, "1 s") != switch(false, "1 s"));
}

/// Objects wait for the window: three connections that are offered more than the rate of the link
/// keep it busy and lose no packet.
#[test]
fn objects_wait_while_the_window_is_full() {
    let source = "size = { kind = 'exponential', mean = '96 kB' }, arrivals_per_second = 500";
    run(20, source, "count = 3, max_window = 20000")
        .expect("links.link.offered_load", above(1.1))
        .expect("links.link.utilization", above(0.9))
        .expect("links.link.drops_packets", 0);
}

/// Linux acknowledges a segment with PSH at once when the application has read all that has arrived
/// (`tcp_cleanup_rbuf`), so that no odd last packet waits for the timer of 40 ms.
#[test]
fn the_last_packet_of_an_object_is_acknowledged_at_once() {
    let source = r#"size = "2880 B", arrivals = ["0 s", "1 s", "2 s"]"#;
    let more = "delayed_ack = true, initial_window = 10, header_size = '40 B'";
    let results = run(3, source, more);
    assert_eq!(arrivals(&results).len(), 9);
    let rtt_s = results.group("users").rtt_s_mean.unwrap();
    assert!((0.1..0.101).contains(&rtt_s), "{rtt_s}");
}
