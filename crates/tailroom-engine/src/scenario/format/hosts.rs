//! Profiles of hosts: the keys that `host = "linux"`, `"data_center"` or `"ns2"` sets in a group of flows.
//!
//! A profile is an entry of [`PROFILES`]; checks, schema, `tailroom list host` and the reference
//! follow it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use toml::{Table, Value};

use crate::congestion::CongestionConfig;

/// A host that a group of flows may name.
pub(in crate::scenario) struct Profile {
    /// Name in a scenario.
    name: &'static str,
    doc: &'static str,
    /// The settings of another host, which apply where the profile's own do not.
    base: &'static [Setting],
    settings: &'static [Setting],
}

/// A key of a group of flows and the value that the profile sets.
struct Setting {
    key: &'static str,
    /// The value in TOML.
    value: &'static str,
    applies: Applies,
    /// Source of the value.
    source: &'static str,
}

/// The groups under congestion control to which a setting applies.
#[derive(Clone, Copy)]
enum Applies {
    /// All groups.
    Always,
    /// Under a window law: a rate-based control has its own rules for sending and recovery.
    Window,
    /// Like `Window`, if the keys that the scenario writes leave recovery to selective
    /// acknowledgements and to the usual count of packets in flight.
    Recovery,
    /// Like `Window`, if the keys that the scenario writes leave recovery to selective
    /// acknowledgements without PRR.
    PlainSack,
    /// All groups whose written keys leave recovery to selective acknowledgements.
    Sack,
    /// Like `Sack`, if the written keys also leave out what recovery by time does not do.
    TimedRecovery,
    /// All groups whose written keys leave recovery to time.
    Rack,
    /// All groups whose written keys leave packets their timestamps.
    Timestamps,
    /// All groups in which something may show that a recovery was unnecessary.
    Undo,
    /// Like `Undo`, if the written keys leave recovery to selective acknowledgements that a timeout
    /// does not discard.
    Frto,
    /// Groups under CUBIC.
    Cubic,
    /// Groups whose control times or counts single packets.
    SinglePackets,
    /// No group: the switch or fabric at whose hosts groups send.
    Interface,
}

impl Applies {
    fn words(self) -> &'static str {
        match self {
            Applies::Always => "every congestion control",
            Applies::Window => "controls that are not rate-based",
            Applies::Recovery => {
                "controls that are not rate-based; not with `recovery = \"newreno\"` or \
                 `count_lost_in_pipe = true` in the group"
            }
            Applies::PlainSack => {
                "controls that are not rate-based; not with `recovery = \"newreno\"` or `prr = true` \
                 in the group"
            }
            Applies::Sack => {
                "every congestion control; not with `recovery = \"newreno\"` in the group"
            }
            Applies::TimedRecovery => {
                "every congestion control; not with `count_lost_in_pipe = true` or \
                 `forget_sack_at_timeout = true` in the group"
            }
            Applies::Rack => "every congestion control; with `recovery = \"rack\"`",
            Applies::Timestamps => {
                "every congestion control; not with `rtt_samples = \"karn\"` in the group"
            }
            Applies::Undo => {
                "every congestion control; not with `rtt_samples = \"karn\"` in the group, unless \
                 it leaves `recovery` or `frto` to the host"
            }
            Applies::Frto => {
                "every congestion control; not with `recovery = \"newreno\"`, `undo = false` or \
                 `forget_sack_at_timeout = true` in the group"
            }
            Applies::Cubic => "`cubic`",
            Applies::SinglePackets => {
                "controls of single packets: `dcqcn`, `timely`, `swift`, `packet_pair`"
            }
            Applies::Interface => {
                "the switch or fabric from which groups with this host send, if it has no `nic_queue`"
            }
        }
    }

    /// Whether a setting applies to a group with this control and these written keys.
    fn to(self, control: Option<&CongestionConfig>, given: &Table) -> bool {
        let is = |test: fn(&CongestionConfig) -> bool| control.is_some_and(test);
        let is_window = !is(CongestionConfig::is_rate_based);
        let names = |key: &str, value: &str| given.get(key).and_then(Value::as_str) == Some(value);
        let is_newreno = names("recovery", "newreno");
        let has = |key: &str| given.get(key) == Some(&Value::Boolean(true));
        let is_timed = !has("count_lost_in_pipe") && !has("forget_sack_at_timeout");
        let is_rack = names("recovery", "rack") || !given.contains_key("recovery") && is_timed;
        match self {
            Applies::Always => true,
            Applies::Window => is_window,
            Applies::Recovery => is_window && !is_newreno && !has("count_lost_in_pipe"),
            Applies::PlainSack => is_window && !is_newreno && !has("prr"),
            Applies::Sack => !is_newreno,
            Applies::TimedRecovery => is_timed,
            Applies::Rack => is_rack,
            Applies::Timestamps => !names("rtt_samples", "karn"),
            Applies::Undo => {
                let has_timestamps = Applies::Timestamps.to(control, given);
                let has_frto = Applies::Frto.to(control, given)
                    && given.get("frto") != Some(&Value::Boolean(false));
                has_timestamps || is_rack || has_frto
            }
            Applies::Frto => {
                let has_undo = given.get("undo") != Some(&Value::Boolean(false));
                has_undo && !is_newreno && !has("forget_sack_at_timeout")
            }
            Applies::Cubic => is(|control| matches!(control, CongestionConfig::Cubic(_))),
            Applies::SinglePackets => is(|control| control.parameters().needs_single_packets()),
            Applies::Interface => false,
        }
    }
}

