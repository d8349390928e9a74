//! The run time of a scenario per packet and shared link.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::time::Instant;

use tailroom_engine::scenario;
use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::Time;

const RUNS: usize = 5;

/// Nanoseconds per packet-hop over the runs, and simulated time divided by elapsed time of the
/// median run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
    pub(crate) real_time: f64,
}

/// Runs a scenario several times; timing begins at `warm_up_s`, after the slow starts.
pub(crate) fn measure(text: &str, warm_up_s: f64) -> Figures {
    let network = scenario::parse(text, &[], None, &NoFiles)
        .and_then(|scenario| scenario.resolve())
        .expect("the scenario of the benchmark is valid");
    let mut figures: Vec<(f64, f64)> = (0..RUNS)
        .map(|_| {
            let mut simulation = Simulation::new(&network);
            simulation.run_until(Time::from_seconds(warm_up_s)).expect("the run fits in memory");
            let before = simulation.packet_hops();
            let started = Instant::now();
            simulation.run_until(network.duration).expect("the run fits in memory");
            let wall = started.elapsed().as_secs_f64();
            let hops = (simulation.packet_hops() - before) as f64;
            (wall * 1e9 / hops, (network.duration.seconds() - warm_up_s) / wall)
        })
        .collect();
    figures.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (median, real_time) = figures[RUNS / 2];
    Figures { min: figures[0].0, median, max: figures[RUNS - 1].0, real_time }
}

struct NoFiles;

impl scenario::FileLoader for NoFiles {
    fn load(&self, path: &str) -> Result<String, String> {
        Err(format!("a benchmark has no files; cannot load {path}"))
    }
}
