//! How large the window is: congestion controls, one file each, and their registry.
//!
//! Adding one takes a file with `struct X` (state), `struct XParams` (parameters, whose doc comments,
//! defaults and ranges become the schema and `tailroom list`), `impl CongestionControl for X`, and
//! one line in the registry below. Loss recovery, RTO, pacing and slow start are not here: they exist once, in
//! [`crate::tcp::sender`].

#[cfg(test)]
mod closed_loop;
pub mod filter;
pub mod rate_based;
mod round_rtt;
#[cfg(test)]
mod script;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Time;
use rate_based::{Beginning, LostPacket, PathEvent, Steering};

/// Largest window, in packets. An event carries 29 bits of a sequence number, which tell packets apart
/// that are 2^28 from one another or less; a window of TCP is at most 2^30 bytes (RFC 7323 sec. 2.3).
pub const MAX_WINDOW_PACKETS: u64 = 100_000_000;

/// What a control learns from an ACK of new data outside recovery.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When the ACK reaches the sender.
    pub now: Time,
    /// Packets newly acknowledged, at least 1.
    pub acked_packets: u64,
    /// RTT sample of this ACK, if it gives one.
    pub rtt: Option<Time>,
    /// Smoothed RTT; [`Time::ZERO`] before the first sample.
    pub srtt: Time,
    /// Smallest RTT sample of the connection; [`Time::NEVER`] before the first.
    pub min_rtt: Time,
    /// Packets acknowledged in sequence since the connection began.
    pub delivered_packets: u64,
    /// Marks that the receiver has reported since the connection began; only with accurate feedback.
    pub marked_packets: u64,
    /// The first sequence number that has not been sent.
    pub next: u64,
    /// Whether the window is below ssthresh.
    pub is_slow_start: bool,
}

/// Why the window must shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionKind {
    /// Lost packets, found without a timeout; at most once per recovery episode.
    Loss,
    /// A retransmission timeout.
    Timeout,
    /// ECN marks; at most once per round trip.
    Mark,
}

/// What a control learns when the sender concludes that there is congestion.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When the sender concludes it.
    pub now: Time,
    /// What it concludes it from.
    pub kind: CongestionKind,
    /// The window that was in use at that moment, in packets: the flight size where the application
    /// limited the sender (RFC 5681 Eq. 4).
    pub cwnd_packets: f64,
    /// Whether the window was below ssthresh.
    pub is_slow_start: bool,
}

/// The law of a window above ssthresh. The sender owns the window itself, slow start, recovery and
/// the bounds (at least 1 packet, at most `max_window`).
pub trait CongestionControl {
    /// The window after an ACK in congestion avoidance, in packets, given the window before it.
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64;

    /// The window to fall to, in packets: the new ssthresh. The sender bounds it below by 2.
    fn on_congestion(&mut self, event: &CongestionEvent) -> f64;

    /// Whether [`on_ack`](CongestionControl::on_ack) is asked below ssthresh too, in place of the
    /// slow start that the scenario names.
    fn has_own_slow_start(&self) -> bool {
        false
    }

    /// Asked after an ACK in a slow start of the control's own: whether that is over.
    fn ends_slow_start(&mut self) -> bool {
        false
    }

    /// Whether [`watch`](CongestionControl::watch) is to be called.
    fn watches_every_ack(&self) -> bool {
        false
    }

    /// Sees every ACK of new data, before anything else happens to it: also those of slow start, of
    /// a repair, and those that echo a mark, which let no window grow.
    fn watch(&mut self, _event: &AckEvent) {}

    /// Whether a mark that arrives now belongs to congestion that has been answered. The sender asks
    /// no more than once a window of data anyway.
    fn has_answered_marks(&self, _now: Time) -> bool {
        false
    }

    /// Whether a loss reduces the window even if a mark in the same window of data has; otherwise the
    /// sender takes both for the same congestion (RFC 3168 sec. 6.1.2).
    fn answers_loss_after_mark(&self) -> bool {
        false
    }

    /// Into how many blocks a window is cut, each sent in its part of the round trip; `None` sends
    /// whenever the window allows.
    fn blocks(&self, _srtt: Time) -> Option<u32> {
        None
    }

    /// Why the run cannot go on; asked of a control that is not in the registry, after every call.
    fn failure(&mut self) -> Option<String> {
        None
    }

    /// Told once, before the first packet. A control that models the path answers how to send until
    /// the first ACK; of the methods above only `on_congestion` is called for it then, and what that
    /// returns is not used. `None` is the answer of a control that only sets a window.
    fn begin(&mut self, _beginning: &Beginning) -> Option<Steering> {
        None
    }

    /// How to send after an ACK; any ACK, whatever the sender is doing. After a timeout, which
    /// `on_congestion` tells of, the window is 1 until then.
    fn on_rate_sample(&mut self, event: &PathEvent) -> Steering {
        let cwnd_packets = event.cwnd_packets;
        Steering { cwnd_packets, pacing_rate: 1.0, send_quantum: 1, holds_back: false }
    }

