//! From what the probes recorded to what a run returns.

use super::flow_data::{FlowData, mean, ratio};
use super::passing::{
    PassingResults, flow_counts, flow_log, passing_group, sharing_summary, total,
};
use super::warnings::{Evidence, warnings};
use super::{
    ArrivalDispersion, ArrivalLog, FlowSeries, FlowSummary, GroupLinkSummary, GroupSummary,
    LinkSeries, LinkSummary, Named, PacketLog, Results, Summary,
};
use crate::dynamic_flows::FlowGenerators;
use crate::flow::Endpoints;
use crate::link::{Link, LinkSpec};
use crate::network::Network;
use crate::probe::delays::Delays;
use crate::probe::flow::{FlowAccount, Reduction};
use crate::probe::group::GroupProbe;
use crate::probe::progress::{first_fair_interval, jain_index};
use crate::quantity::limit::Limit;
use crate::queue::Gauge;
use crate::units::Time;

/// Jain's index from which flows count as converged.
const FAIR: f64 = 0.9;

/// Puts together what the probes of a finished run recorded.
pub fn collect(
    network: &Network,
    links: &[Link],
    endpoints: &[&Endpoints],
    accounts: &[FlowAccount],
    group_probes: &[GroupProbe],
    passing: &PassingResults<'_>,
    events: u64,
) -> Results {
    let data: Vec<FlowData<'_>> = endpoints
        .iter()
        .zip(accounts)
        .map(|(endpoints, account)| FlowData::new(endpoints, *account))
        .collect();
    let link_summaries: Vec<(String, LinkSummary)> = network
        .links
        .iter()
        .zip(links)
        .enumerate()
        .map(|(index, (spec, link))| {
            (spec.name.clone(), link_summary(network, &data, index, spec, link, passing))
        })
        .collect();
    let capacities: Vec<f64> = link_summaries.iter().map(|(_, link)| link.capacity_bps).collect();
    let flows: Vec<FlowSummary> = (0..data.len())
        .map(|index| flow_summary(network, &data[index], index, &capacities))
        .collect();
    let groups = network.groups.iter().enumerate().map(|(index, group)| {
        let members = network.members(index);
        let members = members.start as usize..members.end as usize;
        let generator = passing.generators.all().iter().find(|one| one.group == index);
        let summary = match generator {
            Some(generator) => passing_group(network, generator, &capacities),
            None => group_summary(&flows[members.clone()], &data[members]),
        };
        let probe = &group_probes[index];
        let waits = group_waits(network, links, index, probe);
        let summary = GroupSummary {
            queue_delay_s_mean: waits.mean_s(),
            queue_delay_s_p99: waits.quantile_s(0.99),
            one_way_delay_s_p99: probe.one_way.quantile_s(0.99),
            jitter_s_mean: probe.jitter_s(),
            links: group_links(network, links, index),
            ..summary
        };
        (group.name.clone(), summary)
    });
    let packet_hops = links.iter().map(|link| link.probe.account().0).sum();
    let summary = Summary {
        engine_version: env!("CARGO_PKG_VERSION"),
        seed: network.seed,
        measured_from_s: network.measure_from.seconds(),
        measured_to_s: network.duration.seconds(),
        warnings: warnings(&Evidence { network, data: &data, links }),
        convergence_time_s: convergence_time(network, &data),
        links: Named(link_summaries),
        groups: Named(groups.collect()),
        flows,
        events,
        packet_hops,
    };
    Results {
        summary,
        link_series: network.series_interval.map(|interval| link_series(links, interval)),
        flow_series: network.series_interval.map(|interval| flow_series(&data, interval)),
        packet_log: packet_log(network, links, passing.generators),
        flow_counts: flow_counts(passing.sharing),
        flow_log: flow_log(passing.generators.all()),
        arrival_dispersion: arrival_dispersion(links),
        arrival_log: arrival_log(network, links, passing.generators),
    }
}

