//! When the flows or sessions of a source of flows arrive.

use super::context::{Group, GroupContext};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::BadParameter;
use crate::quantity::{Duration, PositiveDuration};
use crate::quoting::quoted;
use crate::random::{Stream, exponential};
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// The keys of a source of flows that say when flows arrive, or sessions. Exactly one of `load`,
/// `arrivals_per_second`, `period` and `arrivals` is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ArrivalsConfig {
    /// Poisson arrivals of flows, or of sessions, that offer this share of the rate of `load_of`,
    /// headers included and retransmissions not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000.0))]
    pub load: Option<f64>,
    /// The link that `load` refers to. Left out, the slowest on the path; between hosts, what the
    /// links of all senders, or of all receivers if that is less, carry together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_of: Option<String>,
    /// Poisson arrivals: mean number of flows, or of sessions, per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e9))]
    pub arrivals_per_second: Option<f64>,
    /// Arrivals of flows, or of sessions, in equal intervals, the first at the group's `start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<PositiveDuration>,
    /// Arrivals of flows, or of sessions, at these times, in ascending order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Vec<Duration>>,
}

impl ArrivalsConfig {
    /// The arrivals of flows or sessions, given their mean number of bytes on the wire.
    ///
    /// # Errors
    /// None or several of the keys, a link that is not on the path, times that do not ascend.
    pub fn resolve(
        &self,
        context: &GroupContext<'_>,
        mean_wire_bytes: impl FnOnce() -> f64,
    ) -> Result<FlowArrivals, BadParameter> {
        let (start, stop) = (context.flows.start, context.flows.stop);
        let arrivals = match (self.load, self.arrivals_per_second, self.period, &self.arrivals) {
            (Some(load), None, None, None) => {
                let link = self.load_link(context)?;
                let flow_bits = 8.0 * mean_wire_bytes();
                let per_second = load * link.bits_per_second() as f64 / flow_bits;
                if per_second > MOST_PER_SECOND {
                    return Err(too_many("load", per_second, "lower it, or raise the sizes"));
                }
                FlowArrivals::Poisson { per_second, start, stop }
            }
            (None, Some(per_second), None, None) => {
                FlowArrivals::Poisson { per_second, start, stop }
            }
            (None, None, Some(period), None) => {
                let per_second = 1.0 / period.time().seconds();
                if per_second > 1.000_001 * MOST_PER_SECOND {
                    return Err(too_many("period", per_second, "write at least \"1 ns\""));
                }
                FlowArrivals::Periodic { period: period.time(), start, stop }
            }
            (None, None, None, Some(times)) => FlowArrivals::Given(given(times)?),
            (None, None, None, None) => {
                let problem = "needs load, arrivals_per_second, period or arrivals";
                return Err(BadParameter::new("", problem, "add one of them, as in `load = 0.5`"));
            }
            _ => {
                let problem = "more than one key says when flows arrive";
                let remedy = "keep one of load, arrivals_per_second, period and arrivals";
                return Err(BadParameter::new("", problem, remedy));
            }
        };
        if let (Some(_), None) = (&self.load_of, self.load) {
            let problem = "names the link of a load, and there is no load";
            return Err(BadParameter::new("load_of", problem, "add load, or remove the key"));
        }
        Ok(arrivals)
    }

    /// The rate that a load is a share of.
    fn load_link(&self, context: &GroupContext<'_>) -> Result<Rate, BadParameter> {
        // A link without a rate is refused where links are resolved.
        let no_rate = Rate::from_bits_per_second(1);
        if let Some(rate) = context.hosts_rate {
            if self.load_of.is_none() {
                return Ok(rate);
            }
            let problem = "names a link, and the flows between hosts take several paths";
            let remedy = "remove it: load is a share of what the hosts' links carry";
            return Err(BadParameter::new("load_of", problem, remedy));
        }
        let Some(wanted) = &self.load_of else {
            let slowest = context.links.iter().filter_map(|(_, rate)| *rate).min();
            return Ok(slowest.unwrap_or(no_rate));
        };
        if let Some((_, rate)) = context.links.iter().find(|(name, _)| name == wanted) {
            return Ok(rate.unwrap_or(no_rate));
        }
        let names: Vec<&str> = context.links.iter().map(|(name, _)| *name).collect();
        let problem = format!("the path does not pass \"{}\"", quoted(wanted));
        let remedy = format!("use a link of the path: {}", names.join(", "));
        Err(BadParameter::new("load_of", problem, remedy))
    }
}

/// The most flows, or sessions, that begin in a second.
const MOST_PER_SECOND: f64 = 1e9;

