//! The rules of warnings. Each is a function whose message names the place, the measurement and the key
//! to change.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::arithmetic::mean;
use super::equal_periods::equal_periods;
use super::finished_run::FinishedRun;
use super::lossless_warnings::lossless_drops;
use super::pause_memory::{headrooms_above_pools, short_limits, short_pools, unused_xon_offsets};
use super::pause_warnings::{deadlocks, short_headrooms};
use super::sharing::{Regime, sharing_summary};
use super::short_windows::short_windows;
use super::unfinished::unfinished;
use super::warning::{Warning, WarningKind, list};
use crate::congestion::SteadyState;
use crate::distribution::Distribution;
use crate::network::{FlowSpec, GroupSpec, Network};
use crate::probe::flow::FlowCounters;
use crate::quantity::{Duration, PositiveDuration};
use crate::queue::buffer::DropReason;
use crate::queue::emptying::EMPTIED_INTERVALS;
use crate::queue::{DelayTarget, QueueConfig};
use crate::tcp::TcpSpec;
use crate::tcp::sender::ecn::EcnMode;
use crate::tcp::sender::handshake::Handshake;
use crate::tcp::sender::recovery::Recovery;
use crate::traffic::arrivals::FlowArrivals;
use crate::traffic::finite_flows::FiniteFlowsSpec;
use crate::traffic::{FlowSourceSpec, SourceSpec};
use crate::units::Time;

/// Fewer window reductions per flow than this are not a steady state.
const REDUCTIONS_FOR_STEADY_STATE: f64 = 10.0;

/// A queue that is empty at least once in more than this share of its intervals is not a standing
/// queue. One flow each way through CoDel: 0.73 to 0.97; ten each way: 0.28 to 0.62
/// (docs/validation/two-way.md).
const EMPTIES_OFTEN: f64 = 2.0 / 3.0;
/// If the p99 delay of such a queue is above this multiple of the target, bursts cause it. One-way
/// traffic of permanent flows through CoDel has 1 to 4, and 4 with a standing queue.
const TARGETS_OF_A_LONG_DELAY: f64 = 3.0;

/// With more timeouts than this share of the reductions, the timer decides the results.
const TIMEOUTS_THAT_DECIDE: f64 = 0.1;
/// Fewer timeouts than this in a group say nothing of a share.
const FEW_TIMEOUTS: u64 = 10;
/// With more packets sent again in vain than this share of the lost ones, the sender is at fault.
const SENT_AGAIN_IN_VAIN: f64 = 0.1;
/// Fewer packets than this in a group say nothing of a share.
const FEW_IN_VAIN: u64 = 100;

/// Every warning that applies to a finished run.
pub(super) fn warnings(run: &FinishedRun<'_>) -> Vec<Warning> {
    let rules = [
        few_reductions,
        short_windows,
        forgotten_reductions,
        phase_effects,
        simultaneous_starts,
        equal_periods,
        open_sender_side,
        bursts_above_target,
        overloads,
        timeouts_that_decide,
        packets_sent_again_in_vain,
        unfinished,
        deadlocks,
        short_headrooms,
        short_limits,
        short_pools,
        headrooms_above_pools,
        unused_xon_offsets,
        lossless_drops,
    ];
    rules.iter().flat_map(|rule| rule(run)).collect()
}

/// Groups whose windows were reduced too rarely for a steady state, if reductions are a sign of it
/// under their control.
fn few_reductions(run: &FinishedRun<'_>) -> Vec<Warning> {
    let groups = run.network.groups.iter().enumerate().filter_map(|(index, group)| {
        let reductions = run.flows_of(index).iter().map(|data| data.window.reductions as f64);
        // A transfer that ends need not reach a steady state.
        let is_permanent = group.source.bulk().is_some_and(|bulk| bulk.bytes.is_none());
        let mean = mean(reductions).filter(|_| is_permanent)?;
        let may_be_steady = match group.tcp.as_ref()?.congestion.steady_state() {
            SteadyState::Reductions => false,
            SteadyState::MaySettle => mean == 0.0,
            SteadyState::NoReductions => true,
        };
        (mean < REDUCTIONS_FOR_STEADY_STATE && !may_be_steady).then(|| {
            let place = format!("flows.{}", group.name);
            let remedy = duration_for_steady_state(run, mean);
            let shown = (10.0 * mean).round() / 10.0;
            let text = format!(
                "{place}: {shown} window reductions per flow in the measured window; with fewer than \
                 10 its figures are not a steady state: lengthen duration{remedy}"
            );
            Warning::new(WarningKind::FewReductions, place, &[("reductions_per_flow", mean)], text)
        })
    });
    groups.collect()
}

