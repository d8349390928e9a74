//! The flows in progress and the bottlenecked flows of a link, from a list of all flows that is
//! read when the run is over.

use tailroom_engine::dynamic_flows::bottlenecked::BottleneckedFlows;
use tailroom_engine::units::{Rate, Time};

/// A flow at a link, in progress in `[from, to)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct InProgress {
    pub(super) from: Time,
    /// [`Time::NEVER`] if the flow does not end in the run.
    pub(super) to: Time,
    pub(super) peak_rate: Option<Rate>,
}

/// Weighs the numbers of flows by time. Each interval has its end, the rate in bit/s that unresponsive flows
/// leave of the link, and that which the link had to spare. What lies
/// before `measure_from` does not count.
pub(super) fn count(
    flows: &[InProgress],
    intervals: impl Iterator<Item = (Time, f64, f64)>,
    measure_from: Time,
) -> BottleneckedFlows {
    let mut counts = BottleneckedFlows::new(0.0);
    let mut from = Time::ZERO;
    for (until, capacity, spare) in intervals {
        let edges = flows.iter().flat_map(|flow| [flow.from, flow.to]);
        let mut edges: Vec<Time> = edges.filter(|edge| (from..until).contains(edge)).collect();
        edges.extend([from, until]);
        edges.sort_unstable();
        for span in edges.windows(2).filter(|_| until > measure_from) {
            let is_there = |flow: &&InProgress| flow.from <= span[0] && span[0] < flow.to;
            let peaks: Vec<Option<Rate>> =
                flows.iter().filter(is_there).map(|flow| flow.peak_rate).collect();
            let weight = (span[1] - span[0]).picoseconds();
            counts.in_progress_over_time.add(peaks.len() as u64, weight);
            counts.bottlenecked_over_time.add(bottlenecked(peaks, capacity, spare), weight);
        }
        from = until;
    }
    counts
}

/// How many flows cannot have their peak rate. One flow after the other, the slowest first, takes
/// its peak rate if that is at most an equal share of what is left, or fits into what the link had
/// to spare.
fn bottlenecked(mut peaks: Vec<Option<Rate>>, capacity: f64, spare: f64) -> u64 {
    let bits = |peak: Option<Rate>| peak.map_or(u64::MAX, Rate::bits_per_second);
    peaks.sort_by_key(|peak| bits(*peak));
    let mut left = capacity;
    for (taken, peak) in peaks.iter().enumerate() {
        let others = peaks.len() - taken;
        let Some(peak) = peak else { return others as u64 };
        let peak = peak.bits_per_second() as f64;
        if peak > left / others as f64 && peak > spare {
            return others as u64;
        }
        left -= peak;
    }
    0
}
