//! Packets that arrive twice: their number, the utilization without them, and the warnings of groups
//! whose senders wait for the timer, or take packets for lost that have arrived.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use tailroom_engine::results::WarningKind;

use crate::support::case::{Case, Run, case};
use crate::support::random_cases::config;

/// A transfer of 3000 packets of 1500 bytes over two links of 10 Mbit/s. It is over long before the run is.
fn transfer(queue: &str, keys: &str) -> Case {
    let bulk = "rtt = '60 ms', source = { kind = 'bulk', bytes = '4380 kB' }";
    case("10000 s from 0 s")
        .link("first", "20 Mbit/s, 5 ms, 1000 packets")
        .link("second", format!("10 Mbit/s, 5 ms, {queue}"))
        .flows("flow", "first second", format!("{bulk}, {keys}"))
}

const PACKETS: u64 = 3_000;

proptest! {
    #![proptest_config(config(24))]

    /// Each of the packets arrives once, and whatever else arrives or is lost was sent again.
    #[test]
    fn packets_sent_again_are_the_lost_ones_and_the_duplicates(
        limit in 3_u32..60,
        loss in prop::sample::select(vec![1e-9, 0.01, 0.1]),
        keys in prop::sample::select(vec![
            "congestion = 'reno'",
            "congestion = 'cubic', recovery = 'newreno'",
            "congestion = 'reno', forget_sack_at_timeout = true",
            "congestion = 'cubic', min_rto = '1 ms'",
            "congestion = 'bbr1'",
        ]),
        seed in 0_u64..1_000_000,
    ) {
        let loss = format!("loss = {{ kind = 'bernoulli', probability = {loss} }}");
        let run = transfer(&format!("{limit} packets, {loss}"), keys).seed(seed).run();
        let (group, flow) = (run.group("flow"), &run.summary.flows[0]);
        let (first, second) = (run.link("first"), run.link("second"));
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
        let span = [("measure_from", from), ("duration", to)];
        let set = |case: Case, (key, time)| case.set(key, format!("{time} s"));
        lossy("plain", "bbr1", 0.1).each(span, set).run().group("flow").duplicate_packets
    };
    let (before, after) = (until(0, 20), until(20, 40));
    assert!(before > 0 && after > 0, "{before} and {after}");
    assert_eq!(until(0, 40), before + after);
}

#[test]
fn without_losses_the_utilization_has_no_duplicates() {
    let run = transfer("1000 packets", "congestion = 'reno', max_window = 20").run();
    run.expect("groups.flow.retransmissions", 0);
    for name in ["first", "second"] {
        let link = run.link(name);
        assert_eq!(link.utilization_without_duplicates.to_bits(), link.utilization.to_bits());
    }
}

// Warnings.

/// A flow over a link of 10 Mbit/s with random loss.
fn lossy(host: &str, control: &str, loss: f64) -> Case {
    let loss = format!("loss = {{ kind = 'bernoulli', probability = {loss} }}");
    let keys = format!("congestion = '{control}', host = '{host}', rtt = '100 ms'");
    case("65 s from 5 s")
        .link("link", format!("10 Mbit/s, 5 ms, 200 packets, {loss}"))
        .flows("flow", "link", keys)
}

const TIMEOUTS: WarningKind = WarningKind::Timeouts;
const AGAIN: WarningKind = WarningKind::SentAgainInVain;

/// The text of the only warning of this kind.
#[track_caller]
fn warning(run: &Run, kind: WarningKind) -> &str {
    let warning = run.warning(kind).expect("it warns");
    assert!(warning.text.starts_with(&format!("{}: ", warning.place)), "{warning:?}");
    &warning.text
}

#[test]
fn a_run_in_which_timeouts_decide_warns_with_group_numbers_and_remedy() {
    let run = lossy("plain", "bbr1", 0.1).run();
    let (group, text) = (run.group("flow"), warning(&run, TIMEOUTS));
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
    let source = "{ kind = 'finite_flows', size = '5 kB', load = 0.3 }";
    let run = lossy("plain", "reno", 0.02).set("flows.flow.source", source).run();
    assert!(warning(&run, TIMEOUTS).starts_with("flows.flow: "));
}

#[test]
fn few_timeouts_among_many_reductions_and_few_timeouts_at_all_do_not_warn() {
    let many_reductions = lossy("plain", "reno", 0.001).run();
    let group = many_reductions.group("flow");
    assert!(group.congestion_events >= 10 && group.timeouts * 10 <= group.congestion_events);
    assert_eq!(many_reductions.warning(TIMEOUTS), None);
    let short = lossy("plain", "bbr1", 0.1).set("duration", "7 s").run();
    let group = short.group("flow");
    assert!((1..10).contains(&group.timeouts), "{group:?}");
    assert_eq!(short.warning(TIMEOUTS), None);
}

#[test]
fn packets_sent_again_though_they_had_arrived_warn_with_numbers_and_a_remedy() {
    for (set, remedy) in [
        (("recovery", "newreno"), "recovery = \"sack\""),
        (("forget_sack_at_timeout", "true"), "forget_sack_at_timeout = false"),
        (("host", "plain"), "min_rto"),
    ] {
        let (key, value) = set;
        let run = lossy("plain", "bbr1", 0.1).set(format!("flows.flow.{key}"), value).run();
        let (group, text) = (run.group("flow"), warning(&run, AGAIN));
        let again = format!("flows.flow: {} packets were sent again", group.retransmissions);
        assert!(text.starts_with(&again), "{text}");
        assert!(text.contains(&format!(" {} packets arrived", group.duplicate_packets)), "{text}");
        assert!(text.contains(remedy), "{text}");
    }
}

#[test]
fn a_sender_that_repairs_what_is_lost_and_little_more_does_not_warn() {
    let run = lossy("plain", "reno", 0.001).run();
    assert!(run.group("flow").retransmissions > 0);
    assert_eq!(run.warning(AGAIN), None);
}
