//! Flows that come and go, against processor sharing and the claims of Auge and Roberts (2006).

mod networks;
mod transport;

use tailroom_engine::distribution::Distribution;
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::results::{Regime, Results};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::topology::{FiniteFlowsSpec, FlowArrivals, GroupSpec, Network, SourceSpec};
use tailroom_engine::units::Time;

/// A group of flows with exponential sizes that offers `load` to a link of `rate_bps`.
fn passing(load: f64, rate_bps: u64, mean_bytes: f64, rtt: Time) -> GroupSpec {
    let mut group = networks::bulk("elastic", transport::reno());
    let payload = f64::from(group.packet_size - group.header_size);
    // The size is rounded up to whole packets with their headers: half a packet more on average.
    let wire_bytes = mean_bytes + (mean_bytes / payload + 0.5) * f64::from(group.header_size);
    group.source = SourceSpec::FiniteFlows(Box::new(FiniteFlowsSpec {
        arrivals: FlowArrivals::Poisson {
            per_second: load * rate_bps as f64 / 8.0 / wire_bytes,
            start: Time::ZERO,
            stop: Time::NEVER,
        },
        size: Distribution::Exponential { mean: mean_bytes },
        rtt: Distribution::Fixed(rtt.picoseconds() as f64),
        peak_rate: None,
        flow_log: 0,
    }));
    group
}

fn network(rate_bps: u64, limit: u64, seconds: f64, groups: Vec<GroupSpec>) -> Network {
    let mut link = networks::link("link", rate_bps, Time::ZERO, Limit::Packets(limit));
    let queue = format!(r#"{{"kind": "fair", "limit": "{limit} packets"}}"#);
    link.queue = serde_json::from_str::<QueueConfig>(&queue).expect("a fair queue");
    Network {
        duration: Time::from_seconds(seconds),
        measure_from: Time::from_seconds(0.1 * seconds),
        seed: 1,
        links: vec![link],
        groups,
        flows: Vec::new(),
        series_interval: None,
        memory_limit_bytes: u64::MAX,
    }
}

fn run(network: &Network) -> Results {
    Simulation::new(network).finish().expect("the account balances")
}

#[test]
fn elastic_flows_share_as_processor_sharing_says() {
    const RATE: u64 = 100_000_000;
    let rtt = Time::from_milliseconds(1);
    // 100 bandwidth-delay products.
    let mean_bytes = 100.0 * RATE as f64 / 8.0 * rtt.seconds();
    for load in [0.3, 0.5, 0.7] {
        let network = network(RATE, 1_000, 3_000.0, vec![passing(load, RATE, mean_bytes, rtt)]);
        let started = std::time::Instant::now();
        let results = run(&network);
        let link = results.summary.links.get("link").expect("it is there");
        let group = results.summary.groups.get("elastic").expect("it is there");
        let rho = link.sharing.offered_load;
        let counts = &results.flow_counts;
        let mut variation = 0.0;
        let mut found = 0.0;
        for (flows, share) in counts.flows.iter().zip(&counts.bottlenecked_fraction) {
            let expected = (1.0 - rho) * rho.powf(*flows);
            variation += (share - expected).abs();
            found += expected;
        }
        variation = 0.5 * (variation + 1.0 - found);
        let all = group.all_sizes.as_ref().expect("they come and go");
        println!(
            "{load} {rho} tv {variation} flows {} {:?} {:?}",
            group.flows,
            started.elapsed(),
            all
        );
        println!("{:?} {} hops {}", link.sharing, link.utilization, results.summary.packet_hops);
        let throughput = mean_bytes * 8.0 / all.completion_time_s_mean.unwrap() / RATE as f64;
        println!("E size/E duration {throughput} vs {}", 1.0 - rho);
        assert_eq!(link.sharing.regime, Regime::Elastic);
    }
}
