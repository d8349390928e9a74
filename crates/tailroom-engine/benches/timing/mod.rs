//! The CPU time of a scenario per packet and shared link.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::time::{Duration, Instant};

use tailroom_engine::scenario::{self, NoFiles};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::Time;

/// How often a case is run if nothing else is said.
pub(crate) const RUNS: usize = 5;

/// Nanoseconds per packet-hop over the runs, and simulated time divided by CPU time of the median
/// run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
    pub(crate) real_time: f64,
}

/// Runs a scenario several times; timing begins at `warm_up_s`, after the slow starts.
pub(crate) fn measure(text: &str, warm_up_s: f64, runs: usize) -> Figures {
    let network = scenario::parse(text, &[], None, &NoFiles)
        .and_then(|scenario| scenario.resolve())
        .expect("the scenario of the benchmark is valid");
    let mut figures: Vec<(f64, f64)> = (0..runs)
        .map(|_| {
            let mut simulation = Simulation::new(&network).expect("the network is valid");
            simulation.run_until(Time::from_seconds(warm_up_s)).expect("the run fits in memory");
            let before = simulation.packet_hops();
            let watch = Stopwatch::start();
            simulation.run_until(network.duration).expect("the run fits in memory");
            let spent_s = watch.elapsed().as_secs_f64();
            let hops = (simulation.packet_hops() - before) as f64;
            (spent_s * 1e9 / hops, (network.duration.seconds() - warm_up_s) / spent_s)
        })
        .collect();
    figures.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (median, real_time) = figures[runs / 2];
    Figures { min: figures[0].0, median, max: figures[runs - 1].0, real_time }
}

/// CPU time of this thread where the system tells it (Linux), and elapsed time elsewhere.
struct Stopwatch {
    cpu: Option<Duration>,
    wall: Instant,
}

impl Stopwatch {
    fn start() -> Self {
        Self { cpu: cpu_time(), wall: Instant::now() }
    }

    fn elapsed(&self) -> Duration {
        match (self.cpu, cpu_time()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.wall.elapsed(),
        }
    }
}

/// Reads the CPU time of this thread; Linux brings it up to date some hundred times a second.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
