//! Warnings about flows and coflows that have not ended when the run does.

use super::finished_run::FinishedRun;
use super::warning::{Warning, WarningKind};
use crate::traffic::{FlowSourceSpec, SourceSpec};

/// With more of them unfinished than this share, nothing is known above a 99th percentile.
const MOST_UNFINISHED: f64 = 0.01;

/// Groups of which too many flows, or the queries or steps that they form, did not complete before the end
/// of the run for a 99th percentile of their completion times. A media flow lasts as long as its media.
pub(super) fn unfinished(run: &FinishedRun<'_>) -> Vec<Warning> {
    let warnings = run.dynamic_flows.generators.all().iter().filter_map(|generator| {
        let group = &run.network.groups[generator.group];
        group.tcp.as_ref()?;
        let probe = &generator.probe;
        let durations =
            probe.coflows.as_ref().map_or(&probe.all.durations, |coflows| &coflows.durations);
        let (unfinished, all) = (durations.unfinished, durations.count());
        if unfinished as f64 <= MOST_UNFINISHED * all as f64 {
            return None;
        }
        let things = match &group.source {
            SourceSpec::Flows(FlowSourceSpec::Incast(_)) => "queries",
            SourceSpec::Flows(FlowSourceSpec::Collective(_)) => "steps",
            _ => "flows",
        };
        let known = 1.0 - unfinished as f64 / all as f64;
        let place = format!("flows.{}", group.name);
        let text = format!(
            "{place}: {unfinished} of {all} {things} had not completed when the run ended. They count \
             with their age, so that the mean completion time, and its percentiles above {:.1} %, may be \
             longer by any amount: lengthen duration, or let {place}.stop end the arrivals early enough \
             before the end of the run",
            100.0 * known,
        );
        let values = [("unfinished", unfinished as f64), ("begun", all as f64)];
        Some(Warning::new(WarningKind::Unfinished, place, &values, text))
    });
    warnings.collect()
}
