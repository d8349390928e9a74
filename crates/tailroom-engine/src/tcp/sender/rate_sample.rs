//! Delivery-rate samples (draft-ietf-ccwg-bbr-06 sec. "Delivery Rate Samples", as of its
//! repository's commit 4ce5e87 of 3 August 2026): the rate at which the network delivered the
//! packets that were in flight together with an acknowledged packet.
//!
//! Only rate-based controls need these samples. Each packet in flight has a record, in a ring
//! indexed by sequence number. Data is counted in packets, which all have the same size.

use std::collections::VecDeque;

use super::flight::Flight;
use crate::congestion::rate_based::{LostPacketEvent, RateSample};
use crate::packet::Range;
use crate::units::{Time, float};

/// The state of the connection when a packet was sent (the draft's per-packet state), in 40 bytes,
/// because with many packets in flight memory accesses dominate the cost. The low bits of the
/// counts are enough: only their increase while the packet is in flight is needed.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
struct Record {
    sent_time: Time,
    first_sent_time: Time,
    delivered_time: Time,
    delivered: u32,
    lost: u32,
    tx_in_flight: u32,
    is_app_limited: bool,
    is_retransmission: bool,
    is_delivered: bool,
    is_lost: bool,
}

/// What the loss of a transmission tells: the state of the connection when the packet was sent.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    lost: u32,
    tx_in_flight: u32,
    is_app_limited: bool,
}

impl From<Record> for Transmission {
    fn from(record: Record) -> Self {
        let Record { lost, tx_in_flight, is_app_limited, .. } = record;
        Transmission { lost, tx_in_flight, is_app_limited }
    }
}

/// The increase of `count` since its low bits were `before`.
fn added(count: u64, before: u32) -> u64 {
    u64::from((count as u32).wrapping_sub(before))
}

/// Memory per packet in flight, in bytes.
pub const RECORD_BYTES: usize = size_of::<Record>();

/// The packet sent last of those that an ACK acknowledges.
#[derive(Clone, Copy, Debug, Default)]
struct Newest {
    record: Record,
    sequence: u64,
}

/// Measures delivery rates and RTTs, and reports each lost packet.
#[derive(Clone, Debug, Default)]
pub struct RateSampler {
    records: Flight<Record>,
    /// Earlier transmissions of packets that were sent again before they were lost, by sequence
    /// number, the earliest first. The loss of the packet is theirs before it is that of the record.
    /// Some have arrived.
    earlier: VecDeque<(u64, Transmission)>,
    delivered: u64,
    delivered_time: Time,
    /// When the packet delivered last was sent, or the packet that began the flight.
    first_sent_time: Time,
    lost: u64,
    /// Losses below this packet have been counted.
    lost_edge: u64,
    /// Number of deliveries after which the last gap in the data has left the network; 0 without a
    /// gap.
    app_limited: u64,
    min_rtt: Option<Time>,
    /// One more than the packet that last filled the window.
    full_until: u64,
    newly_delivered: u64,
    /// Whether the ACK has moved the cumulative ACK past a retransmission.
    passes_retransmission: bool,
    /// Meaningless while no packet is newly delivered.
    newest: Newest,
}

