//! The example's discipline does what its rule says, in a run and alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use rust_discipline::{Pi, PiParams, disciplines};
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::packet::{Ecn, Packet};
use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::quantity::limit::{Limit, QueueLimit};
use tailroom_engine::queue::{ArrivalRule, EnqueueEvent, LinkInfo, Verdict};
use tailroom_engine::results::Summary;
use tailroom_engine::scenario::{self, NoFiles};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::{Rate, Time};

const SCENARIO: &str = include_str!("../scenario.toml");

fn run(text: &str) -> Summary {
    let scenario = scenario::parse(text, &[], None, &NoFiles).unwrap();
    let network = scenario.with_code(&disciplines()).unwrap().resolve().unwrap();
    Simulation::new(&network).expect("the network is valid").finish().unwrap().summary
}

fn limit(link: &LinkInfo) -> Limit {
    link.limit(QueueLimit::packets(800))
}

fn arrival(milliseconds: u64, waiting_packets: u64, ecn: Ecn) -> EnqueueEvent {
    let packet = Packet { bytes: 500, ecn, ..Packet::default() };
    let packet = Transit::arrival(Time::from_milliseconds(milliseconds), 0, 0, &packet);
    EnqueueEvent::of_packet(&packet, None, (waiting_packets, 500 * waiting_packets))
}

/// Updates at 10 and 20 ms with 100 and 50 packets above the target: 0.001 * 100, then 0.1 + 0.001 * 50 -
/// 0.0005 * 100.
#[test]
fn the_probability_follows_the_paper_s_equation() {
    let link = LinkInfo::new("link", Rate::from_bits_per_second(8_000_000), 500);
    let interval = PositiveDuration::from_milliseconds(10);
    let params = PiParams { target_packets: 200.0, a: 0.001, b: 0.0005, interval };
    let mut rule = Pi::new(&params, &link, limit(&link));
    for (milliseconds, waiting, expected) in [(9, 900, 0.0), (10, 300, 0.1), (21, 250, 0.1)] {
        rule.on_enqueue(&arrival(milliseconds, waiting, Ecn::NotEct));
        let probability = rule.gauges(Time::ZERO)[0].1;
        assert!((probability - expected).abs() < 1e-12, "{probability} at {milliseconds} ms");
    }
}

#[test]
fn a_packet_that_may_be_marked_is_marked_and_another_is_dropped() {
    let link = LinkInfo::new("link", Rate::from_bits_per_second(8_000_000), 500);
    let params = PiParams { a: 1.0, ..PiParams::default() };
    let mut rule = Pi::new(&params, &link, limit(&link));
    assert_eq!(rule.on_enqueue(&arrival(1_000, 800, Ecn::Ect0)), Verdict::Mark);
    assert!(matches!(rule.on_enqueue(&arrival(1_001, 800, Ecn::NotEct)), Verdict::Drop(_)));
}

/// Bound, from before the first run: 5 % of the target, as the tests of the same rule in Python have it.
#[test]
fn the_queue_stays_at_the_target() {
    for target in [200.0, 100.0] {
        let parameters = format!("parameters = {{ target_packets = {target:.1} }}, limit");
        let summary = run(&SCENARIO.replace("limit", &parameters));
        let queue = summary.links.0[0].1.queue_packets_mean;
        assert!((queue - target).abs() < 0.05 * target, "{queue} packets at {target}");
    }
}

#[test]
fn wrong_parameters_are_refused_with_their_place_and_a_remedy() {
    let cases = [
        ("a = -1.0", "links.bottleneck.queue.parameters.a", "0"),
        ("interval = \"5 kB\"", "links.bottleneck.queue", "\"100 ms\""),
        ("c = 1", "links.bottleneck.queue", "target_packets"),
    ];
    for (parameters, place, remedy) in cases {
        let text = SCENARIO.replace("limit", &format!("parameters = {{ {parameters} }}, limit"));
        let refusal = scenario::parse(&text, &[], None, &NoFiles)
            .and_then(|scenario| scenario.with_code(&disciplines()))
            .unwrap_err()
            .to_string();
        assert!(refusal.contains(&format!("{place}: ")), "{refusal}");
        assert!(refusal.contains(remedy), "{refusal}");
    }
}
