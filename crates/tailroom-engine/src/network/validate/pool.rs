//! What memory that links share must satisfy.

use std::collections::BTreeMap;

use super::super::error::NetworkError;
use super::super::{GroupSpec, Network};
use crate::link::LinkSpec;
use crate::parameters::{BadParameter, Range, check, check_field};
use crate::pool::PoolSpec;
use crate::pool::policy::PolicyConfig;
use crate::quantity::Size;
use crate::units::Time;

/// The largest memory, as for the limit of a queue.
const LARGEST_BYTES: u64 = 1_000_000_000_000_000;

/// Alpha of a link; the range of the key is that of the policy.
const ALPHA: Range = Range::ANY.more_than(0.0).at_most(1e6);

/// The shortest interval after which a policy looks at its queues.
const SHORTEST_INTERVAL: Time = Time::from_picoseconds(1_000_000);

/// The largest cell: more than any packet needs.
const LARGEST_CELL_BYTES: u32 = 65_536;

/// Checks the pools of a network, and the places of its links in them.
pub(super) fn check_pools(network: &Network) -> Result<(), NetworkError> {
    for (pool, spec) in network.pools.iter().enumerate() {
        check_pool(spec).map_err(|bad| NetworkError::Pool { pool, bad })?;
    }
    for (link, spec) in network.links.iter().enumerate() {
        check_member(&network.pools, spec).map_err(|bad| NetworkError::Link { link, bad })?;
    }
    for (pool, spec) in network.pools.iter().enumerate() {
        let members = network.links.iter().filter_map(|link| link.pool);
        let reserves = members.filter(|member| member.pool == pool);
        let reserves: Vec<u64> = reserves.map(|member| member.reserved_bytes).collect();
        check_reserves(spec, &reserves).map_err(|bad| NetworkError::Pool { pool, bad })?;
    }
    for (group, spec) in network.groups.iter().enumerate() {
        check_loss_priority(network, spec).map_err(|bad| NetworkError::Group { group, bad })?;
    }
    check_alphas(network)
}

fn check_pool(pool: &PoolSpec) -> Result<(), BadParameter> {
    check_field("policy", &pool.policy, &Range::ANY)?;
    let size = Size::new(pool.size_bytes);
    let is_allowed = pool.size_bytes > 0 && pool.size_bytes <= LARGEST_BYTES;
    check("size", size, is_allowed, "more than \"0 B\" and at most \"1 PB\"")?;
    let cell = Size::new(pool.cell_bytes.into());
    let is_allowed = pool.cell_bytes > 0 && pool.cell_bytes <= LARGEST_CELL_BYTES;
    check("cell", cell, is_allowed, "at least \"1 B\" and at most \"65536 B\"")?;
    if u64::from(pool.cell_bytes) > pool.size_bytes {
        let problem = format!("{cell} is more than the memory, {size}");
        return Err(BadParameter::new("cell", problem, "lower it, or raise `size`"));
    }
    if let PolicyConfig::StaticThreshold(params) = &pool.policy
        && params.threshold.bytes() > pool.size_bytes
    {
        let problem = format!("{} is more than the memory, {size}", params.threshold);
        let remedy = format!(
            "lower it to at most \"{size}\", or let the pool have the policy \"complete_sharing\", which \
             sets no threshold"
        );
        return Err(BadParameter::new("policy.threshold", problem, remedy));
    }
    let interval = pool.policy.parameters().look_interval();
    if let Some(interval) = interval.filter(|interval| *interval < SHORTEST_INTERVAL) {
        let problem = format!("{interval} is less than {SHORTEST_INTERVAL}");
        return Err(BadParameter::new("policy.interval", problem, "write at least \"1 us\""));
    }
    Ok(())
}

/// Refuses a link whose place in a pool contradicts the pool.
fn check_member(pools: &[PoolSpec], link: &LinkSpec) -> Result<(), BadParameter> {
    let Some(member) = link.pool else { return Ok(()) };
    check_field("alpha", &member.alpha, &ALPHA)?;
    let Some(pool) = pools.get(member.pool) else {
        let problem = format!("there is no pool {}", member.pool);
        let remedy = format!("write less than {}, the number of pools", pools.len());
        return Err(BadParameter::new("pool", problem, remedy));
    };
    let (parameters, policy) = (pool.policy.parameters(), pool.policy.name());
    if member.alpha.is_some() && parameters.alpha().is_none() {
        let problem = format!("{policy}, the policy of pool \"{}\", has no alpha", pool.name);
        let remedy = "remove it, or let the pool have the policy \"dynamic_threshold\"";
        return Err(BadParameter::new("alpha", problem, remedy));
    }
    if member.port.is_some() && !parameters.has_ports() {
        let problem = format!("{policy}, the policy of pool \"{}\", limits no ports", pool.name);
        let remedy = "remove it, or add `port_alpha` to the policy \"dynamic_threshold\"";
        return Err(BadParameter::new("port", problem, remedy));
    }
    if member.priority.is_some() && parameters.look_interval().is_none() {
        let problem = format!("{policy}, the policy of pool \"{}\", has none", pool.name);
        let remedy = "remove it, or let the pool have the policy \"abm\"; `loss_priority` of a group \
                      is that of its packets";
        return Err(BadParameter::new("priority", problem, remedy));
    }
    if member.reserved_bytes > 0 && parameters.counts_priorities() {
        let problem = "the policy limits each loss priority, and a reserve belongs to none";
        let remedy = "remove it, or write `limits = \"queue\"` in the policy";
        return Err(BadParameter::new("reserved", problem, remedy));
    }
    if parameters.drops_waiting() && link.queue.is_scheduler() {
        let problem = format!(
            "{policy}, the policy of pool \"{}\", drops packets that wait, and {} has queues of its own",
            pool.name,
            link.queue.name()
        );
        let remedy = "let the pool have another policy, or the link a discipline that decides at \
                      arrival, such as \"drop_tail\"";
        return Err(BadParameter::new("pool", problem, remedy));
    }
    if parameters.drops_waiting() && !link.is_served() {
        let problem = format!("{policy} drops packets that wait, and the link fixes departures");
        return Err(BadParameter::new("is_acted_on", problem, "set it to true"));
    }
    Ok(())
}

