//! A rate-based control, fed with recorded rate samples.
//!
//! The kernel draws the phase in which BBR begins to probe at random, and so does tailroom. The replay
//! is repeated with several seeds, and the one that agrees best counts: the phase is an input.

use tailroom_engine::congestion::rate_based::{
    BeginEvent, ControlOutput, LostPacketEvent, RateBasedControl, RateSample, RateSampleEvent,
    Repair,
};
use tailroom_engine::congestion::{
    AnyRateBasedControl, Congestion, CongestionEvent, CongestionKind,
};

use crate::outcome::Outcome;
use crate::trace::{Callback, Kind, LOSS, RECOVERY, Rates, Trace};

/// Two drawings from seven phases are found among so many seeds.
const SEEDS: u64 = 400;
const HALF: f64 = 0.5;
const PERCENT: f64 = 100.0;

/// What the replay of a rate-based control has found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The windows, in whole packets.
    pub windows: Outcome,
    /// The pacing rates, as percentages of the kernel's.
    pub rates: Outcome,
}

/// Replays a trace. Pacing rates are equal if they differ by less than the description's bound, in
/// percent.
///
/// # Errors
/// The trace names a window law, or a callback without a rate sample.
pub fn replay(trace: &Trace) -> Result<Found, String> {
    let mut best = Found::default();
    for seed in 0..SEEDS {
        let found = replay_with(trace, seed)?;
        if seed == 0 || found.windows.equal > best.windows.equal {
            best = found;
        }
    }
    Ok(best)
}

fn replay_with(trace: &Trace, seed: u64) -> Result<Found, String> {
    let description = &trace.description;
    let Congestion::RateBased(mut control) = Congestion::new(&description.tailroom) else {
        return Err(format!("{} is no rate-based control", description.tailroom.name()));
    };
    // What the kernel shows before is the answer to the SYN, of which it then keeps the RTT alone.
    let (_, first) = trace.begun().next().ok_or("the control does not begin")?;
    let mut output = control.begin(&BeginEvent {
        srtt: first.srtt,
        now: first.now,
        seed,
        cwnd_packets: first.cwnd as f64,
        packet_bytes: description.packet_bytes,
        line_rate: f64::INFINITY,
        hops: 1,
        has_sack: true,
    });
    let mut found = Found::default();
    let mut last: Option<&Callback> = None;
    for (at, callback) in trace.begun() {
        if callback.kind.is_about_window() {
            if last.is_some_and(|last| callback.cwnd != last.cwnd_after) {
                output.cwnd_packets = callback.cwnd as f64;
                found.windows.taken_over += 1;
            }
            last = Some(callback);
        }
        found.windows.congestions += u64::from(callback.kind == Kind::Congestion);
        match (callback.kind, &callback.rates) {
            (Kind::Rate, Some(rates)) => {
                output = answer(&mut control, output, callback, rates);
                let windows = [callback.cwnd_after as f64, output.cwnd_packets];
                found.windows.compare(at, callback, windows, HALF);
                let bytes = output.pacing_rate * f64::from(description.packet_bytes);
                let share = PERCENT * bytes / rates.pacing_bytes_per_second as f64;
                let room = description.continuous_bound_packets;
                found.rates.compare(at, callback, [PERCENT, share], room);
            }
            (Kind::Congestion, _) if callback.is_timeout => {
                control.on_congestion(&CongestionEvent {
                    now: callback.now,
                    kind: CongestionKind::Timeout,
                    cwnd_packets: output.cwnd_packets,
                    is_slow_start: false,
                });
            }
            _ => {}
        }
    }
    Ok(found)
}

fn answer(
    control: &mut AnyRateBasedControl,
    before: ControlOutput,
    callback: &Callback,
    rates: &Rates,
) -> ControlOutput {
    for _ in 0..rates.newly_lost {
        control.on_lost(&LostPacketEvent {
            now: rates.now,
            sequence: 0,
            tx_in_flight: 0,
            lost: 0,
            is_app_limited: rates.is_app_limited,
            delivered: rates.delivered,
            cwnd_packets: before.cwnd_packets,
        });
    }
    control.on_rate_sample(&RateSampleEvent {
        now: rates.now,
        cwnd_packets: before.cwnd_packets,
        srtt: callback.srtt,
        prior_in_flight: rates.prior_in_flight,
        in_flight: rates.in_flight,
        newly_delivered: rates.newly_delivered,
        newly_lost: rates.newly_lost,
        delivered: rates.delivered,
        marked: 0,
        rtt: rates.rtt,
        rate: rates.sample.map(|(delivered, interval)| RateSample {
            delivered,
            prior_delivered: rates.prior_delivered,
            delivery_rate: interval.map(|interval| delivered as f64 / interval.seconds()),
            tx_in_flight: 0,
            lost: 0,
            is_app_limited: rates.is_app_limited,
        }),
        is_cwnd_limited: callback.is_limited,
        repair: match callback.state {
            RECOVERY => Repair::FastRecovery,
            LOSS => Repair::Timeout,
            _ => Repair::None,
        },
        next_departure: rates.next_departure,
    })
}
