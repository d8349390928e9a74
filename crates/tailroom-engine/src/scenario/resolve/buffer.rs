//! Resolves links and their buffers: limits in time or bandwidth-delay products become bytes.

use super::load::Load;
use super::mahimahi::Trace;
use crate::link::LinkSpec;
use crate::link::arrivals::ArrivalLogSpec;
use crate::link::serializer::RateChange;
use crate::link::spec::{DelayChange, FlowAdmissionSpec};
use crate::network::Network;
use crate::quantity::limit::{Amount, Limit, QueueLimit};
use crate::quantity::{BitRate, PositiveDuration, Size};
use crate::queue::QueueConfig;
use crate::scenario::format::file::LinkConfig;
use crate::scenario::text::error::{Fault, Path, bad_parameter};
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// Shortest interval of a measurement; a run would spend its time on shorter intervals.
const SHORTEST_ADMISSION_INTERVAL: Time = Time::from_milliseconds(1);

/// Shortest transmission of a packet, in picoseconds: what is lost by rounding is at most 3 % of it.
/// 40 B take it at 10 Tbit/s.
const SHORTEST_PACKET_PS: u128 = 32;

/// Resolves a link; `trace` is the content of its trace file.
pub(in crate::scenario) fn resolve_link(
    name: &str,
    link: &LinkConfig,
    trace: Option<&Trace>,
    load: &Load,
) -> Result<LinkSpec, Fault> {
    let at = Path::of(&["links", name]);
    let rate = match (link.rate, trace) {
        (Some(rate), None) => rate.rate(),
        (None, Some(trace)) => trace.mean_rate,
        (None, None) => {
            let remedy = "add it, as in `rate = \"1 Gbit/s\"`, or a `trace` file";
            return Err(Fault::new(&at.key("rate"), "is missing", remedy));
        }
        (Some(_), Some(_)) => {
            let problem = "the link has a rate and a trace that sets the rate";
            return Err(Fault::new(&at.key("rate"), problem, "remove one of the two"));
        }
    };
    let (mut rate_changes, delay_changes) = changes(link, &at.key("changes"))?;
    if let Some(trace) = trace {
        rate_changes.clone_from(&trace.changes);
    }
    let queue = resolve_queue(&link.queue, rate, load, &at.key("queue"))?;
    if let Some(admission) = &link.admission {
        check_flow_admission(admission, rate, &at)?;
    }
    if let Some(log) = &link.arrival_log {
        check_arrival_log(log, &at)?;
    }
    Ok(LinkSpec {
        name: name.to_owned(),
        rate,
        delay: link.delay.time(),
        queue,
        loss: link.loss,
        rate_changes,
        rate_period: trace.map(|trace| trace.period),
        delay_changes,
        packet_log: link.packet_log as usize,
        admission: link.admission,
        is_acted_on: false,
        arrival_dispersion: link.arrival_dispersion.map(PositiveDuration::time),
        arrival_log: link.arrival_log,
        bdp_bytes: load.bdp(rate).map_or(0.0, |(bits, divisor)| bits as f64 / divisor as f64),
        packet_bytes: load.packet_bytes(),
    })
}

fn changes(link: &LinkConfig, at: &Path) -> Result<(Vec<RateChange>, Vec<DelayChange>), Fault> {
    let mut rate_changes = Vec::new();
    let mut delay_changes = Vec::new();
    let mut before = None;
    for (index, change) in link.changes.iter().enumerate() {
        let at = at.index(index);
        let time = change.at.time();
        if before.is_some_and(|before| time <= before) {
            let problem = format!("{} is not after the change before it", change.at);
            return Err(Fault::new(&at.key("at"), problem, "write the changes in order of time"));
        }
        if change.rate.is_none() && change.delay.is_none() {
            return Err(Fault::new(&at, "changes nothing", "add a `rate` or a `delay`"));
        }
        if change.rate.is_some() && link.trace.is_some() {
            let problem = "the link has a trace that sets the rate";
            return Err(Fault::new(&at.key("rate"), problem, "remove one of the two"));
        }
        rate_changes.extend(change.rate.map(|rate| RateChange { at: time, rate: rate.rate() }));
        delay_changes
            .extend(change.delay.map(|delay| DelayChange { at: time, delay: delay.time() }));
        before = Some(time);
    }
    Ok((rate_changes, delay_changes))
}

/// Converts each amount of a discipline to packets or bytes.
fn resolve_queue(
    queue: &QueueConfig,
    rate: Rate,
    load: &Load,
    at: &Path,
) -> Result<QueueConfig, Fault> {
    let mut queue = queue.clone();
    for (key, amount) in queue.parameters_mut().amounts() {
        *amount = resolve_amount(*amount, rate, load, &at.key(key))?.into();
    }
    Ok(queue)
}

fn check_flow_admission(
    admission: &FlowAdmissionSpec,
    rate: Rate,
    link: &Path,
) -> Result<(), Fault> {
    let at = link.key("admission");
    if admission.min_fair_rate.is_none() && admission.max_priority_load.is_none() {
        let remedy = "add `min_fair_rate = \"1 Mbit/s\"`, `max_priority_load = 0.9` or both";
        return Err(Fault::new(&at, "never refuses a flow", remedy));
    }
    if let Some(least) = admission.min_fair_rate.filter(|least| least.rate() >= rate) {
        let problem = format!("{least} is not below the link's rate, so that no flow would begin");
        return Err(Fault::new(&at.key("min_fair_rate"), problem, "lower it"));
    }
    if admission.interval.time() < SHORTEST_ADMISSION_INTERVAL {
        let problem = format!("{} is too short to measure a rate in", admission.interval);
        return Err(Fault::new(&at.key("interval"), problem, "write at least \"1 ms\""));
    }
    Ok(())
}

