//! ns-3.
//!
//! Sources: the attributes of its queue discs, of `DropTailQueue`, `PointToPointNetDevice` and
//! `PointToPointChannel`; `TbfQueueDisc::CheckConfig`, which takes one child. `Ipv4AddressHelper::Assign`
//! installs `FqCoDel` on every device without a queue disc (ns-3 manual, "Queue disciplines", Usage).
//! `FqCoDel` queues up to 10240 packets while the queue of the device is full, so that queue is the only
//! buffer only after `FqCoDel` has been removed.

use crate::bottleneck::Bottleneck;
use crate::general_format::general;
use crate::port_setting::{Amount, Equivalent, Taking};

use super::time;

const TOOL: &str = "ns-3";

pub(super) fn write(link: &Bottleneck) -> Equivalent {
    let port = Taking::of(link);
    let rate = port.bits_per_second("rate").unwrap_or_default();
    let delay = port.picoseconds("delay").unwrap_or_default();
    let mut lines = vec![
        format!(
            "pointToPoint.SetDeviceAttribute(\"DataRate\", {});",
            string(&format!("{rate}bps"))
        ),
        format!("pointToPoint.SetChannelAttribute(\"Delay\", {});", string(&format!("{delay}ps"))),
    ];
    let is_plain = link.discipline == "drop_tail" && !port.has("shaper.rate");
    let (queue, purpose) = if is_plain {
        port.value("queue.kind");
        (
            size(&port),
            "the third line before Install, the last after Assign, which installs FqCoDel",
        )
    } else {
        ("1p".to_owned(), "before Assign, in place of the FqCoDel that it installs")
    };
    // Behind a queue disc, the device holds one packet, the least.
    lines.push(format!(
        "pointToPoint.SetQueue(\"ns3::DropTailQueue<Packet>\", \"MaxSize\", {});",
        string(&queue)
    ));
    if is_plain {
        lines.push("TrafficControlHelper().Uninstall(devices);".to_owned());
    } else {
        match disc(&port) {
            Ok(disc) => lines.extend(install(&port, &disc)),
            Err(reason) => return Equivalent::none(TOOL, &reason),
        }
    }
    Equivalent {
        tool: TOOL.to_owned(),
        purpose: purpose.to_owned(),
        text: lines.join("\n"),
        notes: Vec::new(),
        left_out: port.left_out(TOOL),
    }
}

