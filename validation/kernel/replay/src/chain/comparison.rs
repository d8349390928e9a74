//! Where tailroom's sender and the kernel's agree.

use std::collections::BTreeMap;

use serde::Serialize;
use tailroom_engine::congestion::CongestionKind;
use tailroom_engine::units::Time;

use super::recording::{Answer, Description, Recording};
use super::replay::{Replay, Retransmission, Seen};

const PICOSECONDS_PER_MILLISECOND: f64 = 1e9;
const BITS: u64 = 8;
const HEADER_BYTES: u32 = 52;
/// A tick of the kernel's timestamps.
const TICK: Time = Time::from_milliseconds(1);

/// Values of both sides that were compared.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Agreement {
    /// How many.
    pub compared: u64,
    /// How many agree.
    pub agree: u64,
    /// The largest difference: packets, or milliseconds.
    pub largest: f64,
}

impl Agreement {
    fn count(&mut self, difference: f64, most: f64) {
        self.compared += 1;
        self.agree += u64::from(difference <= most);
        self.largest = self.largest.max(difference);
    }

    fn packets(&mut self, kernel: u64, tailroom: u64) {
        self.count(kernel.abs_diff(tailroom) as f64, 0.0);
    }

    fn times(&mut self, kernel: Time, tailroom: Time, most: Time) {
        let [kernel, tailroom, most] = [kernel, tailroom, most]
            .map(|time| time.picoseconds() as f64 / PICOSECONDS_PER_MILLISECOND);
        self.count((kernel - tailroom).abs(), most);
    }
}

/// Events of both sides.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Events {
    /// The kernel's.
    pub kernel: u64,
    /// tailroom's.
    pub tailroom: u64,
    /// Those that both have.
    pub same: u64,
}

/// What the comparison has found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// ACKs whose sample is of the same kind: none, without an RTT, or with one; of a rate-based
    /// control also without a rate, without its interval, or with both.
    pub kinds: Agreement,
    /// The pairs of kinds that differ, the kernel's first, and how often.
    pub other_kinds: BTreeMap<String, u64>,
    /// RTT samples, where both have one. They agree within a tick of the kernel's timestamps and
    /// the time of a packet on the link.
    pub rtts: Agreement,
    /// Smoothed RTTs, within the same.
    pub srtts: Agreement,
    /// Packets acknowledged, of a window law; newly delivered, of a rate-based control.
    pub acked: Agreement,
    /// Packets in flight.
    pub in_flight: Agreement,
    /// Packets of the rate samples, where both have one.
    pub rate_packets: Agreement,
    /// Their intervals, within the same as RTTs.
    pub rate_intervals: Agreement,
    /// Packets lost.
    pub lost: Events,
    /// ACKs after which the sum of lost packets is the kernel's, within an ACK.
    pub lost_in_time: Agreement,
    /// Calls for ssthresh after losses, the same ones at the same ACK.
    pub congestions: Events,
    /// Calls for ssthresh at timeouts, the same ones after the same ACK.
    pub timeouts: Events,
    /// Retransmissions, the same ones of the same packet.
    pub retransmissions: Events,
    /// Times of these.
    pub retransmitted_at: Agreement,
    /// Tail loss probes of tailroom's.
    pub probes: u64,
}

/// Compares a recording with its replay; the times of retransmissions are those of a replay that
/// sends them `freely`.
pub fn compare(recording: &Recording, replay: &Replay, freely: &Replay) -> Outcome {
    let mut outcome = Outcome { probes: replay.probes, ..Outcome::default() };
    let most = tolerance(&recording.description);
    for (kernel, seen) in recording.answers.iter().zip(&replay.seen) {
        match kernel.rate {
            Some(_) => outcome.compare_rate(kernel, seen, most),
            None => outcome.compare_sample(kernel, seen, most),
        }
    }
    outcome.compare_losses(recording, replay);
    outcome.congestions = calls(recording, replay, CongestionKind::Loss);
    outcome.timeouts = calls(recording, replay, CongestionKind::Timeout);
    (outcome.retransmissions, _) = retransmissions(replay, most);
    (_, outcome.retransmitted_at) = retransmissions(freely, most);
    outcome
}

/// A tick, and the time of a packet on the link.
fn tolerance(description: &Description) -> Time {
    let bits = u64::from(description.packet_bytes + HEADER_BYTES) * BITS;
    TICK + Time::from_picoseconds(bits * 1_000_000 / description.link_mbit)
}

impl Outcome {
    fn compare_sample(&mut self, kernel: &Answer, seen: &Seen, most: Time) {
        let kind = |is_told: bool, has_rtt: bool| match (is_told, has_rtt) {
            (_, true) => "an RTT",
            (true, false) => "no RTT",
            (false, false) => "nothing",
        };
        let (rtt, acked) = match seen.ack {
            Some(ack) => (ack.rtt, ack.acked_packets),
            None => (None, 0),
        };
        self.compare_kinds(
            kind(kernel.acked > 0, kernel.rtt.is_some()),
            kind(seen.ack.is_some(), rtt.is_some()),
        );
        self.compare_rtts(kernel.rtt, rtt, most);
        if let Some(ack) = seen.ack {
            self.srtts.times(kernel.srtt, ack.srtt, most);
        }
        self.acked.packets(kernel.acked, acked);
        self.in_flight.packets(kernel.in_flight, seen.in_flight);
    }

