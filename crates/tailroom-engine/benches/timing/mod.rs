//! The CPU time of a scenario per packet and shared link.

use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::Time;

use crate::reading;
use crate::stopwatch::Stopwatch;

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
    let network = reading::network(text);
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
