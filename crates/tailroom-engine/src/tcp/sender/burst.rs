//! How many packets a host with segmentation offload sends at once.

use super::Sender;
use super::pacer::pacing_gain;
use super::rtt::SmoothedRtt;
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::units::{Time, float};

/// Largest burst (Linux `sk_gso_max_size`).
const MAX_BYTES: f64 = 65_536.0;
/// The burst lasts this part of a second at the sending rate (Linux `sk_pacing_shift`, 10 bits).
const PER_SECOND: f64 = 1024.0;
const PICOSECONDS_PER_SECOND: f64 = 1e12;
/// Smallest burst in packets (Linux `tcp_min_tso_segs`).
const MIN_PACKETS: u64 = 2;
/// The allowance for near hosts halves with each 512 us of RTT (Linux `tcp_tso_rtt_log`, 9 bits).
const HALVING_PICOSECONDS: u64 = 512_000_000;

/// The first packets of a connection leave as the window allows although it is paced (Linux
/// `tcp_update_skb_after_send`, from the tenth on).
pub(super) const UNPACED_PACKETS: u64 = 10;
/// A host waits for a larger burst only if the next ACK is due within this time (Linux
/// `tcp_tso_should_defer`, since 6.18).
const PATIENCE: Time = Time::from_milliseconds(1);

/// Number of packets that must fit into the window before the sender sends, and that leave together if
/// it is paced. Under a rate-based control, which has its own rule, a host that sends bursts paces each
/// packet that it sends again by itself (Linux `tcp_xmit_retransmit_queue`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(untagged)]
#[schemars(rename = "SendBurstConfig")]
pub enum SendBurst {
    /// This many packets, at most a third of the window, however long the sender has to wait for them.
    Packets(#[schemars(range(min = 1, max = 65_536))] u32),
    /// As many as Linux sends at once: 1 ms at the sending rate, at least 2 packets and at most 64 KB,
    /// and more if the RTT is below about 3 ms (`tcp_tso_autosize`). The sender waits for so many only if
    /// it has sent something in the last millisecond and the next ACK is due within a millisecond and
    /// half an RTT, and neither for the last packet of the data at hand nor if all that are left fit into
    /// the window (`tcp_tso_should_defer`). Only with `recovery = "rack"` it knows when an ACK is due, and
    /// otherwise takes it to be due. For a rate-based control only the part for short RTTs is added to
    /// its own rule, and the first ten packets of the connection are not paced
    /// (`tcp_update_skb_after_send`).
    Named(Automatic),
}

/// The name of the rule of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(rename_all = "snake_case")]
pub enum Automatic {
    /// The rule of Linux.
    Auto,
}

impl SendBurst {
    /// The rule of Linux.
    pub const AUTO: SendBurst = SendBurst::Named(Automatic::Auto);
    /// Packets leave one by one.
    pub const SINGLE: SendBurst = SendBurst::Packets(1);
}

impl Default for SendBurst {
    fn default() -> Self {
        SendBurst::SINGLE
    }
}

/// How much data the application has for the sender.
#[derive(Clone, Copy, Debug)]
pub(super) enum DataLeft {
    /// This many packets, after which it closes the connection.
    Exactly(u64),
    /// This many packets now, and perhaps more later.
    UpTo(u64),
}

/// What a decision to wait for a larger burst depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deferral {
    /// The next packet to send.
    pub(super) next: u64,
    /// Packets that fit into the window.
    pub(super) window: f64,
    /// When the last packet left.
    pub(super) last_sent: Time,
    pub(super) srtt: Time,
}

impl Deferral {
    /// Whether waiting costs little. `first_sent` is the time at which the first packet in flight left;
    /// `None` if it is not known.
    #[inline]
    pub(super) fn is_due(self, now: Time, left: DataLeft, first_sent: Option<Time>) -> bool {
        let is_end = match left {
            DataLeft::Exactly(packets) => packets == 1 || packets <= self.window as u64,
            DataLeft::UpTo(packets) => packets == 1,
        };
        if is_end || now.since(self.last_sent) > PATIENCE {
            return false;
        }
        let half = Time::from_picoseconds(self.srtt.picoseconds() / 2);
        first_sent.is_none_or(|sent| (sent + self.srtt).since(now) <= half.min(PATIENCE))
    }
}

impl Sender {
    /// Whether the window has room for so many packets that a host with segmentation offload sends: its
    /// burst, but at most a third of the window (Linux `tcp_tso_win_divisor`), and any packet if none is in
    /// flight.
    pub(super) fn is_burst(&self, room: u64, in_flight: u64) -> bool {
        let sends_any = in_flight == 0 || self.is_rate_based();
        sends_any || self.is_burst_of(room, self.cwnd, self.rtt.smoothed())
    }

