//! How the window of a congestion control grows, and what a loss takes from it: windows in packets,
//! increases per round trip. Python's `tailroom.models.window_laws` has the mean windows at a loss
//! probability.

use serde_json::Value;
use tailroom_engine::quantity::read_base_units;

use crate::bottleneck::FlowClass;
use crate::rule::NotApplicable;

/// State of a flow since its last loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epoch {
    /// Window at the last loss, before the decrease; also the window at the next loss.
    pub(crate) peak: f64,
    /// The window that the control remembers from the last loss.
    pub(crate) goal: f64,
    /// Round trip time without queueing.
    pub(crate) base_rtt_s: f64,
    /// Round trip time at the last loss.
    pub(crate) peak_rtt_s: f64,
    pub(crate) window: f64,
    /// Round trip time now, queueing included.
    pub(crate) rtt_s: f64,
    /// Time since the last loss.
    pub(crate) elapsed_s: f64,
    /// Round trips since the last loss.
    pub(crate) rounds: f64,
}

/// The law of a congestion control with its parameters.
#[derive(Debug)]
pub(crate) enum WindowLaw {
    /// Reno, AIMD, and DCTCP at a loss.
    Additive { increase: f64, decrease: f64 },
    /// HighSpeed TCP; FHSTCP has its increase times `per_rtt_s` and the RTT.
    HighSpeed { constants: HighSpeed, per_rtt_s: Option<f64> },
    /// Scalable TCP. Up to `small`, Kelly's variant is Reno, and Linux's grows as Reno.
    Scalable { increase: f64, decrease: f64, small: f64, small_decrease: f64 },
    /// CUBIC (RFC 9438 sec. 4.2 and 4.3).
    Cubic { c: f64, beta: f64, goals: Vec<f64> },
    /// BIC (Xu, Harfoush, Rhee 2004), as Linux has it.
    Bic { constants: Bic, goals: Vec<f64> },
    /// H-TCP (Leith, Shorten 2004).
    Htcp(Htcp),
}

/// Controls with a law.
const LAWS: &str = "reno, highspeed, cubic, scalable, bic, htcp, aimd, fhstcp, dctcp";

/// Why the other controls of tailroom have none.
fn why_no_law(control: &str) -> String {
    match control {
        "fast" => "its window answers queueing delay: it keeps alpha packets queued",
        "dcqcn" => "its rate answers marks and time, not loss",
        "timely" => "its rate answers queueing delay, not loss",
        "vegas" | "ledbat" | "swift" => "its window answers queueing delay, not loss",
        "bbr1" | "packet_pair" => "it sends at the rate that the path delivers, whatever is lost",
        "bbr3" => "it sends at the rate that the path delivers, up to 2 % loss",
        "fixed_window" => "its window never changes",
        "stepped" => "a program sets its window",
        _ => return format!("there is one for {LAWS}"),
    }
    .to_owned()
}

/// The error of a control without a law.
pub fn no_law(flows: &FlowClass) -> NotApplicable {
    let (control, group, why) = (&flows.congestion, &flows.group, why_no_law(&flows.congestion));
    NotApplicable(format!("no closed window law for {control} (group {group}): {why}"))
}

impl WindowLaw {
    pub(crate) fn of(flows: &FlowClass) -> Result<Self, NotApplicable> {
        Ok(match flows.congestion.as_str() {
            "reno" | "dctcp" => WindowLaw::Additive { increase: 1.0, decrease: 0.5 },
            "aimd" => WindowLaw::Additive {
                increase: flows.number("increase")?,
                decrease: flows.number("decrease")?,
            },
            "highspeed" => {
                WindowLaw::HighSpeed { constants: HighSpeed::of(flows), per_rtt_s: None }
            }
            "fhstcp" => WindowLaw::HighSpeed {
                constants: HighSpeed::DEFAULT,
                per_rtt_s: Some(flows.number("c")?),
            },
            "scalable" => scalable(flows)?,
            "cubic" => {
                let beta = flows.number("beta")?;
                let goals = goals(flows, f64::midpoint(1.0, beta));
                WindowLaw::Cubic { c: flows.number("c")?, beta, goals }
            }
            "bic" => {
                let constants = Bic::of(flows)?;
                let goals = goals(flows, 1.0 - constants.decrease / 2.0);
                WindowLaw::Bic { constants, goals }
            }
            "htcp" => WindowLaw::Htcp(Htcp::of(flows)),
            _ => return Err(no_law(flows)),
        })
    }

