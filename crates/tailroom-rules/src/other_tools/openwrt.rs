//! `OpenWrt`: `/etc/config/sqm` of sqm-scripts.
//!
//! Sources: `run-openwrt.sh` (the options), `simplest_tbf.qos` (tbf with one discipline as its child, the
//! direction with 0 kbit/s untouched) and `defaults.sh` (a burst of 1 ms) of
//! <https://github.com/tohojo/sqm-scripts>.

use crate::bottleneck::Bottleneck;
use crate::port_setting::{Amount, Equivalent, Taking};

use super::time;

const TOOL: &str = "OpenWrt";

/// The shaper of an upload with `FQ-CoDel`; none for another port.
pub(super) fn write(link: &Bottleneck) -> Option<Equivalent> {
    let port = Taking::of(link);
    if port.text("queue.kind") != Some("fq_codel") {
        return None;
    }
    let kbps = port.bits_per_second("shaper.rate")? / 1000;
    let (target, interval) =
        (port.microseconds("queue.target")?, port.microseconds("queue.interval")?);
    let mut options = vec![
        ("enabled", "1".to_owned()),
        ("interface", "DEV".to_owned()),
        ("upload", kbps.to_string()),
        ("download", "0".to_owned()),
        ("qdisc", "fq_codel".to_owned()),
        ("script", "simplest_tbf.qos".to_owned()),
        ("etarget", time(target)),
    ];
    if let Some(Amount::Packets(packets)) = port.amount("queue.limit") {
        options.push(("elimit", packets.to_string()));
    } else {
        port.leave("queue.limit", "fq_codel counts packets, and the limit is in bytes");
    }
    let flows = port.whole("queue.flows");
    let quantum =
        port.bytes("queue.quantum").map_or(String::new(), |one| format!(" quantum {one}"));
    options.push(("eqdisc_opts", format!("interval {} flows {flows}{quantum}", time(interval))));
    let _ = port.text("queue.variant"); // Linux has its own
    let (rate, delay) = (port.text("rate").unwrap_or_default(), port.text("delay"));
    let delay = delay.unwrap_or_default();
    port.leave("shaper.burst", "SQM has what the rate sends in 1 ms");
    port.leave("shaper.granularity", "the kernel's timer ends a wait when the tokens are there");
    let lines: Vec<String> =
        options.iter().map(|(name, value)| format!("    option {name} '{value}'")).collect();
    Some(Equivalent {
        tool: TOOL.to_owned(),
        purpose: "/etc/config/sqm, DEV is the port to the modem; then /etc/init.d/sqm restart"
            .to_owned(),
        text: format!("config queue\n{}", lines.join("\n")),
        notes: vec!["a download of 0 is not shaped: its rate is a question of its own".to_owned()],
        left_out: port.left_out(TOOL),
    })
}
