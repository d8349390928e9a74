//! `OpenWrt`: `/etc/config/sqm` of sqm-scripts.
//!
//! Sources: `run-openwrt.sh` (the options), `simplest_tbf.qos` (tbf with one discipline as its child, the
//! direction with 0 kbit/s untouched), `piece_of_cake.qos` (cake alone, besteffort), `layer_cake.qos` (cake with
//! diffserv) and `defaults.sh` (a burst of 1 ms) of <https://github.com/tohojo/sqm-scripts>.

use crate::bottleneck::Bottleneck;
use crate::port_setting::{Amount, Equivalent, Taking};

use super::{tc, time};

const TOOL: &str = "OpenWrt";

/// The shaper of an upload with FQ-CoDel, or CAKE with a rate; none for another port.
pub(super) fn write(link: &Bottleneck) -> Option<Equivalent> {
    let port = Taking::of(link);
    let (kbps, own) = match port.text("queue.kind")? {
        "fq_codel" => (port.bits_per_second("shaper.rate")? / 1000, fq_codel(&port)?),
        "cake" => (port.bits_per_second("queue.rate")? / 1000, cake(&port)?),
        _ => return None,
    };
    let mut options = vec![
        ("enabled", "1".to_owned()),
        ("interface", "DEV".to_owned()),
        ("upload", kbps.to_string()),
        ("download", "0".to_owned()),
    ];
    options.extend(own);
    let (rate, delay) = (port.text("rate").unwrap_or_default(), port.text("delay"));
    let delay = delay.unwrap_or_default();
    let lines: Vec<String> =
        options.iter().map(|(name, value)| format!("    option {name} '{value}'")).collect();
    Some(Equivalent {
        tool: TOOL.to_owned(),
        purpose: format!(
            "/etc/config/sqm, where DEV is the port of {rate} to the modem (delay {delay}); then \
             /etc/init.d/sqm restart"
        ),
        text: format!("config queue\n{}", lines.join("\n")),
        notes: vec![
            "download 0 shapes nothing: ask for the rate of that direction with --link".to_owned(),
        ],
        left_out: port.left_out(TOOL),
    })
}

type Options = Vec<(&'static str, String)>;

fn fq_codel(port: &Taking) -> Option<Options> {
    let target = port.microseconds("queue.target")?;
    let interval = port.microseconds("queue.interval")?;
    let mut options = vec![
        ("qdisc", "fq_codel".to_owned()),
        ("script", "simplest_tbf.qos".to_owned()),
        ("etarget", time(target)),
    ];
    if let Some(Amount::Packets(packets)) = port.amount("queue.limit") {
        options.push(("elimit", packets.to_string()));
    } else {
        port.leave("queue.limit", "fq_codel counts packets, and the limit is in bytes");
    }
    let rest = tc::flows_and_quantum(port);
    options.push(("eqdisc_opts", format!("interval {} {rest}", time(interval))));
    let _ = port.text("queue.variant"); // Linux has its own
    port.leave("shaper.burst", "SQM has what the rate sends in 1 ms");
    port.leave("shaper.granularity", "the kernel's timer ends a wait when the tokens are there");
    Some(options)
}

fn cake(port: &Taking) -> Option<Options> {
    let is_flat = port.text("queue.diffserv") == Some("besteffort");
    let script = if is_flat { "piece_of_cake.qos" } else { "layer_cake.qos" };
    // After the bandwidth, which SQM writes.
    let line = tc::cake(port).ok()?;
    let rest = line.splitn(4, ' ').nth(3)?.to_owned();
    Some(vec![("qdisc", "cake".to_owned()), ("script", script.to_owned()), ("eqdisc_opts", rest)])
}