    /// The fraction of the window that is lost at the end of an epoch.
    pub(crate) fn decrease(&self, epoch: &Epoch) -> f64 {
        match self {
            WindowLaw::Additive { decrease, .. } => *decrease,
            WindowLaw::HighSpeed { constants, .. } => constants.decrease(epoch.peak),
            WindowLaw::Scalable { decrease, small, small_decrease, .. } => {
                if epoch.peak <= *small {
                    *small_decrease
                } else {
                    *decrease
                }
            }
            WindowLaw::Cubic { beta, .. } => 1.0 - beta,
            WindowLaw::Bic { constants, .. } => {
                if epoch.peak <= constants.low_window {
                    0.5
                } else {
                    constants.decrease
                }
            }
            WindowLaw::Htcp(law) => 1.0 - law.backoff(epoch),
        }
    }

    /// Growth per round trip; none if it depends on more than the window.
    pub(crate) fn increase(&self, window: f64, rtt_s: f64) -> Option<f64> {
        match self {
            WindowLaw::Additive { increase, .. } => Some(*increase),
            WindowLaw::HighSpeed { constants, per_rtt_s } => {
                Some(per_rtt_s.map_or(1.0, |c| c * rtt_s) * constants.increase(window))
            }
            WindowLaw::Scalable { increase, small, .. } => {
                Some(if window <= *small { 1.0 } else { increase * window })
            }
            WindowLaw::Cubic { .. } | WindowLaw::Bic { .. } | WindowLaw::Htcp(_) => None,
        }
    }

    /// Windows at which the increase or its derivative jumps.
    pub(crate) fn kinks(&self) -> Vec<f64> {
        match self {
            WindowLaw::HighSpeed { constants, .. } => constants.kinks(),
            WindowLaw::Scalable { small, .. } => vec![*small],
            _ => Vec::new(),
        }
    }

    /// What the control remembers of the window when it hears of a loss, as a part of it, in
    /// successive epochs; then again from the first.
    pub(crate) fn goals(&self) -> &[f64] {
        match self {
            WindowLaw::Cubic { goals, .. } | WindowLaw::Bic { goals, .. } => goals,
            _ => &[1.0],
        }
    }

    /// Time until a window without [`increase`](Self::increase) has grown to `window`, which is
    /// close, at the round trip time of the epoch.
    pub(crate) fn seconds_to(&self, epoch: &Epoch, window: f64) -> f64 {
        match self {
            WindowLaw::Cubic { c, beta, .. } => cubic_seconds_to(epoch, window, *c, *beta),
            WindowLaw::Bic { constants, .. } => {
                let middle = f64::midpoint(epoch.window, window);
                (window - epoch.window) / constants.increment(middle, epoch.goal) * epoch.rtt_s
            }
            WindowLaw::Htcp(law) => law.seconds_to(epoch, window),
            _ => f64::NAN,
        }
    }
}

/// With fast convergence every second epoch aims lower: a flow that passes its plateau is a little
/// above it when it hears of the loss, and the next time does not get as far.
fn goals(flows: &FlowClass, lower: f64) -> Vec<f64> {
    if flows.has("fast_convergence") { vec![lower, 1.0] } else { vec![1.0] }
}

fn scalable(flows: &FlowClass) -> Result<WindowLaw, NotApplicable> {
    let (increase, decrease) = (flows.number("increase")?, flows.number("decrease")?);
    let variant = flows.parameters.get("variant").and_then(Value::as_str).unwrap_or("kelly");
    let (small, small_decrease) = if variant == "kelly" {
        (flows.number("legacy_window")?, 0.5)
    } else {
        (1.0 / increase, decrease)
    };
    Ok(WindowLaw::Scalable { increase, decrease, small, small_decrease })
}

