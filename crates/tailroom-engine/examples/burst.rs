//! A burst of packets between two flows of Linux hosts: what it loses, and how long it waits.
//!
//! `cargo run --release --example burst`

use std::error::Error;

use tailroom_engine::Time;
use tailroom_engine::custom::Arguments;
use tailroom_engine::scenario::{self, NoFiles, OwnCode};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::traffic::Emission;
use tailroom_engine::traffic::context::StartingFlow;
use tailroom_engine::traffic::custom::CustomPackets;

const SCENARIO: &str = r#"
duration = "12 s"
[links.bottleneck]
rate = "20 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "100 packets" }
[flows.long]
count = 2
path = ["bottleneck"]
congestion = "cubic"
rtt = "40 ms"
[flows.burst]
path = ["bottleneck"]
start = "10 s"
source = { kind = "custom_packets", source = "burst", rate = "1 Mbit/s" }
"#;

/// A hundred packets at the start of the flow.
struct Burst {
    at: Time,
    bytes: u32,
    left: u32,
}

impl Burst {
    fn new(_: &Arguments, flow: &StartingFlow<'_>) -> Self {
        Burst { at: flow.start, bytes: flow.packet_bytes, left: 100 }
    }
}

impl CustomPackets for Burst {
    fn next_packet(&mut self) -> Option<Emission> {
        self.left = self.left.checked_sub(1)?;
        Some(Emission { time: self.at, bytes: self.bytes })
    }
}

pub(crate) fn report() -> Result<String, Box<dyn Error>> {
    let mut code = OwnCode::default();
    code.add_packets("burst", Burst::new);
    let scenario = scenario::parse(SCENARIO, &[], None, &NoFiles)?.with_code(&code)?;
    let summary = Simulation::new(&scenario.resolve()?)?.finish()?.summary;
    let burst = summary.groups.get("burst").ok_or("the scenario has this group")?;
    let lost = 100.0 * burst.loss_fraction.ok_or("no packet was sent")?;
    let waited_ms = 1e3 * burst.queue_delay_s_max.ok_or("no packet arrived")?;
    Ok(format!("{lost:.0} of 100 packets are lost; the longest wait is {waited_ms:.1} ms"))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", report()?);
    Ok(())
}
