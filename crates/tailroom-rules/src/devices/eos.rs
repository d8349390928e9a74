//! Arista EOS.
//!
//! Source: the collection arista.avd, `eos_cli_config_gen` (`uc_tx_queues`, `random_detect`), whose
//! documents show the lines and their ranges. The commands for tail drop depend on the platform
//! (Arista's notes "Configurable Voq Tail Drop Thresholds", "Temporal Tail Drop Thresholds").

use super::{Device, Lines, Queue, commands};

pub(super) const DEVICE: Device = Device { key: "eos", title: "Arista EOS", write, share: None };

/// Largest threshold in bytes.
const LARGEST_THRESHOLD: u64 = 256_000_000;

fn write(queue: &Queue) -> Result<Lines, String> {
    let Some(wred) = &queue.wred else {
        return Err("its commands for a tail drop depend on the platform".to_owned());
    };
    if wred.exponent != 0 {
        return Err("only weight 0, the queue itself, is documented: weight = 1".to_owned());
    }
    if wred.max_bytes > LARGEST_THRESHOLD {
        return Err(format!("random-detect has at most {LARGEST_THRESHOLD} bytes"));
    }
    let (min, max, percent) = (wred.min_bytes, wred.max_bytes, wred.percent);
    let thresholds = format!("minimum-threshold {min} bytes maximum-threshold {max} bytes");
    let ecn = format!("random-detect ecn {thresholds} max-mark-probability {percent} weight 0");
    let mut lines =
        vec!["interface PORT".to_owned(), "   tx-queue QUEUE".to_owned(), format!("      {ecn}")];
    if wred.drops_others {
        let drop = format!("random-detect drop {thresholds} drop-probability {percent} weight 0");
        lines.push(format!("      {drop}"));
    }
    let purpose = format!(
        "uc-tx-queue on some platforms; the limit of {} bytes has commands of the platform",
        queue.bytes
    );
    Ok(Lines { purpose, text: commands(&lines) })
}
