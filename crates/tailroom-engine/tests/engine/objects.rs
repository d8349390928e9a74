//! Objects that arrive at connections that last: what they offer, and what a sender does after a
//! silence.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::support::scenario_run;
use crate::support::scenario_text::resolve_with;
use crate::support::summaries::{group, link};
use tailroom_engine::results::Results;

/// Connections with a round trip of 100 ms over a link that takes 1000 B in 8 us; their packets
/// arrive there 20 ms after they were sent.
fn scenario(duration_s: u32, source: &str, more: &str) -> String {
    let more = if more.contains("initial_window") {
        more.to_owned()
    } else {
        format!("initial_window = 2\n{more}")
    };
    format!(
        r#"
        duration = "{duration_s} s"
        [links.link]
        rate = "1 Gbit/s"
        delay = "10 ms"
        queue = {{ kind = "drop_tail", limit = "100000 packets" }}
        packet_log = 1_000_000
        [flows.users]
        path = ["link"]
        congestion = {{ kind = "reno" }}
        packet_size = "1000 B"
        rtt = "100 ms"
        source = {{ kind = "objects", {source} }}
        {more}
        "#
    )
}

fn run(duration_s: u32, source: &str, more: &str) -> Results {
    scenario_run::run(&scenario(duration_s, source, more), 1)
}

/// When packets arrive at the link.
fn arrivals(results: &Results) -> Vec<f64> {
    let log = results.tables.packet_log.as_ref().expect("it is recorded");
    let lines = log.time_s.iter().zip(&log.event).filter(|line| *line.1 == 0);
    lines.map(|line| *line.0).collect()
}

/// When each burst begins, and how many packets it has; between two there are 20 ms or more.
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

/// The bursts by object, where objects are far apart, and how long it was silent before.
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

/// A window that holds them all lets each packet leave when it comes: the packets at the link are the
/// Poisson process itself, whose counts have their mean for variance.
#[test]
fn objects_arrive_as_a_poisson_process() {
    let source = "size = \"960 B\", arrivals_per_second = 10";
    let results = run(2_000, source, "count = 5\nslow_start_after_idle = false");
    // After some seconds all windows have grown to hold what comes in a round trip.
    let times = arrivals(&results);
    let mut counts = vec![0.0_f64; 1_900];
    for time in times.iter().filter(|time| (100.0..2_000.0).contains(*time)) {
        counts[*time as usize - 100] += 1.0;
    }
    let mean = counts.iter().sum::<f64>() / 1_900.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 1_899.0;
    // Mean 50, standard deviation of the mean sqrt(50 / 1900); the variance's is 50 sqrt(2 / 1900).
    assert!((mean - 50.0).abs() < 3.29 * 0.162, "{mean}");
    assert!((variance - 50.0).abs() < 3.29 * 1.64, "{variance}");
}

/// 961 B need two packets of 960 B of payload; a mean of 0.5 packets more for sizes that are spread.
#[test]
fn objects_are_whole_packets_and_their_load_is_what_arrives() {
    // (size, mean packets, their second moment)
    let uniform = "{ kind = \"uniform\", from = \"1 B\", to = \"9600 B\" }";
    for (size, packets, square) in
        [("\"960 B\"", 1.0, 1.0), ("\"961 B\"", 2.0, 4.0), (uniform, 5.5, 38.5)]
    {
        let source = format!("size = {size}, arrivals_per_second = 20");
        let results = run(1_000, &source, "count = 10\ninitial_window = 100");
        let expected = 20.0 * 10.0 * 1_000.0 * packets;
        // A compound Poisson process: 200,000 objects.
        let deviation = (200_000.0_f64 * square).sqrt();
        let found = link(&results.summary, "link");
        let offered = found.sharing.offered_load * 1e9 / 8_000.0 * 1_000.0;
        assert!((found.arrivals_packets as f64 - expected).abs() < 3.29 * deviation, "{size}");
        // Estimated from 10,000 draws of what rounding adds, a uniform part of a packet.
        assert!((offered / expected - 1.0).abs() < 0.003, "{size}: {offered} for {expected}");
        // Nothing is lost or sent twice, and little is left when the run ends.
        let goodput = group(&results.summary, "users").goodput_bps;
        let delivered = goodput * 1_000.0 / 7_680.0;
        assert!((found.arrivals_packets as f64 - delivered).abs() < 300.0, "{size}: {delivered}");
    }
}

/// RFC 5681 sec. 4.1, by hand: 30 packets from a window of 2 in slow start are 2 + 4 + 8 + 16, one
/// round trip each. After silence for longer than the timeout, 100 ms and the granularity of 1 s, the
/// same again. After a shorter one the window is what it was: see the next test.
#[test]
fn after_a_silence_slow_start_begins_again() {
    let source = "size = \"28800 B\", arrivals_per_second = 0.1";
    let results = run(1_000, source, "min_rto = \"1 s\"");
    let objects = bursts_of_objects(&results);
    let (mut long, mut short) = (0, 0);
    for (silence, packets) in objects {
        if packets.iter().sum::<u32>() != 30 {
            continue; // another object came before this one was through
        }
        if silence > 1.1 {
            long += 1;
            assert_eq!(packets, [2, 4, 8, 16], "after {silence} s");
        } else {
            short += 1;
            assert!(packets[0] >= 17, "after {silence} s: {packets:?}");
        }
    }
    assert!(long > 50 && short > 3, "{long} long silences, {short} short ones");
}

