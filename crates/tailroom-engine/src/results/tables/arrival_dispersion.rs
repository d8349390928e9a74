//! Burstiness of arrivals by time scale.

use super::{FinishedRun, Labels, table};
use crate::probe::index_of_dispersion::IndexOfDispersion;

table! {
    /// Burstiness of arrivals: one row per link and time scale. Recorded at the links with an
    /// `arrival_dispersion`; scales with fewer than ten intervals are left out.
    pub struct ArrivalDispersion {
        /// Name of the link.
        pub link: Vec<u32> as Labels::Links,
        /// Length of the intervals.
        pub scale_s: Vec<f64>,
        /// Number of whole intervals in the measured window.
        pub intervals: Vec<u64>,
        /// Mean number of packets that arrive in an interval, dropped packets included.
        pub mean_packets: Vec<f64>,
        /// Index of dispersion for counts: variance of that number divided by its mean.
        pub index: Vec<f64>,
    }
}

impl ArrivalDispersion {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let mut table = ArrivalDispersion::default();
        for (index, link) in run.links.iter().enumerate() {
            let observer = link.probe.observer.iter();
            let dispersion = observer.filter_map(|observer| observer.dispersion.as_ref());
            let scales = dispersion.flat_map(IndexOfDispersion::by_scale);
            for scale in scales {
                table.link.push(index as u32);
                table.scale_s.push(scale.scale.seconds());
                table.intervals.push(scale.intervals);
                table.mean_packets.push(scale.mean_packets);
                table.index.push(scale.index);
            }
        }
        (!table.link.is_empty()).then_some(table)
    }
}
