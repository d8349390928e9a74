//! Configuration of a buffer in other tools: Linux tc, ns-3, Mahimahi.
//!
//! Each queue discipline has lines of its own: a line for another discipline would remove the one
//! that was simulated. Sources: the manual pages of iproute2 (tc-codel(8), tc-fq_codel(8), tc-pie(8),
//! tc-fq_pie(8), tc-red(8), tc-tbf(8), tc-dualpi2(8)), `calculate_probability` in Linux's `sch_pie.c`,
//! the attributes of the queue discs of ns-3, and the usage message of mm-link.

use serde::Serialize;
use serde_json::Value;
use tailroom_engine::quantity::read_base_units;

use crate::bottleneck::Bottleneck;
use crate::general_format::general;

/// Timer interrupts per second of common Linux kernels. The burst of tbf must be at least rate / HZ
/// (tc-tbf(8), "burst").
const LINUX_HZ: f64 = 250.0;
/// Linux's pie and `fq_pie` take alpha and beta as whole numbers from 0 to 32, in sixteenths of 1/s
/// (`sch_pie.c`: "we use values 0-32 passed from user space to represent" 0 to 2).
const TC_GAINS_PER_HZ: f64 = 16.0;
const TC_LARGEST_GAIN: f64 = 32.0;
/// Burst allowance of Linux's pie and `fq_pie`, which is not an option (`sch_pie.c`).
const LINUX_MAX_BURST_US: u64 = 150_000;
/// Probability up to which Linux's pie marks, which is not an option (tc-pie(8), "ALGORITHM").
const LINUX_PIE_MARK_UP_TO: f64 = 0.1;

const TC: &str = "tc qdisc replace dev DEV root";
const PORT: &str = "on the router's own port";

/// The configuration of a buffer in another tool.
#[derive(Debug, Serialize)]
pub struct Equivalent {
    /// The tool and what it configures.
    pub tool: String,
    /// Where the configuration belongs, and what else it does; may be empty.
    pub purpose: String,
    /// The command or statement; without an exact equivalent, a sentence that says why.
    pub text: String,
}

pub(crate) fn line(tool: &str, purpose: impl Into<String>, text: String) -> Equivalent {
    Equivalent { tool: tool.to_owned(), purpose: purpose.into(), text }
}

pub(crate) fn none(tool: &str, reason: &str) -> Equivalent {
    line(tool, "", format!("no exact equivalent: {reason}"))
}

/// The configuration of a link's queue discipline in other tools, with this limit in waiting packets.
///
/// `DEV` stands for the network interface. A tool that cannot express the discipline with these
/// parameters has a sentence instead of a command, and never the command of another discipline.
pub fn equivalents(link: &Bottleneck, limit: u64) -> Vec<Equivalent> {
    match link.discipline.as_str() {
        "drop_tail" => drop_tail(link, limit),
        "drop_head" => drop_head(limit),
        "codel" => codel(link, limit),
        "fq_codel" => fq_codel(link, limit),
        "pie" => pie(link, limit),
        "fq_pie" => fq_pie(link, limit),
        "red" | "adaptive_red" => red(),
        other => vec![none(&format!("{other} in tc, ns-3 and Mahimahi"), why_none(other))],
    }
}

/// Why a discipline has no exact equivalent in any of the tools.
fn why_none(discipline: &str) -> &'static str {
    match discipline {
        "step_mark" => "their RED marks with a probability that grows between two thresholds",
        "wred" => "their RED takes an average, and spaces its marks",
        "random_drop" => "none of them drops a random packet of a full buffer",
        "dual_pi2" => {
            "dualpi2 of Linux 6.17 marks L4S packets at a step without a ramp, and none while fewer \
             than two packets wait"
        }
        "fair" => "Linux's sfq hashes flows into slots and has a limit per flow",
        _ => "none of them has this discipline",
    }
}

