//! Conditions on the traffic of a link that several models share.

use crate::bottleneck::{Bottleneck, FlowClass};
use crate::general_format::general;
use crate::rule::NotApplicable;

/// The error of a rule that does not apply to this link.
pub(crate) fn refused(link: &Bottleneck, why: &str) -> NotApplicable {
    NotApplicable(format!("link {}: {why}", link.name))
}

/// Requires a permanent flow under congestion control.
///
/// # Errors
/// No such flow crosses the link.
pub fn need_permanent_flows(link: &Bottleneck) -> Result<(), NotApplicable> {
    if link.classes.is_empty() {
        return Err(refused(link, "no permanent flow under congestion control crosses it"));
    }
    Ok(())
}

/// Largest rate of a flow on an empty path: its access rate, or its window per round trip.
pub fn rate_limit_bps(flows: &FlowClass) -> f64 {
    if flows.rtt_s == 0.0 {
        return flows.access_rate_bps;
    }
    flows.access_rate_bps.min(8.0 * flows.packet_bytes * flows.max_window / flows.rtt_s)
}

/// Load of permanent flows under congestion control, each at its own rate limit, as a fraction of
/// the link's rate; infinite if a flow has no limit.
pub fn permanent_load(link: &Bottleneck) -> f64 {
    let rates = link.classes.iter().map(|flows| flows.flows() * rate_limit_bps(flows));
    rates.sum::<f64>() / link.rate_bps
}

/// The offered load, for a model of a link that carries its offered load.
///
/// # Errors
/// The offered load is not between 0 and 1.
pub fn need_load_below_one(link: &Bottleneck) -> Result<f64, NotApplicable> {
    let unlimited = link.classes.iter().filter(|flows| rate_limit_bps(flows).is_infinite());
    let groups = distinct(unlimited.map(|flows| flows.group.as_str()));
    if !groups.is_empty() {
        let why = format!(
            "neither access rate nor window limits the flows of {groups}, which take all they can get"
        );
        return Err(refused(link, &why));
    }
    let load = permanent_load(link) + link.stream_load() + link.dynamic_load();
    if load > 0.0 && load < 1.0 {
        return Ok(load);
    }
    let load = general(load, 4);
    let why = format!("the offered load is {load}; this model is for loads between 0 and 1");
    Err(refused(link, &why))
}

/// Names without repetition, in their order, separated by commas.
pub(crate) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found.join(", ")
}
