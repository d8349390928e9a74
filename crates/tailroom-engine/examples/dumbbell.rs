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
use tailroom_engine::packet::ties::Ties;
use tailroom_engine::quantity::limit::QueueLimit;
use tailroom_engine::quantity::{PositiveDuration, Size};
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::drop_tail::DropTailParams;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::simulation::error::RunError;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::DelayedAck;
use tailroom_engine::tcp::sender::burst::SendBurst;
use tailroom_engine::tcp::sender::ecn::EcnMode;
use tailroom_engine::tcp::sender::handshake::Handshake;
use tailroom_engine::tcp::sender::recovery::Recovery;
use tailroom_engine::tcp::sender::rtt::RttSamples;
use tailroom_engine::tcp::sender::slow_start::SlowStartSpec;
use tailroom_engine::traffic::bulk::BulkParams;
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
    let tcp = TcpSpec {
        congestion: CongestionConfig::Highspeed(HighspeedParams::default()),
        recovery: Recovery::Sack,
        prr: false,
        count_lost_in_pipe: false,
        delayed_ack: DelayedAck::OFF,
        ack_aggregation: None,
        initial_window: 2,
        initial_ssthresh: None,
        min_rto: PositiveDuration::from_milliseconds(200),
        rto_granularity: Some(PositiveDuration::from_milliseconds(200)),
        restart_rto_at_retransmission: true,
        rtt_samples: RttSamples::Timestamps,
        max_window: None,
        slow_start: SlowStartSpec::Standard,
        slow_start_after_idle: true,
        pacing: false,
        send_burst: SendBurst::SINGLE,
        quick_acks: 0,
        sack_compression: false,
        window_validation: false,
        handshake: Handshake::NONE,
        initial_rto: None,
        timestamp_tick: None,
        forget_sack_at_timeout: false,
        undo: false,
        frto: false,
        ecn: EcnMode::Off,
        reverse_path: Vec::new(),
        ack_size: Size::new(40),
    };
    let rate = Rate::from_bits_per_second(1_000_000_000);
    let queue = QueueConfig::DropTail(DropTailParams { limit: QueueLimit::packets(1_249) });
    let link = LinkSpec {
        name: "bottleneck".into(),
        bdp_bytes: rate.bytes_in(Time::from_milliseconds(120)) as f64,
        packet_bytes: 1_000.0,
        ..LinkSpec::new(rate, Time::from_milliseconds(50), queue)
    };
    let group = GroupSpec {
        name: "hstcp".into(),
        path: vec![0],
        reverse_path: Vec::new(),
        source: BulkParams { bytes: None }.into(),
        stop: None,
        packet_size: 1_000,
        header_size: 40,
        sender_side: None,
        send_jitter: None,
        tcp: Some(tcp),
    };
    let access_rate = Some(Rate::from_bits_per_second(10_000_000_000));
    let flows = (0..10).map(|index| FlowSpec {
        access_rate,
        group: 0,
        rtt: Time::from_picoseconds(115_500_000_000 + index * 1_000_000_000),
        start: Time::from_milliseconds(index * 1_000),
    });
    Network {
        duration: Time::from_milliseconds(160_000),
        measure_from: Time::from_milliseconds(60_000),
        seed: 1,
        ties: Ties::ByChance,
        links: vec![link],
        groups: vec![group],
        flows: flows.collect(),
        series_interval: None,
        memory_limit_bytes: 1 << 30,
    }
}
