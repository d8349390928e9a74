//! Mahimahi: the usage message of mm-link, whose times are in milliseconds.

use crate::bottleneck::Bottleneck;
use crate::port_setting::{Amount, Equivalent, Taking};

const TOOL: &str = "Mahimahi";

pub(super) fn write(link: &Bottleneck) -> Equivalent {
    let port = Taking::of(link);
    port.leave("rate", "UPLINK and DOWNLINK stand for files with the times of each 1500 B");
    port.leave("delay", "mm-delay adds it");
    let (queue, arguments) = match queue(&port) {
        Ok(queue) => queue,
        Err(reason) => return Equivalent::none(TOOL, reason),
    };
    let options = format!("--uplink-queue={queue} --uplink-queue-args=\"{arguments}\"");
    let purpose = if queue == "codel" { "drops packets that ECN would mark" } else { "" };
    Equivalent {
        tool: TOOL.to_owned(),
        purpose: purpose.to_owned(),
        text: format!("mm-link UPLINK DOWNLINK {options}"),
        notes: Vec::new(),
        left_out: port.left_out(TOOL),
    }
}

fn queue(port: &Taking) -> Result<(&'static str, String), &'static str> {
    let limit = match port.amount("queue.limit") {
        Some(Amount::Packets(packets)) => format!("packets={packets}"),
        Some(Amount::Bytes(bytes)) => format!("bytes={bytes}"),
        None => return Err("there is no limit"),
    };
    match port.text("queue.kind").unwrap_or_default() {
        "drop_tail" => Ok(("droptail", limit)),
        "drop_head" => Ok(("drophead", limit)),
        "codel" => {
            let whole = |key| port.microseconds(key).filter(|us| us.is_multiple_of(1000));
            let (Some(target), Some(interval)) = (whole("queue.target"), whole("queue.interval"))
            else {
                return Err("it takes times in whole milliseconds");
            };
            Ok((
                "codel",
                format!("{limit}, target={}, interval={}", target / 1000, interval / 1000),
            ))
        }
        "pie" => Err("its pie has other steps and updates every 30 ms"),
        "fq_codel" => Err("it has no fq_codel"),
        "cake" => Err("it has no cake"),
        _ => Err("it has no fq_pie"),
    }
}
