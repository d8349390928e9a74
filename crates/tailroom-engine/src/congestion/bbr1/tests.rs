use super::super::script::{self, Path, assert_close, ms};
use super::*;

const RATE: f64 = 1_000.0;

fn started(seed: u64) -> Bbr1 {
    let mut control = Bbr1::new(&Bbr1Params::default());
    control.begin(&script::begin_event(seed));
    control
}

/// A control that has just entered `ProbeBW` on a path of 1000 packets/s and 40 ms (a BDP of 40
/// packets), with two BDP in flight.
fn probing(seed: u64) -> (Bbr1, Path) {
    let (mut control, mut path) = (started(seed), Path::new(10));
    while control.model.state != State::ProbeBandwidth {
        path.ack(&mut control, RATE, ms(40.0));
    }
    path.flight = 80;
    (control, path)
}

/// 10 packets per millisecond before the first RTT sample and per RTT after it, each times 739/256
/// and less 1 %.
#[test]
fn paces_the_initial_window_over_a_millisecond_and_then_over_the_first_rtt() {
    let (mut control, mut path) = (started(1), Path::new(10));
    assert_close(control.model.pacing_rate, 28_578.515_625);
    let output = path.ack(&mut control, 1.0, ms(100.0));
    assert_close(output.pacing_rate, 285.785_156_25);
}

/// `bbr_init`: the RTT of the handshake is the smallest one, measured at the beginning.
#[test]
fn the_rtt_of_the_handshake_is_the_first_of_the_smallest_ones() {
    let mut control = Bbr1::new(&Bbr1Params::default());
    control.begin(&BeginEvent { srtt: ms(40.0), now: ms(7.0), ..script::begin_event(1) });
    Path::new(10).ack(&mut control, 1.0, ms(41.0));
    assert_eq!((control.model.min_rtt.value(), control.model.min_rtt.stamp), (ms(40.0), ms(7.0)));
}

/// Sec. 4.3.2: the gain is 2.887 while the rate grows by a quarter per round trip. After three
/// round trips without such growth, Drain uses the inverse gain.
#[test]
fn startup_ends_after_three_round_trips_at_a_plateau() {
    let (mut control, mut path) = (started(1), Path::new(100));
    // The first ACK ends the round trip at whose start no packet had been delivered.
    path.ack(&mut control, 250.0, ms(40.0));
    for (rate, state) in [
        (500.0, State::Startup),
        (1_000.0, State::Startup),
        (1_000.0, State::Startup),
        (1_010.0, State::Startup),
        (1_000.0, State::Drain),
    ] {
        path.round(&mut control, rate, ms(40.0));
        assert_eq!(control.model.state, state, "{rate}");
    }
    assert_close(control.model.pacing_rate, 0.99 * 1_010.0 * 88.0 / 256.0);
    // A BDP of 40.4 packets, rounded up, and three quanta of two make 47 packets, and 48 is the
    // next even number.
    path.flight = 49;
    path.ack(&mut control, RATE, ms(40.0));
    assert_eq!(control.model.state, State::Drain);
    path.flight = 48;
    path.ack(&mut control, RATE, ms(40.0));
    assert_eq!(control.model.state, State::ProbeBandwidth);
}

/// Sec. 4.3.4: the gains are 5/4, 3/4 and six times 1, each for one RTT of 40 ms, and pacing is 1 %
/// below the gain times the bandwidth (`bbr_pacing_margin_percent`). An ACK arrives every 1 ms, and
/// a phase ends with the first ACK after more than 40 ms.
#[test]
fn the_cycle_has_eight_phases_of_one_rtt() {
    let (mut control, mut path) = probing(1);
    let mut phases: Vec<(usize, u32)> = Vec::new();
    for _ in 0..41 * 20 {
        let gain = path.ack(&mut control, RATE, ms(40.0)).pacing_rate / RATE;
        let index = control.model.cycle_index;
        assert_close(gain, 0.99 * [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0][index]);
        match phases.last_mut() {
            Some((at, acks)) if *at == index => *acks += 1,
            _ => phases.push((index, 1)),
        }
    }
    assert!(phases.len() >= 19, "{phases:?}");
    for pair in phases[1..phases.len() - 1].windows(2) {
        assert_eq!(pair[0].1, 41, "{phases:?}");
        assert_eq!((pair[0].0 + 1) % 8, pair[1].0);
    }
}

