//! The test cases of the appendix "BBR Example Test Cases" of the draft, in its order and under its
//! titles; then cases that the appendix omits. Cases with a changing path use a sender in a closed
//! loop. Cases with an application that pauses use scripted ACKs, since a bulk source never pauses.
//!
use super::{AckPhase, Bbr3, Bbr3Params, Model, State};
use crate::congestion::closed_loop::{ClosedLoop, Policer};
use crate::congestion::rate_based::{
    BeginEvent, LostPacketEvent, RateBasedControl, Repair, RestartEvent, UndoEvent,
};
use crate::congestion::script::{Path, assert_close, ms};
use crate::congestion::{
    AnyRateBasedControl, CongestionConfig, CongestionEvent, CongestionKind, script,
};
use crate::units::Time;

/// 100 Mbit/s in packets of 1500 B.
const RATE: f64 = 8_333.0;
const ENDLESS: usize = 1_000_000;

fn closed_loop(rate: f64, rtt: Time, buffer: usize) -> ClosedLoop {
    ClosedLoop::new(CongestionConfig::Bbr3(Bbr3Params::default()), rate, rtt, buffer)
}

fn model(path: &ClosedLoop) -> &Model {
    match path.control() {
        AnyRateBasedControl::Bbr3(control) => &control.model,
        other => panic!("{other:?} is not BBR"),
    }
}

/// Runs until the state satisfies `is_wanted`. Returns the packets in flight that the control saw
/// then; the count assumes no losses.
fn run_until(path: &mut ClosedLoop, is_wanted: impl Fn(State) -> bool) -> u64 {
    loop {
        let sent = path.network.sent;
        path.step();
        if is_wanted(model(path).state) {
            return sent - path.sender.delivered();
        }
        assert!(path.now < ms(60_000.0), "still {:?}", model(path).state);
    }
}

fn run_to(path: &mut ClosedLoop, wanted: State) -> u64 {
    run_until(path, |state| state == wanted)
}

fn run_out_of(path: &mut ClosedLoop, left: State) -> u64 {
    run_until(path, |state| state != left)
}

fn started(seed: u64) -> Bbr3 {
    let mut control = Bbr3::new(&Bbr3Params::default());
    control.begin(&script::begin_event(seed));
    control
}

/// `BBROnInit` and `bbr_init`: the RTT of the handshake is the smallest one, measured at the beginning.
#[test]
fn the_rtt_of_the_handshake_is_the_first_of_the_smallest_ones() {
    let mut control = Bbr3::new(&Bbr3Params::default());
    control.begin(&BeginEvent { srtt: ms(40.0), now: ms(7.0), ..script::begin_event(1) });
    Path::new(10).ack(&mut control, 1.0, ms(41.0));
    for min_rtt in [control.model.min_rtt, control.model.probe_rtt_min] {
        assert_eq!((min_rtt.value(), min_rtt.stamp), (ms(40.0), ms(7.0)));
    }
}

/// An ACK on a path with an RTT of 100 ms, without `ProbeRTT`.
fn ack(control: &mut Bbr3, path: &mut Path, rate: f64) {
    control.model.probe_rtt_min.stamp = path.event.now;
    path.ack(control, rate, ms(100.0));
}

fn round(control: &mut Bbr3, path: &mut Path, rate: f64) {
    (0..path.flight).for_each(|_| ack(control, path, rate));
}

/// Sends ACKs until the control is in this state.
fn ack_to(control: &mut Bbr3, path: &mut Path, state: State) {
    (0..100_000).find(|_| {
        ack(control, path, 1_000.0);
        control.model.state == state
    });
    assert_eq!(control.model.state, state);
}

/// A control in this state on a path of 1000 packets/s and 100 ms (a BDP of 100 packets), with
/// `flight` packets in flight.
fn scripted_with(state: State, flight: u64) -> (Bbr3, Path) {
    let (mut control, mut path) = (started(1), Path::new(flight));
    ack_to(&mut control, &mut path, state);
    (control, path)
}