/// A queue disc, and a statement for what is no attribute of it.
struct Disc {
    kind: &'static str,
    attributes: Vec<(&'static str, String)>,
    after: String,
}

fn disc(port: &Taking) -> Result<Disc, String> {
    let kind = port.text("queue.kind").unwrap_or_default();
    let limit = ("MaxSize", string(&size(port)));
    match kind {
        "drop_tail" => Ok(Disc { kind: "Fifo", attributes: vec![limit], after: String::new() }),
        "codel" => {
            let mut attributes = vec![limit];
            attributes.extend(codel_times(port)?);
            Ok(Disc { kind: "CoDel", attributes, after: String::new() })
        }
        "fq_codel" => {
            if !matches!(port.amount("queue.limit"), Some(Amount::Packets(_))) {
                return Err("its FqCoDelQueueDisc counts packets, and the limit is in bytes".into());
            }
            let mut attributes = vec![limit];
            attributes.extend(codel_times(port)?);
            attributes.push(("Flows", format!("UintegerValue({})", port.whole("queue.flows"))));
            let set_quantum = |quantum| {
                format!("DynamicCast<FqCoDelQueueDisc>(discs.Get(0))->SetQuantum({quantum});")
            };
            let after = port.bytes("queue.quantum").map_or_else(String::new, set_quantum);
            Ok(Disc { kind: "FqCoDel", attributes, after })
        }
        "pie" => Ok(Disc { kind: "Pie", attributes: pie(port, limit)?, after: String::new() }),
        "cake" => Err("it has no CAKE".into()),
        "fq_pie" => Err("its full FqPieQueueDisc drops from the longest queue".into()),
        _ => Err("it has no queue that drops from the head".into()),
    }
}

/// The disc as root, or as the child of a token bucket.
fn install(port: &Taking, disc: &Disc) -> Vec<String> {
    let Disc { kind, attributes, after } = disc;
    let own = arguments(&format!("{kind}QueueDisc"), attributes);
    let mut lines = vec!["TrafficControlHelper control;".to_owned()];
    match bucket(port) {
        None => lines.push(format!("control.SetRootQueueDisc({own});")),
        Some(bucket) => {
            let bucket = arguments("TbfQueueDisc", &bucket);
            lines.push(format!("uint16_t handle = control.SetRootQueueDisc({bucket});"));
            lines.push(
                "auto classes = control.AddQueueDiscClasses(handle, 1, \"ns3::QueueDiscClass\");"
                    .to_owned(),
            );
            lines.push(format!("control.AddChildQueueDisc(handle, classes[0], {own});"));
        }
    }
    lines.push("QueueDiscContainer discs = control.Install(devices);".to_owned());
    if !after.is_empty() {
        let root = "discs.Get(0)";
        let child = "discs.Get(0)->GetQueueDiscClass(0)->GetQueueDisc()";
        let is_child = port.has("shaper.rate");
        lines.push(if is_child { after.replace(root, child) } else { after.clone() });
    }
    lines
}

fn bucket(port: &Taking) -> Option<Vec<(&'static str, String)>> {
    let rate = port.bits_per_second("shaper.rate")?;
    let data_rate = |bps: u64| format!("DataRateValue(DataRate({bps}))");
    let mut attributes = vec![
        ("Burst", format!("UintegerValue({})", port.bytes("shaper.burst")?)),
        ("Rate", data_rate(rate)),
    ];
    if let Some(peak) = port.bits_per_second("shaper.peak_rate") {
        let largest = port.link.packet_sizes_bytes.last().copied().unwrap_or(1500);
        attributes.push(("Mtu", format!("UintegerValue({largest})")));
        attributes.push(("PeakRate", data_rate(peak)));
    }
    Some(attributes)
}

fn arguments(disc: &str, attributes: &[(&str, String)]) -> String {
    let pairs = attributes.iter().map(|(name, value)| format!(", \"{name}\", {value}"));
    format!("\"ns3::{disc}\"{}", pairs.collect::<String>())
}

fn codel_times(port: &Taking) -> Result<Vec<(&'static str, String)>, String> {
    let _ = port.text("queue.variant"); // it computes as Linux does
    Ok(vec![
        ("Target", duration(port, "queue.target")?),
        ("Interval", duration(port, "queue.interval")?),
        ("UseEcn", "BooleanValue(true)".to_owned()),
    ])
}

fn pie(
    port: &Taking,
    limit: (&'static str, String),
) -> Result<Vec<(&'static str, String)>, String> {
    let double = |key: &str| format!("DoubleValue({})", general(port.number(key), 6));
    let derandomizes = port.flag("queue.derandomize");
    Ok(vec![
        limit,
        ("QueueDelayReference", duration(port, "queue.target")?),
        ("Tupdate", duration(port, "queue.update_interval")?),
        ("A", double("queue.alpha")),
        ("B", double("queue.beta")),
        ("MaxBurstAllowance", duration(port, "queue.max_burst")?),
        ("MeanPktSize", format!("UintegerValue({})", port.link.packet_bytes.ceil())),
        ("UseEcn", "BooleanValue(true)".to_owned()),
        ("MarkEcnThreshold", double("queue.mark_up_to")),
        ("UseDerandomization", format!("BooleanValue({derandomizes})")),
    ])
}

fn duration(port: &Taking, key: &str) -> Result<String, String> {
    let us = port.microseconds(key).ok_or("the times are not whole microseconds")?;
    Ok(string(&time(us)))
}

/// The limit as ns-3 writes the size of a queue.
fn size(port: &Taking) -> String {
    match port.amount("queue.limit") {
        Some(Amount::Bytes(bytes)) => format!("{bytes}B"),
        Some(Amount::Packets(packets)) => format!("{packets}p"),
        None => String::new(),
    }
}

fn string(text: &str) -> String {
    format!("StringValue(\"{text}\")")
}