const fn setting(
    key: &'static str,
    value: &'static str,
    applies: Applies,
    source: &'static str,
) -> Setting {
    Setting { key, value, applies, source }
}

/// The host of a group under congestion control that names none, here and in `[defaults]`.
pub(in crate::scenario) const DEFAULT: &str = "linux";

/// A Linux host.
const LINUX: &[Setting] = &[
    setting(
        "recovery",
        "\"rack\"",
        Applies::TimedRecovery,
        "sysctls net.ipv4.tcp_sack = 1, tcp_recovery = 1, tcp_early_retrans = 3 \
         (Documentation/networking/ip-sysctl.rst); net/ipv4/tcp_recovery.c; RFC 8985",
    ),
    setting(
        "prr",
        "true",
        Applies::Recovery,
        "tcp_cwnd_reduction() in net/ipv4/tcp_input.c, since Linux 3.2, after marks (tcp_enter_cwr()) \
         since 3.7; RFC 9937",
    ),
    setting(
        "count_lost_in_pipe",
        "false",
        Applies::Window,
        "tcp_packets_in_flight() in include/net/tcp.h leaves lost packets out; RFC 6675 \
         sec. 4",
    ),
    setting(
        "header_size",
        "\"52 B\"",
        Applies::Timestamps,
        "IPv4, TCP and its timestamps: TCPOLEN_TSTAMP_ALIGNED = 12 B in include/net/tcp.h; ACKs have \
         the same headers",
    ),
    setting(
        "handshake",
        "true",
        Applies::Always,
        "tcp_v4_connect() in net/ipv4/tcp_ipv4.c; tcp_ack_update_rtt() in \
         net/ipv4/tcp_input.c takes the RTT of the SYN; RFC 9293 sec. 3.5",
    ),
    setting(
        "delayed_ack",
        "true",
        Applies::Always,
        "__tcp_ack_snd_check() in net/ipv4/tcp_input.c: an ACK at the second full packet; \
         TCP_DELACK_MIN = 40 ms in include/net/tcp.h; RFC 5681 sec. 4.2",
    ),
    setting(
        "quick_acks",
        "16",
        Applies::Always,
        "TCP_MAX_QUICKACKS in include/net/tcp.h; tcp_event_data_recv(), tcp_send_dupack() in \
         net/ipv4/tcp_input.c",
    ),
    setting(
        "sack_compression",
        "true",
        Applies::Sack,
        "__tcp_ack_snd_check() in net/ipv4/tcp_input.c; sysctls \
         net.ipv4.tcp_comp_sack_delay_ns = 1 ms, tcp_comp_sack_nr = 44 \
         (Documentation/networking/ip-sysctl.rst)",
    ),
    setting(
        "initial_window",
        "10",
        Applies::Always,
        "TCP_INIT_CWND in include/net/tcp.h; RFC 6928",
    ),
    setting(
        "min_rto",
        "\"200 ms\"",
        Applies::Always,
        "TCP_RTO_MIN in include/net/tcp.h, below the 1 s of RFC 6298",
    ),
    setting(
        "restart_rto_at_retransmission",
        "true",
        Applies::Always,
        "tcp_xmit_retransmit_queue() in net/ipv4/tcp_output.c",
    ),
    setting(
        "rtt_samples",
        "\"timestamps\"",
        Applies::Always,
        "sysctl net.ipv4.tcp_timestamps = 1 (Documentation/networking/ip-sysctl.rst); RFC \
         7323",
    ),
    setting(
        "timestamp_tick",
        "\"1 ms\"",
        Applies::Always,
        "TCP_TS_HZ in include/net/tcp.h; tcp_ack_update_rtt() in net/ipv4/tcp_input.c",
    ),
    setting(
        "rack_timer_margin",
        "\"2 ms\"",
        Applies::Rack,
        "TCP_TIMEOUT_MIN_US in include/net/tcp.h; tcp_schedule_loss_probe() in \
         net/ipv4/tcp_output.c, tcp_rack_reo_timeout() in net/ipv4/tcp_recovery.c",
    ),
    setting(
        "slow_start",
        "{ kind = \"hystart\" }",
        Applies::Cubic,
        "hystart_update() in net/ipv4/tcp_cubic.c, parameters hystart = 1, hystart_detect = 3 (delays \
         and ACK trains); no other control of Linux has it",
    ),
    setting(
        "slow_start_after_idle",
        "true",
        Applies::Always,
        "sysctl net.ipv4.tcp_slow_start_after_idle = 1 \
         (Documentation/networking/ip-sysctl.rst); RFC 5681 sec. 4.1",
    ),
    setting(
        "window_validation",
        "true",
        Applies::Window,
        "tcp_cwnd_validate(), tcp_cwnd_restart() in net/ipv4/tcp_output.c, tcp_init_cwnd_reduction() in \
         net/ipv4/tcp_input.c; RFC 2861",
    ),
    setting(
        "send_burst",
        "\"auto\"",
        Applies::Always,
        "tcp_tso_autosize(), tcp_tso_should_defer() in net/ipv4/tcp_output.c; sysctls net.ipv4.tcp_min_tso_segs = 2, \
         tcp_tso_win_divisor = 3, tcp_tso_rtt_log = 9",
    ),
    setting(
        "forget_sack_at_timeout",
        "false",
        Applies::Window,
        "tcp_timeout_mark_lost() in net/ipv4/tcp_input.c; RFC 6675 sec. 5.1",
    ),
    setting(
        "undo",
        "true",
        Applies::Undo,
        "tcp_try_undo_recovery(), tcp_try_undo_loss(), tcp_try_undo_dsack() and \
         tcp_undo_cwnd_reduction() in net/ipv4/tcp_input.c; RFC 3522, RFC 3708",
    ),
    setting(
        "frto",
        "true",
        Applies::Frto,
        "sysctl net.ipv4.tcp_frto = 2 (Documentation/networking/ip-sysctl.rst); \
         tcp_process_loss() in net/ipv4/tcp_input.c; RFC 5682",
    ),
    setting(
        INTERFACE,
        "{ kind = \"fair\", limit = \"10000 packets\" }",
        Applies::Interface,
        "tcp_small_queue_check() in net/ipv4/tcp_output.c: a flow keeps a few packets below its \
         socket, and the next ones wait until those have left, so that flows take turns. NICs serve \
         the queue pairs of RDMA in turn",
    ),
];

