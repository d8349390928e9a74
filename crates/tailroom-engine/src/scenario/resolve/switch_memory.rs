//! The memory of a switch: which of its ports, and which classes of them, share a pool.

use std::collections::HashMap;

use crate::quoting::quoted;
use crate::scenario::format::fabrics::PortsConfig;
use crate::scenario::format::pools::PoolConfig;
use crate::scenario::text::error::{Fault, Path, suggestion};

/// A table `[switches.NAME]` or `[fabrics.NAME]`.
#[derive(Clone, Copy)]
pub(super) struct Ports<'a> {
    pub(super) name: &'a str,
    pub(super) at: &'a Path,
    /// Leaves, spines, and hosts of a leaf.
    pub(super) shape: [u32; 3],
    pub(super) config: &'a PortsConfig,
}

/// The pools of the switches of a table.
#[derive(Debug)]
pub(super) struct SwitchMemory<'a> {
    /// The table whose pools they are, and their memory.
    pool: Option<(&'a str, &'a PoolConfig)>,
    /// The table whose memory the ingresses share.
    ingress: &'a str,
    ports_per_pool: Option<u32>,
    /// By switch, how many of its ports have a place.
    placed: HashMap<String, u32>,
}

impl<'a> SwitchMemory<'a> {
    /// The memory that a table among all gives its switches, or shares with another.
    pub(super) fn new(ports: Ports<'a>, all: &[Ports<'a>]) -> Result<Self, Fault> {
        let Ports { name, at, config, .. } = ports;
        let owner = owner(ports, all)?;
        let has_own_ingress = config.ingress.as_ref().is_none_or(|ingress| ingress.pool.is_some());
        let of_pool = if config.pool.is_some() { Some(ports) } else { owner };
        let pool = of_pool.and_then(|of| Some((of.name, of.config.pool.as_ref()?)));
        let ports_per_pool = of_pool.and_then(|of| of.config.ports_per_pool);
        let lends = |of: &Ports<'_>| of.config.ingress.as_ref().is_some_and(|it| it.pool.is_some());
        let ingress =
            if has_own_ingress { Some(name) } else { owner.filter(lends).map(|of| of.name) };
        let Some(ingress) = ingress else {
            let problem = "the ingresses have no memory";
            let remedy = "add `pool`, or name a table with `ingress.pool` in `memory_of`";
            return Err(Fault::new(&at.key("ingress"), problem, remedy));
        };
        let keys = [
            ("ports_per_pool", config.ports_per_pool.is_some() && config.pool.is_none()),
            ("reserved", config.reserved.is_some() && pool.is_none()),
        ];
        if let Some((key, _)) = keys.iter().find(|(_, is_alone)| *is_alone) {
            let problem = if pool.is_some() {
                "the memory is that of another table"
            } else {
                "the ports share no memory"
            };
            return Err(Fault::new(&at.key(key), problem, "add a table `pool`, or remove it"));
        }
        Ok(SwitchMemory { pool, ingress, ports_per_pool, placed: HashMap::new() })
    }

    /// The name of the memory that the ingresses of a switch share.
    pub(super) fn of_ingress(&self, switch: &str) -> String {
        format!("{}-{switch}", self.ingress)
    }

    /// The pool of the next port of a switch that has this many, and its name; `None` if the ports
    /// share no memory.
    pub(super) fn of_next_port(
        &mut self,
        switch: &str,
        of_switch: u32,
    ) -> Option<(String, &'a PoolConfig)> {
        let (table, pool) = self.pool?;
        let port = self.placed.entry(switch.to_owned()).or_default();
        let per_pool = self.ports_per_pool.unwrap_or(of_switch);
        let name = if per_pool < of_switch {
            format!("{table}-{switch}-{}", *port / per_pool)
        } else {
            format!("{table}-{switch}")
        };
        *port += 1;
        Some((name, pool))
    }
}

/// The table that `memory_of` names, if it is given.
fn owner<'a>(ports: Ports<'a>, all: &[Ports<'a>]) -> Result<Option<Ports<'a>>, Fault> {
    let Some(named) = &ports.config.memory_of else { return Ok(None) };
    let at = ports.at.key("memory_of");
    let others = || all.iter().filter(|other| other.name != ports.name);
    let Some(owner) = others().find(|other| other.name == named) else {
        let problem = format!("there is no other switch or fabric \"{}\"", quoted(named));
        return Err(Fault::new(&at, problem, suggestion(named, others().map(|other| other.name))));
    };
    if owner.shape != ports.shape {
        let problem = format!("\"{named}\" has other numbers of hosts, uplinks, leaves or spines");
        return Err(Fault::new(&at, problem, "give both the same numbers, or remove it"));
    }
    let config = owner.config;
    if config.pool.is_none() && config.ingress.as_ref().is_none_or(|it| it.pool.is_none()) {
        let problem = format!("\"{named}\" has no memory of its own");
        return Err(Fault::new(&at, problem, "name the table that has `pool` or `ingress.pool`"));
    }
    Ok(Some(*owner))
}
