//! Packets that arrive twice: their number, the utilization without them, and the warnings of groups
//! whose senders wait for the timer, or take packets for lost that have arrived.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use tailroom_engine::results::{Summary, Warning, WarningKind};

use crate::support::random_cases::config;
use crate::support::{scenario_run, summaries};

fn run(text: &str, seed: u64) -> Summary {
    scenario_run::run(text, seed).summary
}

/// A transfer of 3000 packets of 1500 bytes over two links of 10 Mbit/s, with these keys of the
/// links and of the flow. It is over long before the run is.
fn transfer(first: &str, second: &str, flow: &str) -> String {
    format!(
        r#"
        duration = "10000 s"
        measure_from = "0 s"
        [links.first]
        rate = "20 Mbit/s"
        delay = "5 ms"
        {first}
        [links.second]
        rate = "10 Mbit/s"
        delay = "5 ms"
        {second}
        [flows.flow]
        path = ["first", "second"]
        host = "plain"
        rtt = "60 ms"
        source = {{ kind = "bulk", bytes = "4380 kB" }}
        {flow}
        "#
    )
}

const PACKETS: u64 = 3_000;
const FULL: &str = r#"queue = { kind = "drop_tail", limit = "1000 packets" }"#;

proptest! {
    #![proptest_config(config(24))]

    /// Each of the packets arrives once, and whatever else arrives or is lost was sent again.
    #[test]
    fn packets_sent_again_are_the_lost_ones_and_the_duplicates(
        limit in 3_u32..60,
        loss in prop::sample::select(vec![1e-9, 0.01, 0.1]),
        keys in prop::sample::select(vec![
            r#"congestion = "reno""#,
            "congestion = \"cubic\"\nrecovery = \"newreno\"",
            "congestion = \"reno\"\nforget_sack_at_timeout = true",
            "congestion = \"cubic\"\nmin_rto = \"1 ms\"",
            r#"congestion = "bbr1""#,
        ]),
        seed in 0_u64..1_000_000,
    ) {
        let queue = format!("queue = {{ kind = \"drop_tail\", limit = \"{limit} packets\" }}");
        let loss = format!("{queue}\nloss = {{ kind = \"bernoulli\", probability = {loss} }}");
        let summary = run(&transfer(FULL, &loss, keys), seed);
        let (group, flow) = (summaries::group(&summary, "flow"), &summary.flows[0]);
        let (first, second) =
            (summaries::link(&summary, "first"), summaries::link(&summary, "second"));
        prop_assert_eq!(group.completed_flows, 1);
        let lost = second.drops_packets + second.random_losses_packets;
        prop_assert_eq!(group.retransmissions, lost + group.duplicate_packets);
        prop_assert_eq!(flow.duplicate_packets, group.duplicate_packets);
        // Without duplicates the links carry each packet once, and what is lost behind them.
        let bits = |packets: u64, bps: f64| packets as f64 * 12e3 / (1e4 * bps);
        for (link, carried) in [
            (first, bits(PACKETS + lost, 20e6)),
            (second, bits(PACKETS + second.random_losses_packets, 10e6)),
        ] {
            let found = link.utilization_without_duplicates;
            prop_assert!((found / carried - 1.0).abs() < 1e-9, "{found}, not {carried}");
            prop_assert_eq!(found < link.utilization, group.duplicate_packets > 0);
        }
    }
}

/// 20 s are long enough for timeouts before, at and after the edge of the window, and the counts
/// of two windows that follow one another are those of both together.
#[test]
fn each_duplicate_counts_in_one_window() {
    let until = |from: u32, to: u32| {
        let text = lossy("plain", "bbr1", 0.1);
        let text = text.replace("measure_from = \"5 s\"", &format!("measure_from = \"{from} s\""));
        let summary =
            run(&text.replace("duration = \"65 s\"", &format!("duration = \"{to} s\"")), 1);
        summaries::group(&summary, "flow").duplicate_packets
    };
    let (before, after) = (until(0, 20), until(20, 40));
    assert!(before > 0 && after > 0, "{before} and {after}");
    assert_eq!(until(0, 40), before + after);
}

#[test]
fn without_losses_the_utilization_has_no_duplicates() {
    let text = transfer(FULL, FULL, "congestion = \"reno\"\nmax_window = 20");
    let summary = run(&text, 1);
    assert_eq!(summaries::group(&summary, "flow").retransmissions, 0);
    for name in ["first", "second"] {
        let link = summaries::link(&summary, name);
        assert_eq!(link.utilization_without_duplicates.to_bits(), link.utilization.to_bits());
    }
}