/// The end of the run, rounded up to two digits, at which its flows would have enough reductions at
/// their rate so far, as in ` to about 130 s`; empty without a reduction, which tells no rate.
fn duration_for_steady_state(run: &FinishedRun<'_>, reductions: f64) -> String {
    if reductions == 0.0 {
        return String::new();
    }
    let (from, to) = (run.network.measure_from, run.network.duration);
    let measured = to.since(from).seconds() * REDUCTIONS_FOR_STEADY_STATE / reductions;
    let needed = from.saturating_add(Time::from_seconds(measured)).picoseconds();
    format!(" to about {}", Duration::new(rounded_up(needed, 2)))
}

/// A number rounded up to its first digits.
fn rounded_up(number: u64, digits: u32) -> u64 {
    let mut last = 1;
    while number / last >= 10_u64.pow(digits) {
        last *= 10;
    }
    number.div_ceil(last).saturating_mul(last)
}

/// Flows with more reductions than the probes keep.
fn forgotten_reductions(run: &FinishedRun<'_>) -> Vec<Warning> {
    let kept = run.network.checkpoints().reductions_kept as u64;
    let is_over = run.flows.iter().any(|flow| flow.window.reductions > kept);
    let warning = is_over.then(|| {
        let text = format!(
            "only the first {kept} reductions of a flow were kept: loss_synchronization, N_d and T_d \
             cover those"
        );
        Warning::new(WarningKind::ForgottenReductions, "", &[("kept", kept as f64)], text)
    });
    warning.into_iter().collect()
}

/// Groups that may be phase-locked with a queue (Floyd and Jacobson 1992): their packets are
/// clocked out by their own ACKs without random delays, and meet a `drop_tail` queue, which decides
/// by order alone. An access link does not prevent it (it is as regular as the link itself), and
/// other random traffic does not either.
fn phase_effects(run: &FinishedRun<'_>) -> Vec<Warning> {
    let Network { links, groups, .. } = run.network;
    let has_company = |crossing: &Vec<usize>| {
        let mut flows = crossing.iter().map(|&index| {
            let is_alone = groups[index].source.dynamic_rtt().is_none();
            if is_alone { run.network.members(index).len() } else { usize::MAX }
        });
        flows.try_fold(0_usize, usize::checked_add).is_none_or(|flows| flows > 1)
    };
    let has_company: Vec<bool> = run.crossing.iter().map(has_company).collect();
    let locked = groups.iter().filter(|group| is_regular(group)).filter_map(|group| {
        // A delay that changes shifts the phases.
        if group.path.iter().any(|&link| links[link].varies_in_delay()) {
            return None;
        }
        let is_locking = |link: &&usize| {
            matches!(links[**link].queue, QueueConfig::DropTail(_)) && has_company[**link]
        };
        let link = *group.path.iter().find(is_locking)?;
        Some((format!("flows.{}.send_jitter", group.name), format!("links.{}", links[link].name)))
    });
    let (keys, mut queues): (Vec<String>, Vec<String>) = locked.unzip();
    queues.sort_unstable();
    queues.dedup();
    let warning = (!keys.is_empty()).then(|| {
        let place = list(&keys);
        let text = format!(
            "{place}: \"none\", and these packets meet others at drop_tail queues ({}): without \
             randomness in the senders a difference of microseconds in RTT may decide for the whole run \
             who loses packets (traffic phase effects). Leave the key out, or see what a shift changes \
             with --phase-check",
            queues.join(", ")
        );
        Warning::new(WarningKind::PhaseEffects, place, &[], text)
    });
    warning.into_iter().collect()
}

/// Whether ACKs alone clock out the packets of a group, without random delays.
fn is_regular(group: &GroupSpec) -> bool {
    let is_bulk = group.source.bulk().is_some();
    let is_clocked_by_acks = |tcp: &TcpSpec| !tcp.pacing && !tcp.congestion.is_rate_based();
    is_bulk && group.send_jitter.is_none() && group.tcp.as_ref().is_some_and(is_clocked_by_acks)
}

