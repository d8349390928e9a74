//! Jitter of a link: its delays as sources and receivers see them.

use crate::support::refusals::assert_refused;
use crate::support::scenario_run::run;
use crate::support::scenario_text::message;
use crate::support::summaries::group;

const DELAY: &str = "delay = \"20 ms\"";

fn with_jitter(jitter: &str) -> String {
    format!("{DELAY}\njitter = {jitter}")
}

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

#[test]
fn wrong_jitter_is_refused() {
    let uniform = "extra_delay = { kind = \"uniform\", from = \"0 ms\", to = \"8 ms\" }";
    for (jitter, key, names) in [
        (
            format!("{{ {uniform}, every = \"15 s\", on_average_every = \"1 s\" }}"),
            ".every",
            "on_average_every",
        ),
        (format!("{{ {uniform}, every = \"1 us\" }}"), ".every", "10 us"),
        (
            "{ extra_delay = { kind = \"uniform\", from = \"-1 ms\", to = \"8 ms\" } }".to_owned(),
            ".extra_delay.from",
            "ms",
        ),
        ("{ every = \"15 s\" }".to_owned(), ".extra_delay", "extra_delay"),
        ("\"8 ms\"".to_owned(), "", "table"),
    ] {
        let found = message(DELAY, &with_jitter(&jitter));
        let line = found.split_once(", ").expect("a line and a key").0;
        assert_refused(&found, &format!("{line}, links.bottleneck.jitter{key}"), &[names]);
    }
}