/// A control in this state with a BDP in flight.
fn scripted(state: State) -> (Bbr3, Path) {
    scripted_with(state, 100)
}

/// Reports the loss of `count` packets that are not adjacent, each sent with `tx_in_flight` packets
/// in flight. `first` is the number of the first loss since the transmission.
fn lose(control: &mut Bbr3, path: &Path, tx_in_flight: u64, first: u64, count: u64) {
    for lost in first..first + count {
        control.on_lost(&LostPacketEvent {
            now: path.event.now,
            sequence: path.event.delivered + 2 * lost,
            tx_in_flight,
            lost,
            is_app_limited: path.is_app_limited,
            delivered: path.event.delivered,
            cwnd_packets: path.event.cwnd_packets,
        });
    }
}

#[test]
fn exiting_startup_on_bandwidth_plateau() {
    let mut path = closed_loop(RATE, ms(40.0), ENDLESS);
    run_to(&mut path, State::Drain);
    let model = model(&path);
    assert!((model.max_bw.get() / RATE - 1.0).abs() < 0.02, "{}", model.max_bw.get());
    assert!(model.full_bw_reached && model.full_bw.is_reached);
    // Startup does not end before the third round trip in which the rate grows by less than a
    // quarter.
    let (mut control, mut path) = (started(1), Path::new(100));
    ack(&mut control, &mut path, 300.0);
    for (rate, is_over) in
        [(500.0, false), (1_000.0, false), (1_200.0, false), (1_249.0, false), (1_000.0, true)]
    {
        round(&mut control, &mut path, rate);
        assert_eq!(control.model.state != State::Startup, is_over, "{rate}");
    }
}

/// 100 packets are in flight, of which six non-adjacent packets are lost in a round trip: 6 %.
#[test]
fn exiting_startup_on_loss_when_application_limited() {
    for (ranges, lost, is_over) in [(6, 6, true), (5, 6, false), (6, 2, false)] {
        let (mut control, mut path) = (started(1), Path::new(100));
        path.is_app_limited = true;
        (0..10).for_each(|_| round(&mut control, &mut path, 1_000.0));
        assert_eq!(control.model.state, State::Startup);
        lose(&mut control, &path, 100, 1, ranges);
        (path.event.repair, path.lost) = (Repair::FastRecovery, lost);
        (0..99).for_each(|_| ack(&mut control, &mut path, 1_000.0));
        assert_eq!(
            control.model.state,
            State::Startup,
            "the recovery has lasted less than a round trip"
        );
        ack(&mut control, &mut path, 1_000.0);
        let has_left = control.model.state != State::Startup;
        assert_eq!(has_left, is_over, "{ranges} ranges, {lost} lost");
        assert_eq!(
            (control.model.full_bw_reached, control.model.full_bw.is_reached),
            (is_over, is_over)
        );
        if is_over {
            assert_close(control.model.inflight_longterm, 100.0);
        }
    }
}

#[test]
fn exiting_drain_based_on_inflight() {
    let mut path = closed_loop(RATE, ms(40.0), ENDLESS);
    assert!(run_to(&mut path, State::Drain) > 600, "two BDP are in flight");
    assert_close(model(&path).pacing_rate, 0.5 * 0.99 * model(&path).bw);
    let in_flight = run_out_of(&mut path, State::Drain) as f64;
    let bdp = model(&path).bw * model(&path).min_rtt.seconds();
    assert!(bdp - 2.0 < in_flight && in_flight <= bdp, "{in_flight} in flight, a BDP of {bdp}");
}

/// 200 packets stay in flight on a BDP of 100: Drain ends when `round_count` exceeds its value at
/// the start by more than 3.
#[test]
fn exiting_drain_based_on_time() {
    let (mut control, mut path) = scripted_with(State::Drain, 200);
    let start = control.model.rounds.count;
    while control.model.state == State::Drain {
        assert!(control.model.rounds.count <= start + 3);
        ack(&mut control, &mut path, 1_000.0);
    }
    assert_eq!((control.model.state, control.model.rounds.count), (State::Down, start + 4));
}

