//! Configuration of a port in other tools: Linux tc, `OpenWrt`, ns-3, Mahimahi.
//!
//! Each queue discipline has lines of its own: a line for another discipline would remove the one
//! that was simulated. Each file names its sources.

mod mahimahi;
mod ns3;
mod openwrt;
mod tc;

use crate::bottleneck::Bottleneck;
use crate::port_setting::Equivalent;

/// The configuration of a port in other tools.
///
/// `DEV` stands for the network interface. A tool that cannot express the discipline with these
/// parameters has a sentence instead of a command, and never the command of another discipline.
pub fn equivalents(link: &Bottleneck) -> Vec<Equivalent> {
    if let Some(why) = why_none(&link.discipline) {
        let kind = &link.discipline;
        return vec![Equivalent::none(&format!("{kind} in tc, ns-3 and Mahimahi"), why)];
    }
    [
        Some(tc::write(link)),
        tc::write_testbed(link),
        openwrt::write(link),
        Some(ns3::write(link)),
        Some(mahimahi::write(link)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Why a discipline has no exact equivalent in any of the tools; none if it may have one.
fn why_none(discipline: &str) -> Option<&'static str> {
    Some(match discipline {
        "drop_tail" | "drop_head" | "codel" | "fq_codel" | "pie" | "fq_pie" | "cake" => {
            return None;
        }
        "red" | "adaptive_red" => {
            "Linux's red has no gentle mode and takes the weight as a power of two, Mahimahi has no \
             red, and RedQueueDisc of ns-3 has these parameters by other names"
        }
        "step_mark" => "their RED marks with a probability that grows between two thresholds",
        "wred" => "their RED takes an average, and spaces its marks",
        "random_drop" => "none of them drops a random packet of a full buffer",
        "dual_pi2" => {
            "dualpi2 of Linux 6.17 marks L4S packets at a step without a ramp, and none while fewer \
             than two packets wait"
        }
        "fair" => "Linux's sfq hashes flows into slots and has a limit per flow",
        _ => "none of them has this discipline",
    })
}

/// A duration as tc and ns-3 write it.
fn time(microseconds: u64) -> String {
    if microseconds.is_multiple_of(1000) {
        format!("{}ms", microseconds / 1000)
    } else {
        format!("{microseconds}us")
    }
}
