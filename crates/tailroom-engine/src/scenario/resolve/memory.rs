//! Estimates how much memory a run may need before the run starts.
//!
//! The estimate is an upper bound, computed in floating point to avoid overflow. The packets in
//! flight at a link are at most its rate times the longest RTT plus its buffer, twice that while
//! slow start overshoots, and never more than the windows of the flows that cross the link.

use super::inputs::MemoryLimit;
use crate::congestion::CongestionConfig;
use crate::link::LinkSpec;
use crate::link::reorder::ReorderSpec;
use crate::network::validate::memory_words;
use crate::network::{GroupSpec, Network};
use crate::scenario::text::error::{Fault, Path};
use crate::tcp::sender::rate_sample::RECORD_BYTES;
use crate::units::{Time, float};

// Bytes of each kind of state, rounded up; MARGIN covers the spare capacity of containers.
const PACKET: f64 = 32.0;
// State of a packet behind the first of several links: 24 bytes, and the number of its place.
const KEPT_PACKET: f64 = 32.0;
// With its place on the fast path and the records of its probe.
const FLOW: f64 = 1_700.0;
// Includes the eight names and values that a discipline may report.
const LINK_SERIES_ROW: f64 = 368.0;
const FLOW_SERIES_ROW: f64 = 44.0;
const LOG_ENTRY: f64 = 24.0;
const LOGGED_ARRIVAL: f64 = 128.0;
// Of the network, of the link's own schedule, and what is carried until then.
const RATE_CHANGE: f64 = 48.0;
// RFC 6928.
const STANDARD_WINDOW: f64 = 10.0;
// A histogram of delays up to a second.
const DELAYS: f64 = 140_000.0;
const MARGIN: f64 = 1.5;

/// Refuses more permanent flows than `limit` has room for.
pub(in crate::scenario) fn check_flows(flows: u64, limit: MemoryLimit) -> Result<(), Fault> {
    check_total(MARGIN * FLOW * float(flows), limit, "fewer flows")
}

/// Refuses a run that may need more than `limit`.
pub(in crate::scenario) fn check(network: &Network, limit: MemoryLimit) -> Result<(), Fault> {
    let parts = [
        (packets_bytes(network), "a smaller rate, rtt or queue limit"),
        (bursts_bytes(network), "a smaller initial_window, or a smaller fixed window"),
        (network.flows.len() as f64 * FLOW, "fewer flows"),
        (groups_bytes(network), "fewer groups of flows"),
        (series_bytes(network), "a longer series interval"),
        (
            schedule_and_log_bytes(network),
            "a smaller packet_log, arrival_log.most_packets or endpoint_log.most_packets, or a shorter trace",
        ),
    ];
    let total: f64 = MARGIN * parts.iter().map(|(bytes, _)| bytes).sum::<f64>();
    let largest = parts.iter().max_by(|one, other| one.0.total_cmp(&other.0));
    check_total(total, limit, largest.map_or("less", |(_, cure)| *cure))
}

fn check_total(total: f64, limit: MemoryLimit, cure: &str) -> Result<(), Fault> {
    let MemoryLimit { size, is_asked_for } = limit;
    if total <= size.bytes() as f64 {
        return Ok(());
    }
    let needed = memory_words(total);
    Err(Fault::new(
        &Path::of(&["memory_limit"]),
        format!("the run may need {needed} of memory, more than {size}"),
        if is_asked_for {
            format!("raise memory_limit, or use {cure}")
        } else {
            format!("use {cure}, or run it where there is more memory")
        },
    ))
}

fn packets_bytes(network: &Network) -> f64 {
    let longest_rtt = network.longest_rtt();
    let mut flows_in_group = vec![0_u32; network.groups.len()];
    for flow in &network.flows {
        flows_in_group[flow.group] += 1;
    }
    let crossing = network.crossing();
    let links = network.links.iter().zip(parts_of_limits(network)).enumerate();
    let packets = links.map(|(index, (link, part))| {
        let crossing = || {
            let groups = crossing[index].iter();
            groups.map(|&group| (&network.groups[group], &flows_in_group[group]))
        };
        let smallest = crossing().map(|(group, _)| smallest_packet(group, index)).min();
        let Some(smallest) = smallest else { return 0.0 };
        let windows: f64 = crossing()
            .map(|(group, flows)| match group.source.dynamic_rtt() {
                Some(_) => f64::INFINITY, // any number of flows may be in progress
                None => f64::from(*flows) * largest_window(group),
            })
            .sum();
        let held = link.reorder.map_or(Time::ZERO, ReorderSpec::extra_delay);
        let on_the_way = longest_rtt.saturating_add(held);
        let pipe = highest_rate(link) / 8.0 * on_the_way.seconds() / f64::from(smallest);
        (2.0 * (pipe + part * buffer_packets(link, smallest))).min(windows)
    });
    let has_records =
        |group: &GroupSpec| group.tcp.as_ref().is_some_and(|tcp| tcp.congestion.is_rate_based());
    let record = if network.groups.iter().any(has_records) { RECORD_BYTES as f64 } else { 0.0 };
    let is_kept = network.groups.iter().any(|group| network.hops(&group.path) > 1);
    let kept = if is_kept { KEPT_PACKET } else { 0.0 };
    (PACKET + kept + record) * packets.sum::<f64>()
}