#[test]
fn exiting_probe_up_on_bandwidth_plateau() {
    let mut path = closed_loop(RATE, ms(40.0), ENDLESS);
    run_to(&mut path, State::Up);
    assert_close(model(&path).pacing_rate, 1.25 * 0.99 * model(&path).bw);
    let start = model(&path).rounds.count;
    run_to(&mut path, State::Down);
    assert!(model(&path).full_bw.is_reached);
    assert_eq!((model(&path).rounds.count, path.network.dropped), (start + 3, 0));
}

/// The pseudo-code of `HandleInflightTooHigh` does not change `inflight_longterm` if the lost
/// packet was application-limited; the state changes all the same.
#[test]
fn exiting_probe_up_on_loss_when_application_limited() {
    let (mut control, mut path) = scripted(State::Up);
    path.is_app_limited = true;
    round(&mut control, &mut path, 900.0);
    lose(&mut control, &path, 100, 1, 2);
    assert_eq!(control.model.state, State::Up, "2 % is not above the threshold of 2 %");
    lose(&mut control, &path, 100, 3, 1);
    assert_eq!(control.model.state, State::Down);
    assert!(control.model.inflight_longterm.is_infinite() && control.model.prev_probe_too_high);
}

/// The test takes 200 round trips.
#[test]
fn never_exiting_probe_up_or_startup_when_application_limited_with_no_loss() {
    for state in [State::Startup, State::Up] {
        let (mut control, mut path) = scripted(state);
        path.is_app_limited = true;
        for _ in 0..20_000 {
            ack(&mut control, &mut path, 900.0);
            assert_eq!(control.model.state, state);
        }
    }
}

#[test]
fn exiting_probe_down_on_inflight() {
    let mut path = closed_loop(RATE, ms(40.0), ENDLESS);
    run_to(&mut path, State::Up);
    assert!(run_to(&mut path, State::Down) > 600);
    assert_close(model(&path).pacing_rate, 0.9 * 0.99 * model(&path).bw);
    let in_flight = run_to(&mut path, State::Cruise) as f64;
    let bdp = model(&path).max_bw.get() * model(&path).min_rtt.seconds();
    assert!(bdp - 2.0 < in_flight && in_flight <= bdp, "{in_flight} in flight, a BDP of {bdp}");
}

/// With a limit of 90 packets at most 85 % of them, 76.5, may be in flight.
#[test]
fn exiting_probe_down_leaves_headroom() {
    let (mut control, mut path) = scripted(State::Up);
    control.model.inflight_longterm = 90.0;
    control.model.start_probe_bw_down(path.event.now, path.event.delivered);
    path.flight = 77;
    ack(&mut control, &mut path, 1_000.0);
    assert_eq!(control.model.state, State::Down);
    path.flight = 76;
    ack(&mut control, &mut path, 1_000.0);
    assert_eq!(control.model.state, State::Cruise);
    // Cruise keeps the headroom, Refill uses it.
    round(&mut control, &mut path, 1_000.0);
    assert_close(path.event.cwnd_packets, 76.5);
    ack_to(&mut control, &mut path, State::Refill);
    round(&mut control, &mut path, 1_000.0);
    assert_close(path.event.cwnd_packets, 90.0);
}

#[test]
fn exiting_probe_down_after_max_time() {
    let (mut control, mut path) = scripted(State::Down);
    path.flight = 150;
    ack(&mut control, &mut path, 1_000.0);
    let (start, wait) = (control.model.cycle_stamp, control.model.bw_probe_wait);
    assert!(ms(2_000.0) <= wait && wait < ms(3_000.0));
    while control.model.state == State::Down {
        assert!(path.event.now <= start + wait);
        ack(&mut control, &mut path, 1_000.0);
    }
    assert_eq!(control.model.state, State::Refill);
    assert!(path.event.now > start + wait);
}

