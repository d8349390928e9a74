//! The memory of a switch: which of its ports share a pool.

use std::collections::HashMap;

use crate::scenario::format::fabrics::PortsConfig;
use crate::scenario::format::pools::PoolConfig;

/// The pools of the switches of a table `[switches.NAME]` or `[fabrics.NAME]`.
#[derive(Debug)]
pub(super) struct SwitchMemory<'a> {
    table: &'a str,
    ports: &'a PortsConfig,
    /// By switch, how many of its ports have a place.
    placed: HashMap<String, u32>,
}

impl<'a> SwitchMemory<'a> {
    /// The memory that the table gives its switches.
    pub(super) fn new(table: &'a str, ports: &'a PortsConfig) -> Self {
        SwitchMemory { table, ports, placed: HashMap::new() }
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
