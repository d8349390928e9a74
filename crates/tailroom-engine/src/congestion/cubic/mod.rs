//! CUBIC (RFC 9438): the window is a cubic function of the time since the last congestion.

mod linux;
mod rfc9438;

use super::{AckEvent, CongestionEvent, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use linux::Linux;
use rfc9438::Rfc9438;

/// Parameters of CUBIC; defaults as in RFC 9438. The RFC recommends HyStart++: set
/// `slow_start = { kind = "hystart_plus_plus" }` in the group, and where reductions for spurious
/// losses are to be undone (sec. 4.9), `undo = true`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CubicParams {
    /// Coefficient C of the cubic function, in packets per second cubed (RFC 9438 sec. 5.1: 0.4).
    // Beyond this range the cubic of a long run would leave the range of numbers.
    #[schemars(range(min = 1e-9, max = 1e9))]
    pub c: f64,
    /// Fraction of the window that remains after congestion (beta; RFC 9438 sec. 4.6: 0.7; Linux:
    /// 717/1024 = 0.7002).
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub beta: f64,
    /// Fast convergence (RFC 9438 sec. 4.7): after congestion below its last maximum a flow lowers
    /// the maximum further, to release capacity to new flows. The RFC advises against it if the
    /// flow is the only one on the path.
    pub fast_convergence: bool,
    /// Alternative backoff with ECN (RFC 8511 sec. 3.1): a mark leaves at least 0.85 of the
    /// window, because a queue that marks is short; a loss still leaves `beta` of it.
    pub abe: bool,
    /// Which rules apply where the RFC and Linux differ.
    pub variant: CubicVariant,
}

/// Which rules CUBIC follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
pub enum CubicVariant {
    /// RFC 9438: the window is a number of packets with fractions.
    #[serde(rename = "rfc9438")]
    Rfc9438,
    /// Linux (`net/ipv4/tcp_cubic.c`): everything is a whole number, the window, its target and the
    /// packets that the window of Reno needs to grow. `c` and `beta` become multiples of 1/1024. The
    /// target looks ahead by the smallest RTT. A flow that knows no maximum, at its beginning and
    /// after a timeout, adds at least a packet per 20 acknowledged ones.
    #[serde(rename = "linux")]
    Linux,
}

impl CubicParams {
    /// What a mark leaves of the window.
    fn beta_ecn(&self) -> f64 {
        if self.abe { self.beta.max(BETA_ECN) } else { self.beta }
    }
}

impl Default for CubicParams {
    fn default() -> Self {
        CubicParams {
            c: 0.4,
            beta: 0.7,
            fast_convergence: true,
            abe: false,
            variant: CubicVariant::Rfc9438,
        }
    }
}

impl ControlParameters for CubicParams {}

const BETA_ECN: f64 = 0.85; // RFC 8511 sec. 3.1: value for CUBIC

/// The state of CUBIC for one flow.
#[derive(Clone, Debug)]
pub enum Cubic {
    /// By RFC 9438.
    Rfc9438(Rfc9438),
    /// As in Linux.
    Linux(Linux),
}

impl Cubic {
    /// Creates the control in its initial state.
    pub fn new(params: &CubicParams) -> Self {
        match params.variant {
            CubicVariant::Rfc9438 => Cubic::Rfc9438(Rfc9438::new(params)),
            CubicVariant::Linux => Cubic::Linux(Linux::new(params)),
        }
    }
}

impl WindowLaw for Cubic {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        match self {
            Cubic::Rfc9438(law) => law.on_ack(cwnd_packets, event),
            Cubic::Linux(law) => law.on_ack(cwnd_packets, event),
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        match self {
            Cubic::Rfc9438(law) => law.on_congestion(event),
            Cubic::Linux(law) => law.on_congestion(event),
        }
    }

    /// Linux restores the window only.
    fn on_undo(&mut self) {
        if let Cubic::Rfc9438(law) = self {
            law.on_undo();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_range_are_named() {
        let with = |c, beta| CubicParams { c, beta, ..CubicParams::default() }.check();
        assert!(with(0.4, 0.7).is_ok());
        for c in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert!(with(c, 0.7).is_err_and(|bad| bad.key == "c"));
        }
        for beta in [0.0, 1.0, f64::NAN] {
            assert!(with(0.4, beta).is_err_and(|bad| bad.key == "beta"));
        }
    }
}
