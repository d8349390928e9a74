//! From the typed scenario to the network: names become indices, groups become flows, and values
//! that contradict one another are refused.

mod buffer;
pub(in crate::scenario) mod controls;
pub(in crate::scenario) mod defaults;
pub(in crate::scenario) mod disciplines;
pub(in crate::scenario) mod fabrics;
pub(in crate::scenario) mod files;
mod host_pairs;
pub(in crate::scenario) mod inputs;
mod lines;
mod load;
pub(in crate::scenario) mod mahimahi;
mod memory;
pub(in crate::scenario) mod names;
pub(in crate::scenario) mod own_sources;
mod pauses;
mod per_flow;
mod phases;
pub(in crate::scenario) mod pools;
mod sources;
mod switch_memory;
mod transport;

use std::iter;

use indexmap::IndexMap;

use crate::fabric::{HostPairs, Route};
use crate::network::error::NetworkError;
use crate::network::validate::check_window;
use crate::network::validate::group::{
    check_hops, check_new, check_round_trip, check_sizes, check_start,
};
use crate::network::{FlowSpec, GroupSpec, MAX_FLOWS, Network};
use crate::parameters::BadParameter;
use crate::private_path::delays::SenderSide;
use crate::quantity::PositiveDuration;
use crate::quoting::quoted;
use crate::random::{self, Random};
use crate::scenario::format::file::{LinkConfig, ScenarioFile};
use crate::scenario::format::flows::{FlowsConfig, PerFlow};
use crate::scenario::text::error::{Fault, MOST_FAULTS, Path, bad_parameter};
use crate::units::{Rate, Time};
use buffer::{check_admission, resolve_link};
use host_pairs::resolve_hosts;
use inputs::Inputs;
use lines::check_lines;
use load::Load;
use names::no_such_link;
use pauses::check_pauses;
use phases::shift_phases;
use pools::{check_ingress_pools, resolve_pools};
use sources::resolve_source;
use transport::resolve_transport;

