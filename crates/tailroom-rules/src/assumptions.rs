//! Assumptions that several models share, each checked against a link.

use crate::bottleneck::Bottleneck;
use crate::general_format::general;
use crate::rule::{Assumption, assume};

/// The buffer drops packets only if it is full.
pub fn drop_tail(link: &Bottleneck) -> Assumption {
    assume("the buffer is DropTail", link.discipline == "drop_tail", link.discipline.as_str())
}

/// No other shared link delays or drops packets of these flows.
pub fn one_bottleneck(link: &Bottleneck) -> Assumption {
    let others = &link.other_links;
    assume("flows cross no other shared link", others.is_empty(), others.join(", "))
}

/// Rate and delay do not change, and the link has no token bucket and no random loss.
pub fn steady_link(link: &Bottleneck) -> Assumption {
    let loss = link.random_loss_fraction;
    let found = if link.changes {
        "rate or delay change".to_owned()
    } else if link.has_token_bucket {
        "a token bucket shapes or polices the packets".to_owned()
    } else {
        format!("the wire loses {} of the packets", general(loss, 3))
    };
    let is_steady = !link.changes && !link.has_token_bucket;
    assume("the link is steady and loses nothing", is_steady && loss == 0.0, found)
}

/// All data packets have one size.
pub fn one_packet_size(link: &Bottleneck) -> Assumption {
    let sizes = &link.packet_sizes_bytes;
    let varied: Vec<&str> = link
        .streams
        .iter()
        .filter(|stream| !stream.fixed_size)
        .map(|stream| stream.group.as_str())
        .collect();
    let found = match (sizes.first(), sizes.last()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most} B"),
        _ => format!("{} varies", varied.join(", ")),
    };
    assume("packets have one size", sizes.len() <= 1 && varied.is_empty(), found)
}

/// Only permanent flows under congestion control cross the link.
pub fn long_flows_alone(link: &Bottleneck) -> Assumption {
    let streams = link.streams.iter().map(|stream| stream.group.as_str());
    let others: Vec<&str> =
        streams.chain(link.dynamic.iter().map(|flows| flows.group.as_str())).collect();
    let percent = general(100.0 * (link.stream_load() + link.dynamic_load()), 3);
    let found = format!("{} offer {percent} % of the rate", others.join(", "));
    assume("nothing else crosses the link", others.is_empty(), found)
}

/// No access link is slower than the bottleneck.
pub fn fast_access(link: &Bottleneck) -> Assumption {
    let slowest = slowest_access_bps(link).unwrap_or(link.rate_bps);
    let found = format!("{} Mbit/s", general(slowest / 1e6, 6));
    assume("access links are no slower than the link", slowest >= link.rate_bps, found)
}

pub(crate) fn slowest_access_bps(link: &Bottleneck) -> Option<f64> {
    link.classes.iter().map(|flows| flows.access_rate_bps).min_by(f64::total_cmp)
}

/// No window reaches its maximum before link and buffer are full.
pub fn unbounded_windows(link: &Bottleneck) -> Assumption {
    let need = (link.bdp_packets() + link.limit_packets()) / link.flows().max(1.0);
    let windows = link.classes.iter().map(|flows| flows.max_window);
    let smallest = windows.min_by(f64::total_cmp).unwrap_or(need);
    let (shown, share) = (general(smallest, 6), general(need, 4));
    let found = format!("{shown} packets, where a share of link and buffer is {share}");
    assume("windows have no other bound", smallest >= need, found)
}

/// The number of flows in words.
pub(crate) fn counted(flows: u64) -> String {
    if flows == 1 { "1 flow".to_owned() } else { format!("{flows} flows") }
}

/// Flows run these congestion controls.
pub fn only_controls(link: &Bottleneck, controls: &[&str]) -> Assumption {
    let others: Vec<&str> =
        link.controls().into_iter().filter(|name| !controls.contains(name)).collect();
    let statement = format!("flows run {}", controls.join(" or "));
    assume(statement, others.is_empty(), others.join(", "))
}

/// The assumptions of a rule: its own, and those of nearly every rule for long flows.
pub(crate) fn for_long_flows<const N: usize>(
    link: &Bottleneck,
    own: [Assumption; N],
) -> Vec<Assumption> {
    let shared = [
        unbounded_windows(link),
        drop_tail(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
    ];
    own.into_iter().chain(shared).collect()
}
