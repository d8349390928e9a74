//! Pause frames and ingresses that contradict the paths and the pools of a scenario.

use super::fabrics::Fabrics;
use crate::network::Network;
use crate::quantity::Size;
use crate::scenario::text::error::{Fault, Path};

/// Refuses pause frames and a place in memory for a link whose packets wait nowhere behind it, and pause
/// frames for what does not fit into the pool of a link behind it. A switch has them for all its links,
/// whatever crosses them.
pub(super) fn check_pauses(network: &Network, fabrics: &Fabrics) -> Result<(), Fault> {
    for (index, link) in network.links.iter().enumerate() {
        if !link.counts_in_switch() {
            continue;
        }
        let key = if link.pause.is_some() { "pause" } else { "ingress" };
        let at = Path::of(&["links", &link.name, key]);
        let mut behind = network.links_behind(index).peekable();
        if behind.peek().is_none() && !fabrics.has_link(&link.name) {
            let problem =
                "no flow crosses another link behind this one, so that nothing waits there";
            return Err(Fault::new(&at, problem, "remove it, or add links to the path of a flow"));
        }
        let Some(pause) = link.pause else { continue };
        let pools = behind.filter_map(|next| network.links[next].pool);
        let pools = pools.map(|member| &network.pools[member.pool]);
        if let Some(pool) = pools.min_by_key(|pool| pool.size_bytes)
            && pause.memory_bytes() > pool.size_bytes
        {
            let problem = format!(
                "{} and the headroom, {}, are together more than pool \"{}\" has, {}",
                pause.xoff,
                pause.headroom,
                pool.name,
                Size::new(pool.size_bytes)
            );
            return Err(Fault::new(
                &at.key("xoff"),
                problem,
                "lower it, or raise `size` of the pool",
            ));
        }
    }
    Ok(())
}
