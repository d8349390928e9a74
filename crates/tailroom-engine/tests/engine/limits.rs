//! What a run can hold, and what happens beyond: memory, links in a row, age of a packet, time.

use std::fmt::Write;

use tailroom_engine::link::serializer::RateChange;
use tailroom_engine::network::{GroupSpec, Network};
use tailroom_engine::quantity::BitRate;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::results::Summary;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;
use tailroom_engine::traffic::cbr::CbrParams;
use tailroom_engine::units::{Rate, Time};

use crate::support::{networks, scenario_run, transport};

const MS: fn(u64) -> Time = Time::from_milliseconds;

/// What one event may add to the limit.
const LITTLE: u64 = 64_000_000;

fn error(network: &Network) -> RunError {
    Simulation::new(network).finish().expect_err("the run ends with an error")
}

fn summary(network: &Network) -> Summary {
    scenario_run::finish(network).summary
}

/// A flow with these keys, in a run that may take 20 MB though its scenario allows more.
fn hungry(flow: &str) -> Network {
    let text = format!(
        r#"
duration = "1 s"
memory_limit = "100 GB"
[links.b]
rate = "10 Mbit/s"
delay = "2 ms"
queue = {{ kind = "drop_tail", limit = "50 packets" }}
[flows.f]
path = ["b"]
rtt = "20 ms"
{flow}
"#
    );
    let mut network = scenario_run::network(&text, 1);
    network.memory_limit_bytes = 20_000_000;
    network
}

/// All packets of a window arrive at one instant, or one by one from a fast or a slow access link, the
/// last of them beyond all buckets; or the window is set by the first ACK.
#[test]
fn one_event_takes_little_more_memory_than_the_limit() {
    let window = "congestion = \"reno\"\ninitial_window = 30_000_000";
    let with = |key: &str| format!("{window}\n{key}");
    let jump = "congestion = { kind = \"fixed_window\", window = 30_000_000.0 }";
    for flow in [
        with(""),
        with("access_rate = \"100 Gbit/s\""),
        with("access_rate = \"1 Mbit/s\""),
        with("send_burst = 16"),
        with("pacing = true"),
        jump.to_owned(),
    ] {
        let network = hungry(&flow);
        let fault = error(&network);
        let RunError::Memory { needed_bytes, limit_bytes, .. } = fault else {
            panic!("{flow}: {fault}")
        };
        assert_eq!(limit_bytes, 20_000_000);
        let needed = limit_bytes + 1..=limit_bytes + LITTLE;
        assert!(needed.contains(&needed_bytes), "{flow}: {needed_bytes}");
        assert_eq!(error(&network), fault, "{flow}");
        // Nor does it matter into which slices the run is cut, or that it is asked to go on.
        let mut sliced = Simulation::new(&network);
        for stop in 1..2_000 {
            let done = sliced.run_until(Time::from_picoseconds(stop * 1_000_000_000 / 2));
            assert!(done.as_ref().err().is_none_or(|other| *other == fault), "{flow}: {done:?}");
        }
        assert_eq!(sliced.finish().expect_err("it has failed"), fault, "{flow}");
    }
}

#[test]
fn windows_that_may_not_fit_are_refused_before_the_run() {
    let refused = |flow: &str| {
        let text = format!(
            "duration = \"1 s\"\n[links.b]\nrate = \"10 Mbit/s\"\ndelay = \"2 ms\"\n\
             queue = {{ kind = \"drop_tail\", limit = \"50 packets\" }}\n\
             [flows.f]\npath = [\"b\"]\nrtt = \"20 ms\"\n{flow}\n"
        );
        scenario_run::refusal(&text)
    };
    let cure = "memory_limit: the run may need 4.8 GB of memory, more than 4 GB; raise memory_limit, \
                or use a smaller initial_window, or a smaller fixed window";
    assert_eq!(refused("congestion = \"reno\"\ninitial_window = 100_000_000"), cure);
    let fixed = "congestion = { kind = \"fixed_window\", window = 1e8 }";
    assert_eq!(refused(fixed), cure);
    let beyond = refused("congestion = { kind = \"fixed_window\", window = 1e9 }");
    assert!(beyond.contains("flows.f.congestion.window"), "{beyond}");
    let beyond = refused("congestion = \"reno\"\ninitial_window = 1_000_000_000");
    assert!(beyond.contains("flows.f.initial_window"), "{beyond}");
}

/// A network of links in a row, as many there and back.
fn row(forward: usize, back: usize) -> String {
    let mut text = "duration = \"1 s\"\n".to_owned();
    for link in 0..forward + back {
        let _ = write!(
            text,
            "[links.l{link}]\nrate = \"100 Mbit/s\"\ndelay = \"10 us\"\n\
             queue = {{ kind = \"drop_tail\", limit = \"50 packets\" }}\n"
        );
    }
    let path = |links: std::ops::Range<usize>| {
        links.map(|link| format!("\"l{link}\"")).collect::<Vec<_>>().join(", ")
    };
    let (there, back) = (path(0..forward), path(forward..forward + back));
    let _ = write!(
        text,
        "[flows.f]\npath = [{there}]\nreverse_path = [{back}]\ncongestion = \"reno\"\n\
         initial_window = 1\nmax_window = 1\nsend_jitter = \"none\"\nrtt = \"20 ms\"\n"
    );
    text
}