/// The first packet measures the smallest RTT, at 40 ms. 5 s later the window becomes half of a BDP
/// of 334 packets. After half a round trip no more are in flight; then follow 200 ms and the rest
/// of a round trip.
#[test]
fn entering_and_exiting_probe_rtt() {
    let mut path = closed_loop(RATE, ms(40.0), ENDLESS);
    run_to(&mut path, State::ProbeRtt);
    let entered = path.now.seconds();
    assert!((5.04..5.06).contains(&entered), "{entered}");
    let bdp = model(&path).bw * model(&path).min_rtt.seconds();
    assert!((model(&path).cwnd - 0.5 * bdp).abs() < 1.0);
    run_to(&mut path, State::Cruise);
    let left = path.now.seconds();
    assert!((0.2..0.28).contains(&(left - entered)), "from {entered} to {left}");
    assert!(model(&path).cwnd > 1.9 * bdp, "the window returns to its value before");
    run_to(&mut path, State::ProbeRtt);
    let interval = path.now.seconds() - left;
    assert!((5.0..5.02).contains(&interval), "the next ProbeRTT begins {interval} s later");
}

#[test]
fn skipping_probe_rtt_due_to_application_limited_sending() {
    let (mut control, mut path) = scripted(State::Cruise);
    path.event.now += ms(6_000.0);
    let cwnd = path.event.cwnd_packets;
    let restart = RestartEvent { now: path.event.now, cwnd_packets: cwnd };
    let output = control.on_restart(&restart).expect("it says how to send");
    assert!(control.model.is_idle_restart);
    assert_close(output.pacing_rate, 0.99 * 1_000.0);
    path.ack(&mut control, 1_000.0, ms(100.0));
    assert_ne!(control.model.state, State::ProbeRtt);
    assert!(!control.model.is_idle_restart);
    // Without the restart the same ACK starts `ProbeRTT`.
    let (mut control, mut path) = scripted(State::Cruise);
    path.event.now += ms(6_000.0);
    path.ack(&mut control, 1_000.0, ms(100.0));
    assert_eq!(control.model.state, State::ProbeRtt);
}

/// A restart every 100 ms, with 20 packets on each: the excess is never more than these, however many
/// were delivered before. The draft's pseudo-code has 10,000 after 500 restarts.
#[test]
fn what_was_delivered_before_a_pause_is_no_aggregation_after_it() {
    let (mut control, mut path) = scripted(State::Cruise);
    for _ in 0..500 {
        path.event.now += ms(80.0);
        let restart = RestartEvent { now: path.event.now, cwnd_packets: 1e6 };
        control.on_restart(&restart).expect("it says how to send");
        (path.event.newly_delivered, path.event.cwnd_packets) = (20, 1e6);
        path.ack(&mut control, 1_000.0, ms(20.0));
        let extra = control.model.extra_acked.get();
        assert!(extra <= 20.0, "{extra}");
    }
}

/// ACKs arrive every 20 ms, 167 packets at a time.
#[test]
fn achieving_expected_startup_bandwidth_on_a_link_with_aggregation() {
    let mut path = closed_loop(RATE, ms(40.0), ENDLESS);
    path.network.aggregation = ms(20.0);
    run_to(&mut path, State::Drain);
    let model = model(&path);
    assert!((0.98..1.02).contains(&(model.max_bw.get() / RATE)), "{}", model.max_bw.get());
    assert!((120.0..=200.0).contains(&model.extra_acked.get()), "{}", model.extra_acked.get());
    let bdp = RATE * 0.040_12;
    assert!(model.cwnd > 2.0 * bdp, "{} of {bdp}", model.cwnd);
}

