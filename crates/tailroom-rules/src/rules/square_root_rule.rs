//! Many flows that do not reduce together: a bandwidth-delay product over the root of their number.
//!
//! The sum of n independent windows is nearly normal. A window is uniform between 2/3 and 4/3 of its
//! mean, so that its standard deviation is that mean over 3 sqrt(3), and the sum's is that of one sum
//! over sqrt(n).

use std::f64::consts::SQRT_2;

use crate::assumptions::{counted, for_long_flows, only_controls};
use crate::bottleneck::Bottleneck;
use crate::general_format::general;
use crate::numerics::normal_deviations;
use crate::rule::{Assumption, NotApplicable, Prediction, Requirement, Rule, assume};
use crate::traffic::need_permanent_flows;

/// Standard deviation of a sawtooth window over its mean: (4/3 - 2/3) / sqrt(12).
pub const SPREAD: f64 = 0.192_450_089_729_875_25;

/// Number of flows beyond which they seldom reduce together.
pub(super) const MANY: u64 = 100;

/// In packets; with fewer in flight, three duplicate ACKs cannot arrive, and losses time out.
const SMALL_WINDOW: f64 = 4.0;

/// Lower bound of the utilization (Appenzeller, Keslassy, `McKeown` 2004).
///
/// erf(3 sqrt(3) / (2 sqrt(2)) B sqrt(n) / (BDP + B)) with limit B and bandwidth-delay product in
/// packets: the probability that the sum of windows is within B / 2 of its mean (BDP + B).
pub fn utilization(limit: f64, bdp: f64, flows: f64) -> f64 {
    let total = bdp + limit;
    if total <= 0.0 {
        return 1.0;
    }
    let deviation = SPREAD * total / flows.sqrt();
    libm::erf(limit / (2.0 * SQRT_2 * deviation))
}

/// Limit in packets at which that bound is the target in (0, 1); infinite if there is none.
pub fn required(target: f64, bdp: f64, flows: f64) -> f64 {
    // erf(x / sqrt(2)) is the probability that a normal variable is within x deviations.
    let part = 2.0 * SPREAD / flows.sqrt() * normal_deviations((1.0 - target) / 2.0);
    if part < 1.0 { bdp * part / (1.0 - part) } else { f64::INFINITY }
}

/// Limit in packets that the sum of windows exceeds only with this probability.
///
/// 3.3 deviations of the sum, whose mean is the BDP, for 0.1 % (Wischik and `McKeown` 2005).
pub fn quantile(loss_fraction: f64, bdp: f64, flows: f64) -> f64 {
    normal_deviations(loss_fraction / 2.0) * SPREAD * bdp / flows.sqrt()
}

/// The rule, C T / sqrt(n). The limit at which the bound is the target is another quantity, many
/// times the rule for few flows.
fn predict(link: &Bottleneck, target: Requirement) -> Result<Prediction, NotApplicable> {
    need_permanent_flows(link)?;
    let (bdp, flows) = (link.bdp_packets(), link.flows());
    let bound = required(target.utilization, bdp, flows);
    let bound = bound.is_finite().then_some(("erf_bound_packets", bound));
    let quantile = ("quantile_packets", quantile(target.loss_fraction, bdp, flows));
    Ok(Prediction {
        utilization: Some(utilization(link.limit_packets(), bdp, flows)),
        required_packets: bdp / flows.sqrt(),
        required_for: "C T / sqrt(n)".to_owned(),
        details: bound.into_iter().chain([quantile]).collect(),
        ..Prediction::default()
    })
}

fn assumptions(link: &Bottleneck) -> Result<Vec<Assumption>, NotApplicable> {
    let flows = link.flow_count();
    let window = (link.bdp_packets() + link.limit_packets()) / link.flows();
    let trips = link.round_trips_s();
    let trip_ms = general(1e3 * trips.last().copied().unwrap_or(0.0), 4);
    let own = [
        only_controls(link, &["reno"]),
        assume(format!("more than {MANY} flows"), flows > MANY, counted(flows)),
        assume("round trips differ", trips.len() > 1, format!("all take {trip_ms} ms")),
        assume(
            format!("windows are larger than {SMALL_WINDOW} packets"),
            window > SMALL_WINDOW,
            format!("{} packets", general(window, 3)),
        ),
    ];
    Ok(for_long_flows(link, own))
}

pub(super) const RULE: Rule = Rule {
    name: "square_root_rule",
    short: "C·RTT/√n",
    title: "Square root rule: bandwidth-delay product over the root of the number of flows",
    source: "Appenzeller, Keslassy, McKeown 2004, SIGCOMM; Wischik, McKeown 2005, CCR 35(3)",
    predict,
    assumptions,
};
