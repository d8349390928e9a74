//! Congestion controls, one file each, and their registry.
//!
//! A control is of one of two kinds. A [`WindowLaw`] sets the window: how it grows above ssthresh
//! and what congestion leaves of it. A [`RateBasedControl`] sets the window and the pacing rate
//! from the delivery rates that the sender measures.
//!
//! A new control takes a file with `struct X` (its state), `struct XParams` (its parameters, whose
//! doc comments, defaults and ranges become the schema and `tailroom list`), `impl WindowLaw for X`
//! or `impl RateBasedControl for X`, and one line in the registry at the end of this file. Loss
//! recovery, the retransmission timeout, pacing and slow start are implemented once for all
//! controls, in [`crate::tcp::sender`].

#[doc(hidden)]
pub mod blocks;
#[cfg(test)]
mod closed_loop;
pub mod custom;
#[doc(hidden)]
pub mod filter;
#[doc(hidden)]
pub mod growth;
pub mod rate_based;
mod round_rtt;
#[cfg(test)]
mod script;

use blocks::BlockRules;
use growth::GrowthCell;

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::parameters::BadParameter;
use crate::units::Time;
use custom::{CustomParams, CustomRateBasedControl, CustomWindowLaw};
use rate_based::{
    BeginEvent, ControlOutput, LostPacketEvent, RateBasedControl, RateSampleEvent, RestartEvent,
    TimeEvent, UndoEvent,
};

/// Largest window, in packets. An event carries 29 bits of a sequence number, which distinguish
/// packets that are up to 2^28 apart; a TCP window is at most 2^30 bytes (RFC 7323 sec. 2.3).
pub const MAX_WINDOW_PACKETS: u64 = 100_000_000;

/// An ACK of new data, as a window law sees it.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When the ACK reaches the sender.
    pub now: Time,
    /// Packets newly acknowledged, at least 1.
    pub acked_packets: u64,
    /// RTT sample of this ACK, if there is one.
    pub rtt: Option<Time>,
    /// Smoothed RTT; [`Time::ZERO`] before the first sample.
    pub srtt: Time,
    /// Smallest RTT sample of the connection; [`Time::NEVER`] before the first.
    pub min_rtt: Time,
    /// Packets acknowledged in sequence since the connection began.
    pub delivered_packets: u64,
    /// Marks that the receiver has reported since the connection began; 0 without accurate
    /// feedback.
    pub marked_packets: u64,
    /// The first sequence number that has not been sent.
    pub next: u64,
    /// Whether the window is below ssthresh.
    pub is_slow_start: bool,
}

/// The sign of congestion that the sender has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionKind {
    /// Lost packets, detected without a timeout; at most once per recovery.
    Loss,
    /// A retransmission timeout.
    Timeout,
    /// ECN marks; at most once per round trip.
    Mark,
}

/// Congestion, as the sender has concluded it.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When the sender concludes that there is congestion.
    pub now: Time,
    /// The sign of congestion.
    pub kind: CongestionKind,
    /// The window in use at that time, in packets: the flight size if the application limited the
    /// sender (RFC 5681 Eq. 4).
    pub cwnd_packets: f64,
    /// Whether the window was below ssthresh.
    pub is_slow_start: bool,
}

/// A window law: how the window grows above ssthresh, and what congestion leaves of it.
///
/// The sender owns the window, slow start, loss recovery and the bounds of the window (at least 1
/// packet, at most `max_window`).
pub trait WindowLaw {
    /// Returns the window after an ACK in congestion avoidance, in packets, given the window before
    /// the ACK.
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64;

    /// Returns the window after congestion, in packets: the new ssthresh. The sender does not let
    /// ssthresh fall below 2 packets.
    fn on_congestion(&mut self, event: &CongestionEvent) -> f64;

    /// The congestion that [`on_congestion`](WindowLaw::on_congestion) has answered last was none:
    /// the window returns to what it was before. A law may restore its own state.
    fn on_undo(&mut self) {}

    /// Whether the law has a slow start of its own. The sender then calls
    /// [`on_ack`](WindowLaw::on_ack) below ssthresh too, instead of the slow start that the
    /// scenario names.
    fn has_own_slow_start(&self) -> bool {
        false
    }