#[test]
fn achieving_expected_cruise_bandwidth_on_a_link_with_aggregation() {
    let mut path = closed_loop(RATE, ms(40.0), ENDLESS);
    run_to(&mut path, State::Cruise);
    path.network.aggregation = ms(20.0);
    let (start, before) = (path.now, path.sender.delivered());
    path.run_until(start + ms(1_000.0));
    let model = model(&path);
    assert_eq!(model.state, State::Cruise);
    let rate = (path.sender.delivered() - before) as f64;
    assert!(rate > 0.97 * RATE, "{rate}");
    let bdp = model.bw * model.min_rtt.seconds();
    let extra = model.extra_acked.get();
    assert!(extra > 120.0, "{extra}");
    assert!(
        (model.cwnd - (2.0 * bdp + extra)).abs() < 1.0,
        "{} is not 2 * {bdp} + {extra}",
        model.cwnd
    );
}

/// 100 packets/s and an RTT of 1 ms: a BDP of a tenth of a packet.
#[test]
fn correctly_managing_sub_packet_bdps() {
    let mut path = closed_loop(100.0, ms(1.0), ENDLESS);
    run_to(&mut path, State::Cruise);
    let before = path.sender.delivered();
    let start = path.now;
    while path.now < start + ms(10_000.0) {
        path.step();
        let model = model(&path);
        assert!(model.cwnd >= 4.0);
        assert!(model.pacing_rate <= 1.25 * 100.0 && model.pacing_rate >= 0.5 * 0.99 * 100.0);
    }
    let rate = (path.sender.delivered() - before) as f64 / 10.0;
    assert!(rate > 98.0, "{rate} packets/s");
}

/// A round trip of `ProbeUP` sends at 1.25 * 0.99 times the measured rate. Growth from a tenth to
/// 95 % takes ln 9.5 / ln 1.2375 = 10.6 round trips if each sample covers the whole previous round
/// trip. A sample spans a round trip and covers half of it: at most twice as many round trips.
#[test]
fn increasing_bandwidth_10x_and_ensuring_full_bandwidth_is_reached() {
    let mut path = closed_loop(RATE / 10.0, ms(40.0), ENDLESS);
    run_to(&mut path, State::Cruise);
    path.network.rate = RATE;
    run_to(&mut path, State::Up);
    let start = model(&path).rounds.count;
    while model(&path).max_bw.get() < 0.95 * RATE {
        path.step();
        let rounds = model(&path).rounds.count - start;
        assert!(rounds <= 21, "{rounds} round trips");
    }
}

/// The first part of the previous case: steps of 1, 2, 4, 8 and 16 packets, up to a fraction of a
/// packet that is carried over.
#[test]
fn inflight_longterm_grows_by_a_step_that_doubles_each_round_trip() {
    let (mut control, mut path) = scripted(State::Refill);
    control.model.inflight_longterm = 50.0;
    path.flight = 50;
    path.event.is_cwnd_limited = true;
    ack_to(&mut control, &mut path, State::Up);
    let start = control.model.inflight_longterm;
    for grown in [1.0, 3.0, 7.0, 15.0, 31.0] {
        path.flight = path.event.cwnd_packets as u64;
        round(&mut control, &mut path, 1_000.0);
        let limit = control.model.inflight_longterm;
        assert!((limit - start - grown).abs() <= 1.0, "{limit} from {start}, not {grown} more");
    }
}

/// The buffer holds one BDP. In Cruise, two round trips with losses multiply the short-term model
/// by 0.7 each, before timeouts (the queue is 400 ms long by then) restart probing. At the end of
/// the second cycle after that, the maximum is the new rate.
#[test]
fn decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down() {
    let mut path = closed_loop(RATE, ms(40.0), 333);
    run_to(&mut path, State::Cruise);
    path.network.rate = RATE / 10.0;
    let mut least = f64::INFINITY;
    while model(&path).state == State::Cruise {
        path.step();
        least = least.min(model(&path).bw_shortterm);
    }
    assert!((least / RATE - 0.49).abs() < 0.01, "{least}");
    let cycle = model(&path).cycle_count;
    while model(&path).cycle_count < cycle + 2 {
        path.step();
        assert!(path.now < ms(60_000.0));
    }
    path.run_until(path.now + ms(400.0));
    let max_bw = model(&path).max_bw.get();
    assert!((max_bw / (RATE / 10.0) - 1.0).abs() < 0.02, "{max_bw}");
}