/// Refuses a loss priority of which no pool on the path of the group knows.
fn check_loss_priority(network: &Network, group: &GroupSpec) -> Result<(), BadParameter> {
    let Some(below) = (group.loss_priority as usize).checked_sub(1) else { return Ok(()) };
    let links = group.path.iter().chain(&group.reverse_path);
    let pools = links.filter_map(|link| network.links.get(*link)?.pool);
    let pools: Vec<&PoolSpec> = pools.filter_map(|member| network.pools.get(member.pool)).collect();
    let alphas = |pool: &PoolSpec| pool.policy.parameters().lower_alphas().len();
    let short = pools.iter().find(|pool| (1..=below).contains(&alphas(pool)));
    let (problem, remedy) = if let Some(pool) = short {
        let most = alphas(pool);
        let problem = format!("pool \"{}\" has alphas of priorities up to {most}", pool.name);
        (problem, format!("write at most {most}, or add to `lower_alphas` of its policy"))
    } else if pools.iter().all(|pool| alphas(pool) == 0) {
        let problem = "no pool on the path of the group has alphas of loss priorities".to_owned();
        let remedy =
            "remove it, or add `lower_alphas = [0.25]` to the policy \"dynamic_threshold\"";
        (problem, remedy.to_owned())
    } else {
        return Ok(());
    };
    Err(BadParameter::new("loss_priority", problem, remedy))
}

/// Refuses queues of one priority with several alphas, where the policy divides the memory of a priority
/// among its queues.
fn check_alphas(network: &Network) -> Result<(), NetworkError> {
    let mut alphas = BTreeMap::new();
    for (link, spec) in network.links.iter().enumerate() {
        let Some(member) = spec.pool else { continue };
        let parameters = network.pools[member.pool].policy.parameters();
        if parameters.look_interval().is_none() {
            continue;
        }
        let alpha = member.alpha.or(parameters.alpha()).unwrap_or_default();
        let priority = member.priority.unwrap_or(0);
        let first = *alphas.entry((member.pool, priority)).or_insert(alpha);
        if first.total_cmp(&alpha).is_ne() {
            let problem =
                format!("{alpha} contradicts {first}, that of another link of priority {priority}");
            let remedy = format!("write {first}, or give this link another `priority`");
            let bad = BadParameter::new("alpha", problem, remedy);
            return Err(NetworkError::Link { link, bad });
        }
    }
    Ok(())
}

/// Refuses a pool without links, and reserves that the memory cannot hold.
fn check_reserves(pool: &PoolSpec, reserves: &[u64]) -> Result<(), BadParameter> {
    if reserves.is_empty() {
        let remedy = format!("add `pool = \"{}\"` to links, or remove the pool", pool.name);
        return Err(BadParameter::new("", "no link shares it", remedy));
    }
    let cells = reserves.iter().map(|bytes| pool.cells(*bytes));
    let cells = cells.fold(0, u64::saturating_add);
    if let Some(shared) = pool.size_cells().checked_sub(cells) {
        return check_mark(pool, shared.saturating_mul(u64::from(pool.cell_bytes)));
    }
    let needed = Size::new(cells.saturating_mul(u64::from(pool.cell_bytes)));
    let problem =
        format!("{} is less than its links reserve, {needed}", Size::new(pool.size_bytes));
    let remedy = format!("raise it to at least \"{needed}\", or lower `reserved`");
    Err(BadParameter::new("size", problem, remedy))
}

/// Refuses a threshold of ECN that marks each packet or none, where the links share so much memory.
fn check_mark(pool: &PoolSpec, shared_bytes: u64) -> Result<(), BadParameter> {
    let Some(bytes) = pool.mark_above_bytes else { return Ok(()) };
    let allowed = format!(
        "more than \"0 B\" and less than \"{}\", the memory beyond all reserves",
        Size::new(shared_bytes)
    );
    check("mark_above", Size::new(bytes), 0 < bytes && bytes < shared_bytes, &allowed)
}

/// Refuses a wrong pool, and one that never has room for the largest packet of one of its links.
pub(crate) fn check_room(pool: &PoolSpec, largest_packet: u64) -> Result<(), BadParameter> {
    check_pool(pool)?;
    let needed = pool.cells(largest_packet);
    if needed <= pool.size_cells() {
        return Ok(());
    }
    let needed = Size::new(needed.saturating_mul(u64::from(pool.cell_bytes)));
    let size = Size::new(pool.size_bytes);
    let problem = format!("{size} is less than one packet takes, {needed}");
    Err(BadParameter::new("size", problem, format!("raise it to at least \"{needed}\"")))
}