    /// A packet is newly taken for lost; the ACK or timeout that tells of it follows.
    fn on_lost(&mut self, _packet: &LostPacket) {}

    /// The first packet leaves after a time with nothing to send; how to send it and what follows.
    fn on_restart(&mut self, _now: Time, _cwnd_packets: f64) -> Option<Steering> {
        None
    }
}

/// Round trips, counted by sequence numbers: one is over when a packet that was sent after its
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

/// What window reductions say of the steady state of flows under a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyState {
    /// It is a cycle: the window grows until congestion reduces it, again and again.
    Reductions,
    /// The window may settle before there is any congestion, as that of a control that goes by delay;
    /// where there is congestion, it is a cycle too.
    MaySettle,
    /// Nothing: the control holds its window through congestion, or sets it by a model of the path.
    NoReductions,
}

/// Parameters of a control, as a scenario gives them.
pub trait Parameters {
    /// Says what is wrong with parameters that contradict one another or lie out of range.
    ///
    /// # Errors
    /// A sentence that names the parameter and its range.
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }

    /// Whether the control counts marked packets, so that a scenario without accurate feedback is
    /// refused.
    fn needs_marks(&self) -> bool {
        false
    }

    /// The control's name, where the registry cannot know it.
    fn control_name(&self) -> Option<&str> {
        None
    }

    /// Whether the control models the path, so that a record of each packet in flight is kept.
    fn models_path(&self) -> bool {
        false
    }

    /// What window reductions say of the steady state: a run warns if it has seen too few of them.
    fn steady_state(&self) -> SteadyState {
        if self.models_path() { SteadyState::NoReductions } else { SteadyState::Reductions }
    }

    /// Whether losses rule the window and the sender's own slow start precedes them, so that a host
    /// may end it by HyStart++. What steers by delay, by marks or by a model of the path says no.
    fn is_loss_based(&self) -> bool {
        !self.needs_marks() && !self.models_path()
    }
}