/// The policer admits a tenth of the rate of the link, with a bucket of three BDP of that rate. The
/// short-term model falls to the rate of the tokens, and at least three quarters of that rate are
/// delivered. "Without excessive continuous packet loss" holds only in comparison: 11 % are lost
/// from 30 to 40 s (25 % in the first 20 s, and 90 % at the full rate of the link), because each
/// probe finds a full bucket.
#[test]
fn handling_token_bucket_policers() {
    let tokens = RATE / 10.0;
    let mut path = closed_loop(RATE, ms(40.0), ENDLESS);
    path.network.policer =
        Some(Policer { rate: tokens, burst: 100.0, tokens: 100.0, filled_at: Time::ZERO });
    path.run_until(ms(30_000.0));
    let (sent, dropped) = (path.network.sent, path.network.dropped);
    let delivered = path.sender.delivered();
    let mut least = f64::INFINITY;
    while path.now < ms(40_000.0) {
        path.step();
        least = least.min(model(&path).bw_shortterm);
    }
    assert!(least < 1.1 * tokens, "{least}");
    let rate = (path.sender.delivered() - delivered) as f64 / 10.0;
    assert!((0.75..1.02).contains(&(rate / tokens)), "{rate}");
    let loss = (path.network.dropped - dropped) as f64 / (path.network.sent - sent) as f64;
    assert!(loss < 0.15, "{loss}");
}

/// An application-limited Startup does not end. After 5 s without a smaller RTT `ProbeRTT` begins,
/// and 200 ms and a round trip later Startup continues.
#[test]
fn entering_and_exiting_probe_rtt_during_startup() {
    let (mut control, mut path) = scripted(State::Startup);
    path.is_app_limited = true;
    while control.model.state == State::Startup {
        path.ack(&mut control, 1_000.0, ms(100.0));
    }
    assert_eq!(control.model.state, State::ProbeRtt);
    assert!((5.0..5.01).contains(&path.event.now.seconds()));
    path.flight = 40;
    let start = path.event.now;
    while control.model.state == State::ProbeRtt {
        path.ack(&mut control, 1_000.0, ms(100.0));
    }
    assert_eq!((control.model.state, path.event.now.since(start)), (State::Startup, ms(202.0)));
    assert_close(control.model.pacing_rate, 2.77 * 0.99 * 1_000.0);
}

/// Two of 95 packets are more than 2 %. Before the last packet 94 were in flight and one had been
/// lost, so (0.02 * 94 - 1) / 0.98 = 0.898 of the last packet is below the threshold. With 60
/// packets the limit would be 59.2, but it is at least 0.7 BDP.
#[test]
fn handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    for (tx_in_flight, limit) in [(95, 94.0 + 0.88 / 0.98), (60, 70.0)] {
        let (mut control, path) = scripted(State::Up);
        control.model.inflight_longterm = 120.0;
        lose(&mut control, &path, tx_in_flight, 1, 1);
        assert_eq!(control.model.state, State::Up);
        lose(&mut control, &path, tx_in_flight, 2, 1);
        assert_eq!(control.model.state, State::Down);
        assert_close(control.model.inflight_longterm, limit);
        // The limit changes once per probe.
        lose(&mut control, &path, 80, 3, 10);
        assert_close(control.model.inflight_longterm, limit);
    }
}

#[test]
fn handling_application_limited_sending_during_probe_refill() {
    let (mut control, mut path) = scripted(State::Refill);
    path.is_app_limited = true;
    for _ in 0..99 {
        ack(&mut control, &mut path, 300.0);
        assert_eq!(control.model.state, State::Refill);
    }
    ack(&mut control, &mut path, 300.0);
    assert_eq!(control.model.state, State::Up);
    assert_close(control.model.max_bw.get(), 1_000.0);
    path.is_app_limited = false;
    round(&mut control, &mut path, 1_200.0);
    assert_close(control.model.max_bw.get(), 1_200.0);
}

