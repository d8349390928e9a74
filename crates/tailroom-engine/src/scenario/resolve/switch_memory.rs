//! The memory of a switch: which of its ports share a pool.

use std::collections::HashMap;

use crate::scenario::format::fabrics::PortsConfig;
use crate::scenario::format::pools::PoolConfig;
use crate::scenario::text::error::{Fault, Path};

/// The pools of the switches of a table `[switches.NAME]` or `[fabrics.NAME]`.
#[derive(Debug)]
pub(super) struct SwitchMemory<'a> {
    table: &'a str,
    ports: &'a PortsConfig,
    /// By switch, how many of its ports have a place.
    placed: HashMap<String, u32>,
}

impl<'a> SwitchMemory<'a> {
    /// The memory that the table at `at` gives its switches.
    pub(super) fn new(table: &'a str, ports: &'a PortsConfig, at: &Path) -> Result<Self, Fault> {
        let keys = [
            ("ports_per_pool", ports.ports_per_pool.is_some()),
            ("reserved", ports.reserved.is_some()),
        ];
        match keys.iter().find(|(_, is_given)| *is_given && ports.pool.is_none()) {
            Some((key, _)) => {
                let problem = "the ports share no memory";
                Err(Fault::new(&at.key(key), problem, "add a table `pool`, or remove it"))
            }
            None => Ok(SwitchMemory { table, ports, placed: HashMap::new() }),
        }
    }

    /// The pool of the next port of a switch that has this many, and its name; `None` if the ports
    /// share no memory.
    pub(super) fn of_next_port(
        &mut self,
        switch: &str,
        of_switch: u32,
    ) -> Option<(String, &'a PoolConfig)> {
        let pool = self.ports.pool.as_ref()?;
        let port = self.placed.entry(switch.to_owned()).or_default();
        let per_pool = self.ports.ports_per_pool.unwrap_or(of_switch);
        let name = if per_pool < of_switch {
            format!("{}-{switch}-{}", self.table, *port / per_pool)
        } else {
            format!("{}-{switch}", self.table)
        };
        *port += 1;
        Some((name, pool))
    }
}