impl RateSampler {
    /// Memory taken by the records of packets in flight, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let earlier = self.earlier.capacity() * size_of::<(u64, Transmission)>();
        self.records.memory_bytes() + earlier as u64
    }

    /// Packets acknowledged since the connection began.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether a gap in the data is in the network.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// Whether the window was full at some time in the last round trip: the packet that filled it
    /// had not been acknowledged before this ACK.
    pub fn is_cwnd_limited(&self, prior_una: u64) -> bool {
        self.full_until > prior_una
    }

    /// Marks the packets in flight as limited by the application (`MarkConnectionAppLimited`).
    pub fn mark_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Records a packet that leaves at `now`; `in_flight` includes it (`OnPacketSent`).
    pub fn on_sent(
        &mut self,
        now: Time,
        sequence: u64,
        is_retransmission: bool,
        in_flight: u64,
        is_window_full: bool,
    ) {
        if in_flight <= 1 {
            (self.first_sent_time, self.delivered_time) = (now, now);
        }
        let record = Record {
            sent_time: now,
            first_sent_time: self.first_sent_time,
            delivered_time: self.delivered_time,
            delivered: self.delivered as u32,
            lost: self.lost as u32,
            tx_in_flight: in_flight as u32,
            is_app_limited: self.is_app_limited(),
            is_retransmission,
            is_delivered: false,
            is_lost: false,
        };
        if let Some(before) = self.records.put(sequence, record) {
            self.keep(sequence, before);
        }
        if is_window_full {
            self.full_until = self.records.end();
        }
    }

    /// Keeps the transmission of a packet that is sent again, if the packet is not lost yet (RFC 6675
    /// sec. 4, `NextSeg` rules 3 and 4; RFC 8985 sec. 7.3).
    #[inline(never)]
    fn keep(&mut self, sequence: u64, before: Record) {
        if sequence < self.lost_edge || before.is_delivered {
            return;
        }
        let arrived = self.earlier.partition_point(|(packet, _)| *packet < self.records.una());
        self.earlier.drain(..arrived);
        let place = self.earlier.partition_point(|(packet, _)| *packet <= sequence);
        self.earlier.insert(place, (sequence, before.into()));
    }

    /// The earliest transmission of a packet that has not been lost, if the packet has been sent again
    /// since.
    fn take_earlier(&mut self, sequence: u64) -> Option<Transmission> {
        let place = self.earlier.partition_point(|(packet, _)| *packet < sequence);
        self.earlier.get(place).filter(|(packet, _)| *packet == sequence)?;
        self.earlier.remove(place).map(|(_, transmission)| transmission)
    }

    /// The last transmission of a packet, if it has not been lost.
    fn take_last(&mut self, sequence: u64) -> Option<Transmission> {
        let record = self.records.get_mut(sequence)?;
        let was_lost = std::mem::replace(&mut record.is_lost, true);
        (!was_lost).then_some((*record).into())
    }

    /// Takes in the packets below the new cumulative ACK, `una`.
    pub fn on_acked(&mut self, now: Time, una: u64) {
        let first = self.records.una();
        if let Some(last) = self.records.advance_unchanged(una) {
            self.deliver(now, una - 1, last, una - first);
        }
        while self.records.una() < una {
            let sequence = self.records.una();
            if let Some(record) = self.records.pop() {
                self.passes_retransmission |= record.is_retransmission;
                if !record.is_delivered {
                    self.deliver(now, sequence, record, 1);
                }
            }
        }
    }

    /// Takes in newly sacked packets at or above the cumulative ACK.
    pub fn on_sacked(&mut self, now: Time, packets: Range) {
        for sequence in packets.start.max(self.records.una())..packets.end {
            if let Some(record) = self.records.get_mut(sequence)
                && !std::mem::replace(&mut record.is_delivered, true)
            {
                let record = *record;
                self.deliver(now, sequence, record, 1);
            }
        }
    }

    /// `UpdateRateSample` for so many packets, the last of which has this number, and left last.
    #[inline]
    fn deliver(&mut self, now: Time, sequence: u64, record: Record, packets: u64) {
        let is_first = self.newly_delivered == 0;
        self.delivered += packets;
        self.newly_delivered += packets;
        self.delivered_time = now;
        let newest = &self.newest;
        if is_first || (record.sent_time, sequence) > (newest.record.sent_time, newest.sequence) {
            self.newest = Newest { record, sequence };
            self.first_sent_time = record.sent_time;
        }
    }

    /// Shows `on_lost` each newly lost packet below `edge`; returns their number.
    #[inline]
    pub fn lose_below(
        &mut self,
        now: Time,
        edge: u64,
        cwnd_packets: f64,
        mut on_lost: impl FnMut(&LostPacketEvent),
    ) -> u64 {
        if edge <= self.lost_edge {
            return 0;
        }
        let before = self.lost;
        for sequence in self.lost_edge.max(self.records.una())..edge {
            if !self.is_delivered(sequence) {
                self.lose(now, sequence, cwnd_packets, &mut on_lost);
            }
        }
        self.lost_edge = edge;
        self.lost - before
    }

    /// After a timeout: shows `on_lost` each transmission in the network.
    pub fn lose_everything(
        &mut self,
        now: Time,
        cwnd_packets: f64,
        mut on_lost: impl FnMut(&LostPacketEvent),
    ) {
        let end = self.records.end();
        for sequence in self.records.una()..end {
            while self.lose(now, sequence, cwnd_packets, &mut on_lost) {}
        }
        self.lost_edge = end;
    }

    /// No packet is lost; each may be reported again.
    pub fn unmark_lost(&mut self) {
        self.records.change_all(|record| record.is_lost = false);
        self.lost_edge = self.records.una();
    }

    /// Whether a packet is acknowledged selectively, as most are below the edge of the lost ones.
    fn is_delivered(&self, sequence: u64) -> bool {
        self.records.get(sequence).is_none_or(|record| record.is_delivered)
    }

    /// Counts the loss of a packet and shows it to `on_lost`, unless the packet has arrived or all its
    /// transmissions are lost already; returns whether it does. The loss is that of the earliest
    /// transmission that is not lost.
    #[inline(never)]
    pub fn lose(
        &mut self,
        now: Time,
        sequence: u64,
        cwnd_packets: f64,
        on_lost: &mut impl FnMut(&LostPacketEvent),
    ) -> bool {
        if self.is_delivered(sequence) {
            return false;
        }
        let Some(transmission) = self.take_earlier(sequence).or_else(|| self.take_last(sequence))
        else {
            return false;
        };
        self.lost += 1;
        on_lost(&LostPacketEvent {
            now,
            sequence,
            tx_in_flight: u64::from(transmission.tx_in_flight),
            lost: added(self.lost, transmission.lost),
            is_app_limited: transmission.is_app_limited,
            delivered: self.delivered,
            cwnd_packets,
        });
        true
    }

    /// Ends an ACK: returns the number of newly acknowledged packets, and the RTT and the rate
    /// sample of the one that was sent last (`GenerateRateSample`). `timestamp_rtt` is the RTT that the
    /// timestamps tell; it counts where a retransmission makes that of the packet ambiguous (Linux
    /// `tcp_ack_update_rtt`).
    pub fn finish(
        &mut self,
        now: Time,
        timestamp_rtt: Option<Time>,
    ) -> (u64, Option<Time>, Option<RateSample>) {
        // The gap has left the network.
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let newly_delivered = std::mem::take(&mut self.newly_delivered);
        let passes_retransmission = std::mem::take(&mut self.passes_retransmission);
        if newly_delivered == 0 {
            return (0, None, None);
        }
        let record = &self.newest.record;
        // After a retransmission it is unknown which transmission the ACK acknowledges.
        let is_sacked = self.newest.sequence >= self.records.una();
        let is_ambiguous = record.is_retransmission
            || timestamp_rtt.is_some() && passes_retransmission && !is_sacked;
        let rtt = if is_ambiguous { timestamp_rtt } else { Some(now.since(record.sent_time)) };
        if let Some(rtt) = rtt
            && self.min_rtt.is_none_or(|smallest| rtt < smallest)
        {
            self.min_rtt = Some(rtt);
        }
        // The longer interval of the two: ACKs that arrive faster than the packets were sent have
        // been compressed.
        let send_elapsed = record.sent_time.since(record.first_sent_time);
        let interval = now.since(record.delivered_time).max(send_elapsed);
        let delivered = added(self.delivered, record.delivered);
        let is_reliable =
            interval > Time::ZERO && self.min_rtt.is_none_or(|smallest| interval >= smallest);
        let sample = RateSample {
            delivered,
            prior_delivered: self.delivered - delivered,
            delivery_rate: is_reliable.then(|| float(delivered) / interval.seconds()),
            tx_in_flight: u64::from(record.tx_in_flight),
            lost: added(self.lost, record.lost),
            is_app_limited: record.is_app_limited,
        };
        (newly_delivered, rtt, Some(sample))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Time {
        Time::from_milliseconds(milliseconds)
    }

    fn ignore(_: &LostPacketEvent) {}

    fn send(sampler: &mut RateSampler, at_ms: u64, sequences: std::ops::Range<u64>) {
        for sequence in sequences {
            let in_flight = sequence + 1 - sampler.records.una();
            sampler.on_sent(ms(at_ms), sequence, false, in_flight, false);
        }
    }

    fn rate(sampler: &mut RateSampler, at_ms: u64) -> (f64, u64) {
        let sample = sampler.finish(ms(at_ms), None).2.expect("something is acknowledged");
        (sample.delivery_rate.expect("it is reliable"), sample.delivered)
    }

    /// Two packets at 0 ms are acknowledged at 100 and 110 ms, and two more leave at those times.
    /// The third is back at 200 ms: 2 packets since the ACK at 100 ms that it followed, 20/s. The
    /// fourth at 210 ms: 2 packets since 110 ms, but they were sent in the 110 ms since the packet
    /// acknowledged then, the longer time.
    #[test]
    fn counts_from_the_ack_before_the_transmission_to_the_ack() {
        let mut sampler = RateSampler::default();
        send(&mut sampler, 0, 0..2);
        sampler.on_acked(ms(100), 1);
        let (delivery_rate, delivered) = rate(&mut sampler, 100);
        assert!((delivery_rate - 10.0).abs() < 1e-9 && delivered == 1);
        send(&mut sampler, 100, 2..3);
        sampler.on_acked(ms(110), 2);
        assert!((rate(&mut sampler, 110).0 - 2.0 / 0.11).abs() < 1e-9);
        send(&mut sampler, 110, 3..4);
        sampler.on_acked(ms(200), 3);
        assert!((rate(&mut sampler, 200).0 - 20.0).abs() < 1e-9);
        sampler.on_acked(ms(210), 4);
        assert!((rate(&mut sampler, 210).0 - 2.0 / 0.11).abs() < 1e-9);
    }

    /// 100 packets/s at an RTT of 100 ms; the ACKs due from 500 to 590 ms are held back and come
    /// together. Packet 59 leaves behind the first of them: by its own ACK, 100 ms later, 19
    /// packets have been acknowledged. They were sent in the 190 ms since packet 40: 100/s.
    #[test]
    fn what_arrives_faster_than_it_was_sent_is_capped() {
        let mut sampler = RateSampler::default();
        let acknowledge = |sampler: &mut RateSampler, at_ms, una| {
            sampler.on_acked(ms(at_ms), una);
            rate(sampler, at_ms)
        };
        for packet in 0..59 {
            if (10..50).contains(&packet) {
                acknowledge(&mut sampler, 10 * packet, packet - 9);
            }
            send(&mut sampler, 10 * packet, packet..packet + 1);
        }
        acknowledge(&mut sampler, 590, 41);
        send(&mut sampler, 590, 59..60);
        (42..=50).for_each(|una| {
            acknowledge(&mut sampler, 590, una);
        });
        (51..60).for_each(|una| {
            acknowledge(&mut sampler, 90 + 10 * una, una);
        });
        let (delivery_rate, delivered) = acknowledge(&mut sampler, 690, 60);
        assert!((delivery_rate - 100.0).abs() < 1e-9 && delivered == 19, "{delivery_rate}");
    }

    /// The sample is that of the packet sent last, whichever way it is acknowledged, and none is
    /// counted twice.
    #[test]
    fn selective_acknowledgements_count_once() {
        let mut sampler = RateSampler::default();
        send(&mut sampler, 0, 0..6);
        sampler.on_sacked(ms(100), Range { start: 2, end: 4 });
        assert_eq!(sampler.finish(ms(100), None).0, 2);
        sampler.on_acked(ms(120), 5);
        let (newly_delivered, rtt, sample) = sampler.finish(ms(120), None);
        assert_eq!((newly_delivered, rtt, sampler.delivered()), (3, Some(ms(120)), 5));
        assert_eq!(sample.map(|sample| sample.delivered), Some(5));
        assert_eq!(sampler.finish(ms(130), None), (0, None, None));
    }

    /// Packets 0 and 1 are lost, 0 is sent again at 100 ms, the timeout at 300 ms gives up 0
    /// (again) and 4, which the ACKs had not given up.
    #[test]
    fn losses_are_shown_once_for_each_transmission() {
        let mut sampler = RateSampler::default();
        send(&mut sampler, 0, 0..5);
        sampler.on_sacked(ms(100), Range { start: 2, end: 4 });
        let mut shown = Vec::new();
        let mut show =
            |lost: &LostPacketEvent| shown.push((lost.sequence, lost.lost, lost.tx_in_flight));
        assert_eq!(sampler.lose_below(ms(100), 2, 5.0, &mut show), 2);
        assert_eq!(sampler.lose_below(ms(100), 2, 5.0, &mut show), 0);
        sampler.on_sent(ms(100), 0, true, 2, false);
        sampler.lose_everything(ms(300), 5.0, &mut show);
        // The retransmission was sent when two had been lost: one since then.
        assert_eq!(shown, [(0, 1, 1), (1, 2, 2), (0, 1, 2), (4, 4, 5)]);
    }

    /// An RTT of 100 ms has been seen, so an ACK 20 ms after the retransmission must be for the
    /// first transmission: the interval says nothing.
    #[test]
    fn an_interval_shorter_than_the_smallest_rtt_is_not_believed() {
        let mut sampler = RateSampler::default();
        send(&mut sampler, 0, 0..3);
        sampler.on_sacked(ms(100), Range { start: 1, end: 3 });
        sampler.finish(ms(100), None);
        sampler.lose_below(ms(100), 1, 3.0, ignore);
        sampler.on_sent(ms(200), 0, true, 1, false);
        sampler.on_acked(ms(220), 3);
        let (newly_delivered, rtt, sample) = sampler.finish(ms(220), None);
        assert_eq!((newly_delivered, rtt), (1, None));
        assert_eq!(sample.map(|sample| sample.delivery_rate), Some(None));
    }

    /// The gap behind packet 2 is gone when that is acknowledged: samples of what was sent before
    /// then are limited by the application.
    #[test]
    fn a_gap_in_the_data_limits_a_round_trip_of_samples() {
        let mut sampler = RateSampler::default();
        send(&mut sampler, 0, 0..3);
        sampler.mark_app_limited(3);
        send(&mut sampler, 50, 3..4);
        sampler.on_acked(ms(100), 3);
        sampler.finish(ms(100), None);
        assert!(sampler.is_app_limited());
        send(&mut sampler, 100, 4..5);
        sampler.on_acked(ms(150), 4);
        assert_eq!(sampler.finish(ms(150), None).2.map(|sample| sample.is_app_limited), Some(true));
        send(&mut sampler, 150, 5..6);
        sampler.on_acked(ms(200), 5);
        assert_eq!(sampler.finish(ms(200), None).2.map(|sample| sample.is_app_limited), Some(true));
        sampler.on_acked(ms(250), 6);
        assert_eq!(
            sampler.finish(ms(250), None).2.map(|sample| sample.is_app_limited),
            Some(false)
        );
    }

    /// Packets 0 and 1 are lost; 1 is sent again at 101.7 ms and 0 at 101.2 ms. The ACK of both at 205.5
    /// ms has no RTT of its own: its timestamps tell 104 ms. An ACK that also reports a packet that was
    /// sent once takes the RTT of that.
    #[test]
    fn an_ack_of_a_retransmission_has_the_rtt_of_its_timestamps() {
        let mut sampler = RateSampler::default();
        send(&mut sampler, 0, 0..5);
        sampler.on_sacked(ms(100), Range { start: 2, end: 4 });
        sampler.finish(ms(100), None);
        sampler.on_sent(ms(101), 0, true, 2, false);
        sampler.on_sent(ms(101), 1, true, 2, false);
        send(&mut sampler, 102, 5..7);
        sampler.on_acked(ms(205), 4);
        assert_eq!(sampler.finish(ms(205), Some(ms(104))).1, Some(ms(104)));
        sampler.on_sacked(ms(206), Range { start: 6, end: 7 });
        assert_eq!(sampler.finish(ms(206), Some(ms(105))).1, Some(ms(104)));
    }
}
