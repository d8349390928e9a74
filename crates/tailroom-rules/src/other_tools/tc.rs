//! Linux tc.
//!
//! Sources: the manual pages of iproute2 (tc-tbf(8), tc-police(8), tc-codel(8), tc-fq_codel(8),
//! tc-pie(8), tc-fq_pie(8), tc-cake(8), tc-netem(8)); `sch_tbf.c`, in which a child takes the place of tbf's own
//! bfifo and `limit` no longer counts; `calculate_probability` in `sch_pie.c`.

use std::fmt::Write;

use crate::bottleneck::Bottleneck;
use crate::port_setting::{Amount, Equivalent, Taking, whole};

use super::time;

/// Linux's pie and `fq_pie` take alpha and beta as whole numbers from 0 to 32, in sixteenths of 1/s
/// (`sch_pie.c`: "we use values 0-32 passed from user space to represent" 0 to 2).
const GAINS_PER_HZ: f64 = 16.0;
const LARGEST_GAIN: f64 = 32.0;
/// Burst allowance of Linux's pie and `fq_pie`, which is not an option (`sch_pie.c`).
const MAX_BURST_US: u64 = 150_000;
/// Probability up to which Linux's pie marks, which is not an option (tc-pie(8), "ALGORITHM").
const PIE_MARK_UP_TO: f64 = 0.1;

/// The limit of `cake` that never binds before its memory.
const CAKE_LIMIT_BYTES: u64 = 15_360_000;

/// tbf refuses to start without `limit` or `latency` (tc-tbf(8)).
const OWN_LIMIT: &str =
    "the limit of tbf has no effect, as the discipline below takes its queue's place";

const TOOL: &str = "tc";
const REPLACE: &str = "tc qdisc replace dev DEV";

/// The shaper as root with the discipline as its child, or the discipline as root; the policer before it.
pub(super) fn write(link: &Bottleneck) -> Equivalent {
    let port = Taking::of(link);
    let discipline = match discipline(&port) {
        Ok(discipline) => discipline,
        Err(reason) => return Equivalent::none(TOOL, &reason),
    };
    let (mut lines, mut notes) = (policer(&port), Vec::new());
    match shaper(&port) {
        Some(tbf) => {
            lines.push(format!("{REPLACE} root handle 1: {tbf}"));
            lines.push(format!("{REPLACE} parent 1:1 handle 10: {discipline}"));
            notes.push(OWN_LIMIT.to_owned());
        }
        None => lines.push(format!("{REPLACE} root {discipline}")),
    }
    let (rate, delay) = (port.text("rate").unwrap_or_default(), port.text("delay"));
    let delay = delay.unwrap_or_default();
    Equivalent {
        tool: TOOL.to_owned(),
        purpose: format!("on the router's own port of {rate}, whose line has a delay of {delay}"),
        text: lines.join("\n"),
        notes,
        left_out: port.left_out(TOOL),
    }
}

fn shaper(port: &Taking) -> Option<String> {
    let rate = port.bits_per_second("shaper.rate")?;
    let burst = port.bytes("shaper.burst")?;
    let limit = port.amount_bytes_of_limit();
    // Writing to a string cannot fail.
    let mut options = format!("tbf rate {rate}bit burst {burst} limit {limit}");
    if let Some(peak) = port.bits_per_second("shaper.peak_rate") {
        let largest = port.link.packet_sizes_bytes.last().copied().unwrap_or(1500);
        let _ = write!(options, " peakrate {peak}bit mtu {largest}");
    }
    if let Some(bytes) = port.bytes("shaper.overhead") {
        let _ = write!(options, " overhead {bytes}");
    }
    match port.text("shaper.cells") {
        Some("atm") => options += " linklayer atm",
        Some(_) => port.leave("shaper.cells", "tbf knows the cells of ATM only; cake has ptm"),
        None => {}
    }
    port.leave("shaper.granularity", "the kernel's timer ends a wait when the tokens are there");
    Some(options)
}

