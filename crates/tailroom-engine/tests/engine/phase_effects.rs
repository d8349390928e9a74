//! Traffic phase effects (Floyd and Jacobson 1992): the default jitter of senders prevents them,
//! and a run without jitter warns if and only if they may affect its results.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::network::Network;
use tailroom_engine::results::WarningKind;
use tailroom_engine::units::Time;

use crate::support::case::{Case, Run, above, case, check, near, within};
use crate::support::refusals::assert_refused;

const OFF: &str = "send_jitter = 'none'";

fn goodput_mbps(run: &Run, group: &str) -> f64 {
    run.group(group).goodput_bps / 1e6
}

fn has_phase_warning(run: &Run, group: &str) -> bool {
    let key = format!("flows.{group}.send_jitter");
    run.summary.warnings.iter().any(|warning| {
        warning.kind == WarningKind::PhaseEffects
            && warning.place.split(", ").any(|named| named == key)
    })
}

/// Three links of 100 Mbit/s in series: four Reno flows cross all of them, and four flows cross
/// each of them alone, with an RTT that is longer by nearly a packet time, 0.12 ms.
fn three_links(jitter: &str) -> Run {
    let links = ["a", "b", "c"];
    let alone = format!("count = 4, congestion = 'reno', rtt = '60.11 ms', {jitter}");
    case("120 s from 20 s")
        .each(links, |case, name| case.link(name, "100 Mbit/s, 5 ms, 0.5 bdp"))
        .flows("long", "a b c", alone.replace("60.11", "60"))
        .each(links, |case, name| case.flows(format!("at_{name}"), name, &alone))
        .run()
}

/// A link of this rate with this queue.
fn one_link(duration: &str, rate_and_queue: [&str; 2]) -> Case {
    let [rate, queue] = rate_and_queue;
    case(duration).link("link", format!("{rate}, 5 ms, {queue}"))
}

/// Two groups over one link with these keys; the second group has the longer RTT.
fn two_groups(link: Case, keys: [&str; 2]) -> Case {
    link.flows("short", "link", keys[0]).flows("long", "link", keys[1])
}

fn cubics(jitter: &str) -> Case {
    let keys = |rtt: &str| format!("count = 4, congestion = 'cubic', rtt = '{rtt}', {jitter}");
    let link = one_link("120 s from 20 s", ["100 Mbit/s", "0.5 bdp"]);
    two_groups(link, [&keys("40 ms"), &keys("80 ms")])
}

/// Flows that cross three full links get less than flows that cross one, which have fewer losses
/// and shorter RTTs.
#[test]
fn flows_over_three_links_get_less_than_flows_over_one() {
    let run = three_links("");
    for single in ["at_a", "at_b", "at_c"] {
        assert!(goodput_mbps(&run, "long") < 0.5 * goodput_mbps(&run, single));
    }
    assert!(!has_phase_warning(&run, "long"));
}

#[test]
fn locked_phases_favor_flows_over_three_links_and_the_run_warns() {
    let run = three_links(OFF);
    // Without locked phases they get less than half. How much more depends on how windows grow.
    assert!(goodput_mbps(&run, "long") > 1.25 * goodput_mbps(&run, "at_a"));
    for group in ["long", "at_a", "at_b", "at_c"] {
        assert!(has_phase_warning(&run, group), "{:?}", run.summary.warnings);
    }
}

/// Equal windows give a ratio of goodputs of 2. With random phases the ratio is between 1 and 4;
/// with locked phases the flows with the longer RTT get about a tenth.
#[test]
fn cubic_flows_with_twice_the_rtt_get_a_quarter_or_more_of_the_goodput_of_the_others() {
    let random = cubics("").run();
    let ratio = goodput_mbps(&random, "short") / goodput_mbps(&random, "long");
    check("ratio", ratio, within(1.0..4.0));
    let locked = cubics(OFF).run();
    assert!(goodput_mbps(&locked, "short") > 8.0 * goodput_mbps(&locked, "long"));
    assert!(has_phase_warning(&locked, "short") && has_phase_warning(&locked, "long"));
}

