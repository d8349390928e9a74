//! Nanoseconds per packet-hop of each queue discipline alone: a link enqueues and sends packets,
//! without senders, receivers or a schedule.
//!
//! `cargo bench --bench discipline` prints the median and the minimum of nine passes over the same
//! packets, for 10 and for 10,000 flows, at a load of 0.95 and with a buffer that overflows; `--
//! codel` selects kinds by name.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "../tests/engine/support/networks.rs"]
mod networks;
#[path = "../tests/engine/support/transport.rs"]
mod transport;

use std::time::Instant;

use tailroom_engine::link::Link;
use tailroom_engine::link::served::ServedQueue;
use tailroom_engine::network::Network;
use tailroom_engine::packet::transit::Transit;
use tailroom_engine::packet::{Ecn, Packet};
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::random::{below, stream, uniform};
use tailroom_engine::units::Time;

const PASSES: usize = 9;
const PACKETS: u64 = 1_000_000;
const PACKET_BYTES: u32 = 1_500;
const RATE_BPS: u64 = 10_000_000_000;
const ACCEPTABLE_NS: f64 = 30.0;

/// Every discipline, and each scheduler of the fair queue.
const QUEUES: &[&str] = &[
    r#"{"kind": "drop_tail"}"#,
    r#"{"kind": "drop_head"}"#,
    r#"{"kind": "random_drop"}"#,
    r#"{"kind": "red"}"#,
    r#"{"kind": "adaptive_red"}"#,
    r#"{"kind": "step_mark", "threshold": "65 packets"}"#,
    r#"{"kind": "codel"}"#,
    r#"{"kind": "pie"}"#,
    r#"{"kind": "dual_pi2"}"#,
    r#"{"kind": "fq_codel"}"#,
    r#"{"kind": "fq_pie"}"#,
    r#"{"kind": "cake"}"#,
    r#"{"kind": "fair", "scheduler": "deficit_round_robin"}"#,
    r#"{"kind": "fair", "scheduler": "start_time"}"#,
    r#"{"kind": "fair", "scheduler": "priority_fair"}"#,
];

fn main() {
    // Cargo passes `--bench`; other arguments select kinds by name.
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    println!(
        "{:<32} {:>26} {:>26}  acceptable {ACCEPTABLE_NS} ns",
        "ns per packet: flows", "load 0.95: 10, 10,000", "overload: 10, 10,000"
    );
    for queue in QUEUES {
        if !wanted.is_empty() && !wanted.iter().any(|word| queue.contains(word.as_str())) {
            continue;
        }
        let figures = [(0.95, 10), (0.95, 10_000), (1.1, 10), (1.1, 10_000)]
            .map(|(load, flows)| measure(queue, load, flows));
        let name =
            queue.replace(['{', '}', '"'], "").replace("kind: ", "").replace("scheduler: ", "");
        println!("{name:<32} {}", figures.join(" "));
    }
}

/// Returns the median and the minimum of the passes.
fn measure(queue: &str, load: f64, flows: u32) -> String {
    let network = network(queue, flows);
    let arrivals = arrivals(load, flows);
    let mut figures: Vec<f64> = (0..PASSES)
        .map(|_| {
            let mut link =
                Link::new(&network.links[0], &network.link_facts()[0], network.measured());
            let started = Instant::now();
            for &packet in &arrivals {
                pass(&mut link, packet);
            }
            started.elapsed().as_secs_f64() * 1e9 / PACKETS as f64
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    format!("{:>6.1} ({:.1})", figures[PASSES / 2], figures[0])
}

/// Drives the link as a simulation does until `packet` has arrived.
fn pass(link: &mut Link, mut packet: Transit) {
    while link.next_service() <= packet.time() {
        let now = link.next_service();
        std::hint::black_box(&link.serve(|_| 0));
        drop_all(link, now);
    }
    std::hint::black_box(&link.arrive(&mut packet, 0));
    drop_all(link, packet.time());
}

fn drop_all(link: &mut Link, now: Time) {
    if link.served().is_some_and(ServedQueue::has_dropped) {
        link.drain_dropped(now, |dropped| {
            std::hint::black_box(dropped);
            0
        });
    }
}

fn network(queue: &str, flows: u32) -> Network {
    let mut config: serde_json::Value = serde_json::from_str(queue).expect("JSON");
    config["limit"] = "5000 packets".into();
    let queue: QueueConfig = serde_json::from_value(config).expect("the other keys have defaults");
    let mut link = networks::link("link", RATE_BPS, Time::ZERO, Limit::Packets(1));
    link.queue = queue;
    let mut group = networks::bulk("flows", transport::reno());
    group.packet_size = PACKET_BYTES;
    let flows = networks::alike(flows as usize, Time::from_milliseconds(1));
    Network::new(Time::from_milliseconds(1_000), vec![link], vec![group], flows)
}

/// Poisson arrivals of uniformly drawn flows; every second flow is ECN-capable.
fn arrivals(load: f64, flows: u32) -> Vec<Transit> {
    let mut random = stream(1, "arrivals");
    let mean_gap_s = f64::from(8 * PACKET_BYTES) / RATE_BPS as f64 / load;
    let mut now = 0.0;
    (0..PACKETS)
        .map(|sequence| {
            now -= mean_gap_s * libm::log(1.0 - uniform(&mut random));
            let time = Time::from_seconds(now);
            let flow = below(&mut random, flows.into()) as u32;
            let ecn = if flow.is_multiple_of(2) { Ecn::NotEct } else { Ecn::Ect0 };
            let packet =
                Packet { sequence, bytes: PACKET_BYTES, sent: time, ecn, ..Packet::default() };
            Transit::arrival(time, flow, 0, &packet)
        })
        .collect()
}
