//! Resolves links and their buffers: limits in time or bandwidth-delay products become bytes.

use super::inputs::Inputs;
use super::load::Load;
use super::names::no_such_link;
use super::pools::{resolve_ingress, resolve_member};
use crate::link::LinkSpec;
use crate::link::serializer::RateChange;
use crate::link::spec::{DelayChange, FlowAdmissionSpec, policed_rate};
use crate::network::Network;
use crate::network::validate::link::{check_interval, check_later, check_log};
use crate::pool::{PoolMember, PoolSpec};
use crate::quantity::Size;
use crate::quantity::limit::{Amount, Limit, QueueLimit};
use crate::queue::QueueConfig;
use crate::scenario::format::file::{LinkConfig, ScenarioFile};
use crate::scenario::text::error::{Fault, Path, bad_parameter};
use crate::units::Rate;

/// Resolves a link.
pub(in crate::scenario) fn resolve_link(
    inputs: Inputs<'_>,
    pools: &[PoolSpec],
    (name, link): (&str, &LinkConfig),
    load: &Load,
) -> Result<LinkSpec, Fault> {
    let at = Path::of(&["links", name]);
    let trace = inputs.traces.get(name);
    let rate = match (link.rate, trace) {
        (Some(rate), None) => rate.rate(),
        (None, Some(trace)) => trace.mean_rate,
        (None, None) => {
            let remedy = "add it, as in `rate = \"1 Gbit/s\"`, or a `trace` file";
            return Err(Fault::new(&at.key("rate"), "is missing", remedy));
        }
        (Some(_), Some(_)) => {
            let problem = "the link has a rate and a trace that sets the rate";
            let remedy = match link.rate_variation {
                Some(_) => "remove the trace, or both the rate and `rate_variation`",
                None => "remove one of the two",
            };
            return Err(Fault::new(&at.key("rate"), problem, remedy));
        }
    };
    let (mut rate_changes, delay_changes) = changes(link, &at.key("changes"))?;
    if let Some(trace) = trace {
        rate_changes.clone_from(&trace.changes);
    }
    if let Some(variation) = &link.rate_variation {
        let at = at.key("rate_variation");
        if !rate_changes.is_empty() {
            let problem = "the link has a trace or changes that set the rate";
            return Err(Fault::new(&at, problem, "remove one of the two"));
        }
        let ScenarioFile { seed, duration, .. } = inputs.file;
        rate_changes = variation
            .changes(inputs.files, *seed, name, duration.time())
            .map_err(|bad| bad_parameter(&at, bad))?;
    }
    let jitter = link.jitter.as_ref().map(|jitter| jitter.resolve(inputs.files)).transpose();
    let jitter = jitter.map_err(|bad| bad_parameter(&at.key("jitter"), bad))?;
    let sustained = link.keys.shaper.map_or(rate, |shaper| shaper.packet_rate(load.packet_bytes()));
    let pool = resolve_member(inputs.file, pools, link, load, &at)?;
    let drops_waiting = |member: PoolMember| pools[member.pool].policy.parameters().drops_waiting();
    // Packets wait at the sustained rate; what else the link holds follows from what it carries.
    let carried = policed_rate(link.keys.policer, sustained, &rate_changes).unwrap_or(sustained);
    let bdp = load.bdp(carried);
    let queue = resolve_queue(&link.keys.queue, (sustained, bdp), load, &at.key("queue"))?;
    if let Some(admission) = &link.keys.admission {
        check_flow_admission(admission, sustained, &at)?;
    }
    if let Some(log) = &link.keys.arrival_log {
        check_log("arrival_log", log).map_err(|bad| bad_parameter(&at, bad))?;
    }
    Ok(LinkSpec {
        name: name.to_owned(),
        rate,
        delay: link.delay.time(),
        queue,
        rate_changes,
        rate_period: trace.map(|trace| trace.period),
        delay_changes,
        jitter,
        pause_frames_over: resolve_frames_over(inputs.file, link, &at)?,
        ingress: resolve_ingress(inputs.file, link, &at.key("ingress"))?,
        pool,
        is_acted_on: pool.is_some_and(drops_waiting),
        bdp_bytes: bdp.map_or(0.0, |(bits, divisor)| bits as f64 / divisor as f64),
        packet_bytes: load.packet_bytes(),
        ..link.keys.clone()
    })
}

/// The index of the link over which the pause frames of a link travel.
fn resolve_frames_over(
    file: &ScenarioFile,
    link: &LinkConfig,
    at: &Path,
) -> Result<Option<usize>, Fault> {
    let Some(name) = &link.pause_frames_over else { return Ok(None) };
    let at = at.key("pause_frames_over");
    let index = file.links.get_index_of(name);
    let names = file.links.keys().map(String::as_str);
    index.map(Some).ok_or_else(|| no_such_link(name, names, &at))
}

fn changes(link: &LinkConfig, at: &Path) -> Result<(Vec<RateChange>, Vec<DelayChange>), Fault> {
    let mut rate_changes = Vec::new();
    let mut delay_changes = Vec::new();
    let mut before = None;
    for (index, change) in link.changes.iter().enumerate() {
        let at = at.index(index);
        let time = change.at.time();
        check_later(time, before).map_err(|bad| bad_parameter(&at, bad))?;
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
    link: (Rate, Option<(u128, u128)>),
    load: &Load,
    at: &Path,
) -> Result<QueueConfig, Fault> {
    let mut queue = queue.clone();
    for (key, amount) in queue.parameters_mut().amounts() {
        *amount = resolve_amount(*amount, link, load, &at.key(key))?.into();
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
    check_interval(admission.interval).map_err(|bad| bad_parameter(link, bad))
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

/// Converts an amount at a link of this rate and bandwidth-delay product to packets or bytes, rounding
/// down.
fn resolve_amount(
    limit: QueueLimit,
    (rate, bdp): (Rate, Option<(u128, u128)>),
    load: &Load,
    at: &Path,
) -> Result<Limit, Fault> {
    let bytes = match limit.amount() {
        Amount::Packets(packets) => return Ok(Limit::Packets(packets)),
        Amount::Bytes(bytes) => bytes,
        Amount::Span(span) => rate.bytes_in(span),
        Amount::Bdp(factor) => {
            let Some((product, divisor)) = bdp else {
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
