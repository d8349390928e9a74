//! Cisco IOS XR.
//!
//! Source: "Modular QoS Command Reference for Cisco NCS 5500 Series and Cisco NCS 540 Series
//! Routers", `queue-limit` and `random-detect`. The unit `packets` means 256 bytes, so that amounts
//! are in bytes. Other classes than `class-default` need a share of the bandwidth too. The command
//! that marks is not in that reference.

use super::queue::Queue;
use super::wred::Wred;
use super::{Device, Group, Lines, commands, groups, members, no_pool};
use crate::port_setting::Taking;

pub(super) const DEVICE: Device = Device { key: "iosxr", title: "Cisco IOS XR", write };

/// Largest `queue-limit` in bytes.
const LARGEST_LIMIT: u64 = 4_294_967_295;
/// Largest threshold of `random-detect` in bytes.
const LARGEST_THRESHOLD: u64 = 1_073_741_823;

fn write(ports: &[Taking]) -> Result<Lines, String> {
    let groups = groups(ports, Queue::of)?;
    let mut lines = Vec::new();
    for group in &groups {
        lines.extend(policy(group)?);
    }
    for port in ports {
        port.leave("queue.drop_others", "random-detect drops packets");
        for key in ["p_max", "max_p", "weight"] {
            port.leave(
                &format!("queue.{key}"),
                "the platform has its own average and probability between the thresholds",
            );
        }
    }
    let drops = groups.iter().any(|group| group.lines.wred.is_some());
    let mut notes: Vec<String> = members(&groups).into_iter().collect();
    notes.extend(drops.then(|| "drops packets that ECN would mark".to_owned()));
    Ok(Lines {
        purpose: "the policy of the port's output".to_owned(),
        text: commands(&lines),
        notes,
    })
}

fn policy(group: &Group<Queue>) -> Result<Vec<String>, String> {
    let queue = &group.lines;
    no_pool(queue)?;
    if queue.bytes > LARGEST_LIMIT {
        return Err(format!("queue-limit has at most {LARGEST_LIMIT} bytes"));
    }
    let mut lines = vec![
        format!("policy-map {}", group.named("tailroom")),
        " class class-default".to_owned(),
        format!("  queue-limit {} bytes", queue.bytes),
    ];
    if let Some(Wred { min_bytes, max_bytes, .. }) = queue.wred {
        if max_bytes > LARGEST_THRESHOLD {
            return Err(format!("random-detect has at most {LARGEST_THRESHOLD} bytes"));
        }
        lines.push(format!("  random-detect {min_bytes} bytes {max_bytes} bytes"));
    }
    Ok(lines)
}