/// The example of `--set` in the guide: two Reno flows over 10 Mbit/s with RTTs of 80 and 120 ms.
#[test]
fn of_two_reno_flows_the_flow_with_the_shorter_rtt_gets_more() {
    let case = |jitter: &str| {
        let keys = |rtt: &str| format!("congestion = 'reno', rtt = '{rtt}', {jitter}");
        let link = one_link("600 s from 20 s", ["10 Mbit/s", "42 packets"]);
        two_groups(link, [&keys("80 ms"), &keys("120 ms")])
    };
    for seed in 1..=3 {
        let random = case("").seed(seed).run();
        assert!(goodput_mbps(&random, "short") > goodput_mbps(&random, "long"), "seed {seed}");
    }
    let locked = case(OFF).run();
    assert!(goodput_mbps(&locked, "short") < 0.5 * goodput_mbps(&locked, "long"));
    assert!(has_phase_warning(&locked, "short"));
}

/// Auge and Roberts, Figure 3: one `NewReno` flow behind an access link with 25 Poisson streams.
fn next_to_a_background(jitter: &str, rtt: &str, seed: u64) -> Run {
    let flow = format!(
        "congestion = 'reno', recovery = 'newreno', initial_window = 2, rtt = '{rtt}', \
         packet_size = '1000 B', access_rate = '1 Gbit/s', {jitter}"
    );
    one_link("300 s from 50 s", ["50 Mbit/s", "99 packets"])
        .seed(seed)
        .flows("short", "link", flow)
        .stream("long", "link", "poisson 1 Mbit/s, 1000 B, count = 25")
        .run()
}

/// Without jitter, a change of the RTT by half a transmission time changes the share of the
/// residual capacity by 10 percentage points; with the default jitter it does not.
#[test]
fn an_access_link_and_a_random_background_do_not_prevent_phase_effects() {
    let share = |jitter: &str, rtt: &str| {
        let runs = (1..=4).map(|seed| next_to_a_background(jitter, rtt, seed));
        runs.map(|run| goodput_mbps(&run, "short")).sum::<f64>() / 4.0 / (25.0 * 0.96)
    };
    let locked = share(OFF, "100.00672 ms") - share(OFF, "100.08 ms");
    check("locked", locked, above(0.06));
    let random = share("", "100.00672 ms") - share("", "100.08 ms");
    check("random", random, near(0.0, 0.03));
    assert!(has_phase_warning(&next_to_a_background(OFF, "100.08 ms", 1), "short"));
}

/// Each scenario differs from one that warns in a single key, which rules out a locked phase.
#[test]
fn a_run_does_not_warn_where_no_phase_can_lock() {
    let reno = format!("congestion = 'reno', rtt = '60 ms', {OFF}");
    let warns = |queue: &str, keys: &str| {
        let link = one_link("21 s from 20 s", ["10 Mbit/s", queue]);
        has_phase_warning(&two_groups(link, [keys, &reno]).run(), "short")
    };
    assert!(warns("0.5 bdp", &reno));
    for keys in [
        "congestion = 'reno', rtt = '60 ms'",
        "congestion = 'reno', rtt = '60 ms', send_jitter = '1 us'",
        &format!("{reno}, pacing = true"),
        "congestion = 'bbr3', rtt = '60 ms', send_jitter = 'none'",
        &format!(
            "{reno}, source = {{ kind = 'objects', size = '10 kB', arrivals_per_second = 1 }}"
        ),
        &format!("{reno}, source = {{ kind = 'finite_flows', size = '10 kB', load = 0.1 }}"),
        "source = { kind = 'poisson', rate = '1 Mbit/s' }, send_jitter = 'none'",
    ] {
        assert!(!warns("0.5 bdp", keys), "{keys}");
    }
    for queue in ["red", "codel", "fq_codel", "pie", "random_drop", "fair"] {
        assert!(!warns(&format!("{queue} 50 packets"), &reno), "{queue}");
    }
}

#[test]
fn a_run_does_not_warn_about_a_single_flow_or_a_delay_that_changes() {
    let alone = one_link("21 s", ["10 Mbit/s", "0.5 bdp"]);
    let alone = alone.flows("one", "link", format!("congestion = 'reno', rtt = '60 ms', {OFF}"));
    assert!(!has_phase_warning(&alone.run(), "one"));
    let two = alone.set("flows.one.count", 2);
    assert!(has_phase_warning(&two.run(), "one"));
    let moving = two.set("links.link.changes", "[{ at = '1 s', delay = '6 ms' }]");
    assert!(!has_phase_warning(&moving.run(), "one"));
}

