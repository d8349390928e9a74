//! Runs that are too short for a control whose period no window reduction shows.

use super::finished_run::FinishedRun;
use super::warning::{Warning, WarningKind};
use crate::quantity::Duration;
use crate::units::Time;

/// Smallest number of intervals that the measured window has to hold. Four `bbr1` flows behind a
/// buffer of 4 bdp lose 4.5 % in the first 8 s, and 0.25 % in 120 s.
const FEWEST_INTERVALS: u64 = 2;

/// Groups of long flows that drain the queue in intervals, of which the measured window holds too
/// few, or begins within the first half of the first: with `bbr1` and `bbr3`, results of 20 s that
/// begin 3 s after the flows are those of 20 s that begin after 10 s. A transfer that ends need not
/// reach a steady state.
pub(super) fn short_windows(run: &FinishedRun<'_>) -> Vec<Warning> {
    let groups = run.network.groups.iter().enumerate().filter_map(|(index, group)| {
        group.source.bulk().filter(|bulk| bulk.bytes.is_none())?;
        let control = &group.tcp.as_ref()?.congestion;
        let interval = control.parameters().drain_interval()?;
        let (problem, remedy) = problem(run, first_start(run, index)?, interval)?;
        let place = format!("flows.{}", group.name);
        let text = format!(
            "{place}: {problem}; {} looks for its smallest RTT every {}, and figures of a shorter \
             time are those of its start: {remedy}",
            control.name(),
            duration(interval)
        );
        Some(Warning::new(
            WarningKind::ShortWindow,
            place,
            &[("period_s", interval.seconds())],
            text,
        ))
    });
    groups.collect()
}

/// What is too short, and the remedy.
fn problem(run: &FinishedRun<'_>, start: Time, interval: Time) -> Option<(String, String)> {
    let (from, to) = (run.network.measure_from, run.network.duration);
    let least = Time::from_picoseconds(FEWEST_INTERVALS * interval.picoseconds());
    let begin = start.saturating_add(Time::from_picoseconds(interval.picoseconds() / 2));
    if to.since(from) < least {
        let problem = format!("the measured window has {}", duration(to.since(from)));
        let remedy = format!("lengthen duration, so that it has {} or more", duration(least));
        Some((problem, remedy))
    } else if from < begin {
        let problem = if from < start {
            "the statistics begin before the first flow".to_owned()
        } else {
            format!("the statistics begin {} after the first flow", duration(from.since(start)))
        };
        Some((problem, format!("set measure_from to {} or later", duration(begin))))
    } else {
        None
    }
}

/// When the first flow of a group starts.
fn first_start(run: &FinishedRun<'_>, group: usize) -> Option<Time> {
    run.network.members(group).map(|flow| run.network.flows[flow as usize].start).min()
}

fn duration(time: Time) -> Duration {
    Duration::new(time.picoseconds())
}
