//! What applications want to send: the sources of traffic, one file each, and their registry.
//!
//! There are three kinds of source:
//!
//! * **data** for permanent connections: the congestion control decides when they are sent. `bulk`
//!   needs no code, since the sender takes packets whenever its window allows; `objects` hands the
//!   sender data as they arrive.
//! * **packet sources** for permanent flows that no congestion control governs: a [`PacketSource`]
//!   says when each packet leaves and how large it is.
//! * **flow sources** for flows that arrive and depart: a [`FlowSource`] says when each flow begins
//!   and what it sends, as a connection or, for media, at a constant rate.
//!
//! Adding a packet source or a flow source takes a file with `struct XParams` (what a scenario
//! writes; its doc comments, defaults and ranges become the schema and `tailroom list`), `struct
//! XSpec` (the same without units, names and files; `XParams` itself if it has none), `struct X`
//! (the state), and one line in the registry below. Data are different: the sender has to know what
//! to make of them.

pub mod arrivals;
pub mod coflows;
pub mod context;
pub mod custom;
#[doc(hidden)]
pub mod draws;
mod flow_list;
pub(crate) mod pace;
pub mod unresponsive;
pub mod web_models;

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::distribution::Distribution;
use crate::fabric::{HostPairs, Route};
use crate::parameters::BadParameter;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};
use coflows::Coflows;
use context::{Group, GroupContext, StartingFlow};

pub use flow_list::TraceFlow;

/// The largest flow, in bytes: beyond it a size means a permanent flow.
const MAX_BYTES: f64 = 1e18;

/// Parameters of a source, as a scenario gives them.
pub trait Parameters {
    /// What the engine keeps of them: no units, names or files any more.
    type Spec;

    /// Whether a flow source makes flows that no congestion control governs. They send at rates of
    /// their own, so their group has no `congestion` and no `access_rate`.
    const IS_UNRESPONSIVE: bool = false;

    /// Turns units, names and files into numbers. What lies out of a parameter's own range, as the
    /// schema gives it, has been refused before.
    ///
    /// # Errors
    /// The parameter that contradicts another one or the group, and its allowed range.
    fn resolve(&self, context: &GroupContext<'_>) -> Result<Self::Spec, BadParameter>;
}

/// What the engine has to know of data for a permanent connection before the run.
pub trait OfferedData: Ranges {
    /// Mean rate on the wire that the data come to, in bit/s; `None` for a transfer, which takes
    /// what it gets.
    fn rate_bps(&self) -> Option<f64> {
        None
    }
}

/// What the engine has to know of a packet source before the run.
pub trait OfferedPackets: Ranges {
    /// Checks parameters, each of which is in its own range, against one another and against the
    /// size of the group's packets.
    ///
    /// # Errors
    /// The wrong parameter, the problem and the allowed values.
    fn validate(&self, _packet_bytes: u32) -> Result<(), BadParameter> {
        Ok(())
    }

    /// Mean rate on the wire, in bit/s.
    fn rate_bps(&self) -> f64;

    /// The time after which a source of packets of this size repeats itself, if it always does.
    fn period(&self, _packet_bytes: u32) -> Option<Time> {
        None
    }

    /// Whether every packet has the size that the group's `packet_size` gives.
    fn has_fixed_size(&self) -> bool {
        true
    }
}

/// What the engine has to know of a flow source before the run.
pub trait OfferedFlows: Ranges {
    /// Mean round trip of a flow, in picoseconds.
    fn mean_rtt_ps(&self) -> f64;

    /// How many completed flows are kept one by one.
    fn flow_log(&self) -> usize {
        0
    }

    /// Mean time in seconds in which an access link sends a whole flow, if the source's flows have
    /// access links: slow start may queue most of a flow there.
    fn mean_transfer_s(&self) -> Option<f64> {
        None
    }

    /// Whether flows begin when others are complete, so that they come as fast as the network lets them.
    fn is_closed_loop(&self) -> bool {
        false
    }

    /// Refuses the hosts of the group, or a group without hosts, if the source cannot do with them.
    ///
    /// # Errors
    /// The wrong parameter, the problem and the allowed values.
    fn check_hosts(&self, _hosts: Option<&HostPairs>) -> Result<(), BadParameter> {
        Ok(())
    }