/// The limit of netem also counts the packets that netem delays, here by half of the mean RTT.
///
/// In ns-3, `Ipv4AddressHelper::Assign` installs `FqCoDel` on every device without a queue disc (ns-3
/// manual, "Queue disciplines", Usage). `FqCoDel` queues up to 10240 packets while the queue of the
/// device is full, so that queue is the only buffer only after `FqCoDel` has been removed.
fn drop_tail(link: &Bottleneck, limit: u64) -> Vec<Equivalent> {
    let rate = format!("{:.0}bit", link.rate_bps);
    let packet_bytes = link.packet_bytes.ceil();
    let limit_bytes = (limit as f64 * link.packet_bytes).round_ties_even();
    let delay_s = link.mean_rtt_s() / 2.0;
    let delayed = (link.capacity_pps() * delay_s).ceil();
    let burst = (link.rate_bps / 8.0 / LINUX_HZ).ceil().max(packet_bytes);
    let delay = format!("{:.0}us", 1e6 * delay_s);
    let device = format!(
        "pointToPoint.SetQueue(\"ns3::DropTailQueue<Packet>\", \"MaxSize\", StringValue(\"{limit}p\"));"
    );
    vec![
        line("tc pfifo (packets)", PORT, format!("{TC} pfifo limit {limit}")),
        line("tc bfifo (bytes)", PORT, format!("{TC} bfifo limit {limit_bytes}")),
        line(
            "tc tbf (rate and buffer)",
            shaper(burst, limit_bytes, packet_bytes),
            format!("{TC} tbf rate {rate} burst {burst} limit {limit_bytes}"),
        ),
        line(
            "tc netem (rate, delay, buffer)",
            format!("on a testbed: adds a delay of {delay}, half of the mean RTT"),
            format!("{TC} netem rate {rate} delay {delay} limit {}", limit as f64 + delayed),
        ),
        line("ns-3 (queue of the device)", "", device),
        line(
            "ns-3 (after Assign, no FqCoDel before it)",
            "",
            "TrafficControlHelper().Uninstall(devices);".to_owned(),
        ),
        mahimahi("droptail", &format!("packets={limit}"), ""),
    ]
}

/// What tbf is for, and why its burst is not smaller.
fn shaper(burst: f64, limit_bytes: f64, packet_bytes: f64) -> String {
    let purpose = "a shaper in front of a slower line";
    if burst <= packet_bytes {
        return format!("{purpose}; its burst is one packet");
    }
    let least = format!("its burst is the least at {LINUX_HZ} timer interrupts per second");
    if burst <= limit_bytes {
        return format!("{purpose}; {least}");
    }
    let times = burst / limit_bytes;
    format!("{purpose}; {least}, {times:.1} times this buffer, and passes without a queue")
}

fn drop_head(limit: u64) -> Vec<Equivalent> {
    vec![
        line("tc pfifo_head_drop (packets)", PORT, format!("{TC} pfifo_head_drop limit {limit}")),
        none("ns-3", "it has no queue that drops from the head"),
        mahimahi("drophead", &format!("packets={limit}"), ""),
    ]
}

fn codel(link: &Bottleneck, limit: u64) -> Vec<Equivalent> {
    let Some(times) = CodelTimes::of(link) else { return vec![no_codel()] };
    let mut lines =
        vec![line("tc codel", PORT, format!("{TC} codel limit {limit} {} ecn", times.options()))];
    lines.extend(ns3("CoDelQueueDisc", &times.attributes(limit), ""));
    let CodelTimes { target, interval } = times;
    lines.push(if target % 1000 != 0 || interval % 1000 != 0 {
        none("Mahimahi", "it takes times in whole milliseconds")
    } else {
        let (target, interval) = (target / 1000, interval / 1000);
        let arguments = format!("packets={limit}, target={target}, interval={interval}");
        mahimahi("codel", &arguments, "drops packets that ECN would mark")
    });
    lines
}

fn fq_codel(link: &Bottleneck, limit: u64) -> Vec<Equivalent> {
    let Some(times) = CodelTimes::of(link) else { return vec![no_codel()] };
    let (flows, quantum) = (whole(link, "flows"), quantum(link));
    let options = times.options();
    let mut attributes = times.attributes(limit);
    attributes.push(("Flows", format!("UintegerValue({flows})")));
    let after = format!(" DynamicCast<FqCoDelQueueDisc>(discs.Get(0))->SetQuantum({quantum});");
    let tc = format!("{TC} fq_codel limit {limit} {options} flows {flows} quantum {quantum} ecn");
    let mut lines = vec![line("tc fq_codel", PORT, tc)];
    lines.extend(ns3("FqCoDelQueueDisc", &attributes, &after));
    lines.push(none("Mahimahi", "it has no fq_codel"));
    lines
}

