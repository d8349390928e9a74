//! What a network must satisfy so that its run ends and its numbers mean something.
//!
//! A scenario is checked with the same functions, at the places of its text. It also refuses keys that
//! contradict one another without harm to a run.

pub(crate) mod group;
mod line;
pub(crate) mod link;
mod pause;
pub(crate) mod pool;
pub(crate) mod token_bucket;

use std::collections::HashSet;

use super::error::NetworkError;
use super::{MAX_FLOWS, Network};
use crate::parameters::{BadParameter, check};
use crate::units::Time;

/// The longest span of a network: 30 days, so that sums of a few spans fit into 64 bits.
pub const LONGEST_SPAN: Time = Time::from_milliseconds(30 * 24 * 3_600 * 1_000);

/// Least memory of a sample of a link or a flow.
const ROW_BYTES: f64 = 44.0;

impl Network {
    /// Checks the numbers on which a run depends, and the parameters of disciplines, congestion controls
    /// and sources: each against its range, and against one another.
    ///
    /// # Errors
    /// The first value with which the run would panic, not end, or return numbers without a meaning.
    pub fn validate(&self) -> Result<(), NetworkError> {
        check_run(self).map_err(NetworkError::Run)?;
        let of_link = |link: usize| move |bad| NetworkError::Link { link, bad };
        let of_group = |group: usize| move |bad| NetworkError::Group { group, bad };
        for (index, link) in self.links.iter().enumerate() {
            link::check_link(link, self.duration).map_err(of_link(index))?;
        }
        for (index, group) in self.groups.iter().enumerate() {
            group::check_group(group, self.links.len(), self.duration).map_err(of_group(index))?;
            let hops = self.hops(&group.path) + self.hops(&group.reverse_path);
            if group.hosts.is_none() {
                group::check_hops(hops).map_err(of_group(index))?;
            }
        }
        let names = self.links.iter().map(|link| link.name.as_str());
        unique(names).map_err(|(index, bad)| of_link(index)(bad))?;
        let names = self.pools.iter().map(|pool| pool.name.as_str());
        unique(names).map_err(|(pool, bad)| NetworkError::Pool { pool, bad })?;
        let names = self.groups.iter().map(|group| group.name.as_str());
        unique(names).map_err(|(index, bad)| of_group(index)(bad))?;
        pool::check_pools(self)?;
        line::check_lines(&self.links).map_err(|(index, bad)| of_link(index)(bad))?;
        check_flows(self)?;
        link::check_resolution(self).map_err(|(index, bad)| of_link(index)(bad))?;
        let facts = self.link_facts();
        let packet_bytes: Vec<u32> = facts.iter().map(|link| link.packet_bytes).collect();
        pause::check_pauses(self, &packet_bytes)?;
        for (index, (link, facts)) in self.links.iter().zip(&facts).enumerate() {
            link::check_queue(link, facts).map_err(of_link(index))?;
            token_bucket::check_token_buckets(link, facts).map_err(of_link(index))?;
            if let Some(member) = link.pool {
                let room = pool::check_room(&self.pools[member.pool], facts.packet_bytes.into());
                room.map_err(|bad| NetworkError::Pool { pool: member.pool, bad })?;
            }
        }
        Ok(())
    }
}

fn check_run(network: &Network) -> Result<(), BadParameter> {
    check_span("duration", network.duration)?;
    check_window(network.measure_from, network.duration)?;
    check_series(network)?;
    if let Some(interval) = network.step_interval {
        check_span("step_interval", interval)?;
    }
    let flows = network.flows.len();
    if flows > MAX_FLOWS {
        let problem = format!("{flows} are more than the {MAX_FLOWS} that a run can tell apart");
        return Err(BadParameter::new("flows", problem, "use fewer flows"));
    }
    Ok(())
}