#[test]
fn jitter_auto_is_the_transmission_time_on_the_slowest_link_of_the_path() {
    let jitter = |path: &str, keys: &str| {
        let links = case("1 s")
            .link("fast", "100 Mbit/s, 5 ms, 10 packets")
            .link("slow", "12 Mbit/s, 5 ms, 10 packets");
        links.flows("one", path, keys).network().groups[0].send_jitter
    };
    let reno = |keys: &str| format!("congestion = 'reno', {keys}");
    assert_eq!(jitter("fast slow", &reno("")), Some(Time::from_milliseconds(1)));
    assert_eq!(jitter("fast", &reno("")), Some(Time::from_picoseconds(120_000_000)));
    let named = jitter("fast", &reno("send_jitter = 'auto'"));
    assert_eq!(named, Some(Time::from_picoseconds(120_000_000)));
    assert_eq!(jitter("fast", &reno(OFF)), None);
    let given = jitter("fast", &reno("send_jitter = '3 us'"));
    assert_eq!(given, Some(Time::from_picoseconds(3_000_000)));
    // Packet sources, which no ACK clocks, have no jitter by default.
    assert_eq!(jitter("fast", "source = { kind = 'cbr', rate = '1 Mbit/s' }"), None);
}

#[test]
fn a_wrong_jitter_is_refused_with_the_allowed_words() {
    let refusal = one_link("120 s from 20 s", ["10 Mbit/s", "0.5 bdp"])
        .flows("short", "link", "congestion = 'reno', rtt = '60 ms', send_jitter = 'of'")
        .refusal();
    let words = ["\"auto\"", "\"none\""];
    assert_refused(&refusal, "line 4, flows.short.send_jitter", &words);
}

/// Without jitter the three rounds of slow start take 306 ms (by hand in `flow_level.rs`); with
/// jitter each round begins up to a transmission time, 1 ms, later.
#[test]
fn the_jitter_delays_dynamic_flows_too() {
    let times = |jitter: &str| {
        let source =
            "kind = 'finite_flows', size = '14600 B', arrivals = ['1 s', '3 s'], flow_log = 10";
        let keys = format!("congestion = 'reno', rtt = '100 ms', initial_window = 2, {jitter}");
        let run = one_link("5 s", ["12 Mbit/s", "100 packets"])
            .flows("one", "link", format!("source = {{ {source} }}, {keys}"))
            .run();
        run.results.tables.flow_log.expect("it is recorded").completion_time_s
    };
    assert!(times(OFF).iter().all(|time| (time - 0.306).abs() < 1e-9));
    let jittered = times("");
    assert!(jittered.iter().all(|time| (0.3061..0.311).contains(time)), "{jittered:?}");
    assert!((jittered[0] - jittered[1]).abs() > 1e-6, "{jittered:?}");
}

/// Twelve flows of 1 Mbit/s with these keys, over a link of this rate with this queue.
fn twelve_calls(rate: &str, queue: &str, source: &str) -> Case {
    let keys = format!("count = 6, packet_size = '1250 B', source = {{ {source} }}");
    one_link("20 s from 5 s", [rate, queue])
        .flows("calls", "link", &keys)
        .flows("others", "link", &keys)
}

const CALL: &str = "kind = 'cbr', rate = '1 Mbit/s'";

/// The smallest and the largest loss of a flow, and those of the warning about equal periods.
fn unequal_losses(case: &Case) -> ((f64, f64), Option<(f64, f64)>) {
    let run = case.run();
    let losses: Vec<f64> = run.summary.flows.iter().filter_map(|flow| flow.loss_fraction).collect();
    let least = losses.iter().copied().fold(1.0, f64::min);
    let most = losses.iter().copied().fold(0.0, f64::max);
    let warning = run.warning(WarningKind::EqualPeriods);
    let warned = warning.map(|warning| {
        assert_eq!(warning.place, "flows.calls, flows.others");
        assert!(warning.text.contains("send_jitter = \"10 ms\""), "{}", warning.text);
        assert!(warning.text.contains("links.link"), "{}", warning.text);
        let value = |name| *warning.values.get(name).unwrap();
        (value("loss_fraction_min"), value("loss_fraction_max"))
    });
    ((least, most), warned)
}

#[test]
fn equal_periodic_flows_of_which_the_same_lose_everything_warn() {
    for seed in 1..=3 {
        let calls = twelve_calls("10 Mbit/s", "50 packets", CALL).seed(seed);
        let (losses, warned) = unequal_losses(&calls);
        assert_eq!(losses, (0.0, 1.0), "seed {seed}");
        assert_eq!(warned, Some(losses), "seed {seed}");
    }
}

