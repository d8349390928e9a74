//! Links whose delay and rate vary at random, as sources and receivers see them.

use crate::support::scenario_run::{network, run};
use crate::support::summaries::{group, link};

/// Packets 100 ms apart never wait for those before them: the mean of the one-way delay is 20 ms, the
/// transmission of 0.12 ms, and the mean of the distribution, 4 ms, whose standard error over 6,000
/// draws is 0.03 ms.
#[test]
fn packets_far_apart_have_the_delays_of_the_distribution() {
    let text = r#"
        duration = "600 s"
        [links.link]
        rate = "100 Mbit/s"
        delay = "20 ms"
        queue = { kind = "drop_tail", limit = "100 packets" }
        jitter = { extra_delay = { kind = "uniform", from = "0 ms", to = "8 ms" }, on_average_every = "1 ms" }
        [flows.probe]
        path = ["link"]
        source = { kind = "cbr", rate = "120 kbit/s" }
        packet_size = "1500 B"
        "#;
    let summary = run(text, 2).summary;
    let probe = group(&summary, "probe");
    let mean_ms = 1e3 * probe.one_way_delay_s_mean.expect("nobody acknowledges the packets");
    assert!((mean_ms - 24.12).abs() < 0.15, "{mean_ms} ms");
    let p99_ms = 1e3 * probe.one_way_delay_s_p99.expect("nobody acknowledges the packets");
    // The 99 % quantile of the distribution is 7.92 ms.
    assert!((p99_ms - 28.04).abs() < 0.1, "{p99_ms} ms");
}

/// Reordered packets would be taken for lost: three duplicate ACKs.
#[test]
fn packets_stay_in_order_whatever_the_jitter() {
    for draws in ["", ", every = \"30 ms\"", ", on_average_every = \"3 ms\""] {
        let text = format!(
            r#"
            duration = "20 s"
            [links.link]
            rate = "20 Mbit/s"
            delay = "10 ms"
            queue = {{ kind = "drop_tail", limit = "5000 packets" }}
            jitter = {{ extra_delay = {{ kind = "exponential", mean = "30 ms" }}{draws} }}
            [flows.reno]
            path = ["link"]
            congestion = "reno"
            max_window = 200
            rtt = "40 ms"
            min_rto = "5 s"
            "#
        );
        let summary = run(&text, 1).summary;
        let reno = group(&summary, "reno");
        assert!(reno.goodput_bps > 1e6, "{draws}: {}", reno.goodput_bps);
        assert_eq!(reno.retransmissions, 0, "{draws}");
    }
}

/// A link of 0.5 to 1.5 Mbit/s, drawn once a second, with this as its changes of rate.
fn saturated(changes: &str, seconds: u64) -> String {
    format!(
        r#"
        duration = "{seconds} s"
        [links.link]
        rate = "1 Mbit/s"
        delay = "20 ms"
        queue = {{ kind = "drop_tail", limit = "100 packets" }}
        {changes}
        [flows.flood]
        path = ["link"]
        source = {{ kind = "cbr", rate = "2 Mbit/s" }}
        "#
    )
}

const EVERY_SECOND: &str = "rate_variation = { rate = { kind = \"uniform\", \
                            from = \"0.5 Mbit/s\", to = \"1.5 Mbit/s\" }, every = \"1 s\" }";

/// The standard deviation of the uniform distribution is 0.2887 Mbit/s: over 2,000 draws the standard
/// error of the mean is 0.0065.
#[test]
fn a_full_link_carries_the_mean_of_its_rates() {
    let summary = run(&saturated(EVERY_SECOND, 2_000), 4).summary;
    // Of 1500 B on the wire, 40 B are headers.
    let carried = group(&summary, "flood").goodput_bps * 1_500.0 / 1_460.0;
    assert!((carried - 1e6).abs() < 4.0 * 6_500.0, "{carried}");
    let used = link(&summary, "link").utilization;
    assert!((used - 1.0).abs() < 1e-4, "{used}");
}

/// The same changes, written by hand, give the same run; and no traffic changes them.
#[test]
fn drawn_rates_are_changes_of_the_rate() {
    let text = saturated(EVERY_SECOND, 30);
    let drawn = network(&text, 7);
    let changes = drawn.links[0].rate_changes.clone();
    assert_eq!(changes.len(), 31);
    let list: Vec<String> = changes
        .iter()
        .map(|change| {
            let (at, rate) = (change.at.picoseconds(), change.rate.bits_per_second());
            format!("{{ at = \"{} s\", rate = \"{rate} bit/s\" }}", at / 1_000_000_000_000)
        })
        .collect();
    let by_hand = saturated(&format!("changes = [{}]", list.join(", ")), 30);
    assert_eq!(comparable(&text, 7), comparable(&by_hand, 7));
    let idle = text.replace("2 Mbit/s", "2 kbit/s");
    assert_eq!(network(&idle, 7).links[0].rate_changes, changes);
    assert_ne!(network(&text, 8).links[0].rate_changes, changes);
}

fn comparable(text: &str, seed: u64) -> serde_json::Value {
    serde_json::to_value(run(text, seed).summary).expect("a summary is JSON")
}

/// A departure that never comes has no jitter: drawing it until then would take hours.
#[test]
fn a_link_that_stops_for_good_ends_its_jitter() {
    let text = r#"
        duration = "2 s"
        [links.link]
        rate = "1 Mbit/s"
        delay = "5 ms"
        queue = { kind = "drop_tail", limit = "10 packets" }
        jitter = { extra_delay = { kind = "uniform", from = "0 ms", to = "1 ms" }, on_average_every = "1 ms" }
        changes = [{ at = "1 s", rate = "0 bit/s" }]
        [flows.flow]
        path = ["link"]
        congestion = "reno"
        rtt = "40 ms"
    "#;
    let results = run(text, 1);
    let at = link(&results.summary, "link");
    assert!((at.utilization - 1.0).abs() < 0.1, "{}", at.utilization);
}