/// Sec. 4.3.4.1: the phase of 5/4 lasts until a packet is lost or 1.25 BDP are in flight, including
/// the next quantum of two (50 packets, three quanta of two, and two for the probe: 58). The phase
/// of 3/4 ends as soon as at most one BDP and the quanta are in flight.
#[test]
fn the_first_phase_fills_the_queue_and_the_second_drains_it() {
    let (mut control, mut path) = probing(1);
    while control.model.cycle_index != 0 {
        path.ack(&mut control, RATE, ms(40.0));
    }
    path.flight = 55;
    (0..200).for_each(|_| {
        path.ack(&mut control, RATE, ms(40.0));
    });
    assert_eq!(control.model.cycle_index, 0);
    path.flight = 56;
    path.ack(&mut control, RATE, ms(40.0));
    assert_eq!(control.model.cycle_index, 1);
    path.flight = 47;
    path.ack(&mut control, RATE, ms(40.0));
    assert_eq!(control.model.cycle_index, 1);
    path.flight = 46;
    path.ack(&mut control, RATE, ms(40.0));
    assert_eq!(control.model.cycle_index, 2);
}

/// Sec. 4.3.4.2.
#[test]
fn the_cycle_starts_in_a_random_phase_except_the_draining_phase() {
    let mut starts = [0; 8];
    (0..700).for_each(|seed| starts[probing(seed).0.model.cycle_index] += 1);
    assert_eq!(starts[1], 0);
    // An expected count of 100 of 700 with a standard deviation of 9.3; the bound is four of these.
    let others = starts.iter().enumerate().filter(|(index, _)| *index != 1);
    others.for_each(|(index, count)| assert!((63..=137).contains(count), "{index}: {starts:?}"));
}

/// `bbr_packets_in_net_at_edt`: at 1000 packets/s, three more packets are delivered before a packet
/// that leaves in 3 ms, so 49 packets in flight are 46 by then.
#[test]
fn packets_delivered_before_the_next_departure_do_not_count_as_in_flight() {
    for (wait, index) in [(2.0, 1), (3.0, 2)] {
        let (mut control, mut path) = probing(1);
        while control.model.cycle_index != 1 {
            path.ack(&mut control, RATE, ms(40.0));
        }
        path.flight = 49;
        path.event.next_departure = path.event.now + ms(1.0 + wait);
        path.ack(&mut control, RATE, ms(40.0));
        assert_eq!(control.model.cycle_index, index, "{wait} ms");
    }
}

/// Sec. 4.3.4.3 and `bbr_quantization_budget`: 2 * 40 packets, three quanta of two, and one packet
/// for the aggregation of ACKs make 87, and 88 is the next even number. The probing phase adds two.
#[test]
fn the_window_is_two_bdp_and_three_quanta() {
    let (mut control, mut path) = probing(1);
    for ack in 0..1_000 {
        let window = path.ack(&mut control, RATE, ms(40.0)).cwnd_packets;
        let target = if control.model.cycle_index == 0 { 90.0 } else { 88.0 };
        assert!(window <= target, "{window}");
        if ack >= 100 && path.event.newly_delivered == 1 && control.model.cycle_index > 1 {
            assert_close(window, target);
        }
    }
}

/// `bbr_update_ack_aggregation`: ten packets that are acknowledged together exceed the number that
/// the bandwidth predicts by nine or ten. The window is larger by that excess for up to ten round
/// trips.
#[test]
fn the_window_grows_by_the_excess_of_aggregated_acks() {
    let (mut control, mut path) = probing(1);
    for _ in 0..100 {
        path.ack(&mut control, RATE, ms(40.0));
    }
    // Ten packets at once after 10 ms without an ACK; no ACK is expected at the start of an epoch.
    path.event.now += ms(9.0);
    path.event.newly_delivered = 10;
    path.event.delivered += 9;
    path.ack(&mut control, RATE, ms(40.0));
    path.event.newly_delivered = 1;
    assert_close(control.model.aggregation.allowance(RATE), 10.0);
    let window = |control: &Bbr1| control.model.with_quanta(control.model.flight(RATE, 2.0) + 10.0);
    for _ in 0..80 {
        path.ack(&mut control, RATE, ms(40.0));
    }
    assert_close(path.event.cwnd_packets, window(&control));
    // 20 ms without an ACK end the epoch.
    path.event.now += ms(20.0);
    for _ in 0..11 {
        path.round(&mut control, RATE, ms(40.0));
    }
    assert_close(control.model.aggregation.allowance(RATE), 1.0);
    // The excess is limited to 100 ms of the bandwidth.
    assert_close(control.model.aggregation.allowance(5.0), 0.0);
}