    /// Whether the law's own slow start ends with the ACK that [`on_ack`](WindowLaw::on_ack) has
    /// just seen.
    fn ends_slow_start(&mut self) -> bool {
        false
    }

    /// Windows at which [`on_ack`](WindowLaw::on_ack) computes [`GrowthCell::grow`] and changes no
    /// state; empty if there are none. The sender then computes the growth itself until the window
    /// leaves the cell, and calls [`on_ack`](WindowLaw::on_ack) there.
    fn growth_cell(&self) -> GrowthCell {
        GrowthCell::EMPTY
    }

    /// Whether the sender calls [`on_every_ack`](WindowLaw::on_every_ack).
    fn sees_every_ack(&self) -> bool {
        false
    }

    /// Sees every ACK of new data before the sender acts on it, including ACKs that let no window
    /// grow: those of a recovery and those that echo a mark.
    fn on_every_ack(&mut self, _event: &AckEvent) {}

    /// Whether the law is still reducing the window in answer to an earlier mark and ignores one
    /// that arrives now. The sender asks at most once per window of data.
    fn is_in_cwr(&self, _now: Time) -> bool {
        false
    }

    /// Whether a loss reduces the window although a mark in the same window of data has reduced it.
    /// By default the sender takes both for the same congestion (RFC 3168 sec. 6.1.2).
    fn answers_loss_after_mark(&self) -> bool {
        false
    }

    /// Number of blocks into which the sender divides the window, spread over the round trip;
    /// `None` if packets leave as soon as the window allows.
    fn blocks(&self, _srtt: Time) -> Option<f64> {
        None
    }

    /// The rules by which the sender sends the blocks.
    fn block_rules(&self) -> BlockRules {
        BlockRules::default()
    }

    /// Why the run cannot go on. The sender asks only a law that is not in the registry, after each
    /// call.
    fn failure(&mut self) -> Option<String> {
        None
    }
}

/// Counts round trips by sequence numbers: a round trip ends when a packet that was sent after its
/// beginning is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    end: u64,
}

impl Rounds {
    /// Whether this ACK ends a round trip and begins the next.
    #[inline]
    pub fn is_over(&mut self, event: &AckEvent) -> bool {
        let is_over = event.delivered_packets > self.end;
        if is_over {
            self.end = event.next;
        }
        is_over
    }
}

/// What window reductions say about the steady state of flows under a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SteadyState {
    /// The steady state is a cycle in which the window grows until congestion reduces it.
    Reductions,
    /// The window may settle without congestion, as under a control that follows the delay. With
    /// congestion, the steady state is a cycle.
    MaySettle,
    /// Nothing: the control keeps its window at congestion, or sets it by a model of the path.
    NoReductions,
}

/// The parameters of a congestion control, as a scenario gives them.
pub trait ControlParameters: Ranges {
    /// Checks parameters, each of which is in its own range, against one another.
    ///
    /// # Errors
    /// The first wrong parameter, with its allowed values.
    fn validate(&self) -> Result<(), BadParameter> {
        Ok(())
    }

    /// Checks each parameter against its range, and the parameters against one another.
    ///
    /// # Errors
    /// The first wrong parameter, with its allowed values.
    fn check(&self) -> Result<(), BadParameter> {
        self.check_ranges()?;
        self.validate()
    }

    /// Whether the control counts marked packets. A scenario without accurate ECN feedback is then
    /// refused.
    fn needs_marks(&self) -> bool {
        false
    }

    /// Whether the control times or counts single packets, so that a receiver should acknowledge
    /// each of them, and a host not send several at once.
    fn needs_single_packets(&self) -> bool {
        false
    }

    /// What window reductions say about the steady state of a window law: a run warns if it has
    /// seen too few of them.
    fn steady_state(&self) -> SteadyState {
        SteadyState::Reductions
    }

    /// The time between two moments at which the control drains the queue to measure its smallest
    /// RTT, if it does: a run warns if its measured window holds too few.
    fn drain_interval(&self) -> Option<Time> {
        None
    }
}