fn policer(port: &Taking) -> Vec<String> {
    let bucket = (port.bits_per_second("policer.rate"), port.bytes("policer.burst"));
    let (Some(rate), Some(burst)) = bucket else { return Vec::new() };
    let police = format!("action police rate {rate}bit burst {burst} conform-exceed drop");
    vec![
        format!("{REPLACE} clsact"),
        format!("tc filter replace dev DEV egress protocol all pref 1 matchall {police}"),
    ]
}

/// The discipline with its options.
fn discipline(port: &Taking) -> Result<String, String> {
    let kind = port.text("queue.kind").unwrap_or_default();
    match (kind, port.amount("queue.limit")) {
        ("drop_tail", Some(Amount::Packets(packets))) => Ok(format!("pfifo limit {packets}")),
        ("drop_tail", Some(Amount::Bytes(bytes))) => Ok(format!("bfifo limit {bytes}")),
        ("drop_head", Some(Amount::Packets(packets))) => {
            Ok(format!("pfifo_head_drop limit {packets}"))
        }
        ("drop_head", _) => Err("pfifo_head_drop counts packets, and the limit is in bytes".into()),
        ("codel", _) => Ok(format!("codel {}{} ecn", limit(port), codel_times(port)?)),
        ("fq_codel", _) => {
            let times = codel_times(port)?;
            Ok(format!("fq_codel {}{times} {} ecn", limit(port), flows_and_quantum(port)))
        }
        ("cake", _) => cake(port),
        ("pie", _) => pie(port),
        _ => fq_pie(port),
    }
}

/// The option `limit`, which these disciplines take in packets.
fn limit(port: &Taking) -> String {
    if let Some(Amount::Packets(packets)) = port.amount("queue.limit") {
        return format!("limit {packets} ");
    }
    port.leave("queue.limit", "this discipline of Linux counts packets, and the limit is in bytes");
    String::new()
}

fn codel_times(port: &Taking) -> Result<String, String> {
    let _ = port.text("queue.variant"); // Linux has its own
    let times = (port.microseconds("queue.target"), port.microseconds("queue.interval"));
    let (Some(target), Some(interval)) = times else {
        return Err("tc takes times in whole microseconds".to_owned());
    };
    Ok(format!("target {} interval {}", time(target), time(interval)))
}

pub(super) fn flows_and_quantum(port: &Taking) -> String {
    format!("flows {}{}", port.whole("queue.flows"), quantum(port))
}

/// The option `quantum`, whose default is the largest packet of the interface.
fn quantum(port: &Taking) -> String {
    port.bytes("queue.quantum").map_or_else(String::new, |quantum| format!(" quantum {quantum}"))
}

/// Every option is written, also a default: what the kernel's own would be may depend on its version.
pub(super) fn cake(port: &Taking) -> Result<String, String> {
    let rtt = port.microseconds("queue.rtt").filter(|&us| us > 0);
    let rtt = rtt.ok_or("tc takes times in whole microseconds")?;
    let mut options = match port.bits_per_second("queue.rate") {
        Some(rate) => format!("cake bandwidth {rate}bit"),
        None => "cake unlimited".to_owned(),
    };
    if port.flag("queue.autorate_ingress") {
        options += " autorate-ingress";
    }
    for key in ["queue.diffserv", "queue.isolation"] {
        let _ = write!(options, " {}", port.text(key).unwrap_or_default());
    }
    let _ = write!(options, " nonat nowash no-ack-filter split-gso rtt {}", time(rtt));
    let framing = ["queue.overhead", "queue.mpu", "queue.cells"].map(|key| port.has(key));
    options += match port.text("queue.framing") {
        Some(keyword) => format!(" {keyword}"),
        None if framing.contains(&true) => {
            let bytes = |key| port.bytes(key).unwrap_or(0);
            let cells = port.text("queue.cells").unwrap_or("noatm");
            let (overhead, mpu) = (bytes("queue.overhead"), bytes("queue.mpu"));
            format!(" {cells} overhead {overhead} mpu {mpu}")
        }
        None => " raw".to_owned(),
    }
    .as_str();
    options += if port.flag("queue.ingress") { " ingress" } else { " egress" };
    if let Some(memory) = port.bytes("queue.memlimit") {
        let _ = write!(options, " memlimit {memory}");
    }
    if port.amount("queue.limit") != Some(Amount::Bytes(CAKE_LIMIT_BYTES)) {
        port.leave("queue.limit", "Linux's cake has memlimit alone");
    }
    Ok(options)
}

