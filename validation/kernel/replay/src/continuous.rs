//! The window as the engine's sender has it: a fraction, to which every ACK adds at once.

use crate::law::Law;
use crate::outcome::Outcome;
use crate::trace::{Callback, Kind, Trace};

/// Replays a trace as the engine does. The control is told the kernel's window at congestion, and
/// the window after it begins at the kernel's.
///
/// # Errors
/// The trace names a control that has no window law.
pub fn replay(trace: &Trace) -> Result<Outcome, String> {
    let mut law = Law::new(&trace.description.tailroom)?;
    let room = trace.description.continuous_bound_packets;
    let mut outcome = Outcome::default();
    let (mut cwnd, mut last): (f64, Option<&Callback>) = (0.0, None);
    for (at, callback) in trace.begun() {
        if callback.kind.is_about_window() {
            if last.is_none_or(|last| callback.cwnd != last.cwnd_after) {
                cwnd = callback.cwnd as f64;
                outcome.taken_over += 1;
            }
            last = Some(callback);
        }
        match callback.kind {
            Kind::Avoid => {
                cwnd = grow(&mut law, cwnd, callback);
                outcome.compare(at, callback, [callback.cwnd_after as f64, cwnd], room);
            }
            Kind::Congestion => {
                let is_slow_start = callback.cwnd < callback.ssthresh;
                let left = law.reduce(callback.cwnd as f64, callback, is_slow_start);
                outcome.compare(at, callback, [callback.answer as f64, left.max(2.0)], room);
            }
            Kind::Sample => law.note(callback),
            Kind::Init | Kind::Undo | Kind::State | Kind::Event | Kind::Rate => {}
        }
    }
    Ok(outcome)
}

fn grow(law: &mut Law, cwnd: f64, callback: &Callback) -> f64 {
    if !callback.is_limited {
        return cwnd;
    }
    let is_slow_start = callback.cwnd < callback.ssthresh;
    if !is_slow_start {
        return law.grow(cwnd, callback, callback.acked, false);
    }
    if law.has_own_slow_start() {
        let grown = law.grow(cwnd, callback, callback.acked, true);
        law.ends_slow_start();
        return grown;
    }
    let used = callback.acked.min(callback.ssthresh.saturating_sub(callback.cwnd));
    let left = callback.acked - used;
    let grown = cwnd + used as f64;
    if left > 0 { law.grow(grown, callback, left, false) } else { grown }
}