/// Sec. "When not Probing for Bandwidth": in Cruise a round trip with a loss delivers 60 packets at
/// 600/s. The short-term model takes the larger of these and 0.7 times its previous value, 1000/s
/// and 200 packets: the latter. After the next such round trip 0.49 times the value is the smaller
/// rate.
#[test]
fn a_round_trip_with_losses_lowers_the_short_term_model() {
    let (mut control, mut path) = scripted(State::Cruise);
    round(&mut control, &mut path, 1_000.0);
    assert_close(path.event.cwnd_packets, 201.0);
    path.flight = 60;
    // Two round trips replace the values in the filters of the latest round trip.
    (0..2).for_each(|_| round(&mut control, &mut path, 600.0));
    for (bw, inflight) in [(700.0, 0.7 * 201.0), (600.0, 0.49 * 201.0)] {
        lose(&mut control, &path, 100, 1, 1);
        round(&mut control, &mut path, 600.0);
        assert_close(control.model.bw_shortterm, bw);
        assert_close(control.model.inflight_shortterm, inflight);
        assert_close(control.model.pacing_rate, 0.99 * bw);
        assert!(path.event.cwnd_packets <= inflight + 1e-9);
    }
    // Refill resets the short-term model.
    ack_to(&mut control, &mut path, State::Refill);
    assert!(
        control.model.bw_shortterm.is_infinite() && control.model.inflight_shortterm.is_infinite()
    );
}

/// Sec. "Precautionary Bandwidth Probing": after a probe with too many losses, the next probe ends
/// as soon as the limit is in flight. If no packet is lost in the following round trip, another
/// probe follows at once.
#[test]
fn the_probe_after_a_probe_with_too_many_losses_is_precautionary() {
    let (mut control, mut path) = scripted(State::Up);
    lose(&mut control, &path, 95, 1, 2);
    let limit = control.model.inflight_longterm;
    path.flight = 70;
    ack_to(&mut control, &mut path, State::Up);
    ack(&mut control, &mut path, 1_000.0);
    assert_eq!(control.model.state, State::Up);
    path.flight = limit as u64 + 1;
    ack(&mut control, &mut path, 1_000.0);
    assert_eq!(control.model.state, State::Down);
    assert!(control.model.prev_probe_precautionary && !control.model.prev_probe_too_high);
    while control.model.ack_phase == AckPhase::ProbeStopping {
        assert_eq!(control.model.state, State::Down);
        ack(&mut control, &mut path, 1_000.0);
    }
    assert_eq!(control.model.state, State::Refill);
}

/// `PickProbeWait`: 2 to 3 s, and 0 or 1 round trips already counted.
#[test]
fn probes_wait_a_random_time_or_the_rounds_of_a_reno_flow() {
    let (mut waits, mut ones) = (Vec::new(), 0);
    for seed in 0..1_000 {
        let mut control = started(seed);
        control.model.start_probe_bw_down(Time::ZERO, 0);
        waits.push(control.model.bw_probe_wait.seconds());
        ones += control.model.rounds_since_probe_up;
    }
    assert!(waits.iter().all(|wait| (2.0..3.0).contains(wait)));
    let mean = waits.iter().sum::<f64>() / 1_000.0;
    // The standard deviations are 0.289 / sqrt(1000) = 0.0091 and sqrt(250) = 15.8; the bounds are
    // four of these.
    assert!((mean - 2.5).abs() < 0.037, "{mean}");
    assert!((437..=563).contains(&ones), "{ones}");
    // With a BDP of 20 packets the probe begins at the latest in the 20th round trip, or in the
    // 19th.
    let (mut control, mut path) = scripted(State::Down);
    path.flight = 20;
    let stamp = control.model.min_rtt.stamp;
    control.model.min_rtt.set(ms(20.0), stamp);
    (0..50).for_each(|_| ack(&mut control, &mut path, 1_000.0));
    control.model.start_probe_bw_down(path.event.now, path.event.delivered);
    let start = path.event.now;
    ack_to(&mut control, &mut path, State::Refill);
    let rounds = path.event.now.since(start).seconds() / 0.02;
    assert!((18.9..=20.1).contains(&rounds), "{rounds}");
}