fn no_codel() -> Equivalent {
    none("tc, ns-3 and Mahimahi", "tc takes times in whole microseconds")
}

/// The times of `CoDel` in microseconds.
struct CodelTimes {
    target: u64,
    interval: u64,
}

impl CodelTimes {
    fn of(link: &Bottleneck) -> Option<Self> {
        let (target, interval) = (microseconds(link, "target")?, microseconds(link, "interval")?);
        Some(CodelTimes { target, interval })
    }

    fn options(&self) -> String {
        format!("target {} interval {}", time(self.target), time(self.interval))
    }

    fn attributes(&self, limit: u64) -> Vec<(&'static str, String)> {
        vec![
            ("MaxSize", string_value(&format!("{limit}p"))),
            ("Target", string_value(&time(self.target))),
            ("Interval", string_value(&time(self.interval))),
            ("UseEcn", "BooleanValue(true)".to_owned()),
        ]
    }
}

fn pie(link: &Bottleneck, limit: u64) -> Vec<Equivalent> {
    let (target, update) = (microseconds(link, "target"), microseconds(link, "update_interval"));
    let burst = microseconds(link, "max_burst");
    let mark_up_to = number(link, "mark_up_to");
    let tc = linux_pie(link)
        .filter(|_| mark_up_to.total_cmp(&LINUX_PIE_MARK_UP_TO).is_eq())
        .map_or_else(
            || {
                let only = "it has max_burst 150 ms, mark_up_to 0.1, derandomize true, times in \
                            whole microseconds, and alpha and beta up to 2 in sixteenths";
                none("tc pie", only)
            },
            |LinuxPie { times, gains }| {
                line("tc pie", PORT, format!("{TC} pie limit {limit} {times} {gains} ecn"))
            },
        );
    let (Some(target), Some(update), Some(burst)) = (target, update, burst) else {
        return vec![tc, none("ns-3 and Mahimahi", "the times are not whole microseconds")];
    };
    let double = |key: &str| format!("DoubleValue({})", general(number(link, key), 6));
    let attributes = [
        ("MaxSize", string_value(&format!("{limit}p"))),
        ("QueueDelayReference", string_value(&time(target))),
        ("Tupdate", string_value(&time(update))),
        ("A", double("alpha")),
        ("B", double("beta")),
        ("MaxBurstAllowance", string_value(&time(burst))),
        ("MeanPktSize", format!("UintegerValue({})", link.packet_bytes.ceil())),
        ("UseEcn", "BooleanValue(true)".to_owned()),
        ("MarkEcnThreshold", double("mark_up_to")),
        ("UseDerandomization", format!("BooleanValue({})", is_derandomized(link))),
    ];
    let mut lines = vec![tc];
    lines.extend(ns3("PieQueueDisc", &attributes, ""));
    lines.push(none("Mahimahi", "its pie has other steps and updates every 30 ms"));
    lines
}

fn fq_pie(link: &Bottleneck, limit: u64) -> Vec<Equivalent> {
    let percent = 100.0 * number(link, "mark_up_to");
    let whole_percent = percent.round_ties_even();
    let tc = match linux_pie(link) {
        Some(LinuxPie { times, gains }) if (percent - whole_percent).abs() < 1e-9 => {
            let (flows, quantum) = (whole(link, "flows"), quantum(link));
            let text = format!(
                "{TC} fq_pie limit {limit} flows {flows} {times} {gains} quantum {quantum} \
                 ecn_prob {whole_percent} ecn"
            );
            line("tc fq_pie", PORT, text)
        }
        _ => none(
            "tc fq_pie",
            "it has max_burst 150 ms, derandomize true, mark_up_to in whole percent, times in whole \
             microseconds, and alpha and beta up to 2 in sixteenths",
        ),
    };
    let others =
        "ns-3's full FqPieQueueDisc drops from the longest queue, and Mahimahi has no fq_pie";
    vec![tc, none("ns-3 and Mahimahi", others)]
}

