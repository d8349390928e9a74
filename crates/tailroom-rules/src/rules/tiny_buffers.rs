//! Tens of packets suffice if flows cannot fill the link: the buffer grows with log(window).
//!
//! Paced, or smoothed by access links, packets arrive nearly as a Poisson process of load rho, and
//! the buffer drops the part rho^B of them. A loss costs a flow at most W^2 / 2 packets, what its
//! window loses while it grows back from nothing to its bound W.

use crate::assumptions::{drop_tail, one_bottleneck, one_packet_size, only_controls, steady_link};
use crate::bottleneck::{Bottleneck, FlowClass};
use crate::general_format::general;
use crate::numerics::LEAST_LIMIT;
use crate::rule::{Assumption, NotApplicable, Prediction, Requirement, Rule, assume};
use crate::traffic::{distinct, need_load_below_one, need_permanent_flows, rate_limit_bps};

/// Share of the link's rate below which an access link spreads a flow's packets far enough.
const SLOW_ACCESS: f64 = 0.01;

/// Largest effective window, in packets, at least 1.
fn window_bound(flows: &FlowClass) -> f64 {
    (rate_limit_bps(flows) * flows.rtt_s / (8.0 * flows.packet_bytes)).max(1.0)
}

/// Least share in [0, 1] of its own rate limit that a flow gets.
///
/// Its window is at most `window` packets; `packets` fit, with the packet in transmission. The
/// inverse of Enachescu et al. 2006, Theorem 1: B >= log_{1/rho}(W^2 / (2 (1 - theta))).
pub fn kept(load: f64, packets: f64, window: f64) -> f64 {
    (1.0 - load.powf(packets) * window.powi(2) / 2.0).max(0.0)
}

/// Smallest whole limit, in waiting packets, that gives flows this share; at least 1.
pub fn required(load: f64, share: f64, window: f64) -> f64 {
    let packets = (window.powi(2) / (2.0 * (1.0 - share))).ln() / (1.0 / load).ln();
    (packets.ceil() - 1.0).max(LEAST_LIMIT)
}

/// A lower bound of the utilization, and the limit for a share of what flows could send.
fn predict(link: &Bottleneck, target: Requirement) -> Result<Prediction, NotApplicable> {
    need_permanent_flows(link)?;
    let load = need_load_below_one(link)?;
    let window = link.classes.iter().map(window_bound).fold(1.0, f64::max);
    let share = kept(load, link.system_packets(), window);
    let loss = load.powf(link.system_packets());
    let others = link.stream_load() + link.dynamic_load();
    Ok(Prediction {
        utilization: Some((load - others) * share + others * (1.0 - loss)),
        loss_fraction: Some(loss),
        required_packets: required(load, target.utilization, window),
        required_for: format!("{} % of what is offered", general(100.0 * target.utilization, 6)),
        details: vec![
            ("load_fraction", load),
            ("kept_fraction", share),
            ("window_packets_max", window),
        ],
        ..Prediction::default()
    })
}

fn assumptions(link: &Bottleneck) -> Result<Vec<Assumption>, NotApplicable> {
    let is_smooth =
        |flows: &FlowClass| flows.pacing || flows.access_rate_bps <= SLOW_ACCESS * link.rate_bps;
    let rushing: Vec<&FlowClass> = link.classes.iter().filter(|one| !is_smooth(one)).collect();
    let groups = distinct(rushing.iter().map(|flows| flows.group.as_str()));
    let fastest = rushing.iter().map(|flows| flows.access_rate_bps).fold(0.0, f64::max);
    let speed = if fastest.is_infinite() {
        "of any rate".to_owned()
    } else {
        format!("of up to {} Mbit/s", general(fastest / 1e6, 4))
    };
    let bursts = link.streams.iter().any(|stream| stream.process == "on_off");
    Ok(vec![
        assume(
            "flows are paced, or access links are a hundred times slower than the link",
            rushing.is_empty(),
            format!("{groups} unpaced, with access links {speed}"),
        ),
        only_controls(link, &["reno", "aimd"]),
        assume("nothing else comes in bursts", link.dynamic.is_empty() && !bursts, "flows that do"),
        one_packet_size(link),
        drop_tail(link),
        one_bottleneck(link),
        steady_link(link),
    ])
}

pub(super) const RULE: Rule = Rule {
    name: "tiny_buffers",
    short: "tiny",
    title: "Tiny buffers: the logarithm of the window, for links that flows cannot fill",
    source: "Enachescu, Ganjali, Goel, McKeown, Roughgarden 2006, INFOCOM, Theorem 1",
    predict,
    assumptions,
};