    fn compare_rate(&mut self, kernel: &Answer, seen: &Seen, most: Time) {
        let (Some(told), Some(rate)) = (kernel.rate, seen.rate) else { return };
        let sample = rate.rate.map(|rate| {
            let interval = |per_s: f64| Time::from_seconds(rate.delivered as f64 / per_s);
            (rate.delivered, rate.delivery_rate.map(interval))
        });
        let kind = |rtt: Option<Time>, sample: Option<(u64, Option<Time>)>| {
            let rtt = if rtt.is_some() { "an RTT" } else { "no RTT" };
            let rate = match sample {
                None => "no rate",
                Some((_, None)) => "a rate without interval",
                Some((_, Some(_))) => "a rate",
            };
            format!("{rtt} and {rate}")
        };
        self.compare_kinds(&kind(kernel.rtt, told.sample), &kind(rate.rtt, sample));
        self.compare_rtts(kernel.rtt, rate.rtt, most);
        self.srtts.times(kernel.srtt, rate.srtt, most);
        self.acked.packets(told.newly_delivered, rate.newly_delivered);
        self.in_flight.packets(kernel.in_flight, rate.in_flight);
        if let (Some((packets, Some(interval))), Some((own_packets, Some(own_interval)))) =
            (told.sample, sample)
        {
            self.rate_packets.packets(packets, own_packets);
            self.rate_intervals.times(interval, own_interval, most);
        }
    }

    fn compare_kinds(&mut self, kernel: &str, tailroom: &str) {
        let differ = kernel != tailroom;
        self.kinds.count(f64::from(u8::from(differ)), 0.0);
        if differ {
            *self.other_kinds.entry(format!("{kernel}; {tailroom}")).or_default() += 1;
        }
    }

    fn compare_rtts(&mut self, kernel: Option<Time>, tailroom: Option<Time>, most: Time) {
        if let (Some(kernel), Some(tailroom)) = (kernel, tailroom) {
            self.rtts.times(kernel, tailroom, most);
        }
    }

    fn compare_losses(&mut self, recording: &Recording, replay: &Replay) {
        let answers = &recording.answers;
        let Some(last) = answers.len().checked_sub(1) else { return };
        // A window law is called before losses are looked for, a rate-based control after that.
        let ahead = usize::from(!recording.description.is_rate_based);
        let kernel_after = |at: usize| answers[(at + ahead).min(last)].lost;
        for (at, seen) in replay.seen.iter().enumerate() {
            let before = if at == 0 { 0 } else { kernel_after(at - 1) };
            let too_few = before.saturating_sub(seen.lost);
            let too_many = seen.lost.saturating_sub(kernel_after(at + 1));
            self.lost_in_time.count((too_few + too_many) as f64, 0.0);
        }
        // Without the last ACKs, after which the kernel's sum is not known.
        let end = last.saturating_sub(ahead);
        let tailroom = replay.seen.get(end).map_or(0, |seen| seen.lost);
        let kernel = kernel_after(end);
        self.lost = Events { kernel, tailroom, same: kernel.min(tailroom) };
    }
}

fn retransmissions(replay: &Replay, most: Time) -> (Events, Agreement) {
    let kernel = by_packet(&replay.kernel_retransmissions);
    let tailroom = by_packet(&replay.retransmissions);
    let mut times = Agreement::default();
    for (packet, kernel_times) in &kernel {
        let own = tailroom.get(packet).map_or(&[][..], |own| own);
        for (&at, &own_at) in kernel_times.iter().zip(own) {
            times.times(at, own_at, most);
        }
    }
    let [kernel, tailroom] = [&replay.kernel_retransmissions, &replay.retransmissions];
    let (kernel, tailroom) = (kernel.len() as u64, tailroom.len() as u64);
    (Events { kernel, tailroom, same: times.compared }, times)
}

fn by_packet(retransmissions: &[Retransmission]) -> BTreeMap<u64, Vec<Time>> {
    let mut found: BTreeMap<u64, Vec<Time>> = BTreeMap::new();
    for one in retransmissions {
        found.entry(one.packet).or_default().push(one.now);
    }
    found
}

fn calls(recording: &Recording, replay: &Replay, kind: CongestionKind) -> Events {
    let kernel = recording.congestions.iter().filter(|one| one.kind == kind).map(|one| one.acks);
    let own = replay.congestions.iter().filter(|one| one.1 == kind).map(|one| one.0);
    let (kernel, mut left): (Vec<usize>, Vec<usize>) = (kernel.collect(), own.collect());
    let tailroom = left.len() as u64;
    for acks in &kernel {
        if let Some(at) = left.iter().position(|own| own == acks) {
            left.swap_remove(at);
        }
    }
    Events { kernel: kernel.len() as u64, tailroom, same: tailroom - left.len() as u64 }
}
