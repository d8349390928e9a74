//! What a user should know before trusting the results of a run. Each warning is a function of its own
//! that names the place, what was measured there, and the key to change.

use super::collect::{FlowData, mean};
use crate::link::Link;
use crate::topology::{Network, SourceSpec};

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
    let rules = [few_reductions, forgotten_reductions];
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