/// `bbr_update_min_rtt`: `ProbeRTT` begins 10 s after the smallest RTT was first measured, even if
/// it is measured again. The window is four packets for 200 ms from when at most four are in
/// flight, and then returns to its value before.
#[test]
fn probes_the_rtt_after_ten_seconds_with_four_packets_for_200_ms() {
    let (mut control, mut path) = probing(1);
    let smallest = control.model.min_rtt.stamp;
    assert_eq!(smallest, ms(1.0));
    while control.model.state == State::ProbeBandwidth {
        path.ack(&mut control, RATE, ms(40.0));
    }
    assert_eq!(path.event.now.since(smallest), ms(10_001.0));
    (0..100).for_each(|_| {
        assert_close(path.ack(&mut control, RATE, ms(60.0)).cwnd_packets, 4.0);
    });
    path.flight = 4;
    let few_since = path.event.now + ms(1.0);
    while control.model.state == State::ProbeRtt {
        assert!(path.ack(&mut control, RATE, ms(30.0)).cwnd_packets <= 90.0);
    }
    assert_eq!(path.event.now.since(few_since), ms(201.0));
    assert_eq!(control.model.min_rtt.value(), ms(30.0));
    // The window was 88 packets; the new limit is two BDP: 2 * 30, three quanta and one packet make
    // 67, and 68 is the next even number; two more if the cycle begins with the probing phase.
    let probes = if control.model.cycle_index == 0 { 2.0 } else { 0.0 };
    assert_close(path.event.cwnd_packets, 68.0 + probes);
}

/// As [`probing`], at the beginning of the phases with a gain of 1.
fn cruising() -> (Bbr1, Path) {
    let (mut control, mut path) = probing(1);
    for _ in 0..400 {
        path.ack(&mut control, RATE, ms(40.0));
    }
    while control.model.cycle_index != 2 {
        path.ack(&mut control, RATE, ms(40.0));
    }
    assert_close(path.event.cwnd_packets, 88.0);
    (control, path)
}

/// Sec. 4.2.3.4: the window is 50 packets in flight and one delivered packet at the start. For a
/// round trip one packet leaves per delivered packet; at the end the window returns to its value
/// before.
#[test]
fn conserves_packets_in_the_first_round_trip_of_a_recovery() {
    let (mut control, mut path) = cruising();
    path.flight = 50;
    (path.event.repair, path.event.newly_lost) = (Repair::FastRecovery, 30);
    assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 51.0);
    path.event.newly_lost = 0;
    for _ in 0..49 {
        assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 51.0);
    }
    assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 52.0);
    path.event.repair = Repair::None;
    assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 88.0);
}

/// Sec. 4.2.3.4: a timeout leaves a window of one packet, which the sender sets. The window returns
/// to its value before when the losses are repaired.
#[test]
fn the_window_before_a_timeout_returns_after_the_repair() {
    let (mut control, mut path) = cruising();
    control.on_congestion(&script::congestion(CongestionKind::Timeout, 88.0));
    (path.event.repair, path.event.cwnd_packets, path.flight) = (Repair::Timeout, 1.0, 1);
    assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 4.0);
    assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 5.0);
    path.event.repair = Repair::None;
    assert_close(path.ack(&mut control, RATE, ms(40.0)).cwnd_packets, 88.0);
}

/// `bbr_tso_segs_goal`: 1 packet below 1.2 Mbit/s, and above that the packets that leave in 1/1024
/// s, at least 2 and at most 64 KB less a header (43 packets of 1500 B). The window adds three
/// quanta and is rounded up to an even number.
#[test]
fn the_quantum_follows_the_rate() {
    let mut control = started(1);
    control.model.min_rtt.set(Time::from_milliseconds(10), Time::ZERO);
    for (mbps, packets, room) in [
        (1.1, 1, 4.0),
        (1.3, 2, 6.0),
        (36.8, 2, 6.0),
        (36.9, 3, 10.0),
        (100.0, 8, 24.0),
        (500.0, 40, 120.0),
        (1e3, 43, 130.0),
        (1e5, 43, 130.0),
    ] {
        control.model.pacing_rate = mbps * 1e6 / (8.0 * 1_500.0);
        control.model.set_send_quantum();
        assert_eq!(control.model.output().send_quantum, packets, "{mbps} Mbit/s");
        assert_close(control.model.inflight(0.0), room);
    }
}

