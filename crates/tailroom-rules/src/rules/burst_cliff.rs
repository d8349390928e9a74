//! The burst cliff: utilization of long flows at small buffers, where bursts decide.
//!
//! An ACK-clocked window crosses the bottleneck as one train at the rate of the link. Trains of
//! several flows overlap by chance, and a buffer below the overlap drops packets of both. Paced flows
//! have trains of one packet, BBR has trains of its send quantum. docs/models/burst-cliff.md derives
//! the law and gives its error.

use crate::assumptions::{
    drop_tail, long_flows_alone, one_bottleneck, one_packet_size, slowest_access_bps, steady_link,
    unbounded_windows,
};
use crate::bottleneck::Bottleneck;
use crate::general_format::general;
use crate::numerics::{root_of_falling, smallest_limit};
use crate::rule::{Assumption, NotApplicable, Prediction, Requirement, Rule, assume};
use crate::sawtooth::Flows;
use crate::traffic::{need_permanent_flows, refused};

/// Constants of a congestion control, fitted to simulations at 1 and 10 Gbit/s.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// Its name.
    pub name: &'static str,
    /// Share of the rate that one flow leaves unused without a buffer, in (0, 1).
    pub shortfall: f64,
    /// Buffer, in bandwidth-delay products, that divides the shortfall by e.
    pub decay_bdp: f64,
    /// The shortfall falls with the number of flows to this power.
    pub flows_exponent: f64,
    /// Factor of the cliff's edge without pacing; 0 for a control that paces.
    pub edge: f64,
}

/// The constants per congestion control.
pub const CONTROLS: [Control; 4] = [
    control("reno", 0.33, 0.12, 0.18, 0.127),
    control("highspeed", 0.26, 0.165, 0.14, 0.151),
    control("cubic", 0.17, 0.056, 0.07, 0.116),
    control("bbr3", 0.45, 0.14, 0.7, 0.0),
];

const fn control(
    name: &'static str,
    shortfall: f64,
    decay_bdp: f64,
    flows_exponent: f64,
    edge: f64,
) -> Control {
    Control { name, shortfall, decay_bdp, flows_exponent, edge }
}

/// Mean window that remains without a buffer, in packets; fitted, as are the constants below.
const LEAST_WINDOW: f64 = 2.5;
const EDGE_WINDOW_EXPONENT: f64 = 0.2;
const EDGE_FLOWS_EXPONENT: f64 = 0.4;
const EDGE_SHARPNESS: f64 = 12.0;
/// Packets that one flow needs beyond the burst of its host.
const OWN_PACKETS: f64 = 2.0;

/// Factor of ln(window): how far a paced flow's queue may reach before a loss.
const PACED_LOSS: f64 = 0.38;
const PACED_SHARPNESS: f64 = 0.75;
const BBR_LOSS: f64 = 0.095;
const BBR_SHARPNESS: f64 = 0.5;
/// Bursts that the packet in transmission takes from the buffer.
const IN_SERVICE: f64 = 0.4;

const LARGEST_QUANTUM_BYTES: f64 = 65_536.0;
const SMALLEST_QUANTUM_PACKETS: f64 = 2.0;
/// `BBRv3` sends what its pacing rate allows in 1 ms at once (`SetSendQuantum`).
const QUANTUM_S: f64 = 1e-3;

/// Bandwidth-delay product per flow in the simulations of the fit, in packets.
const FITTED_WINDOWS: (f64, f64) = (25.0, 1200.0);
/// Numbers of flows in these simulations, next to one flow.
const FITTED_FLOWS: (u64, u64) = (3, 30);

/// Utilization of flows without bursts, in (0, 1): 1 - D n^-g exp(-B / (X BDP)).
fn full_pipe(control: &Control, limit: f64, bdp: f64, flows: f64) -> f64 {
    let unused = control.shortfall / flows.powf(control.flows_exponent);
    1.0 - unused * (-limit / (control.decay_bdp * bdp)).exp()
}

/// Share in [0, 1) of the full pipe that whole windows in trains reach below the edge.
///
/// W^3 = B'^2 BDP / (n - 1) with B' = B / (1 + min(1, s / B)); y = (W + 2.5) n / BDP, and the share
/// is y / sqrt(1 + y^2). Limit B, bandwidth-delay product and burst s in packets; n flows, at least
/// 2.
pub fn train_fill(limit: f64, bdp: f64, flows: f64, burst: f64) -> f64 {
    let usable = limit / (1.0 + (burst / limit).min(1.0));
    let window = (usable.powi(2) * bdp / (flows - 1.0)).powf(1.0 / 3.0) + LEAST_WINDOW;
    let y = window * flows / bdp;
    y / y.hypot(1.0)
}