/// Groups without an access link of which several flows begin at the same time in the measured
/// window: their first windows arrive in one instant, and the order within it decides what is lost.
fn simultaneous_starts(run: &FinishedRun<'_>) -> Vec<Warning> {
    let network = run.network;
    let mut together: BTreeMap<(Time, usize), Vec<usize>> = BTreeMap::new();
    for (group, time) in first_windows(network).filter(|(_, at)| *at >= network.measure_from) {
        together.entry((time, network.groups[group].path[0])).or_default().push(group);
    }
    let most = together.into_iter().rev().max_by_key(|(_, groups)| groups.len());
    let Some(((time, link), groups)) = most.filter(|(_, groups)| groups.len() > 1) else {
        return Vec::new();
    };
    let flows = groups.len();
    let names: BTreeSet<usize> = groups.into_iter().collect();
    let names = names.into_iter().map(|group| format!("flows.{}", network.groups[group].name));
    let place = list(&names.collect::<Vec<_>>());
    let text = format!(
        "{place}: the first windows of {flows} flows arrive at links.{} in one instant, {}, as these \
         flows have no access link and begin together: chance decides whose packets find room. Set \
         access_rate, which hosts have, or let the flows begin at different times",
        network.links[link].name,
        Duration::new(time.picoseconds()),
    );
    vec![Warning::new(WarningKind::SimultaneousStarts, place, &[("flows", flows as f64)], text)]
}

/// The group of every flow under congestion control that has no access link and no interface of a host,
/// and when its first data leave, as far as the scenario fixes it.
fn first_windows(network: &Network) -> impl Iterator<Item = (usize, Time)> + '_ {
    let after_handshake = |group: usize, start: Time, rtt: Time| {
        let opens = network.groups[group].tcp.as_ref()?.handshake == Handshake::BY_FLOW;
        Some((group, if opens { start.saturating_add(rtt) } else { start }))
    };
    let has_none = |flow: &&FlowSpec| flow.access_rate.is_none() && flow.route.is_none();
    let permanent = network.flows.iter().filter(has_none);
    let permanent =
        permanent.filter_map(move |flow| after_handshake(flow.group, flow.start, flow.rtt));
    let groups = network.groups.iter().enumerate().filter(|(_, group)| group.hosts.is_none());
    let given = groups.filter_map(|(index, group)| match &group.source {
        SourceSpec::Flows(FlowSourceSpec::FiniteFlows(FiniteFlowsSpec {
            arrivals: FlowArrivals::Given(times),
            rtt: Distribution::Fixed(rtt),
            peak_rate: None,
            ..
        })) => Some((index, times, Time::from_picoseconds(*rtt as u64))),
        _ => None,
    });
    let given = given.flat_map(move |(index, times, rtt)| {
        times.iter().filter_map(move |&time| after_handshake(index, time, rtt))
    });
    permanent.chain(given)
}

/// Groups of two-way traffic (their data share links with the ACKs of groups whose data share links
/// with their ACKs) that do not say where their private propagation delay lies.
fn open_sender_side(run: &FinishedRun<'_>) -> Vec<Warning> {
    let network = run.network;
    let groups = network.groups.iter().enumerate();
    let open: Vec<(&GroupSpec, Time)> = groups
        .filter(|(_, group)| group.sender_side.is_none() && !group.reverse_path.is_empty())
        .filter(|(_, group)| {
            let mut others = group.path.iter().flat_map(|&link| &run.crossing[link]);
            others.any(|&other| network.is_two_way(group, &network.groups[other]))
        })
        .map(|(index, group)| (group, network.private_propagation(index)))
        .filter(|(_, private)| *private > Time::ZERO)
        .collect();
    let Some(longest) = open.iter().map(|(_, private)| private.picoseconds()).max() else {
        return Vec::new();
    };
    let names: Vec<String> =
        open.iter().map(|(group, _)| format!("flows.{}", group.name)).collect();
    let place = list(&names);
    let text = format!(
        "{place}: data and ACKs of both directions share links, so that results depend on where the private \
         propagation (up to {} of the RTT) lies: half of it was put on the sender's side of the shared \
         links. Write sender_side: 0.5 keeps this, 1 puts all of it there, as many ns-2 scripts do",
        PositiveDuration::new(rounded_up(longest, 4))
    );
    vec![Warning::new(WarningKind::OpenSenderSide, place, &[], text)]
}

