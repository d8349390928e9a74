//! Nokia SR OS, classic CLI.
//!
//! Sources: "7450 ESS, 7750 SR, 7950 XRS Quality of Service Guide": `cbs` (kilobytes), `mbs` (bytes
//! or kilobytes) and `wred-queue` of `sap-egress`, "Slope Policies", and "Tuning the SBAU
//! Calculation" (with a time average factor of n, a new sample counts 2^-n). The slopes of a queue
//! with a pool of its own are percent of its `mbs`.

use super::queue::Queue;
use super::wred::Wred;
use super::{Device, Group, Lines, commands, groups, members, no_pool};
use crate::port_setting::Taking;

pub(super) const DEVICE: Device = Device { key: "sros", title: "Nokia SR OS (classic CLI)", write };

fn write(ports: &[Taking]) -> Result<Lines, String> {
    let groups = groups(ports, Queue::of)?;
    let mut lines = vec!["configure qos".to_owned()];
    for group in &groups {
        no_pool(&group.lines)?;
        lines.extend(policies(group)?);
    }
    for port in ports {
        port.leave("queue.drop_others", "its slopes drop packets");
    }
    let mut notes: Vec<String> = members(&groups).into_iter().collect();
    if groups.iter().any(|group| group.lines.wred.is_some()) {
        notes.push(
            "drops packets that ECN would mark, at whole percent of mbs, rounded down".to_owned(),
        );
    }
    Ok(Lines { purpose: "the card takes whole buffers".to_owned(), text: commands(&lines), notes })
}

fn policies(group: &Group<Queue>) -> Result<Vec<String>, String> {
    let (queue, mut lines) = (&group.lines, Vec::new());
    if let Some(wred) = &queue.wred {
        lines.extend(slope_policy(group, wred)?);
    }
    lines.push(format!("    sap-egress {} create", group.named("POLICY")));
    lines.push("        queue QUEUE create".to_owned());
    if queue.wred.is_some() {
        lines.push(format!(
            "{SETTING}wred-queue policy \"{}\" mode pool-per-queue slope-usage default",
            group.named("tailroom")
        ));
    }
    // The reserve must not exceed the limit.
    lines.push(format!("{SETTING}mbs {} bytes", queue.bytes));
    lines.push(format!("{SETTING}cbs {}", queue.bytes / 1000));
    Ok(lines)
}

/// Indentation of the settings of a queue, and of a slope.
const SETTING: &str = "            ";

/// In- and out-of-profile packets and those that exceed have the same slope.
fn slope_policy(group: &Group<Queue>, wred: &Wred) -> Result<Vec<String>, String> {
    let queue = &group.lines;
    let (start, max) = (queue.percent(wred.min_bytes), queue.percent(wred.max_bytes));
    if max > 100 {
        return Err("slopes end at 100 percent of mbs".to_owned());
    }
    if start == max && !wred.is_step() {
        return Err("both thresholds are in the same percent of mbs".to_owned());
    }
    let mut lines = vec![format!("    slope-policy \"{}\" create", group.named("tailroom"))];
    for slope in ["high-slope", "low-slope", "exceed-slope"] {
        lines.push(format!("        {slope}"));
        // The start must at no time be above the end, whatever the defaults are.
        lines.push(format!("{SETTING}max-avg 100"));
        lines.push(format!("{SETTING}start-avg {start}"));
        lines.push(format!("{SETTING}max-avg {max}"));
        lines.push(format!("{SETTING}max-prob {}", wred.percent));
        lines.push(format!("{SETTING}no shutdown"));
        lines.push("        exit".to_owned());
    }
    lines.push(format!("        time-average-factor {}", wred.exponent));
    lines.push("    exit".to_owned());
    Ok(lines)
}