/// The cliff's edge without pacing: E = k BDP / w^(1/5) + s n^(2/5), in packets, w = BDP / n.
///
/// Above it, queueing spreads the trains over the round trip. `edge` is the control's factor k.
pub fn edge_packets(edge: f64, bdp: f64, flows: f64, burst: f64) -> f64 {
    let spread = edge * bdp * (bdp / flows).powf(-EDGE_WINDOW_EXPONENT);
    spread + burst * flows.powf(EDGE_FLOWS_EXPONENT)
}

/// Share in [0, 1] of the full pipe that flows reach that are paced packet by packet.
pub fn paced_fill(limit: f64, window: f64, flows: f64) -> f64 {
    fill(limit, window, flows, PACED_LOSS, PACED_SHARPNESS)
}

/// y = max(0, c ln(w) / (b - 0.4) - b / n), and the share is (1 + y^k)^(-1/k): b bursts fit into the
/// buffer, w is the bandwidth-delay product per flow in packets, c `loss` and k `sharpness`.
fn fill(bursts: f64, window: f64, flows: f64, loss: f64, sharpness: f64) -> f64 {
    let reach = loss * window.max(1.0).ln() / (bursts - IN_SERVICE).max(1e-3);
    let y = (reach - bursts / flows).max(0.0);
    (1.0 + y.powf(sharpness)).powf(-1.0 / sharpness)
}

/// The hosts of a link's flows.
#[derive(Debug)]
pub struct Hosts {
    /// The control of all flows.
    pub control: Control,
    /// Packets that a host sends together.
    pub burst: u32,
    /// Whether the flows are paced.
    pub is_paced: bool,
}

impl Hosts {
    /// The hosts of a link.
    ///
    /// # Errors
    /// No long flow crosses the link, its flows run several controls or another one, or only some of
    /// them are paced.
    pub fn of(link: &Bottleneck) -> Result<Self, NotApplicable> {
        need_permanent_flows(link)?;
        if link.bdp_packets() <= 0.0 {
            return Err(refused(link, "flows have no propagation delay"));
        }
        let names: Vec<&str> = link.controls().into_iter().collect();
        let known = CONTROLS.iter().find(|control| names == [control.name]);
        let Some(control) = known else {
            let fitted = CONTROLS.map(|control| control.name).join(", ");
            let why = format!(
                "flows run {}; the law is fitted for flows of one control, which is {fitted}",
                names.join(", ")
            );
            return Err(refused(link, &why));
        };
        let paced = link.classes.iter().filter(|one| one.pacing || control.name == "bbr3").count();
        if paced != 0 && paced != link.classes.len() {
            let why = "some flows are paced and some are not; the law is fitted for equal hosts";
            return Err(refused(link, why));
        }
        let burst = link.classes.iter().map(|one| one.send_burst).max().unwrap_or(1);
        Ok(Hosts { control: *control, burst, is_paced: paced != 0 })
    }

    fn law(&self, link: &Bottleneck) -> Result<Law, NotApplicable> {
        let (bdp, flows) = (link.bdp_packets(), link.flows());
        let alone = if self.control.name != "bbr3" && link.flow_count() == 1 {
            Some(Flows::new(&link.classes[0], flows, link.mean_rtt_s(), link.capacity_pps())?)
        } else {
            None
        };
        Ok(Law {
            control: self.control,
            burst: f64::from(self.burst),
            is_paced: self.is_paced,
            bdp,
            flows,
            flow_pps: link.capacity_pps() / flows,
            packet_bytes: link.packet_bytes,
            alone,
        })
    }
}

/// The law for the flows of a link.
struct Law {
    control: Control,
    burst: f64,
    is_paced: bool,
    bdp: f64,
    flows: f64,
    /// Packets per second of a flow with its share of the link.
    flow_pps: f64,
    packet_bytes: f64,
    /// The sawtooth of a flow that is alone.
    alone: Option<Flows>,
}

impl Law {
    /// Utilization in [0, 1] at a queue limit in packets.
    fn utilization(&self, limit: f64) -> f64 {
        let limit = limit.max(1.0);
        if let Some(flow) = &self.alone {
            return self.alone(flow, limit);
        }
        let full = full_pipe(&self.control, limit, self.bdp, self.flows);
        if self.control.name == "bbr3" {
            return self.bbr(limit, full);
        }
        if self.is_paced {
            return full * paced_fill(limit, self.bdp / self.flows, self.flows);
        }
        let trains = train_fill(limit, self.bdp, self.flows, self.burst);
        // In logarithms, because the power overflows far from the edge.
        let beyond = EDGE_SHARPNESS * (self.edge_packets() / limit).ln();
        let spread = 1.0 / (1.0 + beyond.min(700.0).exp());
        full * (1.0 - (1.0 - trains) * (1.0 - spread))
    }

