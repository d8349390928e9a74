//! DCTCP: the marking threshold that keeps the link busy, and the amplitude of the queue.
//!
//! Flows in step pass the threshold K for one round trip; the share of packets marked, alpha, is
//! that round trip's part of the cycle, and the windows fall by alpha / 2.

use crate::assumptions::{
    long_flows_alone, one_bottleneck, only_controls, steady_link, unbounded_windows,
};
use crate::bottleneck::Bottleneck;
use crate::general_format::general;
use crate::rule::{Assumption, NotApplicable, Prediction, Requirement, Rule, assume};
use crate::traffic::{need_permanent_flows, refused};

/// Alizadeh et al. 2010, Eq. 13.
pub const THRESHOLD_BDP: f64 = 1.0 / 7.0;

/// 2 ln 2, of the bound on the gain g (Alizadeh et al. 2010, Eq. 15).
const BURST: f64 = 1.386;

/// Amplitude of the queue, in packets (Alizadeh et al. 2010, Eq. 8).
///
/// sqrt(2 N (C RTT + K)) / 2, at most half of what fills link and queue: alpha is at most 1.
pub fn amplitude(bdp: f64, threshold: f64, flows: f64) -> f64 {
    let full = bdp + threshold;
    (2.0 * flows * full).sqrt().min(full) / 2.0
}

/// Mean utilization in (0, 1] of a sawtooth of packets in flight, from `lowest` to `highest`.
///
/// They grow evenly by round trip, and a round trip lasts as long as the link takes to send them, or
/// the RTT: packets over time in a cycle is the integral of w over that of max(w, BDP).
pub fn utilization(lowest: f64, highest: f64, bdp: f64) -> f64 {
    if lowest >= bdp {
        return 1.0;
    }
    if highest <= bdp {
        return (lowest + highest) / (2.0 * bdp);
    }
    let sent = (highest.powi(2) - lowest.powi(2)) / 2.0;
    sent / (bdp * (bdp - lowest) + (highest.powi(2) - bdp.powi(2)) / 2.0)
}

/// Mean queue over time in that cycle, in packets.
pub fn queue_mean(lowest: f64, highest: f64, bdp: f64) -> f64 {
    let low = lowest.max(bdp);
    if highest <= low {
        return 0.0;
    }
    // The queue w - BDP lasts for a time in proportion to w.
    let squares = (highest.powi(2) - low.powi(2)) / 2.0;
    let area = (highest.powi(3) - low.powi(3)) / 3.0 - bdp * squares;
    // Rounding takes more than is left of nearly nothing.
    (area / (squares + bdp * (bdp - lowest).max(0.0))).max(0.0)
}

/// Queue and utilization with the threshold that the link has. The required limit holds the queue
/// with the threshold of Eq. 13.
fn predict(link: &Bottleneck, _target: Requirement) -> Result<Prediction, NotApplicable> {
    need_permanent_flows(link)?;
    if !link.controls().contains("dctcp") {
        return Err(refused(link, "no DCTCP flow crosses it"));
    }
    if link.discipline != "step_mark" {
        let why = format!("{} has no marking threshold; step_mark has one", link.discipline);
        return Err(refused(link, &why));
    }
    let (bdp, flows, limit) = (link.bdp_packets(), link.flows(), link.limit_packets());
    if bdp == 0.0 {
        return Err(refused(link, "its round trips take no time"));
    }
    let threshold = link.amount("threshold").min(limit);
    let swing = amplitude(bdp, threshold, flows);
    let highest = bdp + (threshold + flows).min(limit);
    let lowest = (bdp + threshold + flows - swing).min(highest);
    let queue = queue_mean(lowest, highest, bdp);
    Ok(Prediction {
        utilization: Some(utilization(lowest, highest, bdp)),
        queue_packets_mean: Some(queue),
        queue_delay_s_mean: Some(queue / link.capacity_pps()),
        required_packets: THRESHOLD_BDP * bdp + flows,
        required_for: "a threshold of a seventh of the bandwidth-delay product".to_owned(),
        details: vec![
            ("required_threshold_packets", THRESHOLD_BDP * bdp),
            ("queue_packets_max", highest - bdp),
            ("queue_packets_min", (lowest - bdp).max(0.0)),
            ("amplitude_packets", swing),
            ("period_round_trips", swing / flows),
            ("largest_gain_fraction", largest_gain(bdp + threshold).min(1.0)),
        ],
        ..Prediction::default()
    })
}

/// The bound on the gain (Eq. 15), where so many packets fill link and queue.
fn largest_gain(full: f64) -> f64 {
    BURST / (2.0 * full).sqrt()
}

fn assumptions(link: &Bottleneck) -> Result<Vec<Assumption>, NotApplicable> {
    let (flows, bdp, limit) = (link.flows(), link.bdp_packets(), link.limit_packets());
    let threshold = link.amount("threshold");
    let window = (bdp + threshold) / flows;
    let gains = link.classes.iter().map(|class| class.number("gain").unwrap_or(0.0));
    let gain = gains.fold(0.0, f64::max);
    let largest = largest_gain(bdp + threshold);
    let deaf: Vec<&str> =
        link.classes.iter().filter(|class| !class.ecn).map(|class| class.group.as_str()).collect();
    let seventh = THRESHOLD_BDP * bdp;
    Ok(vec![
        only_controls(link, &["dctcp"]),
        assume("flows use ECN", deaf.is_empty(), format!("{} without", deaf.join(", "))),
        assume(
            "the threshold is above a seventh of the bandwidth-delay product",
            threshold > seventh,
            format!("{} packets, a seventh is {}", general(threshold, 4), general(seventh, 4)),
        ),
        assume(
            "flows reduce together: few, with large windows",
            flows <= 10.0,
            format!("{flows} flows"),
        ),
        assume(
            "windows are larger than 4 packets",
            window > 4.0,
            format!("{} packets", general(window, 3)),
        ),
        assume(
            "the estimate lasts for a cycle",
            gain <= largest,
            format!("gain {}, where {} is the bound", general(gain, 4), general(largest, 3)),
        ),
        assume(
            "the buffer holds the queue",
            limit >= threshold + flows,
            format!("{} packets for {}", general(limit, 4), general(threshold + flows, 4)),
        ),
        unbounded_windows(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
    ])
}

pub(super) const RULE: Rule = Rule {
    name: "dctcp_threshold",
    short: "DCTCP",
    title: "DCTCP: marking threshold and queue",
    source: "Alizadeh et al. 2010, SIGCOMM, Eqs. 3 to 15",
    predict,
    assumptions,
};
