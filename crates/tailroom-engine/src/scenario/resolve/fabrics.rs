//! Switches and fabrics become links; the names of hosts become numbers.

use std::borrow::Cow;
use std::collections::HashMap;

use indexmap::IndexMap;

use super::switch_memory::{Ports, SwitchMemory};
use crate::fabric::{Fabric, OUTSIDE};
use crate::link::line::LineSpec;
use crate::quoting::quoted;
use crate::scenario::format::fabrics::{HostsConfig, PortsConfig};
use crate::scenario::format::file::{LinkConfig, ScenarioFile};
use crate::scenario::format::pools::IngressConfig;
use crate::scenario::text::error::{Fault, Path, Step, suggestion};

/// The most links of a switch or fabric.
const MOST_LINKS: u64 = 100_000;

/// Switches and fabrics by name, and where each of their links comes from.
#[derive(Clone, Debug, Default)]
pub(in crate::scenario) struct Fabrics {
    by_name: IndexMap<String, Fabric>,
    origins: HashMap<String, Origin>,
    /// Where each of their pools comes from, by table and name.
    pools: HashMap<(String, String), Path>,
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
    ToSpine,
    FromSpine,
}

impl Place {
    /// Whether the far end of the link is a switch, and not a host or a network outside.
    fn leads_to_switch(self, is_single: bool) -> bool {
        match self {
            Place::FromHost | Place::FromSpine => true,
            Place::ToSpine => !is_single,
            Place::ToHost => false,
        }
    }