/// A running congestion control of either kind.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "the sender takes the control out at once")]
pub enum Congestion {
    /// A control that sets the window.
    WindowLaw(AnyWindowLaw),
    /// A control that sets the window and the pacing rate from measured delivery rates.
    RateBased(AnyRateBasedControl),
}

/// Expands to the modules, the configuration enum (`kind = "..."` in a scenario) and the two state
/// enums, which dispatch on the packet path without a virtual call.
macro_rules! registry {
    (
        window_laws { $($(#[$law_doc:meta])*
            $law_module:ident :: $law:ident ( $law_params:ident ) = $law_name:literal,)+ }
        rate_based { $($(#[$rate_based_doc:meta])*
            $rate_based_module:ident :: $rate_based:ident ( $rate_based_params:ident )
                = $rate_based_name:literal,)+ }
    ) => {
        $(pub mod $law_module;)+
        $(pub mod $rate_based_module;)+

        /// A congestion control and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
        #[serde(tag = "kind", deny_unknown_fields)]
        #[non_exhaustive]
        pub enum CongestionConfig {
            $($(#[$law_doc])* #[serde(rename = $law_name)] $law($law_module::$law_params),)+
            $($(#[$rate_based_doc])* #[serde(rename = $rate_based_name)]
                $rate_based($rate_based_module::$rate_based_params),)+
            /// A control of your own, in Python or in Rust: see docs/guide/own-control.md.
            #[serde(rename = "custom")]
            Custom(CustomParams),
        }

        /// A running window law.
        #[derive(Debug)]
        #[non_exhaustive]
        #[derive(Clone)]
        pub enum AnyWindowLaw {
            $($(#[$law_doc])* $law($law_module::$law),)+
            /// A window law that the registry does not hold.
            Custom(CustomWindowLaw),
        }

        /// A running rate-based control.
        #[derive(Debug)]
        #[allow(clippy::large_enum_variant, reason = "the sender keeps it in a box")]
        #[non_exhaustive]
        #[derive(Clone)]
        pub enum AnyRateBasedControl {
            $($(#[$rate_based_doc])* $rate_based($rate_based_module::$rate_based),)+
            /// A rate-based control that the registry does not hold.
            Custom(CustomRateBasedControl),
        }

        impl Congestion {
            /// Starts the control that `config` describes.
            pub fn new(config: &CongestionConfig) -> Self {
                match config {
                    $(CongestionConfig::$law(params) => Congestion::WindowLaw(
                        AnyWindowLaw::$law($law_module::$law::new(params)),
                    ),)+
                    $(CongestionConfig::$rate_based(params) => Congestion::RateBased(
                        AnyRateBasedControl::$rate_based(
                            $rate_based_module::$rate_based::new(params),
                        ),
                    ),)+
                    CongestionConfig::Custom(params) => params.start(),
                }
            }
        }

        #[deny(clippy::missing_trait_methods, reason = "each method goes to the variant")]
        impl WindowLaw for AnyWindowLaw {
            #[inline]
            fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
                dispatch!(self, $($law)+ Custom, control => control.on_ack(cwnd_packets, event))
            }

            fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
                dispatch!(self, $($law)+ Custom, law => law.on_congestion(event))
            }

            fn on_undo(&mut self) {
                dispatch!(self, $($law)+ Custom, law => law.on_undo());
            }

            fn has_own_slow_start(&self) -> bool {
                dispatch!(self, $($law)+ Custom, law => law.has_own_slow_start())
            }

            fn ends_slow_start(&mut self) -> bool {
                dispatch!(self, $($law)+ Custom, law => law.ends_slow_start())
            }

            fn growth_cell(&self) -> GrowthCell {
                dispatch!(self, $($law)+ Custom, law => law.growth_cell())
            }

            fn sees_every_ack(&self) -> bool {
                dispatch!(self, $($law)+ Custom, law => law.sees_every_ack())
            }

            fn on_every_ack(&mut self, event: &AckEvent) {
                dispatch!(self, $($law)+ Custom, law => law.on_every_ack(event))
            }

            fn is_in_cwr(&self, now: Time) -> bool {
                dispatch!(self, $($law)+ Custom, law => law.is_in_cwr(now))
            }

            fn answers_loss_after_mark(&self) -> bool {
                dispatch!(self, $($law)+ Custom, control => control.answers_loss_after_mark())
            }

            fn blocks(&self, srtt: Time) -> Option<f64> {
                dispatch!(self, $($law)+ Custom, law => law.blocks(srtt))
            }

            fn block_rules(&self) -> BlockRules {
                dispatch!(self, $($law)+ Custom, law => law.block_rules())
            }

            fn failure(&mut self) -> Option<String> {
                dispatch!(self, $($law)+ Custom, law => law.failure())
            }
        }

        #[deny(clippy::missing_trait_methods, reason = "each method goes to the variant")]
        impl RateBasedControl for AnyRateBasedControl {
            fn begin(&mut self, event: &BeginEvent) -> ControlOutput {
                dispatch!(self, $($rate_based)+ Custom, control => control.begin(event))
            }

            fn on_rate_sample(&mut self, event: &RateSampleEvent) -> ControlOutput {
                match self {
                    $(AnyRateBasedControl::$rate_based(control) => control.on_rate_sample(event),)+
                    // A custom control gets a copy, so that those of the registry, which are
                    // compiled into the sender, read the event from registers.
                    AnyRateBasedControl::Custom(control) => control.on_rate_sample(&{ *event }),
                }
            }

            fn on_congestion(&mut self, event: &CongestionEvent) {
                dispatch!(self, $($rate_based)+ Custom, control => control.on_congestion(event))
            }

            fn on_undo(&mut self, event: &UndoEvent) -> f64 {
                dispatch!(self, $($rate_based)+ Custom, control => control.on_undo(event))
            }

            fn on_lost(&mut self, packet: &LostPacketEvent) {
                dispatch!(self, $($rate_based)+ Custom, control => control.on_lost(packet))
            }

            fn on_restart(&mut self, event: &RestartEvent) -> Option<ControlOutput> {
                dispatch!(self, $($rate_based)+ Custom, control => control.on_restart(event))
            }

            fn paces_what_waits(&self) -> bool {
                dispatch!(self, $($rate_based)+ Custom, control => control.paces_what_waits())
            }

            fn next_change(&self) -> Time {
                dispatch!(self, $($rate_based)+ Custom, control => control.next_change())
            }

            fn on_time(&mut self, event: &TimeEvent) -> Option<ControlOutput> {
                dispatch!(self, $($rate_based)+ Custom, control => control.on_time(event))
            }

            fn failure(&mut self) -> Option<String> {
                dispatch!(self, $($rate_based)+ Custom, control => control.failure())
            }
        }

        impl CongestionConfig {
            /// The name that a scenario and the results use.
            pub fn name(&self) -> &str {
                match self {
                    $(CongestionConfig::$law(_) => $law_name,)+
                    $(CongestionConfig::$rate_based(_) => $rate_based_name,)+
                    CongestionConfig::Custom(params) => &params.control,
                }
            }

            /// The parameters.
            pub fn parameters(&self) -> &dyn ControlParameters {
                match self {
                    $(CongestionConfig::$law(params) => params,)+
                    $(CongestionConfig::$rate_based(params) => params,)+
                    CongestionConfig::Custom(params) => params,
                }
            }

            /// Whether the control is a rate-based one, so that the sender keeps a record of each
            /// packet in flight.
            pub fn is_rate_based(&self) -> bool {
                match self {
                    $(CongestionConfig::$law(_) => false,)+
                    $(CongestionConfig::$rate_based(_) => true,)+
                    CongestionConfig::Custom(params) => params.is_rate_based(),
                }
            }
        }
    };
}

impl CongestionConfig {
    /// What window reductions say about the steady state: nothing, under a rate-based control.
    pub fn steady_state(&self) -> SteadyState {
        if self.is_rate_based() {
            SteadyState::NoReductions
        } else {
            self.parameters().steady_state()
        }
    }

    /// Whether the control decides alone how a flow starts, so that the host's slow start has no part
    /// in it. Of a control of your own only a rate-based one is known to.
    pub fn has_own_start(&self) -> bool {
        if let CongestionConfig::Custom(params) = self {
            return params.is_rate_based();
        }
        match Congestion::new(self) {
            Congestion::WindowLaw(law) => law.has_own_slow_start(),
            Congestion::RateBased(_) => true,
        }
    }
}

registry! {
    window_laws {
        /// Standard TCP: grows by a packet per round trip and halves at congestion (RFC 5681).
        reno::Reno(RenoParams) = "reno",
        /// CUBIC (RFC 9438).
        cubic::Cubic(CubicParams) = "cubic",
        /// DCTCP, for networks that mark at a low threshold (RFC 8257).
        dctcp::Dctcp(DctcpParams) = "dctcp",
        /// Prague (draft-briscoe-iccrg-prague-congestion-control-04): DCTCP for L4S.
        prague::Prague(PragueParams) = "prague",
        /// Additive increase and multiplicative decrease of any size; by default standard TCP.
        aimd::Aimd(AimdParams) = "aimd",
        /// A window that never changes.
        fixed_window::FixedWindow(FixedWindowParams) = "fixed_window",
        /// HighSpeed TCP (RFC 3649).
        highspeed::Highspeed(HighspeedParams) = "highspeed",
        /// FHSTCP (Su et al. 2005): HighSpeed TCP, fair between different round trip times.
        fhstcp::Fhstcp(FhstcpParams) = "fhstcp",
        /// Scalable TCP (Kelly 2003): grows by a fraction of the window per round trip.
        scalable::Scalable(ScalableParams) = "scalable",
        /// BIC (Xu, Harfoush, Rhee 2004) as in Linux: searches for the window of the last loss.
        bic::Bic(BicParams) = "bic",
        /// H-TCP (Leith, Shorten 2004): grows faster with the time since the last congestion.
        htcp::Htcp(HtcpParams) = "htcp",
        /// Vegas (Brakmo, Peterson 1995): keeps a few packets queued.
        vegas::Vegas(VegasParams) = "vegas",
        /// FAST (Jin, Wei, Low 2004): keeps a given number of packets queued.
        fast::Fast(FastParams) = "fast",
        /// Illinois (Liu, Basar, Srikant 2006): the delay sets the increase and the decrease.
        illinois::Illinois(IllinoisParams) = "illinois",
        /// Compound TCP (Tan et al. 2006): Reno's window plus a window that follows the delay.
        compound::Compound(CompoundParams) = "compound",
        /// YeAH (Baiocchi et al. 2007): grows fast while the queue is short, otherwise as Reno.
        yeah::Yeah(YeahParams) = "yeah",
        /// LEDBAT (RFC 6817), for background traffic: keeps the queueing delay at a target.
        ledbat::Ledbat(LedbatParams) = "ledbat",
        /// Hybla (Caini, Firrincieli 2004): growth that does not depend on the round trip time.
        hybla::Hybla(HyblaParams) = "hybla",
        /// Westwood+ (Grieco, Mascolo 2004): falls to the measured bandwidth-delay product.
        westwood::Westwood(WestwoodParams) = "westwood",
    }
    rate_based {
        /// BBR, version 1 (Cardwell et al. 2016; Linux 6.19): paces at the path's delivery rate.
        bbr1::Bbr1(Bbr1Params) = "bbr1",
        /// BBR, version 3 (draft-ietf-ccwg-bbr-06): as version 1, but reacts to losses above 2 %.
        bbr3::Bbr3(Bbr3Params) = "bbr3",
        /// DCQCN (Zhu et al. 2015), of RDMA NICs: marks reduce the rate, a timer raises it.
        dcqcn::Dcqcn(DcqcnParams) = "dcqcn",
        /// TIMELY (Mittal et al. 2015), for data centres: the gradient of the RTT sets the rate.
        timely::Timely(TimelyParams) = "timely",
        /// Swift (Kumar et al. 2020), for data centres: keeps the delay at a target.
        swift::Swift(SwiftParams) = "swift",
        /// Packet-pair flow control (Keshav 1995), for links with fair queueing.
        packet_pair::PacketPair(PacketPairParams) = "packet_pair",
        /// A window and a pacing rate that a program sets between the steps of a simulation.
        stepped::Stepped(SteppedParams) = "stepped",
    }
}