/// Each loses what a twelfth of the excess is, a sixth, or nothing.
#[test]
fn flows_without_a_period_or_without_an_overload_do_not_warn() {
    let calls = |queue: &str, source: &str| twelve_calls("10 Mbit/s", queue, source);
    for case in [
        calls("50 packets", "kind = 'poisson', rate = '1 Mbit/s'"),
        calls("50 packets", CALL)
            .set("flows.calls.send_jitter", "20 ms")
            .set("flows.others.send_jitter", "20 ms"),
        calls("fair 50 packets", CALL),
        calls("random_drop 50 packets", CALL),
    ] {
        let ((least, most), warned) = unequal_losses(&case);
        assert!(least > 0.1 && most < 0.25, "{case:?}: {least} to {most}");
        assert_eq!(warned, None);
    }
    let below = twelve_calls("13 Mbit/s", "50 packets", CALL);
    assert_eq!(unequal_losses(&below), ((0.0, 0.0), None));
}

/// On periods that come at the same time as those of others find the queue full each time.
#[test]
fn equal_on_off_periods_of_constant_length_warn() {
    let on_off = |off: &str| {
        let source = format!("kind = 'on_off', rate = '2 Mbit/s', on = '5 ms', off = {off}");
        unequal_losses(&twelve_calls("10 Mbit/s", "50 packets", &source))
    };
    let (losses, warned) = on_off("'5 ms'");
    assert!(losses.0 < 0.01 && losses.1 > 0.5, "{losses:?}");
    assert_eq!(warned, Some(losses));
    assert_eq!(on_off("{ kind = 'exponential', mean = '5 ms' }").1, None);
}

/// Half of the flows cross another link first, which loses packets at random or has a queue per flow.
#[test]
fn losses_at_a_link_that_others_do_not_cross_do_not_warn() {
    for first in [
        "13 Mbit/s, 5 ms, 50 packets, loss = { kind = 'bernoulli', probability = 0.2 }",
        "5 Mbit/s, 5 ms, fair 50 packets",
    ] {
        let calls = twelve_calls("13 Mbit/s", "50 packets", CALL);
        let calls = calls.link("first", first).set("flows.calls.path", "['first', 'link']");
        let ((least, most), warned) = unequal_losses(&calls);
        assert!(least == 0.0 && most > 0.15, "{least} to {most}");
        assert_eq!(warned, None);
    }
}

/// Explicit phases leave nothing to the seed: only a shift shows what they decide.
#[test]
fn a_phase_shift_delays_flows_without_acks() {
    let calls = twelve_calls("10 Mbit/s", "50 packets", &format!("{CALL}, phase = '0 s'"));
    let network = |shift: &str| calls.clone().set("phase_shift", shift).network();
    let packet = Time::from_milliseconds(1);
    let starts =
        |shift| -> Vec<Time> { network(shift).flows.iter().map(|flow| flow.start).collect() };
    assert!(starts("0").iter().all(|start| *start == Time::ZERO));
    assert!(starts("1").iter().all(|start| *start < packet));
    assert!(starts("1").windows(2).all(|two| two[0] != two[1]));
    assert_ne!(starts("1"), starts("2"));
}

/// A phase shift lengthens RTTs by less than a transmission time, equally for every seed, and does
/// not change limits in bdp.
#[test]
fn a_phase_shift_lengthens_rtts_by_less_than_a_transmission_time() {
    let network =
        |shift: &str, seed: u64| cubics("").seed(seed).set("phase_shift", shift).network();
    let (plain, shifted, other) = (network("0", 1), network("1", 1), network("2", 1));
    let packet = Time::from_picoseconds(120_000_000);
    let shifts = |to: &Network| -> Vec<Time> {
        to.flows.iter().zip(&plain.flows).map(|(to, from)| to.rtt.since(from.rtt)).collect()
    };
    assert!(shifts(&shifted).iter().all(|shift| *shift < packet));
    assert!(shifts(&shifted).iter().any(|shift| *shift > Time::ZERO));
    assert_ne!(shifts(&shifted), shifts(&other));
    assert_eq!(shifts(&shifted), shifts(&network("1", 7)));
    assert!((plain.links[0].bdp_bytes - shifted.links[0].bdp_bytes).abs() < 1e-9);
}
