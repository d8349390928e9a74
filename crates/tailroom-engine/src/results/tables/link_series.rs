//! Time series of the links.

use super::{FinishedRun, Labels, table};
use crate::link::Link;
use crate::queue::Gauge;
use crate::units::Time;

table! {
    /// Time series of the links: one row per sample and link, in that order. Recorded if the
    /// scenario has a `[series]`.
    pub struct LinkSeries {
        /// Instant of the sample.
        pub time_s: Vec<f64>,
        /// Name of the link.
        pub link: Vec<u32> as Labels::Links,
        /// Packets that wait at that instant.
        pub queue_packets: Vec<f64>,
        /// Bits sent since the previous sample, divided by what the link could carry.
        pub utilization: Vec<f64>,
        /// Packets dropped since the previous sample.
        pub drops_packets: Vec<f64>,
        /// Packets marked since the previous sample.
        pub marks_packets: Vec<f64>,
        /// What the queue disciplines report about themselves: one column per quantity; NaN for a
        /// link whose discipline does not report the quantity.
        pub discipline_state: Vec<(&'static str, Vec<f64>)>,
    }
}

impl LinkSeries {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        run.network.series_interval.map(|interval| Self::of(run.links, interval))
    }

    pub(in crate::results) fn of(links: &[Link], interval: Time) -> Self {
        let mut series = LinkSeries::default();
        for sample in 0..links.first().map_or(0, |link| link.probe.samples.len()) {
            for (index, link) in links.iter().enumerate() {
                let row = &link.probe.samples[sample];
                let from = row.time.since(interval);
                series.time_s.push(row.time.seconds());
                series.link.push(index as u32);
                series.queue_packets.push(row.queue_packets as f64);
                series.utilization.push(link.used_fraction(from, row.time, row.idle_capacity));
                series.drops_packets.push(row.drops as f64);
                series.marks_packets.push(row.marks as f64);
                push_gauges(&mut series.discipline_state, &row.gauges, series.time_s.len() - 1);
            }
        }
        let rows = series.time_s.len();
        series.discipline_state.iter_mut().for_each(|(_, column)| column.resize(rows, f64::NAN));
        series
    }
}

/// Adds what a discipline reports as row number `row`. Rows whose discipline does not report a
/// quantity are NaN in its column.
fn push_gauges(columns: &mut Vec<(&'static str, Vec<f64>)>, gauges: &[Gauge], row: usize) {
    for &(name, value) in gauges {
        let known = columns.iter().position(|(known, _)| *known == name);
        let place = known.unwrap_or_else(|| {
            columns.push((name, Vec::new()));
            columns.len() - 1
        });
        let column = &mut columns[place].1;
        column.resize(row, f64::NAN);
        column.push(value);
    }
}