/// When the cubic or `W_est` (RFC 9438 sec. 4.2, 4.3) reaches the window, whichever is earlier.
fn cubic_seconds_to(epoch: &Epoch, window: f64, c: f64, beta: f64) -> f64 {
    let plateau_s = ((epoch.goal - beta * epoch.peak) / c).cbrt();
    let cubic_s = plateau_s - ((epoch.goal - window) / c).cbrt();
    let alpha = 3.0 * (1.0 - beta) / (1.0 + beta);
    let rounds = (window - beta * epoch.peak) / alpha;
    (cubic_s - epoch.elapsed_s).min((rounds - epoch.rounds) * epoch.rtt_s).max(0.0)
}

/// Where the line b(w) would cross zero, far above `high_window`; as in the simulator.
const LEAST_DECREASE: f64 = 0.01;

/// Parameters of RFC 3649 sec. 5.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HighSpeed {
    low_window: f64,
    high_window: f64,
    low_p: f64,
    high_p: f64,
    high_decrease: f64,
}

impl HighSpeed {
    const DEFAULT: HighSpeed = HighSpeed {
        low_window: 38.0,
        high_window: 83_000.0,
        low_p: 1e-3,
        high_p: 1e-7,
        high_decrease: 0.1,
    };

    /// A published table of a(w) and b(w) has parameters of its own.
    fn of(flows: &FlowClass) -> Self {
        let form = flows.parameters.get("increase").and_then(Value::as_str);
        if form.unwrap_or("continuous") != "continuous" {
            return Self::DEFAULT;
        }
        let or = |name: &str, default: f64| flows.number(name).unwrap_or(default);
        HighSpeed {
            low_window: or("low_window", Self::DEFAULT.low_window),
            high_window: or("high_window", Self::DEFAULT.high_window),
            low_p: or("low_p", Self::DEFAULT.low_p),
            high_p: or("high_p", Self::DEFAULT.high_p),
            high_decrease: or("high_decrease", Self::DEFAULT.high_decrease),
        }
    }

    fn span(&self) -> f64 {
        (self.high_window / self.low_window).ln()
    }

    /// b(w) (RFC 3649 sec. 5).
    fn decrease(&self, window: f64) -> f64 {
        let position = ((window / self.low_window).ln() / self.span()).max(0.0);
        (0.5 + (self.high_decrease - 0.5) * position).max(LEAST_DECREASE)
    }

    /// a(w) (RFC 3649 sec. 5); 1 up to `low_window`, never below 1.
    fn increase(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 1.0;
        }
        let exponent = (self.low_p / self.high_p).ln() / self.span();
        let p = self.low_p * (window / self.low_window).powf(-exponent);
        let b = self.decrease(window);
        (window.powi(2) * p * 2.0 * b / (2.0 - b)).max(1.0)
    }

    fn kinks(&self) -> Vec<f64> {
        let mut kinks = vec![self.low_window, self.leaves_one()];
        let slope = (0.5 - self.high_decrease) / self.span();
        let position = (0.5 - LEAST_DECREASE) / slope;
        if slope > 0.0 && position < 100.0 {
            kinks.push(self.low_window * position.exp());
        }
        kinks
    }

    /// The window at which the formula for a(w) has grown to 1; `low_window` if it is above.
    fn leaves_one(&self) -> f64 {
        const STEPS: u32 = 4000;
        let at = |step: u32| self.low_window * (40.0 * f64::from(step) / f64::from(STEPS)).exp();
        let Some(step) = (1..=STEPS).find(|&step| self.increase(at(step)) > 1.0) else {
            return self.low_window;
        };
        let (mut low, mut high) = (at(step - 1), at(step));
        while high - low > 1e-13 * high {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if self.increase(middle) > 1.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }
}

/// Steps of at most so many packets per round trip are the slow last part of the search.
const CLOSE: f64 = 2.0;

/// Parameters of BIC by the names of the scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bic {
    low_window: f64,
    max_increment: f64,
    search_divisor: f64,
    smooth_part: f64,
    decrease: f64,
}

impl Bic {
    fn of(flows: &FlowClass) -> Result<Self, NotApplicable> {
        Ok(Bic {
            low_window: flows.number("low_window")?,
            max_increment: flows.number("max_increment")?,
            search_divisor: flows.number("search_divisor")?,
            smooth_part: flows.number("smooth_part")?,
            decrease: flows.number("decrease")?,
        })
    }