/// Resolves the scenario. Otherwise returns the faults of the run and its groups; if there are
/// none, those of its links; if there are none, the first fault of the network as a whole.
pub(in crate::scenario) fn resolve(inputs: Inputs<'_>) -> Result<Network, Vec<Fault>> {
    let Inputs { file, .. } = inputs;
    let mut faults = Vec::new();
    check_run(file, &mut |fault| faults.push(fault));
    let mut groups = Vec::new();
    let mut flows = Vec::new();
    for (index, (name, group)) in file.flows.iter().enumerate() {
        if faults.len() >= MOST_FAULTS {
            break; // each may look through all names for the nearest
        }
        let mut note = |fault| faults.push(fault);
        let Some(group_spec) = resolve_group(inputs, name, group, &mut note) else { continue };
        if group_spec.source.dynamic_rtt().is_none() {
            let total = flows.len() as u64 + permanent_flows(group, group_spec.hosts.as_ref());
            // Few need no memory before all is known. More than any run may have are refused at their own place.
            if (MANY_FLOWS..=MAX_FLOWS as u64).contains(&total) {
                memory::check_flows(total, inputs.memory).map_err(|fault| vec![fault])?;
            }
            match resolve_flows(inputs, index, name, group, group_spec.hosts.as_ref()) {
                Ok(resolved) => flows.extend(resolved),
                Err(fault) => note(fault),
            }
        }
        groups.push(group_spec);
    }
    // A limit in bdp depends on the flows that cross the link.
    if !faults.is_empty() {
        return Err(faults);
    }
    let loads = Load::of_links(file.links.len(), &groups, &flows, file.duration.time());
    let pools = resolve_pools(file);
    let mut links = Vec::new();
    for ((name, link), load) in file.links.iter().zip(&loads) {
        if faults.len() >= MOST_FAULTS {
            break;
        }
        match resolve_link(inputs, &pools, (name, link), load) {
            Ok(link) => links.push(link),
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut network = Network {
        duration: file.duration.time(),
        measure_from: file.measure_from.time(),
        seed: file.seed,
        ties: file.ties,
        links,
        pools,
        ingress_pools: file.ingress_pools.values().copied().collect(),
        groups,
        flows,
        series_interval: file.series.as_ref().map(|series| series.interval.time()),
        step_interval: None,
        memory_limit_bytes: inputs.memory.size.bytes(),
    };
    shift_phases(&mut network, file.phase_shift);
    let behind = network.behind_ingresses();
    network.links.iter_mut().zip(behind).for_each(|(link, behind)| link.is_acted_on |= behind);
    // When the packet ends for which a pause frame waits is known of served links.
    let over: Vec<usize> = network.links.iter().filter_map(|link| link.pause_frames_over).collect();
    for link in over {
        network.links[link].is_acted_on = true;
    }
    check_network(inputs, &network).map_err(|fault| vec![fault])?;
    Ok(network)
}

fn check_network(inputs: Inputs<'_>, network: &Network) -> Result<(), Fault> {
    network.validate().map_err(|error| fault_of(network, error))?;
    check_admission(network)?;
    check_lines(network)?;
    check_ingress_pools(inputs.file)?;
    check_pauses(network, inputs.fabrics)?;
    memory::check(network, inputs.memory)
}

/// A fault of the network, at its place in the scenario.
fn fault_of(network: &Network, error: NetworkError) -> Fault {
    let of_group = |group: usize| Path::of(&["flows", &network.groups[group].name]);
    match error {
        NetworkError::Run(bad) if bad.key == "series_interval" => {
            bad_parameter(&Path::default(), BadParameter { key: "series.interval".into(), ..bad })
        }
        NetworkError::Run(bad) => bad_parameter(&Path::default(), bad),
        NetworkError::Link { link, bad } => {
            bad_parameter(&Path::of(&["links", &network.links[link].name]), bad)
        }
        NetworkError::Pool { pool, bad } => {
            bad_parameter(&Path::of(&["pools", &network.pools[pool].name]), bad)
        }
        NetworkError::Group { group, bad } => bad_parameter(&of_group(group), bad),
        NetworkError::Flow { flow, bad } => {
            bad_parameter(&of_group(network.flows[flow].group), bad)
        }
    }
}

/// Fills in the RTT of groups that do not give it: the propagation delay of their path.
pub(in crate::scenario) fn fill_in_round_trips(file: &mut ScenarioFile) {
    let links = &file.links;
    for group in file.flows.values_mut().filter(|group| group.rtt.is_none()) {
        let picoseconds = propagation(links, group).picoseconds();
        // An unresponsive stream may have none.
        if picoseconds > 0 {
            group.rtt = Some(PerFlow::Fixed(PositiveDuration::new(picoseconds)));
        }
    }
}

fn check_run(file: &ScenarioFile, note: &mut dyn FnMut(Fault)) {
    if let Err(bad) = check_window(file.measure_from.time(), file.duration.time()) {
        note(bad_parameter(&Path::default(), bad));
    }
    if file.flows.is_empty() {
        let remedy = "add a table [flows.NAME] with at least `path` and `congestion`";
        note(Fault::new(&Path::of(&["flows"]), "the scenario has no flows", remedy));
    }
    let links = file.links.keys().map(|name| ("links", name));
    let pools = file.pools.keys().map(|name| ("pools", name));
    let ingress_pools = file.ingress_pools.keys().map(|name| ("ingress_pools", name));
    let pools = pools.chain(ingress_pools);
    let switches = file.switches.keys().map(|name| ("switches", name));
    let fabrics = file.fabrics.keys().map(|name| ("fabrics", name));
    let groups = file.flows.keys().map(|name| ("flows", name));
    for (table, name) in links.chain(pools).chain(switches).chain(fabrics).chain(groups) {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        if name.is_empty() || !name.chars().all(is_word) {
            let problem = format!("\"{}\" is not a name", quoted(name));
            let remedy = "use letters, digits, _ and -";
            note(Fault::new(&Path::of(&[table, name]), problem, remedy));
        }
    }
    let flows: usize = file.flows.values().map(|group| group.count as usize).sum();
    if flows > MAX_FLOWS {
        let problem = format!("the scenario has {flows} flows, more than {MAX_FLOWS}");
        note(Fault::new(&Path::of(&["flows"]), problem, "lower the counts"));
    }
}

/// Resolves a group; passes its faults to `note` and returns `None` if there are any.
fn resolve_group(
    inputs: Inputs<'_>,
    name: &str,
    group: &FlowsConfig,
    note: &mut dyn FnMut(Fault),
) -> Option<GroupSpec> {
    let Inputs { file, document, .. } = inputs;
    let at = Path::of(&["flows", name]);
    let sizes = check_path_and_packets(group, &at).map_err(&mut *note);
    let tcp = resolve_transport(document, &at, name, group).map_err(&mut *note);
    let hosts = resolve_hosts(inputs, group, &at).map_err(&mut *note);
    let path = resolve_path(file, &group.path, &at.key("path")).map_err(&mut *note);
    let reverse_path = resolve_path(file, &group.tcp.keys.reverse_path, &at.key("reverse_path"));
    let reverse_path = reverse_path.map_err(&mut *note);
    // The sizes and rates of a source depend on its packets and its links.
    let (Ok(()), Ok(path), Ok(hosts)) = (sizes, path, hosts) else { return None };
    let path = hosts.as_ref().map_or(path, HostPairs::links);
    let own_rtt = propagation(&file.links, group);
    let source = resolve_source(inputs, name, group, own_rtt, hosts.as_ref()).map_err(note);
    let (tcp, reverse_path, source) = (tcp.ok()?, reverse_path.ok()?, source.ok()?);
    let packet_size = group.packet_size.bytes() as u32;
    let names = path.iter().filter_map(|&link| file.links.get_index(link));
    let rates = names.filter_map(|(link, _)| inputs.link_rate(link));
    let send_jitter = group.send_jitter.resolve(rates, packet_size, tcp.is_some());
    Some(GroupSpec {
        name: name.to_owned(),
        path,
        hosts,
        reverse_path,
        source,
        stop: group.stop.map(PositiveDuration::time),
        packet_size,
        header_size: group.header_size.bytes() as u32,
        sender_side: group.sender_side.map(SenderSide::new),
        send_jitter,
        loss_priority: group.loss_priority,
        dscp: group.dscp,
        flow_hosts: group.hosts.clone(),
        tcp,
    })
}

fn check_path_and_packets(group: &FlowsConfig, at: &Path) -> Result<(), Fault> {
    if group.path.is_empty() && group.from.is_none() && group.to.is_none() {
        let remedy = "add it, as in `path = [\"bottleneck\"]`, here or in [defaults]";
        return Err(Fault::new(&at.key("path"), "is missing", remedy));
    }
    check_sizes(group.packet_size.bytes(), group.header_size.bytes())
        .and_then(|()| check_hops(group.path.len() + group.tcp.keys.reverse_path.len()))
        .map_err(|bad| bad_parameter(at, bad))
}

fn resolve_path(file: &ScenarioFile, names: &[String], at: &Path) -> Result<Vec<usize>, Fault> {
    let mut path = Vec::with_capacity(names.len());
    for (position, name) in names.iter().enumerate() {
        let link = file.links.get_index_of(name).ok_or_else(|| {
            no_such_link(name, file.links.keys().map(String::as_str), &at.index(position))
        })?;
        check_new("", &path, link, name).map_err(|bad| bad_parameter(&at.index(position), bad))?;
        path.push(link);
    }
    Ok(path)
}

/// So many permanent flows take tens of megabytes while the scenario is read.
const MANY_FLOWS: u64 = 1 << 16;

/// The number of permanent flows of a group, before any of them takes memory.
fn permanent_flows(group: &FlowsConfig, hosts: Option<&HostPairs>) -> u64 {
    hosts.map_or(1, |hosts| hosts.all().count() as u64) * u64::from(group.count)
}

fn resolve_flows(
    inputs: Inputs<'_>,
    index: usize,
    name: &str,
    group: &FlowsConfig,
    hosts: Option<&HostPairs>,
) -> Result<impl Iterator<Item = FlowSpec>, Fault> {
    let Inputs { file, files, .. } = inputs;
    let at = Path::of(&["flows", name]);
    let stream = |key: &str| random::stream(file.seed, &at.key(key).to_string());
    let mut stream_of_routes = stream("route");
    let routes: Vec<Option<Route>> = match hosts {
        Some(hosts) => {
            let pairs = hosts.all().flat_map(|pair| iter::repeat_n(pair, group.count as usize));
            let draw = |(from, to)| Route::of_flow(from, to, stream_of_routes.next_u64());
            pairs.map(draw).map(Some).take(MAX_FLOWS + 1).collect()
        }
        None => vec![None; group.count as usize],
    };
    if routes.len() > MAX_FLOWS {
        let problem = format!("the pairs of hosts have more than {MAX_FLOWS} flows together");
        return Err(Fault::new(&at.key("count"), problem, "lower count, or name fewer hosts"));
    }
    let count = routes.len() as u32;
    let path_rtt = propagation(&file.links, group);
    let minimum = |route: &Option<Route>| match (hosts, route) {
        (Some(hosts), Some(route)) => host_pairs::propagation(file, &hosts.fabric, *route),
        _ => path_rtt,
    };
    let round_trips = match &group.rtt {
        // The first and the last flow have the two ends of the range.
        Some(rtt) => rtt.spread(count, count.max(2) - 1, stream("rtt"), &at.key("rtt"), files)?,
        None => routes.iter().map(minimum).collect(),
    };
    let spare = |(rtt, route): &(&Time, &Option<Route>)| {
        i128::from(rtt.picoseconds()) - i128::from(minimum(route).picoseconds())
    };
    if let Some((rtt, route)) = round_trips.iter().zip(&routes).min_by_key(spare) {
        check_round_trip(*rtt, minimum(route), group.tcp.congestion.is_some())
            .map_err(|bad| bad_parameter(&at, bad))?;
    }
    // As ns-2's scripts do: the range is cut into `count` parts and a flow starts with each.
    let starts = group.start.spread(count, count, stream("start"), &at.key("start"), files)?;
    check_starts(&starts, file, group, &at)?;
    let access_rate = group.access_rate.as_ref();
    let access_rate = access_rate.map(|rate| rate.resolve("access_rate", files)).transpose();
    let access_rate = access_rate.map_err(|bad| bad_parameter(&at, bad))?;
    let mut stream = stream("access_rate");
    Ok(round_trips.into_iter().zip(starts).zip(routes).map(move |((rtt, start), route)| {
        let drawn = access_rate.as_ref().map(|rate| rate.sample(&mut stream));
        let access_rate = drawn.map(|bits| Rate::from_bits_per_second(bits.max(1.0) as u64));
        FlowSpec { group: index, rtt, start, access_rate, route }
    }))
}

fn check_starts(
    starts: &[Time],
    file: &ScenarioFile,
    group: &FlowsConfig,
    at: &Path,
) -> Result<(), Fault> {
    let latest = starts.iter().max().copied().unwrap_or(Time::ZERO);
    check_start(latest, file.duration.time()).map_err(|bad| bad_parameter(at, bad))?;
    match group.stop {
        Some(stop) if stop.time() <= latest => {
            let written = PositiveDuration::new(latest.picoseconds());
            let problem = format!("{stop} is not after the last start, {written}");
            Err(Fault::new(&at.key("stop"), problem, "raise stop or lower start"))
        }
        _ => Ok(()),
    }
}

/// Two-way propagation of the shared links of a group; ACKs with a private path need as long as the
/// data. Links that do not exist count as nothing.
fn propagation(links: &IndexMap<String, LinkConfig>, group: &FlowsConfig) -> Time {
    let delays = |path: &[String]| -> u64 {
        let known = path.iter().filter_map(|name| links.get(name));
        known.map(|link| link.delay.base_units()).fold(0, u64::saturating_add)
    };
    let forward = delays(&group.path);
    let reverse = match group.tcp.keys.reverse_path.as_slice() {
        [] => forward,
        path => delays(path),
    };
    Time::from_picoseconds(forward.saturating_add(reverse))
}