    /// The flows as analytic models read them, in a run of `duration_s`; at most `draws` sizes.
    fn statistics(&self, group: &Group<'_>, duration_s: f64, draws: usize) -> FlowStatistics;
}

/// Flows that arrive and depart, as an analytic model reads them.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowStatistics {
    /// Mean number of flows that arrive per second.
    pub arrivals_per_s: f64,
    /// Whether they arrive as a Poisson process.
    pub is_poisson: bool,
    /// Mean payload of a flow; of media flows, bytes on the wire.
    pub size_bytes_mean: f64,
    /// The same with a header for each packet.
    pub wire_bytes_mean: f64,
    /// Payloads of some flows; empty for media flows.
    pub sizes_bytes: Vec<f64>,
    /// Mean two-way propagation delay.
    pub rtt_s: f64,
    /// Mean of the rate that a flow cannot exceed, if there is one.
    pub peak_rate_bps: Option<f64>,
}

impl FlowStatistics {
    /// Flows of a group that arrive otherwise than as a Poisson process, whose size, in bytes, round
    /// trip, in picoseconds, and rate, in bit/s, are drawn; `draws` sizes are kept.
    pub fn of_drawn(
        group: &Group<'_>,
        arrivals_per_s: f64,
        size: &Distribution,
        rtt: &Distribution,
        peak_rate: Option<&Distribution>,
        draws: usize,
    ) -> Self {
        FlowStatistics {
            arrivals_per_s,
            is_poisson: false,
            size_bytes_mean: size.mean(),
            wire_bytes_mean: group.mean_wire_bytes(size),
            sizes_bytes: group.model_draws(draws, "size", size),
            rtt_s: seconds(rtt.mean()),
            peak_rate_bps: peak_rate.map(Distribution::mean),
        }
    }
}

/// A packet that a source emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// When it leaves the source.
    pub time: Time,
    /// Its size on the wire; 0 for no packet: see [`Emission::nothing_before`].
    pub bytes: u32,
}

impl Emission {
    /// The source does not know its next packet yet, only that it comes no earlier: it is asked again then.
    pub fn nothing_before(time: Time) -> Self {
        Emission { time, bytes: 0 }
    }
}

/// Decides when packets leave and how large they are.
pub trait PacketSource {
    /// The next packet, no earlier than the previous one. A source never ends: its flow's `stop`
    /// does that. One that would work long to find its next packet says how far it has come
    /// ([`Emission::nothing_before`]).
    fn next_emission(&mut self) -> Emission;
}

/// A flow that a source asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRequest {
    /// When it begins.
    pub start: Time,
    /// Payload bytes to send; `None` for a permanent flow.
    pub bytes: Option<u64>,
    /// Two-way propagation delay of its path.
    pub rtt: Time,
    /// Rate of its own access link, its exogenous peak rate; `None` for one that takes no time.
    pub access_rate: Option<Rate>,
    /// Seed of what is drawn for this flow alone: by its congestion control, its sender, its
    /// objects.
    pub seed: u64,
    /// What an unresponsive flow sends; such a flow's `bytes` are those of all its packets.
    pub media: Option<Media>,
    /// Its route, if the group's flows run between hosts and the source chooses them; otherwise they
    /// are drawn.
    pub route: Option<Route>,
    /// The source's own number for the flow, which [`FlowSource::on_completion`] gives back.
    pub tag: u32,
}

/// A constant rate for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Media {
    /// Rate on the wire.
    pub rate: Rate,
    /// From when on nothing is sent.
    pub end: Time,
}

impl Media {
    /// Number of packets of `packet_bytes` that are sent: one at `start`, and one each time the
    /// rate has room.
    pub fn packets(&self, start: Time, packet_bytes: u32) -> u64 {
        let span = u128::from(self.end.since(start).picoseconds());
        let packet = 8 * u128::from(packet_bytes) * u128::from(PICOSECONDS_PER_SECOND);
        let room = span.saturating_mul(u128::from(self.rate.bits_per_second()));
        u64::try_from(room.div_ceil(packet)).unwrap_or(u64::MAX)
    }
}