    /// Growth per round trip, below and beyond the goal.
    fn increment(&self, window: f64, goal: f64) -> f64 {
        if window <= self.low_window {
            return 1.0;
        }
        let smooth = self.search_divisor / self.smooth_part;
        let beyond = window - goal;
        if beyond >= 0.0 {
            let fast = (beyond / (self.search_divisor - 1.0)).min(self.max_increment);
            return if beyond < self.search_divisor { smooth } else { fast };
        }
        let step = -beyond / self.search_divisor;
        if step < CLOSE { smooth } else { step.min(self.max_increment) }
    }
}

/// Leith, Shorten 2004 sec. 3: beta in [0.5, 0.8].
const BACKOFF: (f64, f64) = (0.5, 0.8);
/// Linux: 100 ms / RTT within 0.5 and 10.
const SCALE: (f64, f64) = (0.1, 2.0);
const REFERENCE_RTT_S: f64 = 0.1;

/// Parameters of H-TCP by the names of the scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Htcp {
    low_speed_period_s: f64,
    rtt_scaling: bool,
    adaptive_backoff: bool,
}

impl Htcp {
    fn of(flows: &FlowClass) -> Self {
        let text = flows.parameters.get("low_speed_period").and_then(Value::as_str);
        let picoseconds = text.and_then(|text| read_base_units("duration", text)?.ok());
        Htcp {
            low_speed_period_s: picoseconds.map_or(1.0, |ps| ps as f64 / 1e12),
            rtt_scaling: flows.has("rtt_scaling"),
            adaptive_backoff: flows.has("adaptive_backoff"),
        }
    }

    /// Fraction of the window after a loss: the fraction that just empties the queue.
    fn backoff(&self, epoch: &Epoch) -> f64 {
        if !self.adaptive_backoff {
            return BACKOFF.0;
        }
        (epoch.base_rtt_s / epoch.peak_rtt_s).clamp(BACKOFF.0, BACKOFF.1)
    }

    /// Growth per round trip this time after a loss, 2 (1 - beta) alpha with
    /// alpha = 1 + 10 e + (e / 2)^2, e seconds after the low-speed period.
    fn growth(&self, epoch: &Epoch, elapsed_s: f64) -> f64 {
        let excess = (elapsed_s - self.low_speed_period_s).max(0.0);
        let mut alpha = 1.0 + 10.0 * excess + 0.25 * excess.powi(2);
        if self.rtt_scaling {
            let scale = (epoch.base_rtt_s / REFERENCE_RTT_S).clamp(SCALE.0, SCALE.1);
            alpha = (alpha * scale).max(1.0);
        }
        2.0 * (1.0 - self.backoff(epoch)) * alpha
    }

    /// At the growth half way there.
    fn seconds_to(&self, epoch: &Epoch, window: f64) -> f64 {
        let wanted = (window - epoch.window) * epoch.rtt_s;
        let first = wanted / self.growth(epoch, epoch.elapsed_s);
        wanted / self.growth(epoch, epoch.elapsed_s + first / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Epoch, Htcp};

    /// Leith, Shorten 2004 sec. 3: 2 (1 - beta) alpha with beta = 0.8, alpha scaled by RTT / 100 ms;
    /// the scaling never makes alpha smaller than 1.
    #[test]
    fn htcp_grows_by_at_least_a_packet_times_its_backoff() {
        let law = Htcp { low_speed_period_s: 1.0, rtt_scaling: true, adaptive_backoff: true };
        for (rtt_s, elapsed_s, expected) in [
            (0.1, 0.5, 0.4),
            (0.1, 1.5, 0.4 * (1.0 + 5.0 + 0.0625)),
            (0.005, 1.02, 0.4),
            (0.3, 10.0, 0.4 * 2.0 * (1.0 + 90.0 + 20.25)),
        ] {
            let epoch = Epoch {
                peak: 100.0,
                goal: 100.0,
                base_rtt_s: rtt_s,
                peak_rtt_s: rtt_s,
                window: 0.0,
                rtt_s: 0.0,
                elapsed_s: 0.0,
                rounds: 0.0,
            };
            assert!((law.growth(&epoch, elapsed_s) - expected).abs() < 1e-12);
        }
    }
}