// Warnings.

/// A flow over a link of 10 Mbit/s with random loss.
fn lossy(host: &str, control: &str, loss: f64) -> String {
    format!(
        r#"
        duration = "65 s"
        measure_from = "5 s"
        [links.link]
        rate = "10 Mbit/s"
        delay = "5 ms"
        queue = {{ kind = "drop_tail", limit = "200 packets" }}
        loss = {{ kind = "bernoulli", probability = {loss} }}
        [flows.flow]
        path = ["link"]
        congestion = "{control}"
        host = "{host}"
        rtt = "100 ms"
        "#
    )
}

const TIMEOUTS: WarningKind = WarningKind::Timeouts;
const AGAIN: WarningKind = WarningKind::SentAgainInVain;

/// The text of the only warning of this kind.
fn warning(summary: &Summary, kind: WarningKind) -> String {
    let found: Vec<&Warning> = summary.warnings.iter().filter(|one| one.kind == kind).collect();
    let [warning] = found[..] else { panic!("not one of {kind:?}: {:?}", summary.warnings) };
    assert!(warning.text.starts_with(&format!("{}: ", warning.place)), "{warning:?}");
    warning.text.clone()
}

fn is_silent(summary: &Summary, kind: WarningKind) -> bool {
    summary.warnings.iter().all(|warning| warning.kind != kind)
}

#[test]
fn a_run_in_which_timeouts_decide_warns_with_group_numbers_and_remedy() {
    let summary = run(&lossy("plain", "bbr1", 0.1), 1);
    let group = summaries::group(&summary, "flow");
    let text = warning(&summary, TIMEOUTS);
    let numbers = format!("flows.flow: {} of {} ", group.timeouts, group.congestion_events);
    assert!(text.starts_with(&numbers), "{text}");
    for part in ["200 ms (min_rto)", "links.link", "queue.limit", "recovery = \"rack\""] {
        assert!(text.contains(part), "{text}");
    }
}

/// Short flows cannot find a loss in a window of a few packets, and their group has no permanent
/// flow.
#[test]
fn a_group_of_short_flows_that_wait_for_the_timer_warns() {
    let source = r#"source = { kind = "finite_flows", size = "5 kB", load = 0.3 }"#;
    let text = lossy("plain", "reno", 0.02) + source;
    let summary = run(&text, 1);
    assert!(warning(&summary, TIMEOUTS).starts_with("flows.flow: "));
}

#[test]
fn few_timeouts_among_many_reductions_and_few_timeouts_at_all_do_not_warn() {
    let many_reductions = run(&lossy("plain", "reno", 0.001), 1);
    let group = summaries::group(&many_reductions, "flow");
    assert!(group.congestion_events >= 10 && group.timeouts * 10 <= group.congestion_events);
    assert!(is_silent(&many_reductions, TIMEOUTS), "{:?}", many_reductions.warnings);
    let short = lossy("plain", "bbr1", 0.1).replace("duration = \"65 s\"", "duration = \"7 s\"");
    let short = run(&short, 1);
    let group = summaries::group(&short, "flow");
    assert!((1..10).contains(&group.timeouts), "{group:?}");
    assert!(is_silent(&short, TIMEOUTS), "{:?}", short.warnings);
}

#[test]
fn packets_sent_again_though_they_had_arrived_warn_with_numbers_and_a_remedy() {
    for (keys, remedy) in [
        ("recovery = \"newreno\"", "recovery = \"sack\""),
        ("forget_sack_at_timeout = true", "forget_sack_at_timeout = false"),
        ("", "min_rto"),
    ] {
        let summary = run(&(lossy("plain", "bbr1", 0.1) + keys), 1);
        let group = summaries::group(&summary, "flow");
        let text = warning(&summary, AGAIN);
        let again = format!("flows.flow: {} packets were sent again", group.retransmissions);
        assert!(text.starts_with(&again), "{text}");
        assert!(text.contains(&format!(" {} packets arrived", group.duplicate_packets)), "{text}");
        assert!(text.contains(remedy), "{text}");
    }
}

#[test]
fn a_sender_that_repairs_what_is_lost_and_little_more_does_not_warn() {
    let summary = run(&lossy("plain", "reno", 0.001), 1);
    let group = summaries::group(&summary, "flow");
    assert!(group.retransmissions > 0);
    assert!(is_silent(&summary, AGAIN), "{:?}", summary.warnings);
}