/// Decides when flows begin and what they send.
pub trait FlowSource {
    /// When the next flow begins, as far as is known; [`Time::NEVER`] if none does.
    fn next_arrival(&self) -> Time;

    /// The next flow, no earlier than the previous one; `None` if there is none, and if the source has planned
    /// flows instead: [`next_arrival`](Self::next_arrival) says when to ask it again.
    fn next_flow(&mut self) -> Option<FlowRequest>;

    /// The last byte of the flow with this tag is acknowledged at `at`, ahead of the links' time. A flow
    /// that follows from it begins at `at` or later.
    fn on_completion(&mut self, _tag: u32, _at: Time) {}

    /// The coflows of the source, if its flows form any.
    fn coflows(&mut self) -> Option<&mut Coflows> {
        None
    }

    /// Flows that it has planned and that have not begun.
    fn planned(&self) -> usize {
        0
    }

    /// Memory of what it has planned and of the sessions in progress, in bytes.
    fn memory_bytes(&self) -> u64 {
        0
    }
}

/// A size that a flow can have.
fn whole_bytes(bytes: f64) -> u64 {
    libm::ceil(bytes).clamp(1.0, MAX_BYTES) as u64
}

fn seconds(picoseconds: f64) -> f64 {
    picoseconds * 1e-12
}

/// Which flows a kind of source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceClass {
    /// Permanent flows under congestion control.
    Data,
    /// Permanent flows without congestion control.
    Packets,
    /// Flows that arrive and depart.
    Flows {
        /// Whether no congestion control governs them.
        is_unresponsive: bool,
    },
}

impl SourceClass {
    /// Whether a congestion control governs the flows.
    pub fn is_responsive(self) -> bool {
        matches!(self, SourceClass::Data | SourceClass::Flows { is_unresponsive: false })
    }

    /// Whether the flows arrive and depart.
    pub fn is_dynamic(self) -> bool {
        matches!(self, SourceClass::Flows { .. })
    }
}

/// What an application wants to send, resolved.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "one per group")]
pub enum SourceSpec {
    /// Data for permanent connections.
    Data(DataSpec),
    /// Packets of permanent flows that no congestion control governs.
    Packets(PacketSourceSpec),
    /// Flows that arrive and depart. The group has no entry in
    /// [`Network::flows`](crate::network::Network::flows).
    Flows(FlowSourceSpec),
}

impl SourceSpec {
    /// The kind that a scenario and the models use.
    pub fn name(&self) -> &'static str {
        match self {
            SourceSpec::Data(spec) => spec.name(),
            SourceSpec::Packets(spec) => spec.name(),
            SourceSpec::Flows(spec) => spec.name(),
        }
    }

    /// Checks each parameter against its range, and the parameters against one another and against
    /// the size of the group's packets.
    ///
    /// # Errors
    /// The wrong parameter, the problem and the allowed values.
    pub fn check(&self, packet_bytes: u32) -> Result<(), BadParameter> {
        match self {
            SourceSpec::Data(spec) => spec.offered().check_ranges(),
            SourceSpec::Packets(spec) => {
                spec.offered().check_ranges()?;
                spec.offered().validate(packet_bytes)
            }
            SourceSpec::Flows(spec) => spec.offered().check_ranges(),
        }
    }

    /// The parameters of a bulk source.
    pub fn bulk(&self) -> Option<&bulk::BulkParams> {
        if let SourceSpec::Data(DataSpec::Bulk(bulk)) = self { Some(bulk) } else { None }
    }

    /// The parameters of objects that a permanent connection sends.
    pub fn objects(&self) -> Option<&objects::ObjectsSpec> {
        if let SourceSpec::Data(DataSpec::Objects(objects)) = self { Some(objects) } else { None }
    }

    /// See [`OfferedPackets::period`].
    pub fn period(&self, packet_bytes: u32) -> Option<Time> {
        if let SourceSpec::Packets(spec) = self {
            spec.offered().period(packet_bytes)
        } else {
            None
        }
    }

    /// The flows that arrive and depart, if the source has such flows.
    pub fn flows(&self) -> Option<&dyn OfferedFlows> {
        if let SourceSpec::Flows(spec) = self { Some(spec.offered()) } else { None }
    }

    /// Mean round trip of flows that arrive and depart, in picoseconds; `None` for permanent ones.
    pub fn dynamic_rtt(&self) -> Option<f64> {
        self.flows().map(OfferedFlows::mean_rtt_ps)
    }

    /// How many completed flows are kept one by one.
    pub fn flow_log(&self) -> usize {
        self.flows().map_or(0, OfferedFlows::flow_log)
    }

    /// Mean rate on the wire that a permanent flow offers whatever becomes of it, in bit/s; flows
    /// that arrive and depart count by themselves.
    pub fn offered_rate_bps(&self) -> Option<f64> {
        match self {
            SourceSpec::Data(spec) => spec.offered().rate_bps(),
            SourceSpec::Packets(spec) => Some(spec.offered().rate_bps()),
            SourceSpec::Flows(_) => None,
        }
    }
}