fn link_summary(
    network: &Network,
    data: &[FlowData<'_>],
    index: usize,
    spec: &LinkSpec,
    link: &Link,
    passing: &PassingResults<'_>,
) -> LinkSummary {
    let span = network.duration.since(network.measure_from);
    let capacity_bps = link.capacity_bits(network.measure_from, network.duration) / span.seconds();
    let probe = &link.probe;
    let totals = probe.totals();
    let mean_bytes = ratio(totals.departed_bytes as f64, totals.departures as f64);
    let (limit_packets, limit_bytes) = match spec.limit(spec.queue.parameters().limit()) {
        Limit::Packets(packets) => {
            (Some(packets as f64), mean_bytes.map(|bytes| bytes * packets as f64))
        }
        Limit::Bytes(bytes) => (mean_bytes.map(|mean| bytes as f64 / mean), Some(bytes as f64)),
    };
    let [drops_overflow, drops_early, drops_head] = totals.drops;
    let drops = drops_overflow + drops_early + drops_head;
    let episodes = episodes(network, data, index);
    LinkSummary {
        capacity_bps,
        utilization: link.used_fraction(
            network.measure_from,
            network.duration,
            totals.idle_capacity,
        ),
        loss_fraction: totals.loss_fraction(),
        arrivals_packets: totals.arrivals,
        drops_packets: drops,
        drops_overflow_packets: drops_overflow,
        drops_early_packets: drops_early,
        drops_head_packets: drops_head,
        marks_packets: totals.marks,
        random_losses_packets: totals.random_losses,
        departures_packets: totals.departures,
        queue_packets_mean: probe.mean_queue(span),
        queue_packets_p01: probe.queue_over_time.histogram().quantile(0.01),
        queue_packets_p99: probe.queue_over_time.histogram().quantile(0.99),
        queue_seen_packets_mean: probe.queue_seen.mean(),
        queue_seen_packets_p01: probe.queue_seen.quantile(0.01),
        queue_seen_packets_p99: probe.queue_seen.quantile(0.99),
        queue_delay_s_mean: probe.waits.mean_s(),
        queue_delay_s_p01: probe.waits.quantile_s(0.01),
        queue_delay_s_p99: probe.waits.quantile_s(0.99),
        limit_packets,
        limit_bytes,
        limit_ms: limit_bytes.and_then(|bytes| ratio(bytes * 8e3, capacity_bps)),
        limit_bdp: limit_bytes.and_then(|bytes| ratio(bytes, spec.bdp_bytes)),
        burst_packets_mean: probe.bursts.mean(),
        burst_packets_p99: probe.bursts.quantile(0.99),
        burst_packets_max: probe.bursts.max(),
        congestion_episodes: episodes.0,
        loss_synchronization: episodes.1,
        sharing: sharing_summary(network, passing, index, capacity_bps),
        discipline: spec.queue.name(),
        discipline_state: Named(named(link.gauges(network.duration))),
    }
}

fn named(gauges: Vec<Gauge>) -> Vec<(String, f64)> {
    gauges.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Congestion episodes of the flows that cross a link, and the mean share of them that reduce in one.
fn episodes(network: &Network, data: &[FlowData<'_>], link: usize) -> (u64, Option<f64>) {
    let crossing: Vec<usize> = (0..data.len())
        .filter(|&flow| {
            data[flow].is_controlled
                && network.groups[network.flows[flow].group].path.contains(&link)
        })
        .collect();
    let longest = crossing.iter().map(|&flow| network.flows[flow].rtt).max().unwrap_or(Time::ZERO);
    let mut reductions: Vec<(Time, usize)> = crossing
        .iter()
        .flat_map(|&flow| data[flow].record.reductions.iter().map(move |cut| (cut.time, flow)))
        .collect();
    reductions.sort_unstable();
    let mut episodes = 0;
    let mut shares = 0.0;
    let mut rest = reductions.as_slice();
    while let Some(&(first, _)) = rest.first() {
        let length = rest.partition_point(|(time, _)| time.since(first) <= longest);
        let mut flows: Vec<usize> = rest[..length].iter().map(|&(_, flow)| flow).collect();
        flows.sort_unstable();
        flows.dedup();
        episodes += 1;
        shares += flows.len() as f64 / crossing.len() as f64;
        rest = &rest[length..];
    }
    (episodes, ratio(shares, episodes as f64))
}

fn flow_summary(
    network: &Network,
    data: &FlowData<'_>,
    index: usize,
    capacities: &[f64],
) -> FlowSummary {
    let group = &network.groups[network.flows[index].group];
    let span = network.duration.since(network.measure_from).seconds();
    let window = &data.window;
    let capacity = group.path.iter().map(|&link| capacities[link]).fold(f64::INFINITY, f64::min);
    let throughput_bps = window.sent_bytes as f64 * 8.0 / span;
    let between = between_reductions(&data.record.reductions);
    let measured = ratio(window.rtt_sum as f64 * 1e-12, window.rtt_count as f64);
    FlowSummary {
        name: network.flow_name(index),
        group: group.name.clone(),
        congestion: group.tcp.as_ref().map(|tcp| tcp.congestion.name().to_owned()),
        goodput_bps: window.delivered_bytes as f64 * 8.0 / span,
        throughput_bps,
        share: ratio(throughput_bps, capacity).unwrap_or(0.0),
        loss_fraction: ratio(data.account.lost_measured as f64, window.sent as f64),
        marked_fraction: ratio(data.account.marked_measured as f64, window.sent as f64),
        retransmissions: window.retransmissions,
        rtt_s_mean: measured.filter(|_| data.is_controlled),
        one_way_delay_s_mean: measured.filter(|_| !data.is_controlled),
        cwnd_packets_mean: data.is_controlled.then_some(window.cwnd_area * 1e-12 / span),
        congestion_events: window.reductions,
        timeouts: window.timeouts,
        packets_between_reductions_mean: between.map(|(packets, _)| packets),
        seconds_between_reductions_mean: between.map(|(_, seconds)| seconds),
        completed_flows: u64::from(data.is_complete),
    }
}

/// Mean packets and mean time from one reduction to the next.
fn between_reductions(reductions: &[Reduction]) -> Option<(f64, f64)> {
    let (first, last) = (reductions.first()?, reductions.last()?);
    let intervals = (reductions.len() - 1) as f64;
    let packets = ratio((last.sent - first.sent) as f64, intervals)?;
    Some((packets, last.time.since(first.time).seconds() / intervals))
}

fn group_summary(flows: &[FlowSummary], data: &[FlowData<'_>]) -> GroupSummary {
    let sum = |value: fn(&FlowSummary) -> f64| total(flows.iter().map(value));
    let count = |value: fn(&FlowSummary) -> u64| flows.iter().map(value).sum::<u64>();
    let lost: u64 = data.iter().map(|flow| flow.account.lost_measured).sum();
    let marked: u64 = data.iter().map(|flow| flow.account.marked_measured).sum();
    let sent: u64 = data.iter().map(|flow| flow.window.sent).sum();
    GroupSummary {
        flows: flows.len() as u64,
        congestion: flows.first().and_then(|flow| flow.congestion.clone()),
        goodput_bps: sum(|flow| flow.goodput_bps),
        throughput_bps: sum(|flow| flow.throughput_bps),
        share: sum(|flow| flow.share),
        loss_fraction: ratio(lost as f64, sent as f64),
        marked_fraction: ratio(marked as f64, sent as f64),
        retransmissions: count(|flow| flow.retransmissions),
        rtt_s_mean: mean(flows.iter().filter_map(|flow| flow.rtt_s_mean)),
        queue_delay_s_mean: None,
        queue_delay_s_p99: None,
        one_way_delay_s_mean: mean(flows.iter().filter_map(|flow| flow.one_way_delay_s_mean)),
        one_way_delay_s_p99: None,
        jitter_s_mean: None,
        cwnd_packets_mean: mean(flows.iter().filter_map(|flow| flow.cwnd_packets_mean)),
        congestion_events: count(|flow| flow.congestion_events),
        timeouts: count(|flow| flow.timeouts),
        completed_flows: count(|flow| flow.completed_flows),
        refused_flows: 0,
        refused_fraction: None,
        jain_index: jain_index(flows.iter().map(|flow| flow.goodput_bps)),
        all_sizes: None,
        size_classes: Vec::new(),
        links: Named(Vec::new()),
    }
}

/// What the packets of a group waited in total at the links of their path.
fn group_waits(network: &Network, links: &[Link], index: usize, probe: &GroupProbe) -> Delays {
    let Some(link) = network.groups[index].only_queue() else { return probe.waits.clone() };
    let class = network.crossing(link).binary_search(&index);
    class.map_or_else(|_| Delays::default(), |class| links[link].probe.class(class).waits)
}

/// What the packets and ACKs of a group meet at the links of its path and reverse path.
fn group_links(network: &Network, links: &[Link], index: usize) -> Named<GroupLinkSummary> {
    let group = &network.groups[index];
    let again = |link: &&usize| !group.path.contains(link);
    let circuit = group.path.iter().chain(group.reverse_path.iter().filter(again));
    let summaries = circuit.filter_map(|&link| {
        let class = network.crossing(link).binary_search(&index).ok()?;
        let probe = links[link].probe.class(class);
        let summary = GroupLinkSummary {
            arrivals_packets: probe.arrivals,
            drops_packets: probe.drops,
            loss_fraction: probe.loss_fraction(),
            queue_delay_s_mean: probe.waits.mean_s(),
            queue_delay_s_p99: probe.waits.quantile_s(0.99),
        };
        Some((network.links[link].name.clone(), summary))
    });
    Named(summaries.collect())
}

/// See [`Summary::convergence_time_s`].
fn convergence_time(network: &Network, data: &[FlowData<'_>]) -> Option<f64> {
    let controlled = || network.flows.iter().zip(data).filter(|(_, data)| data.is_controlled);
    let last_start = controlled().map(|(flow, _)| flow.start).max()?;
    let progress: Vec<&[u64]> =
        controlled().map(|(_, data)| data.record.progress.as_slice()).collect();
    if progress.len() < 2 {
        return None;
    }
    let interval = network.checkpoints().progress_interval;
    let intervals = network.duration.picoseconds() / interval.picoseconds();
    let from = last_start.picoseconds().div_ceil(interval.picoseconds()).max(1) - 1;
    let end =
        first_fair_interval(&progress, from as usize, (intervals / 20).max(1) as usize, FAIR)?;
    let time = (end as u64 + 1) * interval.picoseconds();
    Some(Time::from_picoseconds(time).since(last_start).seconds())
}

fn link_series(links: &[Link], interval: Time) -> LinkSeries {
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

/// Adds what a discipline reports as row number `row`; rows in which nobody reported it are gaps.
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

fn flow_series(data: &[FlowData<'_>], interval: Time) -> FlowSeries {
    let mut series = FlowSeries::default();
    let samples = data.iter().map(|flow| flow.record.samples.len()).max().unwrap_or(0);
    for sample in 0..samples {
        for (index, flow) in data.iter().enumerate().filter(|(_, flow)| flow.is_controlled) {
            let Some(row) = flow.record.samples.get(sample) else { continue };
            series.time_s.push(row.time.seconds());
            series.flow.push(index as u32);
            series.cwnd_packets.push(row.cwnd_packets);
            series.ssthresh_packets.push(row.ssthresh_packets);
            series.srtt_s.push(row.srtt.seconds());
            series.goodput_bps.push(row.delivered_bytes as f64 * 8.0 / interval.seconds());
        }
    }
    series
}

/// Whose a packet is: flows that come and go have no names of their own but that of their group.
fn name_of(flow: u32, network: &Network, generators: &FlowGenerators) -> u32 {
    let group = generators.group_of(flow);
    group.map_or(flow, |group| (network.flows.len() + group) as u32)
}

fn packet_log(network: &Network, links: &[Link], generators: &FlowGenerators) -> PacketLog {
    let mut log = PacketLog::default();
    for (index, link) in links.iter().enumerate() {
        let mut entries = link.probe.log.clone();
        entries.retain(|entry| entry.time < network.duration);
        entries.sort_by_key(|entry| entry.time);
        for entry in entries {
            log.time_s.push(entry.time.seconds());
            log.link.push(index as u32);
            log.flow.push(name_of(entry.flow, network, generators));
            log.event.push(entry.event as u8);
        }
    }
    log
}

fn arrival_log(network: &Network, links: &[Link], generators: &FlowGenerators) -> ArrivalLog {
    let mut log = ArrivalLog::default();
    for (index, link) in links.iter().enumerate() {
        let arrivals = link.probe.arrivals.iter().flat_map(|arrivals| arrivals.list());
        for arrival in arrivals {
            log.time_s.push(arrival.packet.time().seconds());
            log.link.push(index as u32);
            log.flow.push(name_of(arrival.packet.flow(), network, generators));
            log.bytes.push(arrival.packet.bytes());
            log.queue_packets.push(arrival.queue);
            log.fate.push(arrival.outcome as u8);
        }
    }
    log
}

fn arrival_dispersion(links: &[Link]) -> ArrivalDispersion {
    let mut columns = ArrivalDispersion::default();
    for (index, link) in links.iter().enumerate() {
        let scales = link.probe.dispersion.iter().flat_map(|dispersion| dispersion.by_scale());
        for scale in scales {
            columns.link.push(index as u32);
            columns.scale_s.push(scale.scale.seconds());
            columns.intervals.push(scale.intervals);
            columns.mean_packets.push(scale.mean_packets);
            columns.index.push(scale.index);
        }
    }
    columns
}
