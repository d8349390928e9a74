//! Contracts: what every congestion control guarantees to the sender, and what sender and receiver
//! guarantee under any sequence of packets and ACKs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use tailroom_engine::congestion::rate_based::{
    BeginEvent, ControlOutput, LostPacketEvent, RateBasedControl, RateSample, RateSampleEvent,
    Repair, RestartEvent,
};
use tailroom_engine::congestion::{
    AckEvent, AnyRateBasedControl, AnyWindowLaw, Congestion, CongestionConfig, CongestionEvent,
    CongestionKind, WindowLaw,
};
use tailroom_engine::packet::{Ack, Packet, Range};
use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::{DelayedAck, Receiver};
use tailroom_engine::tcp::sender::{PacketSink, SendQueue, Sender};
use tailroom_engine::units::{Rate, Time};

use crate::support::path::{no_checkpoints, send_queue};
use crate::support::random_cases::config;
use crate::support::{control_schema, controls, random_transports, transport};

/// Whether a line begins the declaration of the parameters of a control.
fn has_parameters(line: &str) -> bool {
    line.starts_with("impl ") && line.contains("Parameters for ")
}

/// The source files under `folder` that implement a control, by the names of their modules.
fn modules_with_a_control(folder: &Path, modules: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("the sources are readable").path();
        if path.is_dir() {
            modules_with_a_control(&path, modules);
        } else if fs::read_to_string(&path).expect("a text").lines().any(has_parameters) {
            let is_folder = path.file_stem().is_some_and(|stem| stem == "mod");
            let module = if is_folder { path.parent() } else { Some(path.as_path()) };
            let name = module.and_then(Path::file_stem).expect("a file has a name");
            modules.insert(name.to_string_lossy().into_owned());
        }
    }
}

/// The compiler does not see a source file without a line in the registry.
#[test]
fn the_registry_has_every_control_under_the_name_of_its_file() {
    let mut modules = BTreeSet::new();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/congestion");
    modules_with_a_control(&sources, &mut modules);
    modules.remove("custom");
    let registry: BTreeSet<String> = controls::all().into_iter().map(|(name, _)| name).collect();
    assert_eq!(registry, modules);
    for (name, config) in controls::all() {
        assert_eq!(config.name(), name);
    }
}

/// Infinity, NaN, and the values just outside the range in the schema of a parameter.
fn values_out_of_range(schema: &Value) -> Vec<f64> {
    let bound = |key: &str| schema[key].as_f64();
    let beyond = [
        bound("exclusiveMinimum"),
        bound("minimum").map(f64::next_down),
        bound("exclusiveMaximum"),
        bound("maximum").map(f64::next_up),
    ];
    let never = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    never.into_iter().chain(beyond.into_iter().flatten()).collect()
}

/// A scenario refuses such values when it is read; a control created in Rust has only this check.
#[test]
fn every_control_refuses_parameters_out_of_range_at_their_keys() {
    let (mut parameters, mut wrong_answers) = (0, Vec::new());
    for (name, config) in controls::all() {
        let valid = toml::Table::try_from(&config).expect("a configuration is a table");
        for (key, schema) in control_schema::numbers(&name) {
            parameters += 1;
            for value in values_out_of_range(&schema) {
                let mut table = valid.clone();
                table.insert(key.clone(), value.into());
                let wrong: CongestionConfig = table.try_into().expect("only a number differs");
                let answer = wrong.parameters().check();
                if answer.as_ref().err().is_none_or(|refusal| refusal.key != key) {
                    wrong_answers.push(format!("{name}: {key} = {value}: {answer:?}"));
                }
            }
        }
    }
    assert!(wrong_answers.is_empty(), "{wrong_answers:#?}");
    assert!(parameters >= 30, "{parameters}");
}

/// Every window law of the registry, by its name.
fn window_laws() -> impl Iterator<Item = (String, CongestionConfig)> {
    controls::all().into_iter().filter(|(_, config)| !config.is_rate_based())
}

fn window_law(config: &CongestionConfig) -> AnyWindowLaw {
    match Congestion::new(config) {
        Congestion::WindowLaw(law) => law,
        Congestion::RateBased(control) => panic!("{control:?} is not a window law"),
    }
}