/// Links shared by data and ACKs at which bursts keep the delay above the target of a discipline
/// that acts on standing queues. At other links, the slow start of short flows may fill a queue
/// that is empty most of the time; that is due to the load, not to compressed ACKs.
fn bursts_above_target(run: &FinishedRun<'_>) -> Vec<Warning> {
    let groups = &run.network.groups;
    let is_shared = |link: usize| {
        let mut crossing = run.crossing[link].iter();
        run.data_groups(link).next().is_some()
            && crossing.any(|&group| groups[group].reverse_path.contains(&link))
    };
    let links = run.network.links.iter().zip(run.links).enumerate();
    let warnings = links.filter(|(index, _)| is_shared(*index)).filter_map(|(_, (spec, link))| {
        let DelayTarget { target, interval } = spec.queue.parameters().delay_target()?;
        let gauges = link.gauges(run.network.duration);
        let (_, emptied) = gauges.into_iter().find(|(name, _)| *name == EMPTIED_INTERVALS)?;
        let p99_s = link.probe.waits.quantile_s(0.99)?;
        let targets = p99_s / target.seconds();
        let kind = spec.queue.name();
        (emptied > EMPTIES_OFTEN && targets > TARGETS_OF_A_LONG_DELAY).then(|| {
            let place = format!("links.{}", spec.name);
            let text = format!(
                "{place}: the p99 of the queueing delay is {:.0} ms, {targets:.0} times the target of \
                 {kind}, though the queue was empty at least once in {:.0} % of the intervals of {} in \
                 which packets arrived: bursts cause the delay, and {kind} acts on standing queues. \
                 Data and ACKs share the link, so that ACKs arrive compressed and release bursts. Set \
                 pacing = true at the flows, or use kind = \"fq_codel\"",
                1e3 * p99_s,
                1e2 * emptied,
                PositiveDuration::new(interval.picoseconds())
            );
            let values = [("queue_delay_p99_s", p99_s), ("emptied_fraction", emptied)];
            Warning::new(WarningKind::BurstsAboveTarget, place, &values, text)
        })
    });
    warnings.collect()
}

/// Links to which flows that arrive and depart offer more than the capacity, and which accept all of
/// them: their number grows for as long as the run lasts (Auge and Roberts 2006 sec. III).
fn overloads(run: &FinishedRun<'_>) -> Vec<Warning> {
    let groups = &run.network.groups;
    let is_elastic =
        |group: usize| groups[group].source.dynamic_rtt().is_some() && groups[group].tcp.is_some();
    let links = run.network.links.iter().enumerate();
    let overloaded = links.filter_map(|(index, link)| {
        let grows = link.admission.is_none() && run.data_groups(index).any(is_elastic);
        let sharing = grows.then(|| sharing_summary(run, index))?;
        (sharing.regime == Regime::Overload).then(|| {
            let place = format!("links.{}", link.name);
            let load = sharing.offered_load;
            let text = format!(
                "{place}: traffic that arrives independently of the link offers {load:.2} times its \
                 capacity, so that the number of flows grows for as long as the run lasts: no buffer is \
                 sufficient, and results depend on duration. Lower the load, or set admission"
            );
            Warning::new(WarningKind::Overload, place, &[("offered_load", load)], text)
        })
    });
    overloaded.collect()
}

/// What a group under congestion control lost in the measured window, and what it made of that.
struct Repairs<'a> {
    group: &'a GroupSpec,
    tcp: &'a TcpSpec,
    counters: FlowCounters,
    /// Packets sent in the window that were lost.
    lost: u64,
    /// Packets that arrived twice.
    duplicates: u64,
}

/// The repairs of all groups under congestion control, each for all of its flows together.
fn repairs<'a>(run: &'a FinishedRun<'_>) -> impl Iterator<Item = Repairs<'a>> {
    run.network.groups.iter().enumerate().filter_map(|(index, group)| {
        let tcp = group.tcp.as_ref()?;
        let (mut counters, mut lost) = (FlowCounters::default(), 0);
        for data in run.flows_of(index) {
            counters.add(&data.window);
            lost += data.account.lost_measured;
        }
        if let Some(generator) = run.generator_of(index) {
            counters.add(&generator.probe.totals);
            lost += generator.probe.lost;
        }
        let duplicates = run.group_probes[index].duplicates;
        Some(Repairs { group, tcp, counters, lost, duplicates })
    })
}

/// Groups whose flows wait for the retransmission timer so often that it decides the results.
fn timeouts_that_decide(run: &FinishedRun<'_>) -> Vec<Warning> {
    let deciding = repairs(run).filter(|Repairs { counters, .. }| {
        let most = TIMEOUTS_THAT_DECIDE * counters.reductions as f64;
        counters.timeouts >= FEW_TIMEOUTS && counters.timeouts as f64 > most
    });
    let warnings = deciding.map(|Repairs { group, tcp, counters, .. }| {
        let less_loss = how_to_lose_less(run, group, tcp);
        let (waiting, remedy) = if tcp.recovery == Recovery::Rack {
            ("Losses of the last packets in flight", "")
        } else {
            (
                "Lost retransmissions, and losses in windows of a few packets,",
                ", or repair them without the timer as far as possible (recovery = \"rack\")",
            )
        };
        let place = format!("flows.{}", group.name);
        let text = format!(
            "{place}: {} of {} window reductions are timeouts, more than one in ten: a flow then sends \
             nothing for {} (min_rto) or more, so that the timer decides goodput, fairness and completion \
             times. {waiting} wait for it. {less_loss}{remedy}",
            counters.timeouts, counters.reductions, tcp.min_rto,
        );
        let (timeouts, reductions) = (counters.timeouts as f64, counters.reductions as f64);
        let values = [("timeouts", timeouts), ("reductions", reductions)];
        Warning::new(WarningKind::Timeouts, place, &values, text)
    });
    warnings.collect()
}