    /// Whether `room` holds the burst that a host with segmentation offload waits for while packets are in
    /// flight.
    #[inline]
    pub(super) fn is_burst_of(&self, room: u64, cwnd: f64, rtt: &SmoothedRtt) -> bool {
        room >= cwnd as u64 / 3
            || match self.options.send_burst {
                SendBurst::Packets(packets) => room >= u64::from(packets),
                SendBurst::Named(Automatic::Auto) => {
                    let gain = pacing_gain(cwnd, self.ssthresh);
                    holds_automatic(room, gain * cwnd, self.payload_bytes(), rtt)
                }
            }
    }

    /// The burst of the host, whatever the window allows.
    fn host_burst(&self, cwnd: f64, rtt: &SmoothedRtt) -> u64 {
        match self.options.send_burst {
            SendBurst::Packets(packets) => u64::from(packets),
            SendBurst::Named(Automatic::Auto) => {
                let rate = self.pacer.host_rate(cwnd, self.ssthresh, rtt.srtt());
                automatic_packets(rate, self.payload_bytes(), rtt.least())
            }
        }
    }

    /// What a decision to wait for a larger burst depends on, with so many packets in flight.
    pub(super) fn deferral(&self, in_flight: u64) -> Deferral {
        Deferral {
            next: self.next,
            window: self.cwnd - float(in_flight),
            last_sent: self.last_sent.max(self.pacer.next_departure()),
            srtt: self.rtt.srtt(),
        }
    }

    /// Whether a host waits for a larger burst, if the window has room for some packets of it.
    #[inline]
    pub(super) fn may_defer(&self, now: Time, deferral: Deferral) -> bool {
        let first_sent = self.rack.as_ref().and_then(|rack| rack.first_sent());
        let left = if self.objects.is_some() {
            DataLeft::UpTo(self.send_queue.packets - deferral.next)
        } else {
            DataLeft::Exactly(self.send_queue.packets - deferral.next)
        };
        self.options.send_burst != SendBurst::AUTO || deferral.is_due(now, left, first_sent)
    }

    /// Paces a packet of a window law whose scenario asks for it. New packets leave in the bursts of the
    /// host, and each retransmission by itself (Linux `tcp_xmit_retransmit_queue`).
    #[inline]
    pub(super) fn pace(&mut self, now: Time, is_retransmission: bool) {
        if !self.pacer.is_on() {
            return;
        }
        let is_paced = self.next >= UNPACED_PACKETS;
        let window = self.cwnd.max(float(self.next - self.una));
        let rate = self.pacer.host_rate(window, self.ssthresh, self.rtt.srtt());
        let gap = if is_paced { Time::from_seconds(1.0 / rate) } else { Time::ZERO };
        let burst = self.host_burst(self.cwnd, self.rtt.smoothed()).min(self.cwnd as u64 / 2);
        self.pacer.on_sent(now, gap, if is_retransmission { 1 } else { burst });
    }
}

/// The burst of a sender whose packets have `payload_bytes` bytes of data, at `rate` packets/s and
/// with the smallest RTT `min_rtt` (Linux `tcp_tso_autosize`).
pub fn automatic_packets(rate: f64, payload_bytes: u32, min_rtt: Time) -> u64 {
    let payload = f64::from(payload_bytes);
    let bytes = rate * payload / PER_SECOND + near_bytes(min_rtt);
    ((bytes.min(MAX_BYTES) / payload) as u64).max(MIN_PACKETS)
}

/// A quantum of `packets`, and what a host adds to it at short RTTs.
pub fn near_quantum(packets: u64, payload_bytes: u32, min_rtt: Time) -> u64 {
    let payload = f64::from(payload_bytes);
    let bytes = (float(packets) * payload + near_bytes(min_rtt)).min(MAX_BYTES);
    ((bytes / payload) as u64).max(packets)
}

/// Whether `room` holds [`automatic_packets`] at a rate of `window` packets per smoothed RTT: the same
/// comparison without a division, since a host asks at each ACK.
#[inline]
fn holds_automatic(room: u64, window: f64, payload_bytes: u32, rtt: &SmoothedRtt) -> bool {
    let payload = f64::from(payload_bytes);
    let too_many = float(room + 1) * payload;
    let picoseconds = float(rtt.srtt().picoseconds());
    let sent = window * payload * (PICOSECONDS_PER_SECOND / PER_SECOND);
    room >= MIN_PACKETS
        && (too_many > MAX_BYTES || sent < (too_many - near_bytes(rtt.least())) * picoseconds)
}