/// A path with one loss per four delivered packets: two intervals of at least four round trips, the
/// first from the first loss on, and then the flow keeps to the rate of both for 48 round trips of
/// `ProbeBW`.
#[test]
fn keeps_to_the_rate_of_a_policer() {
    let (mut control, mut path) = (started(1), Path::new(40));
    let mut in_use = Vec::new();
    for round in 0..140 {
        for ack in 0..40 {
            path.event.newly_lost = u64::from(ack % 4 == 0);
            control.model.lost += path.event.newly_lost;
            // A probe measures a higher rate for a short time.
            let rate = if ack == 20 { 1.5 * RATE } else { RATE };
            path.ack(&mut control, rate, ms(40.0));
        }
        if control.model.policer.rate().is_some() {
            in_use.push(round);
        }
    }
    // Two intervals of four round trips each, then 48 round trips, then two intervals again.
    let first = in_use[0];
    assert!((7..=10).contains(&first), "{in_use:?}");
    let held = in_use.iter().zip(first..).take_while(|(round, expected)| *round == expected);
    assert_eq!(held.count(), 48, "{in_use:?}");
    assert_eq!(in_use[48] - in_use[47], 9, "{in_use:?}");
}

/// While the rate of the policer is in use, the flow paces at that rate less the margin and does
/// not probe.
#[test]
fn a_policed_flow_does_not_probe() {
    let (mut control, mut path) = (started(1), Path::new(40));
    let mut rates = Vec::new();
    for ack in 0..40 * 40 {
        path.event.newly_lost = u64::from(ack % 4 == 0);
        control.model.lost += path.event.newly_lost;
        let fastest = if ack % 40 == 20 { 1.5 * RATE } else { RATE };
        let output = path.ack(&mut control, fastest, ms(40.0));
        if control.model.policer.rate().is_some() && control.model.state == State::ProbeBandwidth {
            rates.push(output.pacing_rate);
        }
    }
    assert!(rates.len() > 500);
    let policed = control.model.policer.rate().expect("the rate of the policer is in use");
    // One ACK in 40 arrives after two thirds of a millisecond instead of one.
    assert!((policed - RATE * 40.0 / (39.0 + 2.0 / 3.0)).abs() < 0.002 * RATE, "{policed}");
    assert!(rates[100..].iter().all(|rate| (rate - 0.99 * policed).abs() < 1e-6));
}

/// BBR detects a policer if a fifth of the packets is lost (50 per 256 delivered), and not if fewer
/// are lost.
#[test]
fn fewer_losses_are_not_taken_for_a_policer() {
    for (of, is_policed) in [(5, true), (6, false)] {
        let (mut control, mut path) = (started(1), Path::new(40));
        for ack in 0..40 * 40 {
            path.event.newly_lost = u64::from(ack % of == 0);
            control.model.lost += path.event.newly_lost;
            path.ack(&mut control, RATE, ms(40.0));
        }
        assert_eq!(control.model.policer.rate().is_some(), is_policed, "1 of {of}");
    }
}

fn undo(control: &mut Bbr1, path: &Path) -> f64 {
    let RateSampleEvent { now, cwnd_packets, delivered, .. } = path.event;
    control.on_undo(&UndoEvent { now, cwnd_packets, delivered })
}

/// `bbr_undo_cwnd`: the losses that spoke for a policer were none. The window stays.
#[test]
fn an_undo_forgets_the_rate_of_a_policer() {
    let (mut control, mut path) = (started(1), Path::new(40));
    for ack in 0..40 * 40 {
        path.event.newly_lost = u64::from(ack % 4 == 0);
        control.model.lost += path.event.newly_lost;
        path.ack(&mut control, RATE, ms(40.0));
    }
    assert!(control.model.policer.rate().is_some());
    let window = path.event.cwnd_packets;
    assert_close(undo(&mut control, &path), window);
    assert!(control.model.policer.rate().is_none());
}

/// `bbr_undo_cwnd`: the round trips without growth are counted anew, since the recovery may have
/// been the reason. A pipe that has been full stays so.
#[test]
fn an_undo_begins_to_look_for_the_plateau_anew() {
    let rounds_to_drain = |undone_after: Option<usize>| {
        let (mut control, mut path) = (started(1), Path::new(40));
        (1..20).find(|&count| {
            path.round(&mut control, RATE, ms(40.0));
            if undone_after == Some(count) {
                undo(&mut control, &path);
            }
            control.model.plateau.is_reached
        })
    };
    let without = rounds_to_drain(None).expect("the plateau is found");
    assert_eq!(rounds_to_drain(Some(without - 1)), Some(2 * without - 1));
    let (mut control, path) = probing(1);
    undo(&mut control, &path);
    assert!(control.model.plateau.is_reached);
}
