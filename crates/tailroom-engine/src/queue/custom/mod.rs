//! Custom disciplines: rules and schedulers that the registry does not hold, because the caller brings
//! them.
//!
//! A [`DisciplineMaker`] makes a discipline for each link. A program that builds a network puts it into
//! the link's [`CustomParams`].
//!
//! ```
//! use tailroom_engine::congestion::CongestionConfig;
//! use tailroom_engine::congestion::reno::RenoParams;
//! use tailroom_engine::queue::buffer::DropReason;
//! use tailroom_engine::queue::custom::{CustomParams, CustomRule, DisciplineMaker};
//! use tailroom_engine::queue::{ArrivalRule, EnqueueEvent, QueueConfig, Verdict};
//! use tailroom_engine::{LinkSpec, Network, Rate, Simulation, TcpSpec, Time};
//!
//! /// Drops each packet that finds 30 others or more.
//! struct Short;
//!
//! impl ArrivalRule for Short {
//!     fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
//!         if event.waiting_packets < 30 { Verdict::Accept } else { Verdict::Drop(DropReason::Early) }
//!     }
//! }
//!
//! impl CustomRule for Short {}
//!
//! let maker = DisciplineMaker::rule(|_link, _limit| Box::new(Short));
//! let short = QueueConfig::Custom(CustomParams::named("short").made_by(maker));
//! let link = LinkSpec::new(Rate::from_bits_per_second(20_000_000), Time::from_milliseconds(10), short);
//! let reno = TcpSpec::new(CongestionConfig::Reno(RenoParams::default()));
//! let (duration, rtt) = (Time::from_milliseconds(10_000), Time::from_milliseconds(40));
//! let network = Network::dumbbell(duration, link, reno, 2, rtt);
//! let summary = Simulation::new(&network)?.finish()?.summary;
//! assert_eq!(summary.links.get("link").expect("its name").queue_packets_max, Some(30.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod running;
mod running_scheduler;
mod scheduler;

use std::sync::Arc;

pub use self::running::RunningRule;
pub use self::running_scheduler::RunningScheduler;
pub use self::scheduler::{CustomScheduler, Placement, QueuedPacket, Waiting, WaitingList};
use super::{ArrivalRule, LinkInfo, Parameters, Verdict};
#[cfg(feature = "scenario")]
use crate::custom::Arguments;
use crate::custom::Maker;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::Ecn;
use crate::parameters::{BadParameter, Range, check_length};
use crate::quantity::limit::{Limit, QueueLimit};
use crate::units::Time;

/// A queue discipline of your own: `queue = "mymodule:MyRule"` is short for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CustomParams {
    /// Buffer size, excluding the packet in transmission; a packet that does not fit is dropped,
    /// whatever the discipline decides.
    #[serde(default = "thousand_packets")]
    pub limit: QueueLimit,
    /// Name of the discipline: in Python its module and class, as in `"mymodule:MyRule"`, whose code
    /// the run executes; in Rust its registered name.
    #[schemars(length(min = 1), example = "mymodule:MyRule")]
    pub discipline: String,
    /// Arguments from which the discipline is made: in Python the keyword arguments of the class.
    #[cfg(feature = "scenario")]
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub parameters: Arguments,
    #[serde(skip)]
    maker: Option<DisciplineMaker>,
}

/// The buffer of Linux's pfifo at an interface with the default `txqueuelen`.
fn thousand_packets() -> QueueLimit {
    QueueLimit::packets(1_000)
}

impl CustomParams {
    /// The discipline of this name, still to be found.
    pub fn named(discipline: impl Into<String>) -> Self {
        CustomParams {
            limit: thousand_packets(),
            discipline: discipline.into(),
            #[cfg(feature = "scenario")]
            parameters: Arguments::default(),
            maker: None,
        }
    }

    /// The same parameters with the maker of the discipline that they name.
    #[must_use]
    pub fn made_by(self, maker: DisciplineMaker) -> Self {
        CustomParams { maker: Some(maker), ..self }
    }

    /// Whether the discipline has been found.
    pub fn is_found(&self) -> bool {
        self.maker.is_some()
    }