    /// The key of a switch from which a key of the link has its value.
    fn key(self, key: &str) -> &str {
        match (self, key) {
            (Place::FromHost, "queue") => "nic_queue",
            (_, "pause_frames_over") => "pause_frames_wait",
            (Place::ToSpine | Place::FromSpine, "rate") => "uplink_rate",
            (Place::ToSpine | Place::FromSpine, "delay") => "uplink_delay",
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
    let all: Vec<_> = switches.chain(leaf_spines).collect();
    let tables = all.iter().map(|(at, name, leaves, spines, config)| Ports {
        name,
        at,
        shape: [*leaves, *spines, config.hosts],
        config,
    });
    let tables: Vec<_> = tables.collect();
    faults.extend(lonely_line(&tables));
    for &ports in &tables {
        let [leaves, spines, hosts_per_leaf] = ports.shape;
        let fabric = Fabric { first_link: expanded.links.len(), leaves, hosts_per_leaf, spines };
        let added = SwitchMemory::new(ports, &tables)
            .and_then(|memory| fabrics.add(ports, fabric, memory, &mut expanded));
        faults.extend(added.err());
    }
    if faults.is_empty() { Ok((Cow::Owned(expanded), fabrics)) } else { Err(faults) }
}

impl Fabrics {
    fn add(
        &mut self,
        Ports { name, at, config: ports, .. }: Ports<'_>,
        fabric: Fabric,
        mut memory: SwitchMemory<'_>,
        expanded: &mut ScenarioFile,
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
                [
                    (Place::ToSpine, leaf.clone(), spine(number)),
                    (Place::FromSpine, spine(number), leaf.clone()),
                ]
            });
            for (place, from, to) in host_links.chain(spine_links) {
                let link = format!("{name}-{from}-{to}");
                let origin = Origin { at: at.clone(), place };
                let mut config = link_at(place, ports);
                config.keys.line = ports.line.as_ref().map(|line| LineSpec {
                    name: format!("{}-{from}-{to}", line.name),
                    ..line.clone()
                });
                if place.leads_to_switch(is_switch) {
                    config.keys.pause = ports.pause;
                    let over = || format!("{name}-{to}-{from}");
                    config.pause_frames_over = ports.pause_frames_wait.then(over);
                    if let Some(ingress) = &ports.ingress {
                        let (pool, threshold) = (memory.of_ingress(&to), ingress.threshold);
                        config.ingress = Some(IngressConfig { pool: pool.clone(), threshold });
                        if let Some(own) = &ingress.pool {
                            let at = at.key("ingress").key("pool");
                            let pools = &mut expanded.ingress_pools;
                            self.add_pool("ingress_pools", pool, own, &at, pools)?;
                        }
                    }
                }
                let pool = match place {
                    Place::FromHost => None,
                    Place::FromSpine if is_switch => None,
                    Place::FromSpine => memory.of_next_port(&from, leaves),
                    Place::ToHost | Place::ToSpine => {
                        memory.of_next_port(&from, hosts_per_leaf + spines)
                    }
                };
                if let Some((pool, memory)) = pool {
                    (config.pool, config.reserved) = (Some(pool.clone()), ports.reserved);
                    // The table whose memory it is adds it.
                    if ports.pool.is_some() {
                        let at = at.key("pool");
                        self.add_pool("pools", pool, memory, &at, &mut expanded.pools)?;
                    }
                }
                if expanded.links.insert(link.clone(), config).is_some() {
                    let problem =
                        format!("has a link \"{link}\", and [links] has one of this name");
                    return Err(Fault::new(at, problem, "choose another name"));
                }
                self.origins.insert(link, origin);
            }
        }
        Ok(())
    }

    fn add_pool<T: Clone>(
        &mut self,
        table: &str,
        name: String,
        pool: &T,
        at: &Path,
        pools: &mut IndexMap<String, T>,
    ) -> Result<(), Fault> {
        let is_new = self.pools.insert((table.to_owned(), name.clone()), at.clone()).is_none();
        if is_new && pools.contains_key(&name) {
            let problem = format!("has a pool \"{name}\", and [{table}] has one of this name");
            return Err(Fault::new(at, problem, "choose another name"));
        }
        pools.entry(name).or_insert_with(|| pool.clone());
        Ok(())
    }

    /// Whether a link belongs to a switch or fabric.
    pub(super) fn has_link(&self, name: &str) -> bool {
        self.origins.contains_key(name)
    }

    /// A fault of a link or a pool that a switch or fabric has, at the key that caused it.
    pub(in crate::scenario) fn at_origin(&self, fault: Fault) -> Fault {
        let [Step::Key(table), Step::Key(name), rest @ ..] = fault.path.0.as_slice() else {
            return fault;
        };
        if let Some(at) = self.pools.get(&(table.clone(), name.clone())) {
            let mut path = at.clone();
            path.0.extend_from_slice(rest);
            return Fault { path, ..fault };
        }
        let Some(Origin { at, place }) = self.origins.get(name).filter(|_| table == "links") else {
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
    pub(super) fn hosts(
        &self,
        hosts: &HostsConfig,
        at: &Path,
    ) -> Result<(&str, Fabric, Vec<u32>), Fault> {
        let mut found: Option<(&str, Fabric, Vec<u32>)> = None;
        for written in hosts.names() {
            let (name, node) = written
                .split_once('.')
                .map_or((written.as_str(), None), |(name, node)| (name, Some(node)));
            let Some((name, fabric)) = self.by_name.get_key_value(name) else {
                return Err(self.no_such_fabric(name, at));
            };
            let numbers = nodes(name, *fabric, node, at)?;
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
        let quote = quoted(name);
        let remedy = if self.by_name.is_empty() {
            format!("add a table [switches.{quote}] or [fabrics.{quote}]")
        } else {
            suggestion(name, self.by_name.keys().map(String::as_str))
        };
        Fault::new(at, format!("there is no switch or fabric \"{quote}\""), remedy)
    }
}

/// The fault of a line that no other table of the same hosts and switches shares, if there is one.
fn lonely_line(tables: &[Ports<'_>]) -> Option<Fault> {
    let (ports, line) = tables.iter().enumerate().find_map(|(place, ports)| {
        let line = ports.config.line.as_ref()?;
        let is_twin = |other: &Ports<'_>| {
            other.shape == ports.shape
                && other.config.line.as_ref().is_some_and(|its| its.name == line.name)
        };
        let mut others = tables[..place].iter().chain(&tables[place + 1..]);
        (!others.any(is_twin)).then_some((ports, line))
    })?;
    let problem = format!(
        "no other switch or fabric of as many hosts and uplinks has line \"{}\"",
        quoted(&line.name)
    );
    let remedy = "give it to the table of another class of the same ports, or remove it";
    Some(Fault::new(&ports.at.key("line").key("name"), problem, remedy))
}

/// The hosts that a node of a fabric stands for; all of them without a node.
fn nodes(name: &str, fabric: Fabric, node: Option<&str>, at: &Path) -> Result<Vec<u32>, Fault> {
    let (hosts, is_switch) = (fabric.hosts(), fabric.leaves == 1);
    let Some(node) = node else { return Ok((0..hosts).collect()) };
    // Each host has one name: no sign, and no zeros in front.
    let numbered = |prefix: &str| {
        let digits = node.strip_prefix(prefix)?;
        digits.parse().ok().filter(|number: &u32| number.to_string() == digits)
    };
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
    let others = if is_switch {
        format!("{name}.outside")
    } else {
        format!("{name}.leaf0 to {name}.leaf{}", fabric.leaves - 1)
    };
    let remedy = format!("use {name} for all its hosts, {name}.h0 to {name}.h{most}, or {others}");
    Err(Fault::new(at, format!("there is no \"{}\"", quoted(format!("{name}.{node}"))), remedy))
}

/// The link at this place, before the pools and the traffic are known.
fn link_at(place: Place, ports: &PortsConfig) -> LinkConfig {
    let PortsConfig { rate, delay, queue, nic_queue, uplink_rate, uplink_delay, .. } = ports;
    match place {
        Place::FromHost => LinkConfig::new(*rate, *delay, nic_queue.clone()),
        Place::ToHost => LinkConfig::new(*rate, *delay, queue.clone()),
        Place::ToSpine | Place::FromSpine => LinkConfig::new(
            uplink_rate.unwrap_or(*rate),
            uplink_delay.unwrap_or(*delay),
            queue.clone(),
        ),
    }
}
