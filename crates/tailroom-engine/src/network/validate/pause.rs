//! What pause frames and the memory of ingresses must satisfy.

use super::super::Network;
use super::super::error::NetworkError;
use super::check_delay;
use crate::link::LinkSpec;
use crate::link::ingress_pool::IngressMemory;
use crate::parameters::{BadParameter, Range, check, check_field};
use crate::quantity::{Duration, Size};

/// The largest alpha of an ingress, as of a queue in a pool.
const MOST_ALPHA: f64 = 1_000_000.0;

/// Checks the pause frames and ingresses of all links; `packet_bytes` has the size of the largest packet
/// of each.
pub(super) fn check_pauses(network: &Network, packet_bytes: &[u32]) -> Result<(), NetworkError> {
    let behind = network.behind_ingresses();
    for (link, spec) in network.links.iter().enumerate() {
        check_pause(spec, packet_bytes[link])
            .and_then(|()| check_ingress(spec, &network.ingress_pools, packet_bytes[link]))
            .and_then(|()| check_frames(network, link))
            .map_err(|bad| NetworkError::Link { link, bad })?;
        if behind[link] && !spec.is_served() {
            let problem = "packets reach the link over one whose far end counts them, and the link fixes \
                           departures";
            let bad = BadParameter::new("is_acted_on", problem, "set it to true");
            return Err(NetworkError::Link { link, bad });
        }
    }
    Ok(())
}

/// Checks the link over which the pause frames of a link travel.
fn check_frames(network: &Network, link: usize) -> Result<(), BadParameter> {
    const KEY: &str = "pause_frames_over";
    let spec = &network.links[link];
    let Some(over) = spec.pause_frames_over else { return Ok(()) };
    if spec.pause.is_none() {
        let problem = "the link has no pause frames";
        return Err(BadParameter::new(KEY, problem, "add `pause`, or remove it"));
    }
    check(KEY, over, over < network.links.len(), "less than the number of links")?;
    if over == link {
        let problem = "pause frames do not travel over the link that they pause";
        return Err(BadParameter::new(KEY, problem, "name the link in the other direction"));
    }
    if !network.links[over].is_served() {
        let problem = "the link over which the frames travel fixes departures";
        return Err(BadParameter::new(KEY, problem, "set is_acted_on of that link to true"));
    }
    Ok(())
}

fn check_ingress(
    link: &LinkSpec,
    pools: &[IngressMemory],
    packet_bytes: u32,
) -> Result<(), BadParameter> {
    let Some(member) = link.ingress else { return Ok(()) };
    let is_known = member.pool < pools.len();
    check("ingress.pool", member.pool, is_known, "less than the number of pools")?;
    let is_allowed = member.alpha > 0.0 && member.alpha <= MOST_ALPHA;
    check("ingress.alpha", member.alpha, is_allowed, "more than 0 and at most 1000000")?;
    if link.pause.is_some() {
        return Ok(());
    }
    if member.xon_offset > 0 {
        let problem = "the link has no pause frames, which it would end";
        return Err(BadParameter::new("ingress.xon_offset", problem, "add `pause`, or remove it"));
    }
    let (size, packet) = (pools[member.pool].size, Size::new(packet_bytes.into()));
    if size.bytes() < packet.bytes() {
        let problem = format!("the memory, {size}, is less than one packet of {packet}");
        let remedy = format!("raise its `size` to at least \"{packet}\"");
        return Err(BadParameter::new("ingress.pool", problem, remedy));
    }
    Ok(())
}

fn check_pause(link: &LinkSpec, packet_bytes: u32) -> Result<(), BadParameter> {
    let Some(pause) = link.pause else { return Ok(()) };
    check_field("pause", &pause, &Range::ANY)?;
    check_delay("pause.response_time", pause.response_time.map_or(link.delay, Duration::time))?;
    if pause.xon.bytes() > pause.xoff.bytes() {
        let problem = format!("{} is more than xoff, {}", pause.xon, pause.xoff);
        let remedy = format!("lower it to at most \"{}\", or raise xoff", pause.xoff);
        return Err(BadParameter::new("pause.xon", problem, remedy));
    }
    if pause.memory_bytes() < packet_bytes.into() {
        let packet = Size::new(packet_bytes.into());
        let problem = format!(
            "{} and the headroom, {}, are together less than one packet of {packet}",
            pause.xoff, pause.headroom
        );
        return Err(BadParameter::new("pause.xoff", problem, format!("raise it to \"{packet}\"")));
    }
    Ok(())
}