fn check_arrival_log(log: &ArrivalLogSpec, link: &Path) -> Result<(), Fault> {
    if log.to.time() <= log.from.time() {
        let problem = format!("{} is not after `from`, {}", log.to, log.from);
        let remedy = "give a span, as in { from = \"60 s\", to = \"62 s\" }";
        return Err(Fault::new(&link.key("arrival_log").key("to"), problem, remedy));
    }
    Ok(())
}

/// Refuses logs of arrivals that begin after the end of the run.
pub(in crate::scenario) fn check_arrival_logs(network: &Network) -> Result<(), Fault> {
    for link in &network.links {
        if link.arrival_log.is_some_and(|log| log.from.time() >= network.duration) {
            let at = Path::of(&["links", &link.name, "arrival_log", "from"]);
            let problem = "is not before the end of the run";
            return Err(Fault::new(&at, problem, "lower it, or raise duration"));
        }
    }
    Ok(())
}

/// Refuses admission control at a link that no flows cross which it could refuse.
pub(in crate::scenario) fn check_admission(network: &Network) -> Result<(), Fault> {
    let mut is_crossed = vec![false; network.links.len()];
    for group in network.groups.iter().filter(|group| group.source.dynamic_rtt().is_some()) {
        group.path.iter().for_each(|&link| is_crossed[link] = true);
    }
    for (link, is_crossed) in network.links.iter().zip(is_crossed) {
        if link.admission.is_some() && !is_crossed {
            let at = Path::of(&["links", &link.name, "admission"]);
            let problem = "no group whose flows arrive and depart crosses the link";
            return Err(Fault::new(&at, problem, "remove it, or add a `finite_flows` source"));
        }
    }
    Ok(())
}

/// Refuses disciplines whose parameters contradict one another or the link.
pub(in crate::scenario) fn check_queues(network: &Network) -> Result<(), Fault> {
    for (link, facts) in network.links.iter().zip(&network.link_facts()) {
        let checked = link.queue.parameters().validate(facts);
        checked.map_err(|bad| bad_parameter(&Path::of(&["links", &link.name, "queue"]), bad))?;
    }
    Ok(())
}

/// Refuses links so fast that a packet takes a few picoseconds: times are whole picoseconds.
pub(in crate::scenario) fn check_resolution(network: &Network) -> Result<(), Fault> {
    let mut smallest = vec![u32::MAX; network.links.len()];
    for group in &network.groups {
        let ack_bytes = group.tcp.as_ref().map_or(u32::MAX, |tcp| tcp.ack_size.bytes() as u32);
        let data = group.path.iter().map(|&link| (link, group.packet_size));
        for (link, bytes) in data.chain(group.reverse_path.iter().map(|&link| (link, ack_bytes))) {
            smallest[link] = smallest[link].min(bytes);
        }
    }
    for (link, &bytes) in network.links.iter().zip(&smallest) {
        let changes = link.rate_changes.iter().map(|change| change.rate);
        let rate = changes.fold(link.rate, Rate::max);
        let most = u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND) / SHORTEST_PACKET_PS;
        if u128::from(rate.bits_per_second()) > most {
            let most = BitRate::new(most as u64);
            let problem = format!(
                "a packet of {bytes} B takes less than {SHORTEST_PACKET_PS} ps, and times are whole \
                 picoseconds"
            );
            let remedy = format!("lower it to {most}, or let the packets be larger");
            let at = Path::of(&["links", &link.name, "rate"]);
            return Err(Fault::new(&at, problem, remedy));
        }
    }
    Ok(())
}

/// Converts an amount to packets or bytes, rounding down.
fn resolve_amount(limit: QueueLimit, rate: Rate, load: &Load, at: &Path) -> Result<Limit, Fault> {
    let bytes = match limit.amount() {
        Amount::Packets(packets) => return Ok(Limit::Packets(packets)),
        Amount::Bytes(bytes) => bytes,
        Amount::Span(span) => rate.bytes_in(span),
        Amount::Bdp(factor) => {
            let Some((product, divisor)) = load.bdp(rate) else {
                let problem = "no flow under congestion control crosses the link, so it has no bdp";
                let remedy = "give the limit in packets, bytes or milliseconds";
                return Err(Fault::new(at, problem, remedy));
            };
            let exact = factor.times_ratio(product, divisor);
            // If the exact product does not fit in 128 bits, a byte more or less does not matter.
            let bytes = exact.or_else(|| factor.times_ratio(product / divisor, 1));
            let bytes = bytes.and_then(|bytes| u64::try_from(bytes.floor).ok());
            bytes
                .filter(|bytes| *bytes <= MAX_LIMIT_BYTES)
                .ok_or_else(|| Fault::new(at, format!("{limit} is too large"), "lower the limit"))?
        }
    };
    if bytes < load.largest_packet.max(1) {
        let needed = load.largest_packet.max(1);
        let here = match limit.amount() {
            Amount::Bytes(_) => String::new(),
            _ => format!("{bytes} B at this link, "),
        };
        let problem = format!("{limit} is {here}less than one packet of {}", Size::new(needed));
        let remedy = format!("raise it to at least \"1 packet\" or \"{}\"", Size::new(needed));
        return Err(Fault::new(at, problem, remedy));
    }
    Ok(Limit::Bytes(bytes))
}

/// Largest limit in bytes.
const MAX_LIMIT_BYTES: u64 = 1_000_000_000_000_000;