/// An event that a window law sees.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Ack {
        acked_packets: u64,
        rtt_ms: u64,
        has_sample: bool,
        marked_packets: u64,
        is_slow_start: bool,
    },
    Loss {
        is_slow_start: bool,
    },
    Timeout,
    /// The sender sets the window itself, after slow start or to `max_window`.
    Set {
        cwnd_packets: f64,
    },
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (1_u64..300, 1_u64..2_000, any::<bool>(), 0_u64..300, prop::bool::weighted(0.2))
            .prop_map(|(acked_packets, rtt_ms, has_sample, marked_packets, is_slow_start)| {
                let marked_packets = marked_packets.min(acked_packets);
                Operation::Ack { acked_packets, rtt_ms, has_sample, marked_packets, is_slow_start }
            }),
        1 => any::<bool>().prop_map(|is_slow_start| Operation::Loss { is_slow_start }),
        1 => Just(Operation::Timeout),
        1 => (0.0_f64..7.0)
            .prop_map(|exponent| Operation::Set { cwnd_packets: libm::pow(10.0, exponent) }),
    ]
}

/// An ACK of one packet, before any RTT sample.
fn first_ack() -> AckEvent {
    AckEvent {
        now: Time::ZERO,
        acked_packets: 1,
        rtt: None,
        srtt: Time::ZERO,
        min_rtt: Time::NEVER,
        delivered_packets: 0,
        marked_packets: 0,
        next: 10,
        is_slow_start: false,
    }
}

