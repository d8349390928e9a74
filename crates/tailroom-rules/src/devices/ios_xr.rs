//! Cisco IOS XR.
//!
//! Source: "Modular QoS Command Reference for Cisco NCS 5500 Series and Cisco NCS 540 Series
//! Routers", `queue-limit` and `random-detect`. The unit `packets` means 256 bytes, so that amounts
//! are in bytes. Other classes than `class-default` need a share of the bandwidth too. The command
//! that marks is not in that reference.

use super::wred::Wred;
use super::{Device, Lines, Queue, commands};

pub(super) const DEVICE: Device =
    Device { key: "iosxr", title: "Cisco IOS XR", write, share: None };

/// Largest `queue-limit` in bytes.
const LARGEST_LIMIT: u64 = 4_294_967_295;
/// Largest threshold of `random-detect` in bytes.
const LARGEST_THRESHOLD: u64 = 1_073_741_823;

fn write(queue: &Queue) -> Result<Lines, String> {
    if queue.bytes > LARGEST_LIMIT {
        return Err(format!("queue-limit has at most {LARGEST_LIMIT} bytes"));
    }
    let mut lines = vec![
        "policy-map tailroom".to_owned(),
        " class class-default".to_owned(),
        format!("  queue-limit {} bytes", queue.bytes),
    ];
    let mut purpose = "the policy of the port's output".to_owned();
    if let Some(Wred { min_bytes, max_bytes, .. }) = queue.wred {
        if max_bytes > LARGEST_THRESHOLD {
            return Err(format!("random-detect has at most {LARGEST_THRESHOLD} bytes"));
        }
        lines.push(format!("  random-detect {min_bytes} bytes {max_bytes} bytes"));
        purpose += "; drops packets that ECN would mark, with the platform's own average and \
                    probability between the thresholds";
    }
    Ok(Lines { purpose, text: commands(&lines) })
}
