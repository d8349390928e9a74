//! A dumbbell built in Rust, without a scenario file. Demonstrates the types of `network`, running
//! a simulation in slices, and reading its results.
//!
//! `cargo run --release --example dumbbell` runs Barman et al. 2004, Figure 3, at a buffer of 10 %.

#![expect(clippy::disallowed_methods, reason = "an example may read the clock")]

use std::time::Instant;

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::highspeed::HighspeedParams;
use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::{FlowSpec, GroupSpec, Network};
use tailroom_engine::quantity::limit::QueueLimit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::drop_tail::DropTailParams;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::units::{Rate, Time};

fn main() -> Result<(), RunError> {
    let network = barman_figure_3();
    let started = Instant::now();
    let mut simulation = Simulation::new(&network)?;
    for second in (20..=160).step_by(20) {
        simulation.run_until(Time::from_milliseconds(second * 1_000))?;
        println!("{second:>4} s simulated after {:.2} s", started.elapsed().as_secs_f64());
    }
    let summary = simulation.finish()?.summary;
    let link = &summary.links.0[0].1;
    println!("utilization   {:.4}", link.utilization);
    println!("loss fraction {:.3e}", link.loss_fraction.unwrap_or(0.0));
    println!("mean queue    {:.1} packets", link.queue_packets_mean);
    println!("Jain index    {:.3}", summary.groups.0[0].1.jain_index.unwrap_or(0.0));
    println!("reductions    {}", summary.groups.0[0].1.congestion_events);
    Ok(())
}

fn barman_figure_3() -> Network {
    let queue = QueueConfig::DropTail(DropTailParams::new(QueueLimit::packets(1_249)));
    let rate = Rate::from_bits_per_second(1_000_000_000);
    let link = LinkSpec::new(rate, Time::from_milliseconds(50), queue);
    let mut tcp = TcpSpec::new(CongestionConfig::Highspeed(HighspeedParams::default()));
    tcp.initial_window = 2;
    let mut group = GroupSpec::bulk("hstcp", vec![0], tcp);
    group.packet_size = 1_000;
    let flows = (0..10).map(|index| {
        let rtt = Time::from_picoseconds(115_500_000_000 + index * 1_000_000_000);
        let mut flow = FlowSpec::new(0, rtt);
        flow.start = Time::from_milliseconds(index * 1_000);
        flow.access_rate = Some(Rate::from_bits_per_second(10_000_000_000));
        flow
    });
    let duration = Time::from_milliseconds(160_000);
    let mut network = Network::new(duration, vec![link], vec![group], flows.collect());
    network.measure_from = Time::from_milliseconds(60_000);
    network
}
