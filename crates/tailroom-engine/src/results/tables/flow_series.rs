//! Time series of the flows.

use super::{FinishedRun, Labels, table};
use crate::probe::flow::FlowRecord;
use crate::units::Time;

table! {
    /// Time series of the permanent flows under congestion control: one row per sample and flow, in
    /// that order. Recorded if the scenario has a `[series]`.
    pub struct FlowSeries {
        /// Instant of the sample.
        pub time_s: Vec<f64>,
        /// Name of the flow.
        pub flow: Vec<u32> as Labels::Flows,
        /// Congestion window.
        pub cwnd_packets: Vec<f64>,
        /// Slow-start threshold; infinite before the first reduction.
        pub ssthresh_packets: Vec<f64>,
        /// Smoothed RTT; 0 before the first RTT sample.
        pub srtt_s: Vec<f64>,
        /// Rate of new payload delivered since the previous sample.
        pub goodput_bps: Vec<f64>,
    }
}

impl FlowSeries {
    pub(super) fn collect(run: &FinishedRun<'_>) -> Option<Self> {
        let interval = run.network.series_interval?;
        let controlled = run.flows.iter().enumerate().filter(|(_, flow)| flow.is_controlled);
        let records: Vec<_> = controlled.map(|(index, flow)| (index, flow.record)).collect();
        Some(Self::of(&records, interval))
    }

    /// The series of flows by their index. During a run, flows that wait have fewer samples.
    pub(in crate::results) fn of(flows: &[(usize, &FlowRecord)], interval: Time) -> Self {
        let mut series = FlowSeries::default();
        let mut rows: Vec<_> =
            flows.iter().map(|&(index, record)| (index, record.series())).collect();
        let mut time = Time::ZERO;
        let mut has_rows = true;
        while std::mem::take(&mut has_rows) {
            time += interval;
            for (index, rows) in &mut rows {
                let Some(row) = rows.next() else { continue };
                has_rows = true;
                series.time_s.push(time.seconds());
                series.flow.push(*index as u32);
                series.cwnd_packets.push(row.cwnd_packets);
                series.ssthresh_packets.push(row.ssthresh_packets);
                series.srtt_s.push(row.srtt.seconds());
                series.goodput_bps.push(row.delivered_bytes as f64 * 8.0 / interval.seconds());
            }
        }
        series
    }
}