/// Expands to the modules, the configuration enum (`kind = "..."` in a scenario) and the state enum
/// that dispatches on the packet path without a virtual call.
macro_rules! registry {
    ($($(#[$doc:meta])* $module:ident :: $control:ident ( $params:ident ) = $name:literal),+ $(,)?) => {
        $(pub mod $module;)+

        /// A congestion control and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", deny_unknown_fields)]
        pub enum CongestionConfig {
            $($(#[$doc])* #[serde(rename = $name)] $control($module::$params),)+
        }

        /// A running congestion control.
        #[derive(Debug)]
        pub enum Congestion {
            $($(#[$doc])* $control($module::$control),)+
        }

        impl Congestion {
            /// Starts the control that `config` describes.
            pub fn new(config: &CongestionConfig) -> Self {
                match config {
                    $(CongestionConfig::$control(params) => {
                        Congestion::$control($module::$control::new(params))
                    })+
                }
            }
        }

        impl CongestionControl for Congestion {
            #[inline]
            fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
                match self {
                    $(Congestion::$control(control) => control.on_ack(cwnd_packets, event),)+
                }
            }

            fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
                match self {
                    $(Congestion::$control(control) => control.on_congestion(event),)+
                }
            }

            fn has_own_slow_start(&self) -> bool {
                match self {
                    $(Congestion::$control(control) => control.has_own_slow_start(),)+
                }
            }

            fn ends_slow_start(&mut self) -> bool {
                match self {
                    $(Congestion::$control(control) => control.ends_slow_start(),)+
                }
            }

            fn watches_every_ack(&self) -> bool {
                match self {
                    $(Congestion::$control(control) => control.watches_every_ack(),)+
                }
            }

            fn watch(&mut self, event: &AckEvent) {
                match self {
                    $(Congestion::$control(control) => control.watch(event),)+
                }
            }

            fn has_answered_marks(&self, now: Time) -> bool {
                match self {
                    $(Congestion::$control(control) => control.has_answered_marks(now),)+
                }
            }

            fn answers_loss_after_mark(&self) -> bool {
                match self {
                    $(Congestion::$control(control) => control.answers_loss_after_mark(),)+
                }
            }

            fn blocks(&self, srtt: Time) -> Option<u32> {
                match self {
                    $(Congestion::$control(control) => control.blocks(srtt),)+
                }
            }

            fn begin(&mut self, beginning: &Beginning) -> Option<Steering> {
                match self {
                    $(Congestion::$control(control) => control.begin(beginning),)+
                }
            }

            fn on_rate_sample(&mut self, event: &PathEvent) -> Steering {
                match self {
                    $(Congestion::$control(control) => control.on_rate_sample(event),)+
                }
            }

            fn on_lost(&mut self, packet: &LostPacket) {
                match self {
                    $(Congestion::$control(control) => control.on_lost(packet),)+
                }
            }

            fn on_restart(&mut self, now: Time, cwnd_packets: f64) -> Option<Steering> {
                match self {
                    $(Congestion::$control(control) => control.on_restart(now, cwnd_packets),)+
                }
            }
        }

        impl CongestionConfig {
            /// See [`Parameters::validate`].
            ///
            /// # Errors
            /// A sentence that names the parameter and its range.
            pub fn validate(&self) -> Result<(), String> {
                match self {
                    $(CongestionConfig::$control(params) => params.validate(),)+
                }
            }

            /// See [`Parameters::needs_marks`].
            pub fn needs_marks(&self) -> bool {
                match self {
                    $(CongestionConfig::$control(params) => params.needs_marks(),)+
                }
            }

            /// See [`Parameters::models_path`].
            pub fn models_path(&self) -> bool {
                match self {
                    $(CongestionConfig::$control(params) => params.models_path(),)+
                }
            }

            /// See [`Parameters::steady_state`].
            pub fn steady_state(&self) -> SteadyState {
                match self {
                    $(CongestionConfig::$control(params) => params.steady_state(),)+
                }
            }

            /// See [`Parameters::is_loss_based`].
            pub fn is_loss_based(&self) -> bool {
                match self {
                    $(CongestionConfig::$control(params) => params.is_loss_based(),)+
                }
            }

            /// The name that a scenario and the results use.
            pub fn name(&self) -> &str {
                match self {
                    $(CongestionConfig::$control(params) => params.control_name().unwrap_or($name),)+
                }
            }
        }
    };
}

registry! {
    /// Standard TCP: one packet a round trip, half the window (RFC 5681).
    reno::Reno(RenoParams) = "reno",
    /// CUBIC (RFC 9438).
    cubic::Cubic(CubicParams) = "cubic",
    /// DCTCP, for networks that mark at a low threshold (RFC 8257).
    dctcp::Dctcp(DctcpParams) = "dctcp",
    /// Prague (draft-briscoe-iccrg-prague-congestion-control-04): DCTCP for L4S.
    prague::Prague(PragueParams) = "prague",
    /// Additive increase and multiplicative decrease, both free; by default standard TCP.
    aimd::Aimd(AimdParams) = "aimd",
    /// A window that never changes.
    fixed_window::FixedWindow(FixedWindowParams) = "fixed_window",
    /// HighSpeed TCP (RFC 3649).
    highspeed::Highspeed(HighspeedParams) = "highspeed",
    /// FHSTCP: HighSpeed TCP made fair between round trip times (Su et al. 2005).
    fhstcp::Fhstcp(FhstcpParams) = "fhstcp",
    /// Scalable TCP (Kelly 2003): a share of the window for each round trip.
    scalable::Scalable(ScalableParams) = "scalable",
    /// BIC (Xu, Harfoush, Rhee 2004) as in Linux: a search for the window of the last loss.
    bic::Bic(BicParams) = "bic",
    /// H-TCP (Leith, Shorten 2004): growth by the time since the last congestion.
    htcp::Htcp(HtcpParams) = "htcp",
    /// Vegas (Brakmo, Peterson 1995): keeps a few packets queued, and no more.
    vegas::Vegas(VegasParams) = "vegas",
    /// FAST (Jin, Wei, Low 2004): keeps a given number of packets queued.
    fast::Fast(FastParams) = "fast",
    /// Illinois (Liu, Basar, Srikant 2006): delay sets how the window grows and falls.
    illinois::Illinois(IllinoisParams) = "illinois",
    /// Compound TCP (Tan et al. 2006): Reno and a window of its own that delay rules.
    compound::Compound(CompoundParams) = "compound",
    /// YeAH (Baiocchi et al. 2007): fast while the queue is short, Reno when it is not.
    yeah::Yeah(YeahParams) = "yeah",
    /// LEDBAT (RFC 6817): for the background; holds the queueing delay at a target.
    ledbat::Ledbat(LedbatParams) = "ledbat",
    /// Hybla (Caini, Firrincieli 2004): long round trips grow as a short one does.
    hybla::Hybla(HyblaParams) = "hybla",
    /// Westwood+ (Grieco, Mascolo 2004): falls to what the path was measured to carry.
    westwood::Westwood(WestwoodParams) = "westwood",
    /// BBR, version 1 (Cardwell et al. 2016; Linux 6.19): paces at the path's delivery rate.
    bbr1::Bbr1(Bbr1Params) = "bbr1",
    /// BBR, version 3 (draft-ietf-ccwg-bbr-06): as version 1, and reacts to losses above 2 %.
    bbr3::Bbr3(Bbr3Params) = "bbr3",
    /// Packet-pair flow control (Keshav 1995), for links with fair queueing.
    packet_pair::PacketPair(PacketPairParams) = "packet_pair",
    /// A control of your own, in Python or in Rust: see docs/guide/own-control.md.
    custom::Custom(CustomParams) = "custom",
}