    /// Whether the discipline is a scheduler, as far as it has been found.
    pub fn is_scheduler(&self) -> bool {
        self.maker.as_ref().is_some_and(|maker| matches!(maker.0, Make::Scheduler(_)))
    }

    /// Whether the discipline decides about packets that wait, as far as it has been found.
    pub fn needs_service(&self) -> bool {
        self.is_scheduler() || self.rule().is_some_and(|(_, acts_on_departures)| acts_on_departures)
    }

    /// What makes the rule, and whether it decides about packets that leave, too.
    fn rule(&self) -> Option<(&MakeRule, bool)> {
        match &self.maker.as_ref()?.0 {
            Make::Rule { make, acts_on_departures } => Some((&**make, *acts_on_departures)),
            Make::Scheduler(_) => None,
        }
    }
}

impl Ranges for CustomParams {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        self.limit.check_ranges().map_err(|bad| bad.below("limit"))?;
        check_length("discipline", self.discipline.len(), &Range::ANY.at_least(1.0))
    }
}

impl Parameters for CustomParams {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        vec![("limit", &mut self.limit)]
    }
}

/// A packet whose transmission would begin now, and the packets that wait behind it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DequeueEvent {
    /// When its transmission would begin.
    pub now: Time,
    /// When it arrived.
    pub arrival: Time,
    /// Number of its flow.
    pub flow: u32,
    /// Size on the wire, in bytes.
    pub bytes: u32,
    /// ECN field, which tells whether the packet may be marked.
    pub ecn: Ecn,
    /// Number of packets that wait behind it.
    pub waiting_packets: u64,
    /// Number of bytes that wait behind it.
    pub waiting_bytes: u64,
}

/// A rule of the caller's, which may also decide about each packet before its transmission.
pub trait CustomRule: ArrivalRule {
    /// Decides about a packet that would leave: it is sent, marked and sent, or dropped, so that the
    /// next packet would leave. Called only if [`DisciplineMaker::acting_on_departures`] says so.
    fn on_dequeue(&mut self, _event: &DequeueEvent) -> Verdict {
        Verdict::Accept
    }

    /// What has failed in the rule since the last call, if anything has; the run then ends. Called
    /// after each packet.
    fn failure(&mut self) -> Option<String> {
        None
    }
}

/// A rule that a simulation may take to another thread.
pub type BoxedRule = Box<dyn CustomRule + Send>;

/// A scheduler that a simulation may take to another thread.
pub type BoxedScheduler = Box<dyn CustomScheduler + Send>;

/// Makes the rule of a link whose buffer has this size.
type MakeRule = dyn Fn(&LinkInfo, Limit) -> BoxedRule + Send + Sync;

/// Makes the scheduler of a link whose buffer has this size.
type MakeScheduler = dyn Fn(&LinkInfo, Limit) -> BoxedScheduler + Send + Sync;

/// Makes disciplines, one per link.
#[derive(Clone, Debug, PartialEq)]
pub struct DisciplineMaker(Make);

#[derive(Clone, Debug, PartialEq)]
enum Make {
    Rule { make: Maker<MakeRule>, acts_on_departures: bool },
    Scheduler(Maker<MakeScheduler>),
}

impl DisciplineMaker {
    /// Makes the rules that `make` returns for a link and the size of its buffer.
    pub fn rule(make: impl Fn(&LinkInfo, Limit) -> BoxedRule + Send + Sync + 'static) -> Self {
        DisciplineMaker(Make::Rule { make: Maker(Arc::new(make)), acts_on_departures: false })
    }

    /// Makes the schedulers that `make` returns for a link and the size of its buffer.
    pub fn scheduler(
        make: impl Fn(&LinkInfo, Limit) -> BoxedScheduler + Send + Sync + 'static,
    ) -> Self {
        DisciplineMaker(Make::Scheduler(Maker(Arc::new(make))))
    }

    /// The same maker of rules that also decide about packets that leave; schedulers do anyway.
    #[must_use]
    pub fn acting_on_departures(self) -> Self {
        match self.0 {
            Make::Rule { make, .. } => {
                DisciplineMaker(Make::Rule { make, acts_on_departures: true })
            }
            Make::Scheduler(_) => self,
        }
    }
}
