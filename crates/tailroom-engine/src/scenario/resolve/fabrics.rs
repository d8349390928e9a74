//! Switches and fabrics become links; the names of hosts become pairs of hosts.

use std::borrow::Cow;
use std::collections::HashMap;

use indexmap::IndexMap;

use super::inputs::Inputs;
use crate::fabric::{Fabric, HostPairs, OUTSIDE, Route};
use crate::random::{self, below};
use crate::scenario::format::fabrics::{HostsConfig, PairsConfig, PortsConfig};
use crate::scenario::format::file::{LinkConfig, ScenarioFile};
use crate::scenario::format::flows::FlowsConfig;
use crate::scenario::text::error::{Fault, Path, Step, suggestion};
use crate::units::{Rate, Time};

/// The most links of a switch or fabric.
const MOST_LINKS: u64 = 100_000;

/// Switches and fabrics by name, and where each of their links comes from.
#[derive(Clone, Debug, Default)]
pub(in crate::scenario) struct Fabrics {
    by_name: IndexMap<String, Fabric>,
    origins: HashMap<String, Origin>,
}

/// Where a link comes from.
#[derive(Clone, Debug)]
struct Origin {
    at: Path,
    place: Place,
}

/// The place of a link in a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    FromHost,
    ToHost,
    Uplink,
}

impl Place {
    /// The key of a switch from which a key of the link has its value.
    fn key(self, key: &str) -> &str {
        match (self, key) {
            (Place::FromHost, "queue") => "nic_queue",
            (Place::Uplink, "rate") => "uplink_rate",
            (Place::Uplink, "delay") => "uplink_delay",
            _ => key,
        }
    }
}

/// Writes the links of the switches and fabrics into a copy of the file, if it has any.
pub(in crate::scenario) fn expand(
    file: &ScenarioFile,
) -> Result<(Cow<'_, ScenarioFile>, Fabrics), Vec<Fault>> {
    let mut fabrics = Fabrics::default();
    if file.switches.is_empty() && file.fabrics.is_empty() {
        return Ok((Cow::Borrowed(file), fabrics));
    }
    let mut expanded = file.clone();
    let mut faults = Vec::new();
    let switches = file.switches.iter().map(|(name, switch)| {
        (Path::of(&["switches", name]), name, 1, switch.uplinks, &switch.ports)
    });
    let leaf_spines = file.fabrics.iter().map(|(name, fabric)| {
        (Path::of(&["fabrics", name]), name, fabric.leaves, fabric.spines, &fabric.ports)
    });
    for (at, name, leaves, spines, ports) in switches.chain(leaf_spines) {
        let fabric = Fabric {
            first_link: expanded.links.len(),
            leaves,
            hosts_per_leaf: ports.hosts,
            spines,
        };
        let added = fabrics.add(name, fabric, ports, &at, &mut expanded.links);
        faults.extend(added.err());
    }
    if faults.is_empty() { Ok((Cow::Owned(expanded), fabrics)) } else { Err(faults) }
}

impl Fabrics {
    fn add(
        &mut self,
        name: &str,
        fabric: Fabric,
        ports: &PortsConfig,
        at: &Path,
        links: &mut IndexMap<String, LinkConfig>,
    ) -> Result<(), Fault> {
        let Fabric { leaves, hosts_per_leaf, spines, .. } = fabric;
        let count = 2 * u64::from(leaves) * (u64::from(hosts_per_leaf) + u64::from(spines));
        if count > MOST_LINKS {
            let problem = format!("has {count} links, more than {MOST_LINKS}");
            return Err(Fault::new(at, problem, "lower hosts, leaves or spines"));
        }
        if self.by_name.insert(name.to_owned(), fabric).is_some() {
            let problem = format!("a switch is named \"{name}\" too");
            return Err(Fault::new(at, problem, "choose another name"));
        }
        let is_switch = leaves == 1;
        let spine =
            |number| if is_switch { format!("uplink{number}") } else { format!("spine{number}") };
        for number in 0..leaves {
            let leaf = if is_switch { "switch".to_owned() } else { format!("leaf{number}") };
            let hosts =
                (0..hosts_per_leaf).map(|host| format!("h{}", number * hosts_per_leaf + host));
            let host_links = hosts.flat_map(|host| {
                [(Place::FromHost, host.clone(), leaf.clone()), (Place::ToHost, leaf.clone(), host)]
            });
            let spine_links = (0..spines).flat_map(|number| {
                [(leaf.clone(), spine(number)), (spine(number), leaf.clone())]
                    .map(|(from, to)| (Place::Uplink, from, to))
            });
            for (place, from, to) in host_links.chain(spine_links) {
                let link = format!("{name}-{from}-{to}");
                let origin = Origin { at: at.clone(), place };
                if links.insert(link.clone(), link_at(place, ports)).is_some() {
                    let problem =
                        format!("has a link \"{link}\", and [links] has one of this name");
                    return Err(Fault::new(at, problem, "choose another name"));
                }
                self.origins.insert(link, origin);
            }
        }
        Ok(())
    }

