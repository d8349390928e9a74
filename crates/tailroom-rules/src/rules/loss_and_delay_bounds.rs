//! A congested link: the buffer for full utilization and for few losses, and its delay.
//!
//! As the number of flows grows, loss determines the buffer: each flow keeps at least its share of
//! the packets in flight, and only a longer round trip makes room for these packets.

use crate::assumptions::{for_long_flows, only_controls};
use crate::bottleneck::Bottleneck;
use crate::general_format::general;
use crate::rule::{Assumption, NotApplicable, Prediction, Requirement, Rule, assume};
use crate::traffic::{need_permanent_flows, refused};

/// Harmonic mean of the flows' propagation RTTs.
///
/// # Errors
/// A round trip takes no time.
pub fn harmonic_rtt_s(link: &Bottleneck) -> Result<f64, NotApplicable> {
    if link.classes.iter().any(|flows| flows.rtt_s == 0.0) {
        return Err(refused(link, "a round trip takes no time"));
    }
    let inverse: f64 = link.classes.iter().map(|flows| flows.flows() / flows.rtt_s).sum();
    Ok(link.flows() / inverse)
}

/// Sum over the flows of window times sqrt(loss).
///
/// sqrt(3 / (2 d)) each, where every ACK stands for d packets (Mathis et al. 1997): 1.22, and 0.87
/// with delayed ACKs.
fn windows(link: &Bottleneck) -> f64 {
    let each = link.classes.iter();
    each.map(|flows| flows.flows() * (1.5 / f64::from(flows.packets_per_ack)).sqrt()).sum()
}

/// Loss fraction in [0, 1] of a full link: windows fill link and buffer.
///
/// # Errors
/// A round trip takes no time.
pub fn loss(link: &Bottleneck) -> Result<f64, NotApplicable> {
    let in_flight = link.capacity_pps() * harmonic_rtt_s(link)? + link.limit_packets();
    Ok((windows(link) / in_flight).powi(2).min(1.0))
}

/// For utilization B >= C T, for loss B >= 0.87 n / sqrt(p) - C T, with T the harmonic mean of the
/// round trips; for a delay D, B <= C D (Dhamdhere, Jiang, Dovrolis 2005).
fn predict(link: &Bottleneck, target: Requirement) -> Result<Prediction, NotApplicable> {
    need_permanent_flows(link)?;
    let capacity = link.capacity_pps();
    let bdp = capacity * harmonic_rtt_s(link)?;
    let for_loss = (windows(link) / target.loss_fraction.sqrt() - bdp).max(0.0);
    let needed = bdp.max(for_loss);
    let limit = link.limit_packets();
    let loss_text = general(100.0 * target.loss_fraction, 4);
    Ok(Prediction {
        loss_fraction: Some(loss(link)?),
        required_packets: needed,
        required_for: format!("full utilization and a loss of {loss_text} %"),
        details: vec![
            ("required_for_utilization_packets", bdp),
            ("required_for_loss_packets", for_loss),
            ("required_queue_delay_s_max", needed / capacity),
            ("queue_delay_s_max", limit / capacity),
            ("harmonic_rtt_s", bdp / capacity),
            ("minimum_utilization_fraction", f64::midpoint(1.0, limit / bdp).min(1.0)),
        ],
        ..Prediction::default()
    })
}

fn assumptions(link: &Bottleneck) -> Result<Vec<Assumption>, NotApplicable> {
    let flows = link.flow_count();
    let share = (link.bdp_packets() + link.limit_packets()) / link.flows();
    let own = [
        only_controls(link, &["reno"]),
        assume("all flows reduce together", flows <= 2, format!("{flows} flows")),
        assume(
            "windows hold several packets",
            share >= 4.0,
            format!("{} packets each", general(share, 3)),
        ),
    ];
    Ok(for_long_flows(link, own))
}

pub(super) const RULE: Rule = Rule {
    name: "loss_and_delay_bounds",
    short: "few losses",
    title: "Congested link: buffer for full utilization and few losses",
    source: "Dhamdhere, Jiang, Dovrolis 2005, INFOCOM",
    predict,
    assumptions,
};
