//! Runs a scenario in which links may use the discipline of this crate:
//!
//! `cargo run --release -p rust-discipline -- examples/rust-discipline/scenario.toml`

use std::error::Error;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use tailroom_engine::scenario::{self, FileLoader};
use tailroom_engine::simulation::Simulation;

/// Traces lie next to the scenario.
struct SameDirectory(PathBuf);

impl FileLoader for SameDirectory {
    fn load(&self, path: &str, most_bytes: u64) -> Result<Option<String>, String> {
        let mut text = String::new();
        File::open(self.0.join(path))
            .and_then(|file| file.take(most_bytes + 1).read_to_string(&mut text))
            .map_err(|error| error.to_string())?;
        Ok(Some(text).filter(|text| text.len() as u64 <= most_bytes))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("give the path of a scenario")?;
    let directory = Path::new(&path).parent().unwrap_or(Path::new("."));
    let scenario =
        scenario::parse(&fs::read_to_string(&path)?, &[], None, &SameDirectory(directory.into()))?
            .with_code(&rust_discipline::disciplines())?;
    let results = Simulation::new(&scenario.resolve()?)?.finish()?;
    for (name, link) in &results.summary.links.0 {
        let delay_ms = 1e3 * link.queue_delay_s_mean.unwrap_or(0.0);
        println!(
            "link {name}: utilization {:.1} %, mean queue {:.1} packets, {delay_ms:.2} ms, {} drops",
            100.0 * link.utilization,
            link.queue_packets_mean,
            link.drops_packets
        );
    }
    Ok(())
}
