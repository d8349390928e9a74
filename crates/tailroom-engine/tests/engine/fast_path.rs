//! The fast path leaves every flow, link and event in the state in which the general path leaves
//! them, at any time.

use proptest::prelude::*;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::Time;

use crate::support::random_cases::config;
use crate::support::random_networks;
use crate::support::scenario_text::{BASE, resolve_with};

/// How to replay a failing case.
const REPLAY: &str = "the case is kept in tests/engine/fast_path.regressions; \
                      `cargo test -p tailroom-engine --test engine fast_path::` runs it again first";

/// The first place at which the texts differ, with some of the text before it.
fn difference(fast: &str, general: &str) -> String {
    let pairs = fast.bytes().zip(general.bytes());
    let place = pairs.take_while(|(fast, general)| fast == general).count();
    let around = |text: &str| {
        let bytes = &text.as_bytes()[place.saturating_sub(300)..text.len().min(place + 60)];
        String::from_utf8_lossy(bytes).into_owned()
    };
    format!("{}\n|\n{}", around(fast), around(general))
}

/// Each packet takes 87 minutes, so that the 880th of a window would leave after the end of all runs
/// (`Time::AFTER_ALL_RUNS`, 53 days): it stays in the network.
#[test]
fn a_packet_that_would_leave_after_the_end_of_all_runs_is_not_delivered() {
    let overrides = [
        ("flows.tcp.host", "\"plain\""),
        ("duration", "\"20 s\""),
        ("measure_from", "\"0 s\""),
        ("links.bottleneck.rate", "\"100 bit/s\""),
        ("links.bottleneck.queue.limit", "\"2000 packets\""),
        ("flows.tcp.count", "1"),
        ("flows.tcp.access_rate", "\"100 Mbit/s\""),
        ("flows.tcp.packet_size", "\"65535 B\""),
        ("flows.tcp.initial_window", "1000"),
    ];
    let network = resolve_with(BASE, &overrides).expect("the scenario is valid");
    let mut fast = Simulation::new(&network).expect("the network is valid");
    let mut general = Simulation::new(&network).expect("the network is valid").without_fast_path();
    let until = Time::from_milliseconds(15_000);
    assert_eq!((fast.run_until(until), general.run_until(until)), (Ok(()), Ok(())));
    assert!(fast.packet_hops() >= 1_000);
    let (one, other) = (fast.state_text(), general.state_text());
    assert!(one == other, "fast | general:\n{}", difference(&one, &other));
}

/// Nearly all packets of hosts of today take the fast path too: they record each packet for the
/// detection of losses and wait until a burst fits into the window. In the last case the link is
/// silent at times, for longer than the receivers' timeout and shorter than those of the senders, which queues
/// have raised.
#[test]
fn hosts_of_today_have_the_same_state_on_both_paths() {
    let silence = |at: u32| {
        format!(
            "{{ at = '{at} s', rate = '0 bit/s' }}, {{ at = '{at}.33 s', rate = '100 Mbit/s' }}"
        )
    };
    let silences: Vec<String> = (4..16).step_by(2).map(silence).collect();
    let silences = format!("[{}]", silences.join(", "));
    let cases = [
        ("\"cubic\"", "\"100 packets\"", "\"auto\"", "\"rack\"", None),
        ("\"cubic\"", "\"2000 packets\"", "16", "\"rack\"", None),
        ("\"reno\"", "\"12 packets\"", "\"auto\"", "\"sack\"", None),
        ("\"reno\"", "\"2000 packets\"", "1", "\"sack\"", Some(&silences)),
    ];
    for (congestion, limit, burst, recovery, changes) in cases {
        let overrides = [
            ("flows.tcp.host", "\"linux\""),
            ("flows.tcp.congestion", congestion),
            ("flows.tcp.send_burst", burst),
            ("flows.tcp.recovery", recovery),
            ("links.bottleneck.queue.limit", limit),
        ];
        let changes =
            changes.map(|changes: &String| ("links.bottleneck.changes", changes.as_str()));
        let overrides: Vec<_> = overrides.into_iter().chain(changes).collect();
        let network = resolve_with(BASE, &overrides).expect("the scenario is valid");
        let mut fast = Simulation::new(&network).expect("the network is valid");
        let mut general =
            Simulation::new(&network).expect("the network is valid").without_fast_path();
        for step in 1..120 {
            // From a packet to a round trip apart, at no multiple of either.
            let until = Time::from_picoseconds(step * step * 1_234_567_891);
            assert_eq!((fast.run_until(until), general.run_until(until)), (Ok(()), Ok(())));
            let (one, other) = (fast.state_text(), general.state_text());
            assert!(one == other, "{limit}, {until:?}: {}", difference(&one, &other));
        }
    }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn both_paths_give_the_same_state_at_all_times(
        network in prop_oneof![
            4 => random_networks::network(),
            1 => random_networks::network_with_flows_and_heads(),
        ],
        steps in prop::collection::vec(0_u64..120_000_000_000, 1..20),
    ) {
        let mut fast = Simulation::new(&network).expect("the network is valid");
        let mut general = Simulation::new(&network).expect("the network is valid").without_fast_path();
        let mut time = 0;
        for step in steps {
            // Mostly short: a step of a packet or less is as likely as one of a round trip.
            time += if step % 3 == 0 { step } else { step / 1_000 };
            let until = Time::from_picoseconds(time);
            let (one, other) = (fast.run_until(until), general.run_until(until));
            prop_assert_eq!(format!("{:?}", one), format!("{:?}", other));
            let (one, other) = (fast.state_text(), general.state_text());
            prop_assert!(
                one == other,
                "seed {}, at {time} ps; {REPLAY}; fast | general:\n{}",
                network.seed,
                difference(&one, &other)
            );
        }
        let (one, other) = (format!("{:?}", fast.finish()), format!("{:?}", general.finish()));
        prop_assert!(one == other, "seed {}; {REPLAY}; {}", network.seed, difference(&one, &other));
    }
}
