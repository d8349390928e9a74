//! Resolves memory that links share, and the places of links in it.

use indexmap::IndexMap;
use toml::{Table, Value};

use super::load::Load;
use crate::link::ingress_pool::IngressMember;
use crate::network::validate::pool::check_room;
use crate::pool::{PoolMember, PoolSpec};
use crate::quantity::Size;
use crate::quantity::limit::QueueLimit;
use crate::quoting::quoted;
use crate::scenario::format::file::{LinkConfig, ScenarioFile};
use crate::scenario::format::pools::ThresholdConfig;
use crate::scenario::text::error::{Fault, Path, bad_parameter, suggestion};

/// Gives the queues of links and switches with a pool that have no limit of their own the size of the
/// pool, which never binds before the pool does.
pub(in crate::scenario) fn write_out(table: &mut Table) {
    let pools = table.get("pools").and_then(Value::as_table).cloned().unwrap_or_default();
    for name in ["links", "switches", "fabrics"] {
        let tables = table.get_mut(name).and_then(Value::as_table_mut);
        for (_, entry) in tables.into_iter().flatten() {
            let Some(entry) = entry.as_table_mut() else { continue };
            let pool = match entry.get("pool") {
                Some(Value::String(pool)) if name == "links" => pools.get(pool),
                Some(pool) if name != "links" => Some(pool),
                _ => continue,
            };
            let size = pool.and_then(|pool| pool.get("size")).and_then(Value::as_str);
            // The scenario of a pool without a size is refused there, whatever the limit.
            let limit = size.filter(|size| QueueLimit::read(size).is_ok()).unwrap_or("1 packet");
            let limit = limit.to_owned();
            if let Some(queue) = entry.get_mut("queue") {
                write_limit(queue, limit);
            }
        }
    }
}

fn write_limit(queue: &mut Value, limit: String) {
    if let Some(name) = queue.as_str() {
        *queue = Table::from_iter([("kind".to_owned(), name.into())]).into();
    }
    if let Some(queue) = queue.as_table_mut() {
        queue.entry("limit").or_insert_with(|| limit.into());
    }
}

/// The pools of a scenario.
pub(super) fn resolve_pools(file: &ScenarioFile) -> Vec<PoolSpec> {
    let pools = file.pools.iter().map(|(name, pool)| PoolSpec {
        name: name.clone(),
        size_bytes: pool.size.bytes(),
        cell_bytes: pool.cell.map_or(1, |cell| u32::try_from(cell.bytes()).unwrap_or(u32::MAX)),
        policy: pool.policy.clone(),
        frees: pool.frees,
        mark_above_bytes: pool.mark_above.map(Size::bytes),
    });
    pools.collect()
}

/// The place of a link in its pool, if it has one.
pub(super) fn resolve_member(
    file: &ScenarioFile,
    pools: &[PoolSpec],
    link: &LinkConfig,
    load: &Load,
    at: &Path,
) -> Result<Option<PoolMember>, Fault> {
    let Some(name) = &link.pool else {
        let given = [
            ("reserved", link.reserved.is_some()),
            ("alpha", link.alpha.is_some()),
            ("port", link.port.is_some()),
            ("priority", link.priority.is_some()),
        ];
        return match given.iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => {
                let remedy = "add `pool`, the name of a table of [pools], or remove it";
                Err(Fault::new(&at.key(key), "the link has no pool", remedy))
            }
            None => Ok(None),
        };
    };
    let pool = index_of(&file.pools, "pools", name, at)?;
    let place = Path::of(&["pools", name]);
    check_room(&pools[pool], load.largest_packet).map_err(|bad| bad_parameter(&place, bad))?;
    let reserved_bytes = link.reserved.map_or(0, Size::bytes);
    let has_ports = pools[pool].policy.parameters().has_ports();
    let port = if has_ports { port_of(link) } else { link.port.as_deref() };
    let port = port.map(|port| port_number(file, port));
    let (alpha, priority) = (link.alpha, link.priority);
    Ok(Some(PoolMember { pool, reserved_bytes, alpha, port, priority }))
}

/// The place of the ingress of a link in memory that ingresses share, if it has one.
pub(super) fn resolve_ingress(
    file: &ScenarioFile,
    link: &LinkConfig,
    at: &Path,
) -> Result<Option<IngressMember>, Fault> {
    let Some(ingress) = &link.ingress else { return Ok(None) };
    let pool = index_of(&file.ingress_pools, "ingress_pools", &ingress.pool, at)?;
    let ThresholdConfig { alpha, xon_offset } = ingress.threshold;
    Ok(Some(IngressMember { pool, alpha, xon_offset: xon_offset.bytes() }))
}

/// Refuses memory for ingresses that no link names.
pub(super) fn check_ingress_pools(file: &ScenarioFile) -> Result<(), Fault> {
    let named = |name: &&String| {
        let mut ingresses = file.links.values().filter_map(|link| link.ingress.as_ref());
        ingresses.any(|ingress| ingress.pool == **name)
    };
    file.ingress_pools.keys().find(|name| !named(name)).map_or(Ok(()), |name| {
        let at = Path::of(&["ingress_pools", name]);
        let remedy =
            format!("name it in `ingress` of links, as in `pool = \"{name}\"`, or remove it");
        Err(Fault::new(&at, "no link shares it", remedy))
    })
}

/// The index of a pool that the key `pool` at a place names.
fn index_of<T>(
    pools: &IndexMap<String, T>,
    table: &str,
    name: &str,
    at: &Path,
) -> Result<usize, Fault> {
    pools.get_index_of(name).ok_or_else(|| {
        let remedy = if pools.is_empty() {
            format!("add a table [{table}.{}]", quoted(name))
        } else {
            suggestion(name, pools.keys().map(String::as_str))
        };
        Fault::new(&at.key("pool"), format!("there is no pool \"{}\"", quoted(name)), remedy)
    })
}

/// The port of a link: the one that it names, or else its line.
fn port_of(link: &LinkConfig) -> Option<&str> {
    link.port.as_deref().or_else(|| link.keys.line.as_ref().map(|line| line.name.as_str()))
}

/// A number that the links with this port share: the place of the first of them.
fn port_number(file: &ScenarioFile, port: &str) -> u32 {
    let has_port = |link: &LinkConfig| port_of(link) == Some(port);
    file.links.values().position(has_port).map_or(0, |place| place as u32)
}