/// Refuses time series that do not fit into the memory of the run.
fn check_series(network: &Network) -> Result<(), BadParameter> {
    let Some(interval) = network.series_interval else { return Ok(()) };
    check_span("series_interval", interval)?;
    let rows = (network.links.len() + network.flows.len()) as f64;
    let bytes = network.duration.seconds() / interval.seconds() * rows * ROW_BYTES;
    if bytes <= network.memory_limit_bytes as f64 {
        return Ok(());
    }
    let problem = format!(
        "a sample every {interval} takes {}, more than memory_limit ({} bytes)",
        memory_words(bytes),
        network.memory_limit_bytes
    );
    Err(BadParameter::new("series_interval", problem, "lengthen it, or raise memory_limit"))
}

/// An amount of memory, as in "0.2 MB".
pub(crate) fn memory_words(bytes: f64) -> String {
    let (amount, unit) = if bytes < 1e9 { (bytes / 1e6, "MB") } else { (bytes / 1e9, "GB") };
    format!("{amount:.1} {unit}")
}

/// Refuses a measured window without length.
pub(crate) fn check_window(measure_from: Time, duration: Time) -> Result<(), BadParameter> {
    if measure_from < duration {
        return Ok(());
    }
    let problem = format!("{measure_from} is not before the end of the run, {duration}");
    Err(BadParameter::new("measure_from", problem, "lower measure_from or raise duration"))
}

/// Refuses a span of no time, and one of more than [`LONGEST_SPAN`].
fn check_span(key: &'static str, span: Time) -> Result<(), BadParameter> {
    let is_allowed = span > Time::ZERO && span <= LONGEST_SPAN;
    check(key, span, is_allowed, "more than 0 s and at most 30 days")
}

/// Refuses a delay of more than [`LONGEST_SPAN`].
fn check_delay(key: &'static str, delay: Time) -> Result<(), BadParameter> {
    check(key, delay, delay <= LONGEST_SPAN, "at most 30 days")
}

/// Refuses a name that another link, pool or group has: random streams are named after it.
fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), (usize, BadParameter)> {
    let mut seen = HashSet::new();
    for (index, name) in names.enumerate() {
        if !seen.insert(name) {
            let problem = format!("\"{name}\" is taken: random streams are named after it");
            return Err((index, BadParameter::new("name", problem, "choose another name")));
        }
    }
    Ok(())
}

fn check_flows(network: &Network) -> Result<(), NetworkError> {
    let groups = network.groups.iter();
    let shared = groups.map(|group| group::shared_propagation(network, group, None));
    let shared: Vec<Time> = shared.collect();
    let mut last_group = 0;
    for (index, flow) in network.flows.iter().enumerate() {
        let refused = |bad| NetworkError::Flow { flow: index, bad };
        let Some(group) = network.groups.get(flow.group) else {
            let problem = format!("there is no group {}", flow.group);
            let remedy = format!("write less than {}, the number of groups", network.groups.len());
            return Err(refused(BadParameter::new("group", problem, remedy)));
        };
        if flow.group < last_group {
            let problem = format!("{} follows a flow of group {last_group}", flow.group);
            let remedy = "sort the flows by group";
            return Err(refused(BadParameter::new("group", problem, remedy)));
        }
        last_group = flow.group;
        if group.source.dynamic_rtt().is_some() {
            let problem = format!("the source of group {} starts the flows itself", flow.group);
            return Err(refused(BadParameter::new("group", problem, "remove the flow")));
        }
        group::check_route(group, flow.route).map_err(refused)?;
        let shared = match flow.route {
            Some(_) => group::shared_propagation(network, group, flow.route),
            None => shared[flow.group],
        };
        group::check_round_trip(flow.rtt, shared, group.tcp.is_some())
            .and_then(|()| check_delay("rtt", flow.rtt))
            .and_then(|()| group::check_start(flow.start, network.duration))
            .and_then(|()| {
                flow.access_rate.map_or(Ok(()), |rate| link::check_rate("access_rate", rate))
            })
            .map_err(refused)?;
    }
    Ok(())
}
