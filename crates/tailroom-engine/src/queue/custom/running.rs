//! Custom rules while they run. Nobody has tested them, so every answer is checked, and a wrong one
//! stops the run.

use std::fmt;

use super::{CustomParams, CustomRule, DequeueEvent};
use crate::custom::{CallersCode, CustomFault, FirstFault, Guest, Missing};
use crate::packet::Ecn;
use crate::quantity::limit::Limit;
use crate::queue::buffer::DropReason;
use crate::queue::{ArrivalRule, EnqueueEvent, Gauge, LinkInfo, Verdict};
use crate::units::Time;

/// A running rule of the caller's.
#[derive(Clone)]
pub struct RunningRule {
    rule: CallersCode<dyn CustomRule + Send>,
    limit: Limit,
    acts_on_departures: bool,
    fault: FirstFault,
}

impl fmt::Debug for RunningRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunningRule").field("fault", &self.fault).finish_non_exhaustive()
    }
}

impl RunningRule {
    /// Starts the rule for `link`. The run of a discipline that has not been found stops at once.
    pub fn new(params: &CustomParams, link: &LinkInfo) -> Self {
        let reason = || format!("there is no discipline \"{}\"", params.discipline);
        let limit = link.limit(params.limit);
        let (rule, acts_on_departures) = match params.rule() {
            Some((make, acts_on_departures)) => (make(link, limit), acts_on_departures),
            None => (Guest::failing(reason()), false),
        };
        let rule = CallersCode(rule);
        RunningRule { rule, limit, acts_on_departures, fault: FirstFault::default() }
    }

    /// Whether [`RunningRule::on_dequeue`] is to be called.
    #[inline]
    pub fn acts_on_departures(&self) -> bool {
        self.acts_on_departures
    }

    /// Decides about a packet that would leave.
    pub fn on_dequeue(&mut self, event: &DequeueEvent) -> Verdict {
        if !self.fault.is_none() {
            return Verdict::Accept;
        }
        let verdict = self.rule.on_dequeue(event);
        checked(&mut self.fault, "on_departure", event.now, verdict, event.ecn)
    }

    /// Why the rule stopped the run, as far as it has shown by `now`.
    #[inline]
    pub fn fault(&mut self, now: Time) -> Option<&CustomFault> {
        self.fault.note(now, self.rule.failure());
        self.fault.get()
    }
}

/// The verdict, unless it marks a packet that cannot be marked.
#[inline]
pub(super) fn checked(
    fault: &mut FirstFault,
    method: &str,
    now: Time,
    verdict: Verdict,
    ecn: Ecn,
) -> Verdict {
    if verdict != Verdict::Mark || ecn.is_capable() {
        return verdict;
    }
    let problem = format!(
        "{method} marked a packet that carries no ECN; mark only where the packet is \
         ECN-capable, and accept or drop the others"
    );
    fault.keep(now, problem);
    Verdict::Accept
}

impl ArrivalRule for RunningRule {
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        if !self.fault.is_none() {
            return Verdict::Accept;
        }
        let verdict = self.rule.on_enqueue(event);
        match checked(&mut self.fault, "on_arrival", event.now, verdict, event.ecn) {
            Verdict::Accept | Verdict::Mark if !event.fits(self.limit) => {
                Verdict::Drop(DropReason::Overflow)
            }
            verdict => verdict,
        }
    }

    fn gauges(&self, now: Time) -> Vec<Gauge> {
        if self.fault.is_none() { self.rule.gauges(now) } else { Vec::new() }
    }
}

impl Guest for dyn CustomRule + Send {
    fn failing(reason: String) -> Box<Self> {
        Box::new(Missing(reason))
    }
}

impl ArrivalRule for Missing {
    fn on_enqueue(&mut self, _event: &EnqueueEvent) -> Verdict {
        Verdict::Accept
    }
}

impl CustomRule for Missing {
    fn failure(&mut self) -> Option<String> {
        Some(self.0.clone())
    }
}
