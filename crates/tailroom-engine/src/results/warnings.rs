//! What a user should know before trusting the results of a run. Each warning is a function of its own
//! that names the place, what was measured there, and the key to change.

use super::collect::{FlowData, mean};
use crate::link::Link;
use crate::queue::QueueConfig;
use crate::topology::{GroupSpec, LinkSpec, Network, SourceSpec, TcpSpec};

/// Fewer window reductions per flow than this are not a steady state.
const REDUCTIONS_FOR_STEADY_STATE: f64 = 10.0;

/// What a finished run can be judged by.
pub(super) struct Evidence<'a> {
    /// What was simulated.
    pub(super) network: &'a Network,
    /// What was measured of each permanent flow.
    pub(super) data: &'a [FlowData<'a>],
    /// What was measured of each link.
    pub(super) links: &'a [Link],
}

/// Every warning that applies to a finished run.
pub(super) fn warnings(run: &Evidence<'_>) -> Vec<String> {
    let rules = [few_reductions, forgotten_reductions, phase_effects];
    rules.iter().flat_map(|rule| rule(run)).collect()
}

/// Groups whose windows were reduced too rarely for a steady state.
fn few_reductions(run: &Evidence<'_>) -> Vec<String> {
    let groups = run.network.groups.iter().enumerate().filter_map(|(index, group)| {
        let members = run.network.flows.iter().zip(run.data).filter(|(flow, _)| flow.group == index);
        let reductions = members.map(|(_, data)| data.window.reductions as f64);
        // A transfer that ends has no steady state to miss.
        let is_permanent = group.source == SourceSpec::Bulk { bytes: None };
        let mean = mean(reductions).filter(|_| is_permanent)?;
        (mean < REDUCTIONS_FOR_STEADY_STATE).then(|| {
            format!(
                "flows.{}: {mean:.1} window reductions a flow in the measured window; with fewer than \
                 10 its figures are not a steady state: lengthen duration",
                group.name
            )
        })
    });
    groups.collect()
}

/// Flows with more reductions than the probes keep.
fn forgotten_reductions(run: &Evidence<'_>) -> Vec<String> {
    let kept = run.network.marks().reductions_kept as u64;
    let is_over = run.data.iter().any(|flow| flow.window.reductions > kept);
    let warning = is_over.then(|| {
        format!(
            "only the first {kept} reductions of a flow were kept: loss_synchronization, N_d and T_d \
             cover those"
        )
    });
    warning.into_iter().collect()
}

/// Groups that may be locked into a phase with a queue (Floyd and Jacobson 1992): nothing random
/// delays their packets, which their own ACKs clock out, and `drop_tail` decides by order alone. An
/// access link does not help (it is as regular as the link itself), nor does other random traffic.
fn phase_effects(run: &Evidence<'_>) -> Vec<String> {
    let Network { links, groups, .. } = run.network;
    let has_company = |link: usize| {
        let mut flows = groups.iter().enumerate().filter_map(|(index, group)| {
            let crosses = group.path.contains(&link) || group.reverse_path.contains(&link);
            let is_alone = group.source.passing_rtt().is_none();
            crosses.then(|| if is_alone { run.network.members(index).len() } else { usize::MAX })
        });
        flows.try_fold(0_usize, usize::checked_add).is_none_or(|flows| flows > 1)
    };
    let locked = groups.iter().filter(|group| is_regular(group)).filter_map(|group| {
        // A delay that changes moves the phases.
        if group.path.iter().any(|&link| !links[link].delay_changes.is_empty()) {
            return None;
        }
        let is_locking = |link: &&usize| {
            matches!(links[**link].queue, QueueConfig::DropTail(_)) && has_company(**link)
        };
        Some((group, &links[*group.path.iter().find(is_locking)?]))
    });
    let warning = |(group, link): (&GroupSpec, &LinkSpec)| {
        format!(
            "flows.{}.send_jitter is \"none\", and its packets meet others at the drop_tail queue \
             of link {}: without randomness in the senders a difference of microseconds in RTT may \
             decide for the whole run who loses packets (traffic phase effects). Leave send_jitter \
             out, or see what a shift changes with --phase-check",
            group.name, link.name
        )
    };
    locked.map(warning).collect()
}

/// Whether nothing but ACKs clocks out the packets of a group, and nothing random delays them.
fn is_regular(group: &GroupSpec) -> bool {
    let is_bulk = matches!(group.source, SourceSpec::Bulk { .. });
    let is_clocked_by_acks = |tcp: &TcpSpec| !tcp.pacing && !tcp.congestion.models_path();
    is_bulk && group.send_jitter.is_none() && group.tcp.as_ref().is_some_and(is_clocked_by_acks)
}