#[inline]
fn near_bytes(min_rtt: Time) -> f64 {
    let halvings = min_rtt.picoseconds() / HALVING_PICOSECONDS;
    // Linux shifts an integer: less than a byte is nothing.
    if halvings > 16 { 0.0 } else { MAX_BYTES / float(1 << halvings) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{SmallStream, below};

    const PICOSECONDS_PER_MICROSECOND: u64 = 1_000_000;
    const FAR: Time = Time::from_milliseconds(40);

    /// By hand: 100 Mbit/s in packets of 1448 B of data are 8,632.6 packets/s, 8.4 in 1/1024 s; 10
    /// Gbit/s would be 843, and 64 KB hold 45.
    #[test]
    fn a_burst_lasts_a_millisecond_within_its_bounds() {
        let at =
            |bits_per_second: f64| automatic_packets(bits_per_second / 8.0 / 1448.0, 1448, FAR);
        assert_eq!([at(1e6), at(100e6), at(10e9)], [2, 8, 45]);
    }

    /// The allowance is 64 KB below 512 us, 32 KB below 1,024 us, and so on: 45, 22 and 11 packets;
    /// at 3 ms it is 1 KB, less than a packet.
    #[test]
    fn near_hosts_send_larger_bursts_at_any_rate() {
        let at = |microseconds: u64| {
            let rtt = Time::from_picoseconds(microseconds * PICOSECONDS_PER_MICROSECOND);
            automatic_packets(0.0, 1448, rtt)
        };
        assert_eq!([100, 600, 1_100, 3_100].map(at), [45, 22, 11, 2]);
    }

    /// Linux `tcp_tso_should_defer`. The first packet in flight left at 0 and is acknowledged at 10 ms.
    #[test]
    fn a_host_waits_only_for_an_ack_that_is_due_at_once() {
        let at =
            |microseconds: u64| Time::from_picoseconds(microseconds * PICOSECONDS_PER_MICROSECOND);
        let deferral = |last_sent: u64, srtt: u64| Deferral {
            next: 100,
            window: 2.0,
            last_sent: at(last_sent),
            srtt: at(srtt),
        };
        let more = DataLeft::UpTo(3);
        let is_due = |now: u64, last_sent: u64, left: DataLeft| {
            deferral(last_sent, 10_000).is_due(at(now), left, Some(Time::ZERO))
        };
        // The ACK is due in more than a millisecond, in a millisecond, and overdue.
        assert_eq!([8_900, 9_000, 12_000].map(|now| is_due(now, now, more)), [false, true, true]);
        // The last packet left more than a millisecond ago.
        assert_eq!([8_000, 7_999].map(|sent| is_due(9_000, sent, more)), [true, false]);
        // At an RTT of 1 ms, half of it counts.
        let near = |now: u64| deferral(now, 1_000).is_due(at(now), more, Some(Time::ZERO));
        assert_eq!([499, 500].map(near), [false, true]);
        // A single packet, or the end of the data if the window has room for it; a flow without end has
        // none.
        let exactly = [2, 3, u64::MAX - 100].map(DataLeft::Exactly);
        assert_eq!(exactly.map(|left| is_due(9_500, 9_500, left)), [false, true, true]);
        let up_to = [1, 2].map(DataLeft::UpTo);
        assert_eq!(up_to.map(|left| is_due(9_500, 9_500, left)), [false, true]);
        // Without times of packets the ACK is taken to be due.
        assert!(deferral(0, 10_000).is_due(at(900), more, None));
    }

    /// The comparison without a division is that of the burst, on random windows, RTTs and payloads.
    #[test]
    fn room_for_a_burst_is_judged_as_by_its_size() {
        let mut draws = SmallStream::seeded(1);
        for _ in 0..100_000 {
            let mut draw = |bound: u64| 1 + below(&mut draws, bound);
            let scale = 10 + draw(32);
            let (srtt, window, payload) = (draw(1 << scale), draw(20_000), draw(9_000));
            let mut rtt = SmoothedRtt::new(FAR, FAR);
            rtt.on_sample(Time::from_picoseconds(srtt));
            let (payload, window) = (payload as u32, float(window) * 1.2);
            let burst = automatic_packets(window / rtt.srtt().seconds(), payload, rtt.least());
            for room in [1, burst.saturating_sub(1), burst, burst + 1, draw(100)] {
                let holds = holds_automatic(room, window, payload, &rtt);
                assert_eq!(
                    holds,
                    room >= burst,
                    "{room} of {burst}: {window}, {payload}, {srtt} ps"
                );
            }
        }
    }

    #[test]
    fn the_quantum_of_a_control_never_shrinks() {
        assert_eq!(near_quantum(3, 1448, FAR), 3);
        assert_eq!(near_quantum(3, 1448, Time::ZERO), 45);
        assert_eq!(near_quantum(60, 1448, Time::ZERO), 60);
    }
}