/// All profiles. The files are those of Linux 6.12 and of ns-2.35.
const PROFILES: &[Profile] = &[
    Profile {
        name: "plain",
        doc: "No profile: only the keys that the scenario writes, and the defaults of these keys. \
              For comparisons with formulas, tables and simulators of a TCP without the additions \
              of today's hosts: an ACK per packet, RFC 6675 without PRR, one packet at a time.",
        base: &[],
        settings: &[],
    },
    Profile {
        name: "linux",
        doc: "The host of a group that names none: a Linux host of today, apart from its congestion \
              control (`cubic` and others have a `variant = \"linux\"`), as Linux is set up without \
              any sysctl changed. Pacing is not part of it: a Linux host paces where the control \
              asks for it (as BBR does) or behind the queue discipline fq; write `pacing = true` \
              for the latter.",
        base: &[],
        settings: LINUX,
    },
    Profile {
        name: "data_center",
        doc: "A Linux host as it is set up in data centres, for round trips well below a millisecond: \
              its connections are open, and its timers are short. Packets have the size that the \
              scenario gives them (1500 B, or 9000 B with jumbo frames), and ECN is on if `ecn` \
              says so. Controls that NICs run get an ACK per packet and send packets one by one.",
        base: LINUX,
        settings: &[
            setting(
                "handshake",
                "\"done\"",
                Applies::Always,
                "the servers of a query keep their connections open (Alizadeh et al. 2010, \"Data center \
                 TCP\"); the timeout of the first data follows from their RTT",
            ),
            setting(
                "min_rto",
                "\"5 ms\"",
                Applies::Always,
                "`ip route change ... rto_min 5ms` (Google Cloud, \"TCP optimization for network \
                 performance\"); since Linux 6.11 also net.ipv4.tcp_rto_min_us",
            ),
            setting(
                "delayed_ack",
                "false",
                Applies::SinglePackets,
                "Swift does not delay ACKs (Kumar et al. 2020), nor do the NICs of DCQCN and TIMELY",
            ),
            setting(
                "delayed_ack",
                "{ packets = 2, timeout = \"4 ms\" }",
                Applies::Always,
                "tcp_delack_max() in net/ipv4/tcp_output.c: a millisecond below rto_min",
            ),
            setting(
                "send_burst",
                "1",
                Applies::SinglePackets,
                "per-packet rate limiters of the NIC (Zhu et al. 2015 sec. 3.1)",
            ),
            setting(
                "timestamp_tick",
                "\"1 us\"",
                Applies::Always,
                "`ip route change ... features tcp_usec_ts`, since Linux 6.7",
            ),
        ],
    },
    Profile {
        name: "ns2",
        doc: "An agent of ns-2 (2.35) as it is without any setting: `Agent/TCP/Sack1`, which \
              `recovery = \"newreno\"` makes `Agent/TCP/Newreno`, and `Agent/TCPSink`. Write \
              `max_window` for ns-2's `window_`, and for its queue limits one packet less: they \
              count the packet being sent.",
        base: &[],
        settings: &[
            setting(
                "recovery",
                "\"sack\"",
                Applies::Window,
                "Agent/TCP/Sack1 (tcp-sack1.cc); RFC 2018",
            ),
            setting(
                "count_lost_in_pipe",
                "true",
                Applies::PlainSack,
                "Sack1TcpAgent (tcp-sack1.cc) estimates the pipe by counting, and subtracts no lost \
                 packet",
            ),
            setting(
                "forget_sack_at_timeout",
                "true",
                Applies::PlainSack,
                "Sack1TcpAgent::timeout() in tcp-sack1.cc clears the scoreboard; RFC 2018 sec. 8",
            ),
            setting(
                "delayed_ack",
                "false",
                Applies::Always,
                "Agent/TCPSink (tcp-sink.cc) acknowledges every packet; Agent/TCPSink/DelAck does not",
            ),
            setting("initial_window", "2", Applies::Always, "windowInit_ 2 in ns-default.tcl"),
            setting("min_rto", "\"200 ms\"", Applies::Always, "minrto_ 0.2 in ns-default.tcl"),
            setting(
                "rto_granularity",
                "\"10 ms\"",
                Applies::Always,
                "tcpTick_ 0.01 in ns-default.tcl",
            ),
            setting(
                "send_jitter",
                "\"none\"",
                Applies::Always,
                "overhead_ 0 in ns-default.tcl; without it flows lock into phases \
                 (docs/guide/phase-effects.md)",
            ),
        ],
    },
];