fn too_many(key: &str, per_second: f64, remedy: &str) -> BadParameter {
    let problem =
        format!("begins {per_second:.3e} flows a second, more than {MOST_PER_SECOND:.0e}");
    BadParameter::new(key, problem, remedy)
}

/// The times that the key `arrivals` gives.
///
/// # Errors
/// None, or times that do not ascend.
pub(super) fn given(times: &[Duration]) -> Result<Vec<Time>, BadParameter> {
    for (index, pair) in times.windows(2).enumerate() {
        if pair[1].base_units() < pair[0].base_units() {
            let problem = format!("{} is before the previous arrival, {}", pair[1], pair[0]);
            let remedy = "write the arrivals in order of time";
            return Err(BadParameter::new(format!("arrivals[{}]", index + 1), problem, remedy));
        }
    }
    if times.is_empty() {
        let remedy = "write at least one, as in [\"1 s\"]";
        return Err(BadParameter::new("arrivals", "holds no arrival", remedy));
    }
    Ok(times.iter().map(|time| time.time()).collect())
}

/// When flows or sessions arrive.
#[derive(Clone, Debug, PartialEq, Ranges)]
#[non_exhaustive]
pub enum FlowArrivals {
    /// As a Poisson process.
    Poisson {
        /// Mean number per second.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e17))]
        per_second: f64,
        /// When the process begins.
        start: Time,
        /// When it ends; [`Time::NEVER`] if it does not.
        stop: Time,
    },
    /// In equal intervals.
    Periodic {
        /// From an arrival to the next one, above zero.
        period: Time,
        /// The first arrival.
        start: Time,
        /// When the arrivals end; [`Time::NEVER`] if they do not.
        stop: Time,
    },
    /// At these times, in order.
    Given(Vec<Time>),
}

impl FlowArrivals {
    /// Mean number of arrivals per second in a run of `duration_s`.
    pub fn per_second(&self, duration_s: f64) -> f64 {
        match self {
            FlowArrivals::Poisson { per_second, .. } => *per_second,
            FlowArrivals::Periodic { period, .. } => 1.0 / period.seconds(),
            FlowArrivals::Given(times) => times.len() as f64 / duration_s,
        }
    }

    /// Whether they are a Poisson process.
    pub fn is_poisson(&self) -> bool {
        matches!(self, FlowArrivals::Poisson { .. })
    }
}

/// Arrivals at given times or as a Poisson process.
#[derive(Clone, Debug)]
pub struct Arrivals {
    next: Time,
    process: Process,
}

#[derive(Clone, Debug)]
enum Process {
    Poisson { mean_gap_ps: f64, stop: Time, gaps: Stream },
    Periodic { period: Time, stop: Time },
    Given(std::vec::IntoIter<Time>),
}

impl Arrivals {
    /// The arrivals of a group's flows, before the first one.
    pub fn new(arrivals: &FlowArrivals, group: &Group<'_>) -> Self {
        let (next, process) = match arrivals {
            FlowArrivals::Poisson { per_second, start, stop } => {
                let mean_gap_ps = PICOSECONDS_PER_SECOND as f64 / per_second;
                let gaps = group.stream("gaps");
                (*start, Process::Poisson { mean_gap_ps, stop: *stop, gaps })
            }
            FlowArrivals::Periodic { period, start, stop } => {
                let next = if start < stop { *start } else { Time::NEVER };
                let process = Process::Periodic { period: *period, stop: *stop };
                return Arrivals { next, process };
            }
            FlowArrivals::Given(times) => (Time::ZERO, Process::Given(times.clone().into_iter())),
        };
        let mut arrivals = Arrivals { next, process };
        arrivals.advance();
        arrivals
    }

    /// The next arrival; [`Time::NEVER`] if there is none.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Goes on to the arrival after the next one.
    pub fn advance(&mut self) {
        self.next = match &mut self.process {
            Process::Poisson { mean_gap_ps, stop, gaps } => {
                let gap = exponential(gaps);
                let gap = Time::from_picoseconds(libm::round(gap * *mean_gap_ps) as u64);
                let next = self.next.saturating_add(gap);
                if next < *stop { next } else { Time::NEVER }
            }
            Process::Periodic { period, stop } => {
                let next = self.next.saturating_add(*period);
                if next < *stop { next } else { Time::NEVER }
            }
            Process::Given(times) => times.next().unwrap_or(Time::NEVER),
        };
    }

    /// Takes the next arrival.
    pub fn take(&mut self) -> Option<Time> {
        let next = self.next;
        self.advance();
        (next < Time::NEVER).then_some(next)
    }
}