/// Options of Linux's pie and `fq_pie`.
struct LinuxPie {
    times: String,
    gains: String,
}

/// None if Linux cannot express these parameters.
fn linux_pie(link: &Bottleneck) -> Option<LinuxPie> {
    let (target, update) = (microseconds(link, "target")?, microseconds(link, "update_interval")?);
    let is_linux =
        microseconds(link, "max_burst") == Some(LINUX_MAX_BURST_US) && is_derandomized(link);
    if target == 0 || update == 0 || !is_linux {
        return None;
    }
    let (alpha, beta) = (tc_gain(link, "alpha")?, tc_gain(link, "beta")?);
    Some(LinuxPie {
        times: format!("target {} tupdate {}", time(target), time(update)),
        gains: format!("alpha {alpha} beta {beta}"),
    })
}

fn tc_gain(link: &Bottleneck, key: &str) -> Option<f64> {
    let gain = TC_GAINS_PER_HZ * number(link, key);
    (gain <= TC_LARGEST_GAIN && gain.fract() == 0.0).then_some(gain)
}

fn is_derandomized(link: &Bottleneck) -> bool {
    link.parameters.get("derandomize").and_then(Value::as_bool).unwrap_or(false)
}

fn red() -> Vec<Equivalent> {
    vec![
        none(
            "tc and Mahimahi",
            "Linux's red has no gentle mode and takes the weight as a power of two, and Mahimahi \
             has no red",
        ),
        line(
            "ns-3",
            "",
            "RedQueueDisc has these parameters by other names; set them there".to_owned(),
        ),
    ]
}

/// The command of mm-link, whose times are in milliseconds.
fn mahimahi(queue: &str, arguments: &str, purpose: &str) -> Equivalent {
    let options = format!("--uplink-queue={queue} --uplink-queue-args=\"{arguments}\"");
    line("Mahimahi", purpose, format!("mm-link UPLINK DOWNLINK {options}"))
}

/// The statements for a queue disc; behind it, the device keeps a queue of one packet.
fn ns3(disc: &str, attributes: &[(&str, String)], after: &str) -> [Equivalent; 2] {
    let pairs: Vec<String> =
        attributes.iter().map(|(name, value)| format!("\"{name}\", {value}")).collect();
    let pairs = pairs.join(", ");
    let statements = format!(
        "TrafficControlHelper control; control.SetRootQueueDisc(\"ns3::{disc}\", {pairs}); \
         QueueDiscContainer discs = control.Install(devices);{after}"
    );
    let one =
        "pointToPoint.SetQueue(\"ns3::DropTailQueue<Packet>\", \"MaxSize\", StringValue(\"1p\"));";
    [
        line("ns-3 (queue of the device)", "of one packet, the least", one.to_owned()),
        line("ns-3 (before Assign)", "in place of the FqCoDel that Assign installs", statements),
    ]
}

fn string_value(text: &str) -> String {
    format!("StringValue(\"{text}\")")
}

fn number(link: &Bottleneck, key: &str) -> f64 {
    link.parameters.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

fn whole(link: &Bottleneck, key: &str) -> u64 {
    number(link, key) as u64
}

/// A parameter with a unit, in picoseconds or bytes.
fn base_units(link: &Bottleneck, key: &str, kind: &str) -> Option<u64> {
    let text = link.parameters.get(key)?.as_str()?;
    read_base_units(kind, text)?.ok()
}

fn quantum(link: &Bottleneck) -> u64 {
    base_units(link, "quantum", "size").unwrap_or(0)
}

/// A duration; none if it is not a whole number of microseconds.
fn microseconds(link: &Bottleneck, key: &str) -> Option<u64> {
    let picoseconds = base_units(link, key, "duration")?;
    (picoseconds % 1_000_000 == 0).then_some(picoseconds / 1_000_000)
}

/// A duration as tc and ns-3 write it.
fn time(microseconds: u64) -> String {
    if microseconds.is_multiple_of(1000) {
        format!("{}ms", microseconds / 1000)
    } else {
        format!("{microseconds}us")
    }
}