/// Bytes of the packets that flows send before the first ACK can report a loss, beyond an initial
/// window of RFC 6928, which is small compared with the state of a flow.
fn bursts_bytes(network: &Network) -> f64 {
    let groups = network.groups.iter().enumerate().map(|(index, group)| {
        let Some(tcp) = &group.tcp else { return 0.0 };
        let fixed = match &tcp.congestion {
            CongestionConfig::FixedWindow(params) => params.window,
            _ => 0.0,
        };
        // A rate-based control sends at its pacing rate, whatever its window is.
        let initial = if tcp.congestion.is_rate_based() { 0 } else { tcp.initial_window };
        let window = f64::from(initial).max(fixed).min(largest_window(group));
        let count = network.members(index).len().max(1) as f64;
        count * (window - STANDARD_WINDOW).max(0.0)
    });
    PACKET * groups.sum::<f64>()
}

fn smallest_packet(group: &GroupSpec, link: usize) -> u32 {
    match group.ack_sizes() {
        Some(acks) if group.reverse_path.contains(&link) => acks.least.min(group.packet_size),
        _ => group.packet_size,
    }
}

/// Largest number of packets that a flow of the group has in flight.
fn largest_window(group: &GroupSpec) -> f64 {
    let Some(tcp) = &group.tcp else { return f64::INFINITY };
    let allowed = tcp.max_window.map_or(f64::INFINITY, |packets| packets as f64);
    match group.source.bulk().and_then(|bulk| bulk.bytes) {
        Some(bytes) => {
            let payload = f64::from(group.packet_size - group.header_size);
            allowed.min(bytes.bytes() as f64 / payload + 1.0)
        }
        None => allowed,
    }
}

fn highest_rate(link: &LinkSpec) -> f64 {
    let changed = link.rate_changes.iter().map(|change| change.rate);
    changed.fold(link.sustained_rate(), Ord::max).bits_per_second() as f64
}

/// By link, the part of its limit that its pool can hold if all links are full; 1 without a pool.
fn parts_of_limits(network: &Network) -> impl Iterator<Item = f64> + '_ {
    let bytes = |link: &LinkSpec| {
        let limit = link.limit(link.queue.parameters().limit());
        limit.in_bytes(link.packet_bytes as u32) as f64
    };
    let mut limits = vec![0.0; network.pools.len()];
    for link in &network.links {
        link.pool.iter().for_each(|member| limits[member.pool] += bytes(link));
    }
    let part = move |pool: usize| (network.pools[pool].size_bytes as f64 / limits[pool]).min(1.0);
    network.links.iter().map(move |link| link.pool.map_or(1.0, |member| part(member.pool)))
}

fn buffer_packets(link: &LinkSpec, smallest_packet: u32) -> f64 {
    link.limit(link.queue.parameters().limit()).in_packets(smallest_packet)
}

/// Bytes of the histograms of delays per group: at every link, on the whole path if it has several
/// links, and one-way if the packets are not acknowledged.
fn groups_bytes(network: &Network) -> f64 {
    let histograms = network.groups.iter().map(|group| {
        let links = group.path.len() + group.reverse_path.len();
        links + usize::from(group.only_queue().is_none()) + usize::from(group.tcp.is_none())
    });
    histograms.sum::<usize>() as f64 * DELAYS
}

fn series_bytes(network: &Network) -> f64 {
    let Some(interval) = network.series_interval else { return 0.0 };
    let samples = network.duration.seconds() / interval.seconds() + 1.0;
    let row =
        network.links.len() as f64 * LINK_SERIES_ROW + network.flows.len() as f64 * FLOW_SERIES_ROW;
    samples * row
}

fn schedule_and_log_bytes(network: &Network) -> f64 {
    let link_bytes = network.links.iter().map(|link| {
        let arrivals = link.arrival_log.map_or(0, |log| log.most_packets as usize);
        link.packet_log as f64 * LOG_ENTRY
            + arrivals as f64 * LOGGED_ARRIVAL
            + link.rate_changes.len() as f64 * RATE_CHANGE
    });
    let logs = network.groups.iter().filter_map(|group| group.tcp.as_ref()?.endpoint_log);
    let passages: f64 = logs.map(|log| log.most_packets as f64).sum();
    link_bytes.sum::<f64>() + passages * LOGGED_ARRIVAL
}