    /// A fault of a link that a switch or fabric has, at the key that caused it.
    pub(in crate::scenario) fn at_origin(&self, fault: Fault) -> Fault {
        let [Step::Key(table), Step::Key(link), rest @ ..] = fault.path.0.as_slice() else {
            return fault;
        };
        let Some(Origin { at, place }) = self.origins.get(link).filter(|_| table == "links") else {
            return fault;
        };
        let mut path = at.clone();
        for (depth, step) in rest.iter().enumerate() {
            path.0.push(match step {
                Step::Key(key) if depth == 0 => Step::Key(place.key(key).to_owned()),
                other => other.clone(),
            });
        }
        Fault { path, ..fault }
    }

    /// The fabric and the numbers of the hosts that `hosts` names, each once.
    fn hosts(&self, hosts: &HostsConfig, at: &Path) -> Result<(&str, Fabric, Vec<u32>), Fault> {
        let mut found: Option<(&str, Fabric, Vec<u32>)> = None;
        for written in hosts.names() {
            let (name, node) = written
                .split_once('.')
                .map_or((written.as_str(), None), |(name, node)| (name, Some(node)));
            let Some((name, fabric)) = self.by_name.get_key_value(name) else {
                return Err(self.no_such_fabric(name, at));
            };
            let numbers = self.nodes(name, *fabric, node, at)?;
            let (first, _, all) = found.get_or_insert_with(|| (name, *fabric, Vec::new()));
            if *first != name {
                let problem = format!("\"{first}\" and \"{name}\" are not connected");
                return Err(Fault::new(at, problem, "name hosts of one switch or fabric"));
            }
            for number in numbers {
                if !all.contains(&number) {
                    all.push(number);
                }
            }
        }
        found
            .ok_or_else(|| Fault::new(at, "names no host", "name a switch or fabric, or its hosts"))
    }

    fn no_such_fabric(&self, name: &str, at: &Path) -> Fault {
        let remedy = if self.by_name.is_empty() {
            format!("add a table [switches.{name}] or [fabrics.{name}]")
        } else {
            suggestion(name, self.by_name.keys().map(String::as_str))
        };
        Fault::new(at, format!("there is no switch or fabric \"{name}\""), remedy)
    }

    /// The hosts that a node of a fabric stands for; all of them without a node.
    fn nodes(
        &self,
        name: &str,
        fabric: Fabric,
        node: Option<&str>,
        at: &Path,
    ) -> Result<Vec<u32>, Fault> {
        let (hosts, is_switch) = (fabric.hosts(), fabric.leaves == 1);
        let Some(node) = node else { return Ok((0..hosts).collect()) };
        let numbered =
            |prefix: &str| node.strip_prefix(prefix).and_then(|digits| digits.parse().ok());
        match (numbered("h"), numbered("leaf")) {
            (Some(host), _) if host < hosts => return Ok(vec![host]),
            (_, Some(leaf)) if leaf < fabric.leaves && !is_switch => {
                let first = leaf * fabric.hosts_per_leaf;
                return Ok((first..first + fabric.hosts_per_leaf).collect());
            }
            _ if node == "outside" && is_switch && fabric.spines > 0 => return Ok(vec![OUTSIDE]),
            _ => {}
        }
        if node == "outside" && is_switch {
            let problem = format!("\"{name}\" has no uplinks, so that no host is outside");
            return Err(Fault::new(at, problem, "add `uplinks` to the switch"));
        }
        let most = hosts - 1;
        let others = if !is_switch {
            format!("{name}.leaf0 to {name}.leaf{}", fabric.leaves - 1)
        } else {
            format!("{name}.outside")
        };
        let remedy =
            format!("use {name} for all its hosts, {name}.h0 to {name}.h{most}, or {others}");
        Err(Fault::new(at, format!("there is no \"{name}.{node}\""), remedy))
    }
}

/// The link at this place, before the pools and the traffic are known.
fn link_at(place: Place, ports: &PortsConfig) -> LinkConfig {
    let PortsConfig { rate, delay, queue, nic_queue, uplink_rate, uplink_delay, .. } = ports;
    match place {
        Place::FromHost => LinkConfig::new(*rate, *delay, nic_queue.clone()),
        Place::ToHost => LinkConfig::new(*rate, *delay, queue.clone()),
        Place::Uplink => LinkConfig::new(
            uplink_rate.unwrap_or(*rate),
            uplink_delay.unwrap_or(*delay),
            queue.clone(),
        ),
    }
}

