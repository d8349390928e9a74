//! Juniper Junos.
//!
//! Sources: the configuration statements `buffer-size` (schedulers; its time is that of the
//! interface's speed, and its range depends on the platform), `drop-profiles` and `drop-probability`
//! (QFX: a straight line between two fill levels, and all packets above), and
//! `explicit-congestion-notification`; "Configuring CoS Tail Drop Profiles" for the form with `set`.
//! Fill levels are percent of the queue's buffer. Shared memory of QFX: the statements `shared-buffer`
//! (percent of the chip's memory) and `buffer-dynamic-threshold` (0 to 10); the tech post "QFX5K-Series
//! Switches Packet Buffer Architecture" has the table of the latter: 0 is alpha 1/128, 7 is 1, 10 is 8.

use super::queue::{Queue, Threshold};
use super::wred::Wred;
use super::{Device, Group, Lines, commands, groups, members};
use crate::port_setting::Taking;

pub(super) const DEVICE: Device = Device { key: "junos", title: "Juniper Junos", write };

/// `buffer-dynamic-threshold` of alpha 1, and the largest.
const OF_ALPHA_ONE: i32 = 7;
const LARGEST: i32 = 10;

fn write(ports: &[Taking]) -> Result<Lines, String> {
    let groups = groups(ports, Queue::of)?;
    let mut lines = Vec::new();
    for group in &groups {
        match &group.lines.shared {
            Some(shared) => lines.push(threshold(group, shared.threshold)?),
            None => lines.extend(own(group)?),
        }
    }
    for port in ports {
        port.leave("queue.drop_others", "the platform decides on packets without ECN");
    }
    let is_pool = groups.iter().any(|group| group.lines.shared.is_some());
    if is_pool {
        leave_in_pool(ports);
    }
    let mut notes: Vec<String> = members(&groups).into_iter().collect();
    if groups.iter().any(|group| group.lines.wred.is_some()) && !is_pool {
        notes.push(
            "fill levels are rounded down to whole percent, and the platform averages them and decides \
             whether packets without ECN are dropped before the buffer is full"
                .to_owned(),
        );
    }
    let purpose = if is_pool {
        "QFX switches"
    } else {
        "the range of the time depends on the platform; QFX switches have percent of the port's \
         buffer instead"
    };
    Ok(Lines { purpose: purpose.to_owned(), text: commands(&lines), notes })
}

fn leave_in_pool(ports: &[Taking]) {
    for port in ports {
        port.leave("pool.size", "shared-buffer has percent of the chip's memory");
        port.leave("reserved", "buffer-size has percent of the port's dedicated memory");
        for key in
            ["threshold", "k_min", "k_max", "p_max", "weight", "min_threshold", "max_threshold"]
        {
            port.leave(
                &format!("queue.{key}"),
                "fill levels are percent of the queue's buffer, which moves with the pool",
            );
        }
    }
}

fn scheduler(group: &Group<Queue>) -> String {
    format!("set class-of-service schedulers {}", group.named("tailroom"))
}

fn threshold(group: &Group<Queue>, threshold: Threshold) -> Result<String, String> {
    let Threshold::Dynamic(n) = threshold else {
        return Err("its queues have dynamic thresholds in shared memory".to_owned());
    };
    let value = n + OF_ALPHA_ONE;
    if !(0..=LARGEST).contains(&value) {
        return Err(format!("buffer-dynamic-threshold has alpha 1/128 to 8, and alpha is 2^{n}"));
    }
    Ok(format!("{} buffer-dynamic-threshold {value}", scheduler(group)))
}

fn own(group: &Group<Queue>) -> Result<Vec<String>, String> {
    let (queue, scheduler) = (&group.lines, scheduler(group));
    let us = queue.microseconds().ok_or("buffer-size has whole microseconds, too coarse here")?;
    let mut lines = vec![format!("{scheduler} buffer-size temporal {us}")];
    if let Some(wred) = &queue.wred {
        let name = group.named("tailroom");
        lines.push(profile(&name, queue, wred)?);
        lines.push(format!(
            "{scheduler} drop-profile-map loss-priority any protocol any drop-profile {name}"
        ));
        lines.push(format!("{scheduler} explicit-congestion-notification"));
    }
    Ok(lines)
}

fn profile(name: &str, queue: &Queue, wred: &Wred) -> Result<String, String> {
    let (low, high) = (queue.percent(wred.min_bytes), queue.percent(wred.max_bytes));
    if low == 0 || high > 100 {
        return Err("fill levels are 1 to 100 percent of the buffer".to_owned());
    }
    let profile = format!("set class-of-service drop-profiles {name}");
    if wred.is_step() {
        return Ok(format!("{profile} fill-level {low} drop-probability 100"));
    }
    if low == high {
        return Err("both thresholds are in the same percent of the buffer".to_owned());
    }
    let probabilities = format!("drop-probability 0 drop-probability {}", wred.percent);
    Ok(format!("{profile} interpolate fill-level {low} fill-level {high} {probabilities}"))
}