/// A recovery of packets that were sent in this state and have only been overtaken or late, and its
/// undo.
fn spurious(begun: (Bbr3, Path), kind: CongestionKind) -> (Bbr3, Path) {
    let (mut control, mut path) = begun;
    let cwnd_packets = path.event.cwnd_packets;
    let saved = control.model.inflight_longterm;
    lose(&mut control, &path, 95, 1, 8);
    let now = path.event.now;
    control.on_congestion(&CongestionEvent { now, kind, cwnd_packets, is_slow_start: false });
    path.event.repair = Repair::FastRecovery;
    if kind == CongestionKind::Timeout {
        (path.event.repair, path.event.cwnd_packets) = (Repair::Timeout, 1.0);
    }
    path.lost = 8;
    (0..3).for_each(|_| round(&mut control, &mut path, 1_000.0));
    let model = &control.model;
    assert!(model.bw_shortterm.is_finite() && model.inflight_shortterm.is_finite(), "{model:?}");
    let (now, delivered) = (path.event.now, path.event.delivered);
    let cwnd_packets = path.event.cwnd_packets;
    let window = control.on_undo(&UndoEvent { now, cwnd_packets, delivered });
    assert!(window >= cwnd_packets && window >= control.model.prior_cwnd, "{window}");
    let model = &control.model;
    assert!(model.inflight_longterm >= saved, "{model:?}");
    let is_unlimited = model.bw_shortterm.is_infinite() && model.inflight_shortterm.is_infinite();
    assert!(is_unlimited, "{model:?}");
    assert!(!model.is_loss_in_round && !model.full_bw.is_reached, "{model:?}");
    (path.event.repair, path.lost, path.event.cwnd_packets) = (Repair::None, 0, window);
    (control, path)
}

/// A control that probes up to 120 packets.
fn probing_up() -> (Bbr3, Path) {
    let (mut control, path) = scripted(State::Up);
    control.model.inflight_longterm = 120.0;
    (control, path)
}

#[test]
fn handling_spurious_fast_recovery() {
    let (mut control, mut path) = spurious(probing_up(), CongestionKind::Loss);
    assert_eq!(control.model.state, State::Refill, "the probe begins again");
    ack_to(&mut control, &mut path, State::Up);
}

#[test]
fn handling_spurious_rto_recovery() {
    let (mut control, mut path) = spurious(probing_up(), CongestionKind::Timeout);
    assert_eq!(control.model.state, State::Refill);
    ack_to(&mut control, &mut path, State::Up);
}

/// Without losses that end it, a state goes on.
#[test]
fn a_spurious_recovery_while_cruising_changes_no_state() {
    let (control, _) = spurious(scripted(State::Cruise), CongestionKind::Loss);
    assert_eq!(control.model.state, State::Cruise);
}

/// Losses that end Startup and turn out to be none.
#[test]
fn a_spurious_recovery_leads_back_to_startup() {
    let (mut control, mut path) = (started(1), Path::new(100));
    path.is_app_limited = true;
    (0..10).for_each(|_| round(&mut control, &mut path, 1_000.0));
    lose(&mut control, &path, 100, 1, 6);
    (path.event.repair, path.lost) = (Repair::FastRecovery, 6);
    (0..100).for_each(|_| ack(&mut control, &mut path, 1_000.0));
    assert_ne!(control.model.state, State::Startup);
    let (now, delivered) = (path.event.now, path.event.delivered);
    let cwnd_packets = path.event.cwnd_packets;
    control.on_undo(&UndoEvent { now, cwnd_packets, delivered });
    let model = &control.model;
    assert_eq!((model.state, model.full_bw_reached), (State::Startup, false));
    assert!(model.inflight_longterm.is_infinite());
}