/// The hosts of a group; `None` if it has a path instead.
pub(super) fn resolve_hosts(
    inputs: Inputs<'_>,
    group: &FlowsConfig,
    at: &Path,
) -> Result<Option<HostPairs>, Fault> {
    let Some(from) = &group.from else {
        let written = [("to", group.to.is_some()), ("pairs", group.pairs != PairsConfig::All)];
        return match written.iter().find(|(_, is_written)| *is_written) {
            None => Ok(None),
            Some((key, _)) => {
                let remedy = "add `from`, the hosts that send, or remove the key";
                Err(Fault::new(&at.key(key), "belongs to `from`, which is missing", remedy))
            }
        };
    };
    check_alone(group, at)?;
    let (name, fabric, senders) = inputs.fabrics.hosts(from, &at.key("from"))?;
    let to_at = at.key(if group.to.is_some() { "to" } else { "from" });
    let (other, _, receivers) = inputs.fabrics.hosts(group.to.as_ref().unwrap_or(from), &to_at)?;
    if name != other {
        let problem = format!("\"{name}\" and \"{other}\" are not connected");
        return Err(Fault::new(&to_at, problem, "name hosts of one switch or fabric"));
    }
    let is_one_to_one = group.pairs == PairsConfig::Permutation;
    let receivers =
        if is_one_to_one { permute(inputs, &senders, receivers, at)? } else { receivers };
    let hosts = HostPairs {
        fabric,
        from: senders.into(),
        to: receivers.into(),
        is_one_to_one,
        has_rtt_of_route: group.rtt.is_none(),
    };
    if hosts.all().next().is_none() {
        let remedy = "name another host too";
        return Err(Fault::new(&to_at, "names only the host that sends", remedy));
    }
    Ok(Some(hosts))
}

/// Refuses what a group between hosts cannot have.
fn check_alone(group: &FlowsConfig, at: &Path) -> Result<(), Fault> {
    if !group.path.is_empty() {
        let problem = "the group has a path, and hosts between which the paths lead";
        return Err(Fault::new(&at.key("path"), problem, "remove `path`, or `from` and `to`"));
    }
    if !group.tcp.keys.reverse_path.is_empty() {
        let problem = "the ACKs of a group between hosts return by a private path";
        return Err(Fault::new(&at.key("reverse_path"), problem, "remove it"));
    }
    Ok(())
}

/// A receiver for each sender, drawn by the seed, none of them the sender itself.
fn permute(
    inputs: Inputs<'_>,
    senders: &[u32],
    mut receivers: Vec<u32>,
    at: &Path,
) -> Result<Vec<u32>, Fault> {
    if receivers.len() < senders.len() {
        let problem = format!(
            "a permutation of {} senders needs as many receivers, and there are {}",
            senders.len(),
            receivers.len()
        );
        return Err(Fault::new(&at.key("pairs"), problem, "name more hosts in `to`"));
    }
    let mut stream = random::stream(inputs.file.seed, &at.key("pairs").to_string());
    for place in (1..receivers.len()).rev() {
        receivers.swap(place, below(&mut stream, place as u64 + 1) as usize);
    }
    // The neighbour's receiver is neither the neighbour nor this sender.
    let count = receivers.len();
    for place in 0..senders.len() {
        if receivers[place] == senders[place] {
            receivers.swap(place, (place + 1) % count);
        }
    }
    receivers.truncate(senders.len());
    Ok(receivers)
}

/// Propagation of a route there and back.
pub(super) fn propagation(file: &ScenarioFile, fabric: &Fabric, route: Route) -> Time {
    let path = fabric.path(route);
    let delays = path.iter().filter_map(|&link| file.links.get_index(link));
    let sum = delays.map(|(_, link)| link.delay.base_units()).fold(0, u64::saturating_add);
    Time::from_picoseconds(sum.saturating_mul(2))
}

/// Mean propagation of the pairs of hosts there and back, in picoseconds.
pub(super) fn mean_propagation(file: &ScenarioFile, hosts: &HostPairs) -> f64 {
    let (mut sum, mut pairs) = (0.0, 0.0);
    for (from, to) in hosts.all() {
        sum += propagation(file, &hosts.fabric, Route { from, to, hash: 0 }).picoseconds() as f64;
        pairs += 1.0;
    }
    sum / pairs
}

/// What the interfaces of all senders, or of all receivers if that is less, carry together.
pub(super) fn capacity(inputs: Inputs<'_>, hosts: &HostPairs) -> Rate {
    let fabric = &hosts.fabric;
    let rate = |link: usize| {
        let name = inputs.file.links.get_index(link).map(|(name, _)| name);
        name.and_then(|name| inputs.link_rate(name)).map_or(0, Rate::bits_per_second)
    };
    let outside = || (0..fabric.spines).map(|uplink| rate(fabric.up(0, uplink))).sum();
    let sum = |hosts: &[u32]| -> u64 {
        let rates = hosts.iter().map(|&host| match host {
            OUTSIDE => outside(),
            host => rate(fabric.from_host(host)),
        });
        rates.fold(0, u64::saturating_add)
    };
    Rate::from_bits_per_second(sum(&hosts.from).min(sum(&hosts.to)).max(1))
}
