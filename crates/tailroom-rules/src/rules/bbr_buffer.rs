//! `BBRv1`: its queue in the buffer, and the share of loss-based flows next to it.
//!
//! Several `BBRv1` flows overestimate their rate together until their windows stop them, at twice
//! their estimate of the bandwidth-delay product. Next to flows that fill the buffer the same bound
//! holds, but the estimate is of a round trip that contains the others' queue.

use crate::assumptions::{for_long_flows, only_controls};
use crate::bottleneck::Bottleneck;
use crate::general_format::general;
use crate::rule::{Assumption, NotApplicable, Prediction, Requirement, Rule, assume};
use crate::traffic::{need_permanent_flows, refused};

/// Window over the estimated bandwidth-delay product (Cardwell et al. 2016).
const CWND_GAIN: f64 = 2.0;

/// Packets in flight while a flow measures its RTT (Cardwell et al. 2016).
const PROBE_WINDOW: f64 = 4.0;

/// Period and least duration of that measurement (Cardwell et al. 2016).
const PROBE_INTERVAL_S: f64 = 10.0;
const PROBE_HOLD_S: f64 = 0.2;

/// Below this buffer several flows lose packets all the time (RFC 9743, of `BBRv1`).
const LOSSLESS_BDP: f64 = 1.5;

/// Buffer at which one flow's slow round trip does not empty it (Spang et al. 2021).
const ALONE_BDP: f64 = 0.25;

/// Packets that `BBRv1` flows alone have in flight together at most (Ware et al. 2019, Eq. 6).
///
/// Packets that remain in flight while the flows measure their RTT add to the bound, if they exceed
/// the bandwidth-delay product `bdp` in packets.
pub fn in_flight_cap(bdp: f64, flows: f64) -> f64 {
    CWND_GAIN * bdp.max(PROBE_WINDOW * flows)
}

/// Share in [0, 1/2) of the link that loss-based flows keep next to `flows` `BBRv1` flows.
///
/// 1/2 - 1 / (2 X) - 4 N / q at a queue limit of q packets, X bandwidth-delay products (Ware et al.
/// 2019, Eq. 9); 0 if the bound on BBR's window exceeds link and buffer.
pub fn loss_based_share(bdp: f64, limit: f64, flows: f64) -> f64 {
    if limit <= 0.0 {
        return 0.0;
    }
    (0.5 - bdp / (2.0 * limit) - PROBE_WINDOW * flows / limit).max(0.0)
}

/// Share in [0, 1] of the time that BBR flows spend on measuring their RTT.
///
/// The flows first drain a full queue (Ware et al. 2019, Eq. 11).
pub fn probing_fraction(link: &Bottleneck) -> f64 {
    let full_s = link.limit_packets() / link.capacity_pps() + link.mean_rtt_s();
    ((full_s + PROBE_HOLD_S) / PROBE_INTERVAL_S).min(1.0)
}

/// The limit that `BBRv1` flows need, their queue if they are alone, else the shares.
fn predict(link: &Bottleneck, _target: Requirement) -> Result<Prediction, NotApplicable> {
    need_permanent_flows(link)?;
    let own = link.classes.iter().filter(|class| class.congestion == "bbr1");
    let flows: u64 = own.map(|class| class.count).sum();
    if flows == 0 {
        return Err(refused(link, "no BBRv1 flow crosses it"));
    }
    if flows == link.flow_count() {
        return Ok(alone(link));
    }
    let bdp = link.bdp_packets();
    let share = loss_based_share(bdp, link.limit_packets(), flows as f64);
    Ok(Prediction {
        details: vec![
            ("bbr_share_fraction", 1.0 - share),
            ("bbr_share_less_probing_fraction", (1.0 - share) * (1.0 - probing_fraction(link))),
            ("loss_based_share_fraction", share),
        ],
        ..without_lasting_loss(bdp)
    })
}

fn without_lasting_loss(bdp: f64) -> Prediction {
    Prediction {
        required_packets: LOSSLESS_BDP * bdp,
        required_for: "BBRv1 without lasting loss".to_owned(),
        ..Prediction::default()
    }
}

fn alone(link: &Bottleneck) -> Prediction {
    let bdp = link.bdp_packets();
    let cap = in_flight_cap(bdp, link.flows());
    let details = vec![("in_flight_packets_max", cap)];
    if link.flow_count() == 1 {
        return Prediction {
            required_packets: ALONE_BDP * bdp,
            required_for: "full utilization".to_owned(),
            details,
            ..Prediction::default()
        };
    }
    let queue = (cap - bdp).max(0.0).min(link.limit_packets());
    Prediction {
        queue_packets_mean: Some(queue),
        queue_delay_s_mean: Some(queue / link.capacity_pps()),
        details,
        ..without_lasting_loss(bdp)
    }
}

fn assumptions(link: &Bottleneck) -> Result<Vec<Assumption>, NotApplicable> {
    let trips = link.round_trips_s();
    let ms = |trip: Option<&f64>| general(1e3 * trip.copied().unwrap_or(0.0), 4);
    let (limit, need) = (link.limit_packets(), LOSSLESS_BDP * link.bdp_packets());
    let own = [
        only_controls(link, &["bbr1", "cubic", "reno"]),
        assume(
            "flows have one round trip time",
            trips.len() == 1,
            format!("{} to {} ms", ms(trips.first()), ms(trips.last())),
        ),
        assume(
            format!("the buffer holds {LOSSLESS_BDP} bandwidth-delay products"),
            limit >= need,
            format!("{} packets for {}", general(limit, 4), general(need, 4)),
        ),
    ];
    Ok(for_long_flows(link, own))
}

pub(super) const RULE: Rule = Rule {
    name: "bbr_buffer",
    short: "BBRv1",
    title: "BBRv1: its queue, its buffer, its share next to loss-based flows",
    source: "Cardwell et al. 2016; Ware, Mukerjee, Seshan, Sherry 2019, IMC; RFC 9743",
    predict,
    assumptions,
};