fn pie(port: &Taking) -> Result<String, String> {
    let is_linux = port.number("queue.mark_up_to").total_cmp(&PIE_MARK_UP_TO).is_eq();
    let options = linux_pie(port).filter(|_| is_linux).ok_or(
        "its pie has max_burst 150 ms, mark_up_to 0.1, derandomize true, times in whole microseconds, \
         and alpha and beta up to 2 in sixteenths",
    )?;
    let LinuxPie { times, gains } = options;
    Ok(format!("pie {}{times} {gains} ecn", limit(port)))
}

fn fq_pie(port: &Taking) -> Result<String, String> {
    let percent = 100.0 * port.number("queue.mark_up_to");
    let whole_percent = percent.round_ties_even();
    let is_whole = (percent - whole_percent).abs() < 1e-9;
    let options = linux_pie(port).filter(|_| is_whole).ok_or(
        "its fq_pie has max_burst 150 ms, derandomize true, mark_up_to in whole percent, times in \
         whole microseconds, and alpha and beta up to 2 in sixteenths",
    )?;
    let LinuxPie { times, gains } = options;
    Ok(format!(
        "fq_pie {}flows {} {times} {gains}{} ecn_prob {whole_percent} ecn",
        limit(port),
        port.whole("queue.flows"),
        quantum(port),
    ))
}

/// Options of Linux's pie and `fq_pie`.
struct LinuxPie {
    times: String,
    gains: String,
}

/// None if Linux cannot express these parameters.
fn linux_pie(port: &Taking) -> Option<LinuxPie> {
    let target = port.microseconds("queue.target").filter(|&us| us > 0)?;
    let update = port.microseconds("queue.update_interval").filter(|&us| us > 0)?;
    let burst = port.microseconds("queue.max_burst");
    let is_linux = port.flag("queue.derandomize") && burst == Some(MAX_BURST_US);
    let (alpha, beta) = (gain(port, "queue.alpha")?, gain(port, "queue.beta")?);
    is_linux.then(|| LinuxPie {
        times: format!("target {} tupdate {}", time(target), time(update)),
        gains: format!("alpha {alpha} beta {beta}"),
    })
}

fn gain(port: &Taking, key: &str) -> Option<f64> {
    let gain = GAINS_PER_HZ * port.number(key);
    (gain <= LARGEST_GAIN && gain.fract() == 0.0).then_some(gain)
}

/// netem on a testbed, which has rate, delay and a limit in packets in one; none for what it has not.
pub(super) fn write_testbed(link: &Bottleneck) -> Option<Equivalent> {
    let port = Taking::of(link);
    if port.text("queue.kind") != Some("drop_tail") || port.has("shaper.rate") {
        return None;
    }
    let Some(Amount::Packets(packets)) = port.amount("queue.limit") else { return None };
    let rate = port.bits_per_second("rate")?;
    let delay_s = link.mean_rtt_s() / 2.0;
    let delay = format!("{:.0}us", 1e6 * delay_s);
    // The limit also counts the packets that are delayed.
    let packets = packets + (link.capacity_pps() * delay_s).ceil() as u64;
    port.leave("delay", "netem's delay is half of the mean RTT, which contains it");
    Some(Equivalent {
        tool: "tc netem".to_owned(),
        purpose: format!("on a testbed: adds a delay of {delay}, half of the mean RTT"),
        text: format!("{REPLACE} root netem rate {rate}bit delay {delay} limit {packets}"),
        notes: Vec::new(),
        left_out: port.left_out("tc netem"),
    })
}

impl Taking<'_> {
    /// The limit in bytes, for an option that must be there although the child's limit counts.
    fn amount_bytes_of_limit(&self) -> u64 {
        match self.amount("queue.limit") {
            Some(Amount::Bytes(bytes)) => bytes,
            Some(Amount::Packets(packets)) => whole(packets as f64 * self.link.packet_bytes).max(1),
            None => 1,
        }
    }
}
