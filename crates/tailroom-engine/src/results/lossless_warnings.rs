//! Warnings about packets that were dropped in spite of pause frames, by the cause.

use super::finished_run::FinishedRun;
use super::warning::{Warning, WarningKind, list};
use crate::queue::buffer::DropReason;

/// What several reasons have in common: the key to change.
struct Cause {
    reasons: &'static [DropReason],
    /// The key of a link, behind its name.
    key: &'static str,
    /// What happened, and what is to be done.
    words: &'static str,
    remedy: &'static str,
}

const CAUSES: [Cause; 5] = [
    Cause {
        reasons: &[DropReason::Headroom],
        key: "pause.headroom",
        words: "as their headroom was full",
        remedy: "Raise the headroom of the links, or of the pool that has it",
    },
    Cause {
        reasons: &[DropReason::Overflow],
        key: "queue.limit",
        words: "as the queue was at its own limit",
        remedy: "Raise the limit above xoff and headroom of all links that lead there",
    },
    Cause {
        reasons: &[DropReason::Pool, DropReason::Threshold],
        key: "pool",
        words: "as the pool was full, or the queue at its threshold in it",
        remedy: "Raise `size` of the pool above xoff and headroom of all links that lead there, and `alpha` \
                 of the queue, or lower xoff",
    },
    Cause {
        reasons: &[DropReason::Early, DropReason::Head],
        key: "queue",
        words: "by the queue discipline, though there was room",
        remedy: "Set ecn at the flows, so that the discipline marks, or use kind = \"drop_tail\"",
    },
    Cause {
        reasons: &[DropReason::Policed],
        key: "policer",
        words: "by the policer",
        remedy: "Remove the policer, or raise its rate and burst",
    },
];

/// A warning per cause for which packets were dropped in spite of pause frames.
pub(super) fn lossless_drops(run: &FinishedRun<'_>) -> Vec<Warning> {
    CAUSES.iter().filter_map(|cause| cause.warning(run)).collect()
}

impl Cause {
    fn warning(&self, run: &FinishedRun<'_>) -> Option<Warning> {
        let packets = |drops: &[u64; DropReason::COUNT]| {
            self.reasons.iter().map(|reason| drops[*reason as usize]).sum::<u64>()
        };
        let all = run.lossless_drops.by_link().iter().map(packets).zip(&run.network.links);
        let dropping: Vec<_> = all.filter(|(packets, _)| *packets > 0).collect();
        let (most, worst) = dropping.iter().max_by_key(|(packets, _)| *packets)?;
        let total: u64 = dropping.iter().map(|(packets, _)| packets).sum();
        let places = dropping.iter().map(|(_, link)| format!("links.{}.{}", link.name, self.key));
        let place = list(&places.collect::<Vec<_>>());
        let at = if dropping.len() > 1 {
            format!(" ({most} of them at links.{})", worst.name)
        } else {
            String::new()
        };
        let text = format!(
            "{place}: {total} packets that arrived over links with pause frames were dropped in the run{at}, \
             {}. {}",
            self.words, self.remedy
        );
        let values = [("drops_packets", total as f64)];
        Some(Warning::new(WarningKind::LosslessDrops, place, &values, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_one_cause() {
        let causes = |reason| CAUSES.iter().filter(|cause| cause.reasons.contains(reason)).count();
        assert!(DropReason::ALL.iter().all(|reason| causes(reason) == 1));
    }
}