/// The resolved form of the parameters `P`.
type Spec<P> = <P as Parameters>::Spec;

/// Expands to the modules, the configuration enum (`kind = "..."` in a scenario), the enums of the
/// resolved sources, and those of the running ones, which dispatch without a virtual call.
macro_rules! registry {
    (
        data { $($(#[$data_doc:meta])*
            $data_module:ident :: $data:ident ( $data_params:ident ) = $data_name:literal,)+ }
        flow_sources { $($(#[$flow_doc:meta])*
            $flow_module:ident :: $flow:ident ( $flow_params:ident ) = $flow_name:literal,)+ }
        packet_sources { $($(#[$packet_doc:meta])*
            $packet_module:ident :: $packet:ident ( $packet_params:ident ) = $packet_name:literal,)+ }
    ) => {
        $(pub mod $data_module;)+
        $(pub mod $flow_module;)+
        $(pub mod $packet_module;)+

        /// What an application wants to send, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", deny_unknown_fields)]
        #[allow(clippy::large_enum_variant, reason = "one per group")]
        #[non_exhaustive]
        pub enum SourceConfig {
            $($(#[$data_doc])* #[serde(rename = $data_name)] $data($data_module::$data_params),)+
            $($(#[$flow_doc])* #[serde(rename = $flow_name)] $flow($flow_module::$flow_params),)+
            $($(#[$packet_doc])* #[serde(rename = $packet_name)]
                $packet($packet_module::$packet_params),)+
        }

        /// The kinds of source by which a scenario names them, and their classes.
        pub const KINDS: &[(&str, SourceClass)] = &[
            $(($data_name, SourceClass::Data),)+
            $(($flow_name, SourceClass::Flows {
                is_unresponsive: <$flow_module::$flow_params as Parameters>::IS_UNRESPONSIVE,
            }),)+
            $(($packet_name, SourceClass::Packets),)+
        ];

        impl SourceConfig {
            /// The kind that a scenario uses.
            pub fn name(&self) -> &'static str {
                match self {
                    $(SourceConfig::$data(_) => $data_name,)+
                    $(SourceConfig::$flow(_) => $flow_name,)+
                    $(SourceConfig::$packet(_) => $packet_name,)+
                }
            }

            /// See [`Parameters::resolve`].
            ///
            /// # Errors
            /// The parameter that contradicts another one or the group, and its allowed range.
            pub fn resolve(&self, context: &GroupContext<'_>) -> Result<SourceSpec, BadParameter> {
                Ok(match self {
                    $(SourceConfig::$data(params) => params.resolve(context)?.into(),)+
                    $(SourceConfig::$flow(params) => params.resolve(context)?.into(),)+
                    $(SourceConfig::$packet(params) => params.resolve(context)?.into(),)+
                })
            }
        }

        /// Data for a permanent connection, resolved.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum DataSpec {
            $($(#[$data_doc])* $data(Spec<$data_module::$data_params>),)+
        }

        impl DataSpec {
            /// The kind that a scenario uses.
            pub fn name(&self) -> &'static str {
                match self { $(DataSpec::$data(_) => $data_name,)+ }
            }

            /// What the engine has to know of it before the run.
            pub fn offered(&self) -> &dyn OfferedData {
                dispatch!(self, $($data)+, spec => spec)
            }
        }

        $(impl From<Spec<$data_module::$data_params>> for SourceSpec {
            fn from(spec: Spec<$data_module::$data_params>) -> Self {
                SourceSpec::Data(DataSpec::$data(spec))
            }
        })+

        /// A packet source, resolved.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum PacketSourceSpec {
            $($(#[$packet_doc])* $packet(Spec<$packet_module::$packet_params>),)+
        }

        impl PacketSourceSpec {
            /// The kind that a scenario uses.
            pub fn name(&self) -> &'static str {
                match self { $(PacketSourceSpec::$packet(_) => $packet_name,)+ }
            }

            /// What the engine has to know of it before the run.
            pub fn offered(&self) -> &dyn OfferedPackets {
                dispatch!(self, $($packet)+, spec => spec)
            }

            /// Starts the source of a flow.
            pub fn start(&self, flow: &StartingFlow<'_>) -> AnyPacketSource {
                match self {
                    $(PacketSourceSpec::$packet(spec) => {
                        AnyPacketSource::$packet($packet_module::$packet::new(spec, flow))
                    })+
                }
            }
        }

        $(impl From<Spec<$packet_module::$packet_params>> for SourceSpec {
            fn from(spec: Spec<$packet_module::$packet_params>) -> Self {
                SourceSpec::Packets(PacketSourceSpec::$packet(spec))
            }
        })+

        /// A running packet source.
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant, reason = "one per flow, in a box with the flow's probes")]
        #[non_exhaustive]
        #[derive(Clone)]
        pub enum AnyPacketSource {
            $($(#[$packet_doc])* $packet($packet_module::$packet),)+
        }

        #[deny(clippy::missing_trait_methods, reason = "each method goes to the variant")]
        impl PacketSource for AnyPacketSource {
            #[inline]
            fn next_emission(&mut self) -> Emission {
                dispatch!(self, $($packet)+, source => source.next_emission())
            }
        }

        /// A flow source, resolved.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "one per group")]
        #[non_exhaustive]
        pub enum FlowSourceSpec {
            $($(#[$flow_doc])* $flow(Spec<$flow_module::$flow_params>),)+
        }

        impl FlowSourceSpec {
            /// The kind that a scenario uses.
            pub fn name(&self) -> &'static str {
                match self { $(FlowSourceSpec::$flow(_) => $flow_name,)+ }
            }

            /// What the engine has to know of it before the run.
            pub fn offered(&self) -> &dyn OfferedFlows {
                dispatch!(self, $($flow)+, spec => spec)
            }

            /// Starts the source of a group. `shortest_rtt`, the propagation of its shared links, is
            /// the least RTT of its flows.
            pub fn start(&self, group: &Group<'_>, shortest_rtt: Time) -> AnyFlowSource {
                match self {
                    $(FlowSourceSpec::$flow(spec) => {
                        let source = $flow_module::$flow::new(spec, group, shortest_rtt);
                        AnyFlowSource::$flow(Box::new(source))
                    })+
                }
            }
        }

        $(impl From<Spec<$flow_module::$flow_params>> for SourceSpec {
            fn from(spec: Spec<$flow_module::$flow_params>) -> Self {
                SourceSpec::Flows(FlowSourceSpec::$flow(spec))
            }
        })+

        /// A running flow source.
        #[derive(Debug)]
        #[non_exhaustive]
        #[derive(Clone)]
        pub enum AnyFlowSource {
            $($(#[$flow_doc])* $flow(Box<$flow_module::$flow>),)+
        }

        #[deny(clippy::missing_trait_methods, reason = "each method goes to the variant")]
        impl FlowSource for AnyFlowSource {
            fn next_arrival(&self) -> Time {
                dispatch!(self, $($flow)+, source => source.next_arrival())
            }

            fn next_flow(&mut self) -> Option<FlowRequest> {
                dispatch!(self, $($flow)+, source => source.next_flow())
            }

            fn on_completion(&mut self, tag: u32, at: Time) {
                dispatch!(self, $($flow)+, source => source.on_completion(tag, at))
            }

            fn coflows(&mut self) -> Option<&mut Coflows> {
                dispatch!(self, $($flow)+, source => source.coflows())
            }

            fn planned(&self) -> usize {
                dispatch!(self, $($flow)+, source => source.planned())
            }

            fn memory_bytes(&self) -> u64 {
                dispatch!(self, $($flow)+, source => source.memory_bytes())
            }
        }
    };
}

registry! {
    data {
        /// As much as the congestion control allows.
        bulk::Bulk(BulkParams) = "bulk",
        /// Objects for a connection that lasts. They arrive as a Poisson process, whatever has
        /// become of those before, and wait for their turn in one queue; `slow_start_after_idle`
        /// says what happens after a silence.
        objects::Objects(ObjectsParams) = "objects",
    }
    flow_sources {
        /// Flows that arrive and depart. Each is a connection that begins with slow start, sends
        /// its data and ends; `rtt` and `access_rate` are drawn for each. One of `load`,
        /// `arrivals_per_second`, `period` and `arrivals` says when they arrive.
        finite_flows::FiniteFlows(FiniteFlowsParams) = "finite_flows",
        /// Flows of a list, such as `tailroom import` makes from a capture. Each is a connection
        /// that begins with slow start; `start` shifts them all, and from `stop` on none arrives.
        trace::Trace(TraceParams) = "trace",
        /// Media flows that arrive and depart, without congestion control. Each sends equally
        /// spaced packets of `packet_size` at a constant rate for as long as it lasts; `rtt` is
        /// drawn for each. One of `load`, `arrivals_per_second`, `period` and `arrivals` says when
        /// they arrive.
        streaming::Streaming(StreamingParams) = "streaming",
        /// Web sessions that arrive and depart. A session is a number of pages with think times
        /// between them; a page is a main object and, when that is there and parsed, the objects
        /// embedded in it, `parallel` at a time. Each object is a connection of its own that begins
        /// with slow start, a round trip after what it waits for is complete. `rtt` and
        /// `access_rate` are drawn for each session. One of `load`, `arrivals_per_second`, `period` and
        /// `arrivals` says when sessions begin.
        web::Web(WebParams) = "web",
        /// Queries, each of which many servers answer at once. An answer is a connection of its own;
        /// the query is complete when all answers are. One of `load`, `arrivals_per_second`, `period`,
        /// `arrivals` and `think_time` says when queries begin.
        incast::Incast(IncastParams) = "incast",
        /// Collective operations of the hosts of `from`, as in training. A step begins when all flows
        /// of the step before are complete. Each flow is a connection of its own.
        collective::Collective(CollectiveParams) = "collective",
        /// Flows of a source of your own (docs/guide/own-source.md). Each is a connection that begins
        /// with slow start; `rtt` and `access_rate` are drawn where the source gives none.
        custom_flows::CustomFlows(CustomFlowsParams) = "custom_flows",
    }
    packet_sources {
        /// A Poisson stream of packets without congestion control.
        poisson::Poisson(PoissonParams) = "poisson",
        /// Equally spaced packets without congestion control.
        cbr::Cbr(CbrParams) = "cbr",
        /// Equally spaced packets in on periods, silence in off periods, no congestion control. The
        /// mean rate is `rate` times mean on over mean on plus mean off. A flow starts as if it had
        /// always been going on and off: in either, by their shares of time, and somewhere within
        /// it.
        on_off::OnOff(OnOffParams) = "on_off",
        /// Packets of a source of your own (docs/guide/own-source.md). They have no congestion control.
        custom_packets::CustomPackets(CustomPacketsParams) = "custom_packets",
    }
}

impl Default for SourceConfig {
    fn default() -> Self {
        SourceConfig::Bulk(bulk::BulkParams::default())
    }
}

impl SourceConfig {
    /// Which flows the source has.
    pub fn class(&self) -> SourceClass {
        class_of(self.name()).unwrap_or(SourceClass::Data)
    }
}

/// The class of the kind of source with this name, if there is one.
pub fn class_of(kind: &str) -> Option<SourceClass> {
    KINDS.iter().find(|(name, _)| *name == kind).map(|(_, class)| *class)
}