/// Appropriate byte counting (RFC 3465 sec. 2.1): in congestion avoidance, an ACK of two packets
/// adds twice as much as an ACK of one. A fixed window does not grow, and Vegas and FAST change
/// the window once per round trip.
#[test]
fn an_ack_of_two_packets_adds_twice_as_much_as_an_ack_of_one() {
    let rtt = Time::from_milliseconds(100);
    let mut wrong = Vec::new();
    for (name, config) in window_laws() {
        if ["fixed_window", "vegas", "fast"].contains(&&*name) {
            continue;
        }
        // Reno's region of the scalable controls, and beyond it.
        for cwnd in [10.0, 1_000.0] {
            let growth = |acked_packets: u64| {
                let event = AckEvent {
                    acked_packets,
                    rtt: Some(rtt),
                    srtt: rtt,
                    min_rtt: rtt,
                    delivered_packets: acked_packets,
                    next: acked_packets + cwnd as u64,
                    ..first_ack()
                };
                window_law(&config).on_ack(cwnd, &event) - cwnd
            };
            let (one, two) = (growth(1), growth(2));
            if one <= 0.0 || (two / one - 2.0).abs() > 1e-6 {
                wrong.push(format!("{name}, {cwnd} packets: {one} and {two}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The window after each operation. As in the sender, a loss leaves at least 2 packets.
fn windows(config: &CongestionConfig, operations: &[Operation]) -> Vec<f64> {
    let mut control = window_law(config);
    let (mut cwnd, mut now) = (10.0, Time::ZERO);
    let mut event = first_ack();
    let congest = |control: &mut AnyWindowLaw, now, cwnd: f64, kind, is_slow_start| {
        let event = CongestionEvent { now, kind, cwnd_packets: cwnd, is_slow_start };
        let target = control.on_congestion(&event);
        assert!(target <= cwnd, "the window grew to {target} after {event:?}");
        target.max(2.0)
    };
    let apply = |operation: &Operation| {
        now += Time::from_milliseconds(1);
        cwnd = match *operation {
            Operation::Ack { acked_packets, rtt_ms, has_sample, marked_packets, is_slow_start } => {
                let rtt = Time::from_milliseconds(rtt_ms);
                (event.now, event.acked_packets, event.srtt) = (now, acked_packets, rtt);
                event.rtt = has_sample.then_some(rtt);
                event.min_rtt = event.rtt.map_or(event.min_rtt, |rtt| event.min_rtt.min(rtt));
                event.delivered_packets += acked_packets;
                event.marked_packets += marked_packets;
                event.next = event.delivered_packets + cwnd as u64;
                event.is_slow_start = is_slow_start && control.has_own_slow_start();
                if control.sees_every_ack() {
                    control.on_every_ack(&event);
                }
                control.on_ack(cwnd, &event)
            }
            Operation::Loss { is_slow_start } => {
                congest(&mut control, now, cwnd, CongestionKind::Loss, is_slow_start)
            }
            Operation::Timeout => {
                congest(&mut control, now, cwnd, CongestionKind::Timeout, false);
                1.0
            }
            Operation::Set { cwnd_packets } => cwnd_packets,
        };
        cwnd
    };
    operations.iter().map(apply).collect()
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn every_window_is_finite_at_least_one_packet_and_deterministic(
        operations in prop::collection::vec(operation(), 1..300),
    ) {
        for (name, config) in window_laws() {
            let first = windows(&config, &operations);
            for (window, operation) in first.iter().zip(&operations) {
                prop_assert!(
                    window.is_finite() && *window >= 1.0,
                    "{name}: {window} after {operation:?}"
                );
            }
            let second = windows(&config, &operations);
            prop_assert!(first == second, "{name} is not deterministic");
        }
    }

    /// An ACK of new data never shrinks the window of a control, and adds at most one window per
    /// acknowledged packet. A fixed window is excepted: it jumps to its size.
    #[test]
    fn an_ack_never_shrinks_the_window_and_adds_at_most_one_window_per_packet(
        cwnd in 1.0_f64..1e6,
        acked_packets in 1_u64..10,
    ) {
        for (name, config) in window_laws() {
            if name == "fixed_window" {
                continue;
            }
            let event = AckEvent { acked_packets, delivered_packets: acked_packets, ..first_ack() };
            let after = window_law(&config).on_ack(cwnd, &event);
            let most = cwnd * (1.0 + acked_packets as f64);
            prop_assert!(cwnd <= after && after <= most, "{name}: from {cwnd} to {after}");
        }
    }
}

/// An event that a rate-based control sees.
#[derive(Clone, Copy, Debug)]
enum PathStep {
    Ack { after_ms: u64, event: RateSampleEvent },
    Lost(LostPacketEvent),
    Congestion(CongestionKind),
    Restart,
}

fn rate_sample() -> impl Strategy<Value = Option<RateSample>> {
    let rate = prop::option::weighted(0.9, (-1.0_f64..7.0).prop_map(|e| libm::pow(10.0, e)));
    let sample = (1_u64..1_000, 0_u64..1_000, rate, 0_u64..1_000, 0_u64..50, any::<bool>());
    prop::option::weighted(0.9, sample).prop_map(|sample| {
        sample.map(|(delivered, sent_before, delivery_rate, tx_in_flight, lost, limited)| {
            // Here `prior_delivered` counts backwards from the ACK.
            RateSample {
                delivered,
                prior_delivered: sent_before,
                delivery_rate,
                tx_in_flight,
                lost,
                is_app_limited: limited,
            }
        })
    })
}

fn path_step() -> impl Strategy<Value = PathStep> {
    let counts = (0_u64..1_000, 0_u64..1_000, 0_u64..100, 0_u64..100);
    let rtt = prop::option::weighted(0.8, (0_u64..2_000).prop_map(Time::from_milliseconds));
    let repair = prop::sample::select(vec![Repair::None, Repair::FastRecovery, Repair::Timeout]);
    let ack = (0_u64..3_000, counts, rtt, rate_sample(), any::<bool>(), repair).prop_map(
        |(
            after_ms,
            (prior_in_flight, in_flight, newly_delivered, newly_lost),
            rtt,
            rate,
            limited,
            repair,
        )| {
            let event = RateSampleEvent {
                now: Time::ZERO,
                cwnd_packets: 1.0,
                srtt: rtt.unwrap_or_default(),
                prior_in_flight,
                in_flight,
                newly_delivered,
                newly_lost,
                delivered: 0,
                marked: in_flight % 3,
                rtt,
                rate,
                is_cwnd_limited: limited,
                repair,
                next_departure: Time::from_milliseconds(prior_in_flight),
            };
            PathStep::Ack { after_ms, event }
        },
    );
    let lost = (0_u64..1_000, 1_u64..1_000, 1_u64..100, any::<bool>()).prop_map(
        |(sequence, tx_in_flight, lost, is_app_limited)| {
            let (now, delivered, cwnd_packets) = (Time::ZERO, 0, 1.0);
            PathStep::Lost(LostPacketEvent {
                now,
                sequence,
                tx_in_flight,
                lost,
                is_app_limited,
                delivered,
                cwnd_packets,
            })
        },
    );
    let kinds = vec![CongestionKind::Loss, CongestionKind::Timeout, CongestionKind::Mark];
    prop_oneof![
        20 => ack,
        3 => lost,
        1 => prop::sample::select(kinds).prop_map(PathStep::Congestion),
        1 => Just(PathStep::Restart),
    ]
}

/// Every rate-based control of the registry, by its name.
fn rate_based_controls() -> impl Iterator<Item = (String, CongestionConfig)> {
    controls::all().into_iter().filter(|(_, config)| config.is_rate_based())
}

fn rate_based_control(config: &CongestionConfig) -> AnyRateBasedControl {
    match Congestion::new(config) {
        Congestion::RateBased(control) => control,
        Congestion::WindowLaw(law) => panic!("{law:?} is not a rate-based control"),
    }
}

/// The outputs of a rate-based control: one at the start and one per step.
fn outputs(config: &CongestionConfig, steps: &[PathStep]) -> Vec<ControlOutput> {
    let mut control = rate_based_control(config);
    let event = BeginEvent {
        srtt: Time::ZERO,
        now: Time::ZERO,
        seed: 7,
        cwnd_packets: 10.0,
        packet_bytes: 1_000,
        line_rate: 1e6,
        hops: 1,
        has_sack: true,
    };
    let first = control.begin(&event);
    let (mut all, mut now, mut delivered, mut marked) = (vec![first], Time::ZERO, 0, 0);
    for step in steps {
        let cwnd_packets = all.last().map_or(1.0, |last| last.cwnd_packets);
        match *step {
            PathStep::Ack { after_ms, event } => {
                now += Time::from_milliseconds(after_ms);
                delivered += event.newly_delivered;
                let rate = event.rate.map(|rate| RateSample {
                    prior_delivered: delivered.saturating_sub(rate.prior_delivered),
                    ..rate
                });
                marked += event.marked;
                let event = RateSampleEvent { now, delivered, marked, cwnd_packets, rate, ..event };
                all.push(control.on_rate_sample(&event));
            }
            PathStep::Lost(lost) => {
                control.on_lost(&LostPacketEvent { now, delivered, cwnd_packets, ..lost });
            }
            PathStep::Congestion(kind) => {
                let is_slow_start = true;
                control.on_congestion(&CongestionEvent { now, kind, cwnd_packets, is_slow_start });
            }
            PathStep::Restart => {
                all.extend(control.on_restart(&RestartEvent { now, cwnd_packets }));
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn every_rate_based_control_has_valid_outputs_on_any_path(
        steps in prop::collection::vec(path_step(), 1..300),
    ) {
        for (name, config) in rate_based_controls() {
            let first = outputs(&config, &steps);
            for output in &first {
                let ControlOutput { cwnd_packets, pacing_rate, send_quantum, .. } = *output;
                prop_assert!(cwnd_packets.is_finite() && cwnd_packets >= 1.0, "{name}: {output:?}");
                prop_assert!(pacing_rate.is_finite() && pacing_rate > 0.0, "{name}: {output:?}");
                prop_assert!(send_quantum >= 1, "{name}: {output:?}");
            }
            prop_assert!(first == outputs(&config, &steps), "{name} is not deterministic");
        }
    }
}

/// Counts the packets that a sender sends.
#[derive(Default)]
struct Counter {
    sent: u64,
    highest: u64,
}

impl PacketSink for Counter {
    fn send(&mut self, packet: Packet) {
        self.sent += 1;
        self.highest = self.highest.max(packet.sequence + 1);
    }
}

/// An event at a sender: its timer, or an ACK given relative to the data sent so far.
#[derive(Clone, Debug)]
struct Step {
    after: Time,
    is_timer: bool,
    /// Advance of the cumulative ACK; negative for an old ACK.
    advance: i64,
    blocks: Vec<(u64, u64)>,
}

fn step() -> impl Strategy<Value = Step> {
    let block = (0_u64..40, 1_u64..20);
    let after = (0_u64..300).prop_map(Time::from_milliseconds);
    (after, prop::bool::weighted(0.1), -3_i64..6, prop::collection::vec(block, 0..=3))
        .prop_map(|(after, is_timer, advance, blocks)| Step { after, is_timer, advance, blocks })
}

fn tcp() -> impl Strategy<Value = TcpSpec> {
    let recovery = random_transports::repair();
    let slow_start = random_transports::slow_start(10);
    let control = prop::sample::select(controls::all());
    (recovery, slow_start, control, any::<bool>(), any::<bool>(), 1_u32..30).prop_map(
        |(repair, slow_start, (_, congestion), pacing, forgets, initial_window)| {
            with!(
                transport::reno(),
                TcpSpec {
                    recovery: repair.0,
                    prr: repair.1,
                    count_lost_in_pipe: repair.2,
                    slow_start,
                    congestion,
                    pacing,
                    initial_window,
                    forget_sack_at_timeout: forgets
                }
            )
        },
    )
}

proptest! {
    #![proptest_config(config(2_000))]

    /// ACKs may be old, acknowledge data that was never sacked, or sack data that was acknowledged.
    /// The sender keeps a valid window and sends no data beyond what its application has.
    #[test]
    fn a_sender_keeps_a_valid_window_under_any_acks(
        tcp in tcp(),
        steps in prop::collection::vec(step(), 1..200),
        packets in prop_oneof![Just(u64::MAX), 1_u64..200],
    ) {
        let send_queue = SendQueue {
            last_packet_bytes: 500,
            line_rate: Rate::from_bits_per_second(10_000_000),
            ..send_queue(packets, 1_000, 40)
        };
        let mut sender = Sender::new(&tcp, send_queue, 1, no_checkpoints(10));
        let mut out = Counter::default();
        let mut now = Time::ZERO;
        for step in steps {
            if step.is_timer && sender.deadline() != Time::NEVER {
                now = now.max(sender.deadline());
            } else {
                now += step.after;
            }
            while sender.deadline() <= now {
                let deadline = sender.deadline();
                sender.on_deadline(deadline, &mut out);
                prop_assert!(sender.deadline() > deadline, "a timer must move its deadline");
            }
            let una = sender.delivered();
            let cumulative = una.saturating_add_signed(step.advance).min(out.highest);
            let blocks: Vec<Range> = step
                .blocks
                .iter()
                .map(|&(start, length)| Range { start: una + start, end: una + start + length })
                .collect();
            let ack = Ack {
                duplicate: None,
                cumulative,
                echo: Time::ZERO,
                echoes_retransmission: false,
                ece: false,
                marked_packets: 0,
                blocks: &blocks,
            };
            sender.on_ack(now, ack, &mut out);
            prop_assert!(sender.delivered() == una.max(cumulative));
            prop_assert!(sender.cwnd_packets().is_finite() && sender.cwnd_packets() >= 1.0);
            prop_assert!(sender.ssthresh_packets() >= 2.0);
            prop_assert!(sender.pacing_rate().is_none_or(|rate| rate.is_finite() && rate > 0.0));
            prop_assert!(out.highest <= packets && out.sent == sender.probe.counters.sent);
        }
    }

    /// Under any arrivals the receiver acknowledges exactly the data that it has: the cumulative
    /// ACK ends at the first gap, and the blocks are disjoint, lie above it and contain received
    /// packets only.
    #[test]
    fn a_receiver_acknowledges_exactly_the_packets_that_it_has(
        sequences in prop::collection::vec(0_u64..60, 1..200),
        delayed in prop::option::of(2_u32..4),
    ) {
        let timeout = PositiveDuration::from_milliseconds(40);
        let delayed =
            delayed.map_or(DelayedAck::OFF, |packets| DelayedAck::Set { packets, timeout });
        let mut receiver = Receiver::new(delayed, false, u64::MAX);
        let mut has = [false; 61];
        let mut unanswered = 0;
        for (index, sequence) in sequences.into_iter().enumerate() {
            let now = Time::from_picoseconds(index as u64);
            has[sequence as usize] = true;
            let packet = Packet { sequence, bytes: 1_000, sent: now, ..Packet::default() };
            let first_gap = has.iter().position(|has| !has).expect("60 is never sent") as u64;
            let Some(ack) = receiver.on_packet(now, packet) else {
                unanswered += 1;
                prop_assert!(delayed.rule().is_some_and(|(packets, _)| unanswered < packets));
                prop_assert!(receiver.deadline() > now && receiver.deadline() != Time::NEVER);
                continue;
            };
            unanswered = 0;
            prop_assert_eq!(ack.cumulative, first_gap);
            for (index, block) in ack.blocks.iter().enumerate() {
                prop_assert!(ack.cumulative < block.start && block.start < block.end);
                prop_assert!((block.start..block.end).all(|packet| has[packet as usize]));
                // A block is as long as possible (RFC 2018 sec. 4).
                prop_assert!(!has[block.end as usize] && !has[block.start as usize - 1]);
                let others = &ack.blocks[index + 1..];
                prop_assert!(others.iter().all(|other| other != block));
            }
            if sequence > first_gap {
                prop_assert!(ack.blocks[0].start <= sequence && sequence < ack.blocks[0].end);
            }
        }
        let first_gap = has.iter().position(|has| !has).expect("60 is never sent") as u64;
        prop_assert_eq!(receiver.next(), first_gap);
    }
}