/// The values of all settings by their text: a scenario may have thousands of groups, and asks for the
/// settings of each.
static VALUES: LazyLock<BTreeMap<&str, Value>> = LazyLock::new(|| {
    let settings = PROFILES.iter().flat_map(Profile::all);
    let read =
        |text: &str| toml::from_str::<Table>(&format!("value = {text}")).ok()?.remove("value");
    settings.filter_map(|setting| Some((setting.value, read(setting.value)?))).collect()
});

/// The key of a switch or fabric for the interfaces of its hosts.
pub(in crate::scenario) const INTERFACE: &str = "nic_queue";

/// The profile with this name.
pub(in crate::scenario) fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

impl Profile {
    /// Its own settings, and those of its base that they do not always replace.
    fn all(&self) -> impl Iterator<Item = &'static Setting> {
        let (base, own) = (self.base, self.settings);
        let replaces =
            |own: &Setting, key| own.key == key && matches!(own.applies, Applies::Always);
        let is_kept = move |setting: &&Setting| !own.iter().any(|own| replaces(own, setting.key));
        own.iter().chain(base.iter().filter(is_kept))
    }

    /// The keys and values that the profile sets in a group under congestion control; the first
    /// value of a key counts. `control` is
    /// the control of the group if the registry has it; `given` are the keys that the scenario
    /// writes, in the group or in `[defaults]`.
    pub(in crate::scenario) fn settings(
        &self,
        control: Option<&CongestionConfig>,
        given: &Table,
    ) -> Vec<(&'static str, Value)> {
        let applying = self.all().filter(|setting| setting.applies.to(control, given));
        applying.filter_map(|setting| Some((setting.key, setting.value()?))).collect()
    }

    /// The queue of the interface of such a host at a switch or fabric, if it is not the default of
    /// the key.
    pub(in crate::scenario) fn interface(&self) -> Option<Value> {
        self.all().find(|setting| setting.key == INTERFACE)?.value()
    }
}

impl Setting {
    fn value(&self) -> Option<Value> {
        VALUES.get(self.value).cloned()
    }
}

/// All profiles in the form of [`crate::scenario::format::components`].
pub(in crate::scenario) fn components() -> Json {
    let settings = |profile: &Profile| -> Vec<Json> {
        let listed = |setting: &Setting| {
            json!({
                "name": setting.key,
                "value": setting.value,
                "applies_to": setting.applies.words(),
                "doc": setting.source,
            })
        };
        profile.all().map(listed).collect()
    };
    let profiles = PROFILES.iter().map(|profile| {
        json!({
            "kind": profile.name,
            "doc": profile.doc,
            "parameters": [],
            "sets": settings(profile),
        })
    });
    profiles.collect()
}

/// The name of a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::scenario) struct HostConfig(pub(in crate::scenario) String);

impl JsonSchema for HostConfig {
    fn schema_name() -> Cow<'static, str> {
        "HostConfig".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let names: Vec<Json> = PROFILES
            .iter()
            .map(|profile| {
                json!({ "const": profile.name, "type": "string", "description": profile.doc })
            })
            .collect();
        json_schema!({
            "description": "The profile of a host. `tailroom list host` shows what each sets.",
            "oneOf": names,
        })
    }
}
