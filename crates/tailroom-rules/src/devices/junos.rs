//! Juniper Junos.
//!
//! Sources: the configuration statements `buffer-size` (schedulers; its time is that of the
//! interface's speed, and its range depends on the platform), `drop-profiles` and `drop-probability`
//! (QFX: a straight line between two fill levels, and all packets above), and
//! `explicit-congestion-notification`; "Configuring CoS Tail Drop Profiles" for the form with `set`.
//! Fill levels are percent of the queue's buffer.

use super::wred::Wred;
use super::{Device, Lines, Queue, commands};

pub(super) const DEVICE: Device =
    Device { key: "junos", title: "Juniper Junos", write, share: None };

const SCHEDULER: &str = "set class-of-service schedulers tailroom";

const TIME: &str = "the range of the time depends on the platform; QFX switches have percent of the \
                    port's buffer instead";

fn write(queue: &Queue) -> Result<Lines, String> {
    let us = queue.microseconds().ok_or("buffer-size has whole microseconds, too coarse here")?;
    let mut lines = vec![format!("{SCHEDULER} buffer-size temporal {us}")];
    let mut purpose = TIME.to_owned();
    if let Some(wred) = &queue.wred {
        lines.push(profile(queue, wred)?);
        lines.push(format!(
            "{SCHEDULER} drop-profile-map loss-priority any protocol any drop-profile tailroom"
        ));
        lines.push(format!("{SCHEDULER} explicit-congestion-notification"));
        purpose += "; fill levels are rounded down to whole percent, and the platform averages them \
                    and decides whether packets without ECN are dropped before the buffer is full";
    }
    Ok(Lines { purpose, text: commands(&lines) })
}

fn profile(queue: &Queue, wred: &Wred) -> Result<String, String> {
    let (low, high) = (queue.percent(wred.min_bytes), queue.percent(wred.max_bytes));
    if low == 0 || high > 100 {
        return Err("fill levels are 1 to 100 percent of the buffer".to_owned());
    }
    let profile = "set class-of-service drop-profiles tailroom";
    if wred.is_step() {
        return Ok(format!("{profile} fill-level {low} drop-probability 100"));
    }
    if low == high {
        return Err("both thresholds are in the same percent of the buffer".to_owned());
    }
    let probabilities = format!("drop-probability 0 drop-probability {}", wred.percent);
    Ok(format!("{profile} interpolate fill-level {low} fill-level {high} {probabilities}"))
}
