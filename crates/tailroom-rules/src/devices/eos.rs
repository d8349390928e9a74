//! Arista EOS.
//!
//! Source: the collection arista.avd, `eos_cli_config_gen` (`uc_tx_queues`, `random_detect`, and
//! `platform.trident.mmu.queue_profiles` for shared memory), whose documents show the lines and their
//! ranges. The commands for tail drop depend on the platform (Arista's notes "Configurable Voq Tail Drop
//! Thresholds", "Temporal Tail Drop Thresholds").

use super::queue::{Queue, Shared, Threshold};
use super::wred::Wred;
use super::{Device, Group, Lines, commands, groups, members};
use crate::port_setting::Taking;

pub(super) const DEVICE: Device = Device { key: "eos", title: "Arista EOS", write };

/// Largest threshold of `random-detect` in bytes.
const LARGEST_THRESHOLD: u64 = 256_000_000;
/// Alphas of the chips: 1/64 to 8.
const EXPONENTS: std::ops::RangeInclusive<i32> = -6..=3;

fn write(ports: &[Taking]) -> Result<Lines, String> {
    let groups = groups(ports, Queue::of)?;
    let mut lines = Vec::new();
    let is_pool = groups.iter().any(|group| group.lines.shared.is_some());
    if is_pool {
        lines.push("platform trident mmu queue profile tailroom".to_owned());
    }
    for group in &groups {
        if let Some(shared) = &group.lines.shared {
            lines.extend(of_pool(group, shared)?);
        }
    }
    if is_pool {
        lines.push("platform trident mmu queue profile tailroom apply".to_owned());
    }
    for group in &groups {
        match &group.lines.wred {
            Some(wred) => lines.extend(random_detect(group, wred)?),
            None if group.lines.shared.is_some() => {}
            None => return Err("its commands for a tail drop depend on the platform".to_owned()),
        }
    }
    for port in ports {
        port.leave("pool.size", "the size of the memory is the chip's");
        if !is_pool {
            port.leave("queue.limit", "the commands for the limit depend on the platform");
        }
    }
    Ok(Lines {
        purpose: "uc-tx-queue on some platforms".to_owned(),
        text: commands(&lines),
        notes: members(&groups).into_iter().collect(),
    })
}

fn of_pool(group: &Group<Queue>, shared: &Shared) -> Result<[String; 2], String> {
    let Threshold::Dynamic(n) = shared.threshold else {
        return Err("its queue profiles have dynamic thresholds".to_owned());
    };
    if !EXPONENTS.contains(&n) {
        return Err(format!("its thresholds are 1/64 to 8, and alpha is 2^{n}"));
    }
    let alpha = if n < 0 { format!("1/{}", 1 << -n) } else { (1 << n).to_string() };
    let queue = format!("   egress unicast queue {}", group.named("QUEUE"));
    Ok([
        format!("{queue} reserved bytes {}", shared.reserved_bytes),
        format!("{queue} threshold {alpha}"),
    ])
}

fn random_detect(group: &Group<Queue>, wred: &Wred) -> Result<Vec<String>, String> {
    if wred.exponent != 0 {
        return Err("only weight 0, the queue itself, is documented: weight = 1".to_owned());
    }
    if wred.max_bytes > LARGEST_THRESHOLD {
        return Err(format!("random-detect has at most {LARGEST_THRESHOLD} bytes"));
    }
    let (min, max, percent) = (wred.min_bytes, wred.max_bytes, wred.percent);
    let thresholds = format!("minimum-threshold {min} bytes maximum-threshold {max} bytes");
    let ecn = format!("random-detect ecn {thresholds} max-mark-probability {percent} weight 0");
    let mut lines = vec![
        format!("interface {}", group.named("PORT")),
        format!("   tx-queue {}", group.named("QUEUE")),
        format!("      {ecn}"),
    ];
    if wred.drops_others {
        let drop = format!("random-detect drop {thresholds} drop-probability {percent} weight 0");
        lines.push(format!("      {drop}"));
    }
    Ok(lines)
}
