//! Many Reno flows at a small buffer: the fixed point of their windows and its stability.
//!
//! A small buffer drops the part p = rho^B of the packets of the moment (Raina and Wischik 2005).
//! Reno settles where w^2 p = 2. Linearised there, u'(t) = -2/(w T) u(t) - B/(w T) u(t - T) with the
//! RTT T, which dies out as long as that delay is short enough (docs/models/buffer-rules.md).

use std::f64::consts::{FRAC_PI_2, SQRT_2};

use super::square_root_rule::MANY;
use crate::assumptions::{counted, for_long_flows, only_controls};
use crate::bottleneck::Bottleneck;
use crate::general_format::general;
use crate::numerics::smallest_limit;
use crate::rule::{Assumption, NotApplicable, Prediction, Requirement, Rule, assume};
use crate::traffic::{need_permanent_flows, refused};

/// In packets; a larger buffer is not small if flows are many and their windows short.
const SMALL: f64 = 100.0;

/// Window w in packets at which flows settle.
///
/// w^2 (w / share)^B = 2 with B = `packets` in the buffer, the packet in transmission included, and
/// `share` the bandwidth-delay product per flow in packets, larger than sqrt(2).
pub fn window(share: f64, packets: f64) -> f64 {
    ((2.0_f64.ln() + packets * share.ln()) / (packets + 2.0)).exp()
}

/// Longest delay, in round trips, at which the fixed point would be stable.
///
/// Above 1 the fixed point is stable. Infinite for B <= 2: no delay destabilizes it. For larger
/// buffers w arccos(-2 / B) / sqrt(B^2 - 4), about pi w / (2 B).
pub fn margin(share: f64, packets: f64) -> f64 {
    if packets <= 2.0 {
        return f64::INFINITY;
    }
    window(share, packets) * (-2.0 / packets).acos() / (packets.powi(2) - 4.0).sqrt()
}

/// Load and loss at the fixed point, both in (0, 1).
pub fn fixed_point(share: f64, packets: f64) -> (f64, f64) {
    let window = window(share, packets);
    (window / share, 2.0 / window.powi(2))
}

fn utilization(share: f64, packets: f64) -> f64 {
    let (load, loss) = fixed_point(share, packets);
    load * (1.0 - loss)
}

/// Utilization and loss where windows settle, and the limit that gives the target utilization.
fn predict(link: &Bottleneck, target: Requirement) -> Result<Prediction, NotApplicable> {
    need_permanent_flows(link)?;
    let (share, packets) = (link.bdp_packets() / link.flows(), link.system_packets());
    if share <= SQRT_2 {
        let why = format!(
            "{} packets of the bandwidth-delay product a flow; below sqrt(2) even a window that \
             always loses would be too large",
            general(share, 3)
        );
        return Err(refused(link, &why));
    }
    let (_, loss) = fixed_point(share, packets);
    let stable = smallest_limit(|limit| margin(share, limit + 1.0) <= 1.0) - 1.0;
    let meets = |limit: f64| utilization(share, limit + 1.0) >= target.utilization;
    Ok(Prediction {
        utilization: Some(utilization(share, packets)),
        loss_fraction: Some(loss),
        required_packets: smallest_limit(meets),
        required_for: format!("{} % of the rate", general(100.0 * target.utilization, 6)),
        details: vec![
            ("window_packets", window(share, packets)),
            ("margin_round_trips", margin(share, packets)),
            ("largest_stable_packets", stable),
            ("largest_stable_approximate_packets", FRAC_PI_2 * share),
        ],
        ..Prediction::default()
    })
}

fn assumptions(link: &Bottleneck) -> Result<Vec<Assumption>, NotApplicable> {
    let (flows, packets) = (link.flow_count(), link.system_packets());
    let trips = margin(link.bdp_packets() / link.flows(), packets);
    let own = [
        only_controls(link, &["reno"]),
        assume(format!("more than {MANY} flows"), flows > MANY, counted(flows)),
        assume(
            format!("the buffer is small, at most {SMALL} packets"),
            packets <= SMALL,
            format!("{} packets", general(packets, 4)),
        ),
        assume(
            "windows settle",
            trips > 1.0,
            format!("a delay of {} round trips makes them oscillate", general(trips, 3)),
        ),
    ];
    Ok(for_long_flows(link, own))
}

pub(super) const RULE: Rule = Rule {
    name: "stability",
    short: "fixed point",
    title: "Small buffers: where many Reno flows settle, and whether they do",
    source: "Raina, Wischik 2005, NGI; Raina, Towsley, Wischik 2005, CCR 35(3)",
    predict,
    assumptions,
};