/// Without it the window stays: 16 when the last 16 packets left, and one more by the first of their
/// ACKs, behind which nothing was left to send. It stays at 17 until the next object has filled it:
/// that sends 17 and, as ACKs come, its other 13; of the 17 ACKs the first 13 found the window full
/// and let it grow to 30, and one more.
#[test]
fn without_a_restart_the_window_stays() {
    let source = "size = \"28800 B\", arrivals_per_second = 0.02";
    let results = run(1_000, source, "min_rto = \"1 s\"\nslow_start_after_idle = false");
    let objects = bursts_of_objects(&results);
    assert_eq!(objects[0].1, [2, 4, 8, 16]);
    assert_eq!(objects[1].1.iter().sum::<u32>(), 30);
    assert_eq!(objects[1].1[0], 17, "{objects:?}");
}

/// RFC 5681 Eq. 4: ssthresh is half of what is in flight. Objects of 5 packets leave a window of 100
/// unused; the first loss halves 5 packets (or those of two objects that came together), not 100.
#[test]
fn a_loss_halves_what_is_in_flight_and_not_a_window_that_the_application_left_unused() {
    let source = "size = \"4800 B\", arrivals_per_second = 2";
    let more = "initial_window = 100\ninitial_ssthresh = 100\nslow_start_after_idle = false";
    let text = scenario(200, source, more)
        .replace("queue =", "loss = { kind = \"bernoulli\", probability = 0.01 }\nqueue =")
        + "[series]\ninterval = \"100 ms\"\n";
    for seed in 1..=5 {
        let series = scenario_run::run(&text, seed).tables.flow_series.unwrap();
        let after = series.ssthresh_packets.iter().find(|ssthresh| **ssthresh < 100.0).unwrap();
        assert!((2.0..=5.0).contains(after), "seed {seed}: {after}");
    }
}

/// A silence shorter than the timeout is none: with one of 60 s the restart makes no difference.
#[test]
fn a_short_silence_restarts_nothing() {
    let source = "size = \"28800 B\", arrivals_per_second = 0.1";
    let switch = |is_on: bool, min_rto: &str| {
        let more = format!("min_rto = \"{min_rto}\"\nslow_start_after_idle = {is_on}");
        run(200, source, &more).tables.packet_log.expect("it is recorded")
    };
    let bursts = bursts(&run(200, source, ""));
    let silences = bursts.windows(2).map(|pair| pair[1].0 - pair[0].0);
    assert!(silences.fold(0.0, f64::max) < 60.0);
    assert!(switch(true, "60 s") == switch(false, "60 s"));
    assert!(switch(true, "1 s") != switch(false, "1 s"));
}

/// What cannot leave waits: three connections that are offered more than the link's rate keep it busy,
/// and lose none of it.
#[test]
fn objects_that_cannot_leave_wait_in_order() {
    let source = "size = { kind = \"exponential\", mean = \"96 kB\" }, arrivals_per_second = 500";
    let results = run(20, source, "count = 3\nmax_window = 20000");
    let link = link(&results.summary, "link");
    assert!(link.sharing.offered_load > 1.1, "{}", link.sharing.offered_load);
    assert!(link.utilization > 0.9, "{}", link.utilization);
    assert_eq!(link.drops_packets, 0);
}

#[test]
fn objects_without_what_they_need_are_refused() {
    let refusal = |source: &str, more: &str| {
        resolve_with(&scenario(10, source, more), &[]).unwrap_err().to_string()
    };
    let cases = [
        ("size = \"1 kB\"", "", "arrivals_per_second"),
        ("size = \"1 kB\", arrivals_per_second = 0", "", "arrivals_per_second"),
        ("arrivals_per_second = 1", "", "size"),
        (
            "size = { kind = \"pareto\", shape = 1.0, mean = \"1 kB\" }, arrivals_per_second = 1",
            "",
            "shape",
        ),
        ("size = \"1 kB\", arrivals_per_second = 1", "slow_start_after_idle = 1", "after_idle"),
    ];
    for (source, more, key) in cases {
        let message = refusal(source, more);
        assert!(message.contains(key), "{source} {more}: {message}");
    }
    let uncontrolled = scenario(10, "size = \"1 kB\", arrivals_per_second = 1", "")
        .replace("congestion = { kind = \"reno\" }", "");
    let message = resolve_with(&uncontrolled, &[]).unwrap_err().to_string();
    assert!(message.contains("flows.users.congestion: is missing"), "{message}");
}