/// Where the packets of a group are lost, and the keys that help there. Of links that no key names, and
/// of those that share memory, the ones that dropped packets are named, first those that dropped most.
fn how_to_lose_less(run: &FinishedRun<'_>, group: &GroupSpec, tcp: &TcpSpec) -> String {
    let links = &run.network.links;
    let shares_memory = group.path.iter().any(|&link| links[link].pool.is_some());
    if group.hosts.is_none() && !shares_memory {
        let names: Vec<String> =
            group.path.iter().map(|&link| format!("links.{}", links[link].name)).collect();
        return format!(
            "Lose fewer packets at {} (a larger queue.limit, ecn = \"classic\", fewer flows, less random \
             loss)",
            names.join(", ")
        );
    }
    let drops = |link: usize| run.links[link].probe.totals().drops.iter().sum::<u64>();
    let mut dropping: Vec<usize> =
        group.path.iter().copied().filter(|&link| drops(link) > 0).collect();
    dropping.sort_by_key(|&link| (Reverse(drops(link)), link));
    let names: Vec<String> = dropping.iter().map(|&link| links[link].name.clone()).collect();
    let refused = |reason: DropReason| {
        dropping.iter().any(|&link| run.links[link].probe.totals().drops[reason as usize] > 0)
    };
    let remedies = [
        (refused(DropReason::Overflow), "a larger limit of the queue"),
        (refused(DropReason::Pool), "more memory in the pool"),
        (refused(DropReason::Threshold), "a larger alpha or threshold of the pool"),
        (tcp.ecn == EcnMode::Off, "ecn = \"classic\""),
        (true, "fewer flows at a time"),
    ];
    let remedies = remedies.iter().filter(|(helps, _)| *helps).map(|(_, remedy)| *remedy);
    let remedies: Vec<&str> = remedies.collect();
    if names.is_empty() {
        return "No link on their way dropped packets in the measured window: the wire lost them, or \
                the timer is shorter than their round trips"
            .to_owned();
    }
    format!("Lose fewer packets at {} ({})", list(&names), remedies.join(", "))
}

/// Groups that send many packets again that were not lost: those that arrive twice. (The difference
/// between packets sent again and lost ones is another at the edges of the window, where losses and
/// their repairs may lie on both sides.)
fn packets_sent_again_in_vain(run: &FinishedRun<'_>) -> Vec<Warning> {
    let wasteful = repairs(run).filter(|Repairs { lost, duplicates, .. }| {
        let most = SENT_AGAIN_IN_VAIN * *lost as f64;
        *duplicates >= FEW_IN_VAIN && *duplicates as f64 > most
    });
    let warnings = wasteful.map(|Repairs { group, tcp, counters, lost, duplicates }| {
        let remedy = if tcp.recovery == Recovery::NewReno {
            "Without selective ACKs the sender does not know what has arrived: set recovery = \"sack\""
        } else if tcp.forget_sack_at_timeout {
            "After a timeout the sender does not know what has arrived: set forget_sack_at_timeout = \
             false"
        } else if tcp.recovery == Recovery::Rack {
            "Packets in flight were taken for lost: raise min_rto if queues delay ACKs longer than that"
        } else {
            "A timeout takes all packets in flight for lost: raise min_rto if queues delay ACKs longer \
             than that, lose fewer packets, or set recovery = \"rack\""
        };
        let place = format!("flows.{}", group.name);
        let text = format!(
            "{place}: {} packets were sent again and {lost} were lost: {duplicates} packets arrived that \
             the receiver had already, which utilization counts as use and \
             utilization_without_duplicates does not. {remedy}",
            counters.retransmissions
        );
        let values = [
            ("retransmissions", counters.retransmissions as f64),
            ("lost_packets", lost as f64),
            ("duplicate_packets", duplicates as f64),
        ];
        Warning::new(WarningKind::SentAgainInVain, place, &values, text)
    });
    warnings.collect()
}
