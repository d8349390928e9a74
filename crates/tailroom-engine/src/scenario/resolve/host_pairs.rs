//! The hosts between which the flows of a group run, and what follows from their routes.

use super::inputs::Inputs;
use crate::fabric::{Fabric, HostPairs, OUTSIDE, Route};
use crate::random::{self, below};
use crate::scenario::format::fabrics::PairsConfig;
use crate::scenario::format::file::ScenarioFile;
use crate::scenario::format::flows::FlowsConfig;
use crate::scenario::text::error::{Fault, Path};
use crate::units::{Rate, Time};

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
