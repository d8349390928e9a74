//! Traffic phase effects (Floyd and Jacobson 1992): the default jitter of senders prevents them,
//! and a run without jitter warns if and only if they may affect its results.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write as _;

use tailroom_engine::results::{Summary, WarningKind};
use tailroom_engine::units::Time;

use crate::support::refusals::assert_refused;
use crate::support::scenario_text::resolve_with;
use crate::support::{scenario_run, summaries};

const OFF: &str = "send_jitter = \"none\"";

fn run(text: &str, seed: u64) -> Summary {
    scenario_run::run(text, seed).summary
}

fn goodput_mbps(summary: &Summary, group: &str) -> f64 {
    summaries::group(summary, group).goodput_bps / 1e6
}

fn has_phase_warning(summary: &Summary, group: &str) -> bool {
    let key = format!("flows.{group}.send_jitter");
    summary.warnings.iter().any(|warning| {
        warning.kind == WarningKind::PhaseEffects
            && warning.place.split(", ").any(|named| named == key)
    })
}

fn link(name: &str, rate: &str, queue: &str) -> String {
    format!("[links.{name}]\nrate = \"{rate}\"\ndelay = \"5 ms\"\nqueue = {queue}\n")
}

/// Three links of 100 Mbit/s in series: four Reno flows cross all of them, and four flows cross
/// each of them alone, with an RTT that is longer by nearly a packet time, 0.12 ms.
fn three_links(jitter: &str) -> String {
    let mut text = String::from("duration = \"120 s\"\nmeasure_from = \"20 s\"\n");
    let links = ["a", "b", "c"];
    for name in links {
        text += &link(name, "100 Mbit/s", r#"{ kind = "drop_tail", limit = "0.5 bdp" }"#);
    }
    for (name, path) in
        [("long", "\"a\", \"b\", \"c\""), ("at_a", "\"a\""), ("at_b", "\"b\""), ("at_c", "\"c\"")]
    {
        let rtt = if name == "long" { "60 ms" } else { "60.11 ms" };
        write!(
            text,
            "[flows.{name}]\ncount = 4\npath = [{path}]\ncongestion = \"reno\"\n\
             rtt = \"{rtt}\"\n{jitter}\n"
        )
        .unwrap();
    }
    text
}

/// Two groups over one link with these keys; the second group has the longer RTT.
fn two_groups(rate: &str, queue: &str, keys: [&str; 2]) -> String {
    let mut text = String::from("duration = \"120 s\"\nmeasure_from = \"20 s\"\n");
    text += &link("link", rate, queue);
    for (name, keys) in ["short", "long"].iter().zip(keys) {
        write!(text, "[flows.{name}]\npath = [\"link\"]\n{keys}\n").unwrap();
    }
    text
}

const HALF: &str = r#"{ kind = "drop_tail", limit = "0.5 bdp" }"#;

fn cubics(jitter: &str) -> String {
    let keys = |rtt: &str| format!("count = 4\ncongestion = \"cubic\"\nrtt = \"{rtt}\"\n{jitter}");
    two_groups("100 Mbit/s", HALF, [&keys("40 ms"), &keys("80 ms")])
}

/// Flows that cross three full links get less than flows that cross one, which have fewer losses
/// and shorter RTTs.
#[test]
fn flows_over_three_links_get_less_than_flows_over_one() {
    let summary = run(&three_links(""), 1);
    for single in ["at_a", "at_b", "at_c"] {
        assert!(goodput_mbps(&summary, "long") < 0.5 * goodput_mbps(&summary, single));
    }
    assert!(!has_phase_warning(&summary, "long"));
}

#[test]
fn locked_phases_favor_flows_over_three_links_and_the_run_warns() {
    let summary = run(&three_links(OFF), 1);
    // Without locked phases they get less than half. How much more depends on how windows grow.
    assert!(goodput_mbps(&summary, "long") > 1.25 * goodput_mbps(&summary, "at_a"));
    for group in ["long", "at_a", "at_b", "at_c"] {
        assert!(has_phase_warning(&summary, group), "{:?}", summary.warnings);
    }
}

/// Equal windows give a ratio of goodputs of 2. With random phases the ratio is between 1 and 4;
/// with locked phases the flows with the longer RTT get about a tenth.
#[test]
fn cubic_flows_with_twice_the_rtt_get_a_quarter_or_more_of_the_goodput_of_the_others() {
    let random = run(&cubics(""), 1);
    let ratio = goodput_mbps(&random, "short") / goodput_mbps(&random, "long");
    assert!((1.0..4.0).contains(&ratio), "{ratio}");
    let locked = run(&cubics(OFF), 1);
    assert!(goodput_mbps(&locked, "short") > 8.0 * goodput_mbps(&locked, "long"));
    assert!(has_phase_warning(&locked, "short") && has_phase_warning(&locked, "long"));
}

/// The example of `--set` in the guide: two Reno flows over 10 Mbit/s with RTTs of 80 and 120 ms.
#[test]
fn of_two_reno_flows_the_flow_with_the_shorter_rtt_gets_more() {
    let queue = r#"{ kind = "drop_tail", limit = "42 packets" }"#;
    let text = |jitter: &str| {
        let keys = |rtt: &str| format!("congestion = \"reno\"\nrtt = \"{rtt}\"\n{jitter}");
        two_groups("10 Mbit/s", queue, [&keys("80 ms"), &keys("120 ms")]).replace("120 s", "600 s")
    };
    for seed in 1..=3 {
        let random = run(&text(""), seed);
        assert!(goodput_mbps(&random, "short") > goodput_mbps(&random, "long"), "seed {seed}");
    }
    let locked = run(&text(OFF), 1);
    assert!(goodput_mbps(&locked, "short") < 0.5 * goodput_mbps(&locked, "long"));
    assert!(has_phase_warning(&locked, "short"));
}

/// Auge and Roberts, Figure 3: one `NewReno` flow behind an access link with 25 Poisson streams.
fn next_to_a_background(jitter: &str, rtt: &str) -> String {
    let queue = r#"{ kind = "drop_tail", limit = "99 packets" }"#;
    let flow = format!(
        "congestion = \"reno\"\nrecovery = \"newreno\"\ninitial_window = 2\nrtt = \"{rtt}\"\n\
         packet_size = \"1000 B\"\naccess_rate = \"1 Gbit/s\"\n{jitter}"
    );
    let streams = "count = 25\npacket_size = \"1000 B\"\n\
                   source = { kind = \"poisson\", rate = \"1 Mbit/s\" }";
    two_groups("50 Mbit/s", queue, [&flow, streams])
        .replace("\"120 s\"", "\"300 s\"")
        .replace("20 s", "50 s")
}

/// Without jitter, a change of the RTT by half a transmission time changes the share of the
/// residual capacity by 10 percentage points; with the default jitter it does not.
#[test]
fn an_access_link_and_a_random_background_do_not_prevent_phase_effects() {
    let share = |jitter: &str, rtt: &str| {
        let summaries = (1..=4).map(|seed| run(&next_to_a_background(jitter, rtt), seed));
        summaries.map(|summary| goodput_mbps(&summary, "short")).sum::<f64>() / 4.0 / (25.0 * 0.96)
    };
    let locked = share(OFF, "100.00672 ms") - share(OFF, "100.08 ms");
    assert!(locked > 0.06, "{locked}");
    let random = share("", "100.00672 ms") - share("", "100.08 ms");
    assert!(random.abs() < 0.03, "{random}");
    assert!(has_phase_warning(&run(&next_to_a_background(OFF, "100.08 ms"), 1), "short"));
}

/// Each scenario differs from one that warns in a single key, which rules out a locked phase.
#[test]
fn a_run_does_not_warn_where_no_phase_can_lock() {
    let reno = format!("congestion = \"reno\"\nrtt = \"60 ms\"\n{OFF}");
    let warns = |queue: &str, keys: &str| {
        let text = two_groups("10 Mbit/s", queue, [keys, &reno]).replace("120 s", "21 s");
        has_phase_warning(&run(&text, 1), "short")
    };
    assert!(warns(HALF, &reno));
    for keys in [
        "congestion = \"reno\"\nrtt = \"60 ms\"",
        "congestion = \"reno\"\nrtt = \"60 ms\"\nsend_jitter = \"1 us\"",
        &format!("{reno}\npacing = true"),
        "congestion = \"bbr3\"\nrtt = \"60 ms\"\nsend_jitter = \"none\"",
        &format!(
            "{reno}\nsource = {{ kind = \"objects\", size = \"10 kB\", arrivals_per_second = 1 }}"
        ),
        &format!("{reno}\nsource = {{ kind = \"finite_flows\", size = \"10 kB\", load = 0.1 }}"),
        "source = { kind = \"poisson\", rate = \"1 Mbit/s\" }\nsend_jitter = \"none\"",
    ] {
        assert!(!warns(HALF, keys), "{keys}");
    }
    for queue in ["red", "codel", "fq_codel", "pie", "random_drop", "fair"] {
        let queue = format!("{{ kind = \"{queue}\", limit = \"50 packets\" }}");
        assert!(!warns(&queue, &reno), "{queue}");
    }
}

#[test]
fn a_run_does_not_warn_about_a_single_flow_or_a_delay_that_changes() {
    let alone = format!("duration = \"21 s\"\n{}", link("link", "10 Mbit/s", HALF))
        + &format!(
            "[flows.one]\npath = [\"link\"]\ncongestion = \"reno\"\nrtt = \"60 ms\"\n{OFF}\n"
        );
    assert!(!has_phase_warning(&run(&alone, 1), "one"));
    let two = alone.replace("[flows.one]\n", "[flows.one]\ncount = 2\n");
    assert!(has_phase_warning(&run(&two, 1), "one"));
    let moving = two.replace("queue =", "changes = [{ at = \"1 s\", delay = \"6 ms\" }]\nqueue =");
    assert!(!has_phase_warning(&run(&moving, 1), "one"));
}

#[test]
fn jitter_auto_is_the_transmission_time_on_the_slowest_link_of_the_path() {
    let links = link("fast", "100 Mbit/s", HALF) + &link("slow", "12 Mbit/s", HALF);
    let text = |path: &str, keys: &str| {
        format!("duration = \"1 s\"\n{links}[flows.one]\npath = [{path}]\n{keys}\n")
            .replace("0.5 bdp", "10 packets")
    };
    let jitter = |path: &str, keys: &str| {
        resolve_with(&text(path, keys), &[]).unwrap().groups[0].send_jitter
    };
    let reno = "congestion = \"reno\"";
    assert_eq!(jitter("\"fast\", \"slow\"", reno), Some(Time::from_milliseconds(1)));
    assert_eq!(jitter("\"fast\"", reno), Some(Time::from_picoseconds(120_000_000)));
    let named = format!("{reno}\nsend_jitter = \"auto\"");
    assert_eq!(jitter("\"fast\"", &named), Some(Time::from_picoseconds(120_000_000)));
    assert_eq!(jitter("\"fast\"", &format!("{reno}\n{OFF}")), None);
    let given = format!("{reno}\nsend_jitter = \"3 us\"");
    assert_eq!(jitter("\"fast\"", &given), Some(Time::from_picoseconds(3_000_000)));
    // Packet sources, which no ACK clocks, have no jitter by default.
    let stream = "source = { kind = \"cbr\", rate = \"1 Mbit/s\" }";
    assert_eq!(jitter("\"fast\"", stream), None);
}

#[test]
fn a_wrong_jitter_is_refused_with_the_allowed_words() {
    let text = two_groups("10 Mbit/s", HALF, ["congestion = \"reno\"\nrtt = \"60 ms\"", ""]);
    let text = text.split("[flows.long]").next().unwrap().to_owned() + "send_jitter = \"of\"\n";
    assert_refused(
        &scenario_run::refusal(&text),
        "line 11, flows.short.send_jitter",
        &["\"auto\"", "\"none\""],
    );
}

/// Without jitter the three rounds of slow start take 306 ms (by hand in `flow_level.rs`); with
/// jitter each round begins up to a transmission time, 1 ms, later.
#[test]
fn the_jitter_delays_dynamic_flows_too() {
    let text = |jitter: &str| {
        format!(
            "duration = \"5 s\"\n{}[flows.one]\npath = [\"link\"]\ncongestion = \"reno\"\n\
             rtt = \"100 ms\"\ninitial_window = 2\n{jitter}\nsource = {{ kind = \"finite_flows\", \
             size = \"14600 B\", arrivals = [\"1 s\", \"3 s\"], flow_log = 10 }}\n",
            link("link", "12 Mbit/s", r#"{ kind = "drop_tail", limit = "100 packets" }"#)
        )
    };
    let times = |jitter: &str| {
        scenario_run::run(&text(jitter), 1)
            .tables
            .flow_log
            .expect("it is recorded")
            .completion_time_s
    };
    assert!(times(OFF).iter().all(|time| (time - 0.306).abs() < 1e-9));
    let jittered = times("");
    assert!(jittered.iter().all(|time| (0.3061..0.311).contains(time)), "{jittered:?}");
    assert!((jittered[0] - jittered[1]).abs() > 1e-6, "{jittered:?}");
}

/// Twelve flows of 1 Mbit/s with these keys, over a link of this rate with this queue.
fn twelve_calls(rate: &str, queue: &str, source: &str) -> String {
    format!(
        r#"
        duration = "20 s"
        measure_from = "5 s"
        {}
        [flows.calls]
        count = 6
        path = ["link"]
        packet_size = "1250 B"
        source = {source}
        [flows.others]
        count = 6
        path = ["link"]
        packet_size = "1250 B"
        source = {source}
        "#,
        link("link", rate, queue)
    )
}

const FIFTY: &str = r#"{ kind = "drop_tail", limit = "50 packets" }"#;
const CALL: &str = r#"{ kind = "cbr", rate = "1 Mbit/s" }"#;

/// The smallest and the largest loss of a flow, and those of the warning about equal periods.
fn unequal_losses(text: &str, seed: u64) -> ((f64, f64), Option<(f64, f64)>) {
    let summary = run(text, seed);
    let losses: Vec<f64> = summary.flows.iter().filter_map(|flow| flow.loss_fraction).collect();
    let least = losses.iter().copied().fold(1.0, f64::min);
    let most = losses.iter().copied().fold(0.0, f64::max);
    let warning = summary.warnings.iter().find(|warning| warning.kind == WarningKind::EqualPeriods);
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
        let (losses, warned) = unequal_losses(&twelve_calls("10 Mbit/s", FIFTY, CALL), seed);
        assert_eq!(losses, (0.0, 1.0), "seed {seed}");
        assert_eq!(warned, Some(losses), "seed {seed}");
    }
}

/// Each loses what a twelfth of the excess is, a sixth, or nothing.
#[test]
fn flows_without_a_period_or_without_an_overload_do_not_warn() {
    let calls = |source: &str| twelve_calls("10 Mbit/s", FIFTY, source);
    let jitter = |time: &str| {
        let keys = format!("packet_size = \"1250 B\"\nsend_jitter = \"{time}\"");
        calls(CALL).replace("packet_size = \"1250 B\"", &keys)
    };
    let queue = |kind: &str| format!("{{ kind = \"{kind}\", limit = \"50 packets\" }}");
    for text in [
        calls(r#"{ kind = "poisson", rate = "1 Mbit/s" }"#),
        jitter("20 ms"),
        twelve_calls("10 Mbit/s", &queue("fair"), CALL),
        twelve_calls("10 Mbit/s", &queue("random_drop"), CALL),
    ] {
        let ((least, most), warned) = unequal_losses(&text, 1);
        assert!(least > 0.1 && most < 0.25, "{text}: {least} to {most}");
        assert_eq!(warned, None);
    }
    let below = twelve_calls("13 Mbit/s", FIFTY, CALL);
    assert_eq!(unequal_losses(&below, 1), ((0.0, 0.0), None));
}

/// On periods that come at the same time as those of others find the queue full each time.
#[test]
fn equal_on_off_periods_of_constant_length_warn() {
    let on_off = |off: &str| {
        let source =
            format!(r#"{{ kind = "on_off", rate = "2 Mbit/s", on = "5 ms", off = {off} }}"#);
        unequal_losses(&twelve_calls("10 Mbit/s", FIFTY, &source), 1)
    };
    let (losses, warned) = on_off(r#""5 ms""#);
    assert!(losses.0 < 0.01 && losses.1 > 0.5, "{losses:?}");
    assert_eq!(warned, Some(losses));
    assert_eq!(on_off(r#"{ kind = "exponential", mean = "5 ms" }"#).1, None);
}

/// Half of the flows cross another link first, which loses packets at random or has a queue per flow.
#[test]
fn losses_at_a_link_that_others_do_not_cross_do_not_warn() {
    let first = |keys: &str| {
        let text = twelve_calls("13 Mbit/s", FIFTY, CALL);
        text.replacen("[\"link\"]", "[\"first\", \"link\"]", 1) + keys
    };
    let random =
        link("first", "13 Mbit/s", FIFTY) + "loss = { kind = \"bernoulli\", probability = 0.2 }\n";
    let fair = link("first", "5 Mbit/s", &FIFTY.replace("drop_tail", "fair"));
    for text in [first(&random), first(&fair)] {
        let ((least, most), warned) = unequal_losses(&text, 1);
        assert!(least == 0.0 && most > 0.15, "{least} to {most}");
        assert_eq!(warned, None);
    }
}

/// Explicit phases leave nothing to the seed: only a shift shows what they decide.
#[test]
fn a_phase_shift_delays_flows_without_acks() {
    let source = r#"{ kind = "cbr", rate = "1 Mbit/s", phase = "0 s" }"#;
    let text = twelve_calls("10 Mbit/s", FIFTY, source);
    let network = |shift| resolve_with(&text, &[("phase_shift", shift)]).unwrap();
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
    let text = cubics("");
    let network = |shift: &str, seed: &str| {
        resolve_with(&text, &[("phase_shift", shift), ("seed", seed)]).unwrap()
    };
    let (plain, shifted, other) = (network("0", "1"), network("1", "1"), network("2", "1"));
    let packet = Time::from_picoseconds(120_000_000);
    let shifts = |to: &tailroom_engine::network::Network| -> Vec<Time> {
        to.flows.iter().zip(&plain.flows).map(|(to, from)| to.rtt.since(from.rtt)).collect()
    };
    assert!(shifts(&shifted).iter().all(|shift| *shift < packet));
    assert!(shifts(&shifted).iter().any(|shift| *shift > Time::ZERO));
    assert_ne!(shifts(&shifted), shifts(&other));
    assert_eq!(shifts(&shifted), shifts(&network("1", "7")));
    assert!((plain.links[0].bdp_bytes - shifted.links[0].bdp_bytes).abs() < 1e-9);
}