/// 10 us of propagation and 120 us for 1,500 bytes on each link there, 3.2 us for 40 bytes on each one
/// back; what is left of 20 ms is private.
#[test]
fn a_flow_and_its_acks_may_cross_255_links() {
    let summary = scenario_run::run(&row(130, 125), 1).summary;
    let expected = 20e-3 + 130.0 * 120e-6 + 125.0 * 3.2e-6;
    let rtt = summary.flows[0].rtt_s_mean.expect("ACKs come back");
    assert!((rtt - expected).abs() < 1e-12, "{rtt}, not {expected}");
    assert!(summary.flows[0].timeouts == 0 && summary.flows[0].goodput_bps > 0.0);
}

#[test]
fn more_than_255_links_are_refused() {
    let refusal = scenario_run::refusal(&row(130, 126));
    assert!(
        refusal.ends_with(
            "flows.f.reverse_path: path and reverse_path have 256 links together; shorten one of \
             them: a flow and its ACKs may cross 255"
        ),
        "{refusal}"
    );
    let mut network = scenario_run::network(&row(130, 125), 1);
    let again = network.groups[0].path[0];
    network.groups[0].path.push(again);
    assert_eq!(
        error(&network).to_string(),
        "group f: path and reverse_path have 256 links together; 255 are possible: shorten one of them"
    );
    network.duration = Time::NEVER;
    assert!(error(&network).to_string().starts_with("duration: must be at most"));
}

/// A constant-rate source of 1000-byte packets over two links, the second of 1 Mbit/s.
fn constant(rate_bps: u64, first_link_bps: u64, stop_ms: u64, duration_ms: u64) -> Network {
    let link = |name, rate| networks::link(name, rate, Time::ZERO, Limit::Packets(1_000_000));
    let source = CbrParams { rate: BitRate::new(rate_bps) }.into();
    Network {
        duration: MS(duration_ms),
        measure_from: Time::ZERO,
        seed: 1,
        links: vec![link("first", first_link_bps), link("second", 1_000_000)],
        groups: vec![GroupSpec {
            path: vec![0, 1],
            source,
            stop: Some(MS(stop_ms)),
            tcp: None,
            ..networks::bulk("constant", transport::reno())
        }],
        flows: networks::alike(1, Time::ZERO),
        series_interval: None,
        memory_limit_bytes: u64::MAX,
    }
}

fn assert_one_way_delay(network: &Network, expected: f64) {
    let delay = summary(network).flows[0].one_way_delay_s_mean.expect("packets arrive");
    assert!((delay / expected - 1.0).abs() < 1e-12, "{delay} s, not {expected} s");
}

/// 50 packets come 8 ms apart and leave the first link 8 s apart: number i, from 0, after 8 (i + 1) s,
/// and 8 ms later the second one.
#[test]
fn the_delay_of_a_packet_is_exact_however_long_it_waits() {
    let network = constant(1_000_000, 1_000, 400, 600_000);
    assert_one_way_delay(&network, 8.0 * 25.5 + 0.008 - 0.008 * 24.5);
}

/// A packet every 100 ms for 10 s; the first link stands still from 1 s to 301 s, and then sends the 90
/// packets that wait, one each 8 ms. Those before them take 16 ms.
#[test]
fn the_delay_of_a_packet_is_exact_after_a_link_has_stood_still_for_minutes() {
    let mut network = constant(80_000, 1_000_000, 10_000, 600_000);
    network.links[0].rate_changes = vec![
        RateChange { at: MS(1_000), rate: Rate::from_bits_per_second(0) },
        RateChange { at: MS(301_000), rate: Rate::from_bits_per_second(1_000_000) },
    ];
    let held = 300.0 + 0.008 * 45.5 + 0.008 - 0.1 * 44.5;
    assert_one_way_delay(&network, (10.0 * 0.016 + 90.0 * held) / 100.0);
}

/// Of packets that take 12,000 s each, 1,538 in a row end beyond what 64 bits of picoseconds can say.
/// Those that would begin before 2^62 ps, numbers 0 to 384, have a delay.
#[test]
fn a_queue_that_takes_centuries_to_empty_wraps_nowhere() {
    let mut network = constant(12_000_000, 1, 3_000, 4_000);
    network.groups[0].packet_size = 1_500;
    let rate = Rate::from_bits_per_second(1);
    for changes in [vec![], vec![RateChange { at: Time::ZERO, rate }]] {
        network.links[0].rate_changes = changes;
        let summary = summary(&network);
        let link = &summary.links.0[0].1;
        assert_eq!((link.arrivals_packets, link.departures_packets), (3_000, 0));
        assert_eq!((link.drops_packets, link.utilization), (0, 1.0));
        let delay = link.queue_delay_s_mean.expect("some packets have one");
        let expected = (12_000.0 - 0.001) * 192.0;
        assert!((delay / expected - 1.0).abs() < 1e-12, "{delay} s, not {expected} s");
        assert_eq!(summary.flows[0].one_way_delay_s_mean, None);
    }
}