    /// Its sawtooth, once the burst of its own host fits. Below that limit the window is at most
    /// 3 B + 1, because a burst is a third of the window or less (Linux, `tcp_tso_win_divisor`).
    fn alone(&self, flow: &Flows, limit: f64) -> f64 {
        let full = flow.cycle(limit).utilization;
        if self.is_paced || limit >= self.burst + OWN_PACKETS {
            return full;
        }
        full.min((3.0 * limit + 1.0) / self.bdp)
    }

    /// `BBRv3`, whose bursts grow with its rate: a burst has u r 1 ms packets, at least 2 and at most
    /// 64 KB, at the utilization u that results.
    fn bbr(&self, limit: f64, full: f64) -> f64 {
        let largest = LARGEST_QUANTUM_BYTES / self.packet_bytes;
        let missing = |u: f64| {
            let burst = (u * self.flow_pps * QUANTUM_S).max(SMALLEST_QUANTUM_PACKETS).min(largest);
            let window = self.bdp / self.flows;
            full * fill(limit / burst, window, self.flows, BBR_LOSS, BBR_SHARPNESS) - u
        };
        root_of_falling(missing, 0.0, 1.0)
    }

    fn edge_packets(&self) -> f64 {
        edge_packets(self.control.edge, self.bdp, self.flows, self.burst)
    }
}

/// Utilization in [0, 1] of the link's flows with another queue limit, in packets.
///
/// # Errors
/// See [`Hosts::of`].
pub fn utilization(link: &Bottleneck, limit: f64) -> Result<f64, NotApplicable> {
    Ok(Hosts::of(link)?.law(link)?.utilization(limit))
}

/// Utilization, the smallest limit for a utilization, and the edge of the cliff.
fn predict(link: &Bottleneck, target: Requirement) -> Result<Prediction, NotApplicable> {
    let law = Hosts::of(link)?.law(link)?;
    let mut details = vec![("bdp_per_flow_packets", law.bdp / law.flows)];
    if !law.is_paced && law.alone.is_none() {
        let edge = law.edge_packets();
        details.extend([("cliff_edge_packets", edge), ("cliff_edge_bdp", edge / law.bdp)]);
    }
    let percent = general(100.0 * target.utilization, 6);
    Ok(Prediction {
        utilization: Some(law.utilization(link.limit_packets())),
        required_packets: smallest_limit(|limit| law.utilization(limit) >= target.utilization),
        required_for: format!("{percent} % utilization"),
        details,
        ..Prediction::default()
    })
}

fn assumptions(link: &Bottleneck) -> Result<Vec<Assumption>, NotApplicable> {
    let Hosts { control, burst, is_paced } = Hosts::of(link)?;
    let trips = link.round_trips_s();
    let ((low, high), (fewest, most)) = (FITTED_WINDOWS, FITTED_FLOWS);
    let flows = link.flow_count();
    let window = link.bdp_packets() / link.flows();
    let slowest = slowest_access_bps(link).unwrap_or(link.rate_bps);
    let delayed = link.classes.iter().map(|one| one.packets_per_ack).max().unwrap_or(1);
    Ok(vec![
        assume(
            "round trips differ, so that trains meet by chance",
            flows == 1 || trips.len() > 1,
            format!("all take {} ms", general(1e3 * trips[0], 4)),
        ),
        assume(
            format!("a flow's share of the bandwidth-delay product is {low} to {high} packets"),
            low <= window && window <= high,
            format!("{} packets", general(window, 4)),
        ),
        assume(
            format!("one flow, or {fewest} to {most} flows as in the fit"),
            flows == 1 || (fewest <= flows && flows <= most),
            format!("{flows} flows"),
        ),
        assume(
            "paced flows send packets one by one",
            burst == 1 || !is_paced || control.name == "bbr3",
            format!("bursts of {burst}"),
        ),
        assume(
            "each packet is acknowledged",
            delayed == 1,
            format!("one ACK for {delayed} packets"),
        ),
        assume(
            "access links are faster than the link",
            slowest > link.rate_bps,
            format!("{} Mbit/s", general(slowest / 1e6, 6)),
        ),
        unbounded_windows(link),
        one_packet_size(link),
        drop_tail(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
    ])
}

pub(super) const RULE: Rule = Rule {
    name: "burst_cliff",
    short: "burst cliff",
    title: "Burst cliff: utilization at small buffers, with and without pacing",
    source: "new; derived and fitted in docs/models/burst-cliff.md",
    predict,
    assumptions,
};
