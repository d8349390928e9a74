//! What Linux shows of a sender as `tcp_info` (`getsockopt(TCP_INFO)`, `ss -i`), for comparisons
//! with a host. Nothing in a run depends on it.

use super::{Phase, Sender};
use crate::units::Time;

/// The congestion states of Linux (`enum tcp_ca_state`), with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionState {
    /// Nothing is amiss.
    Open = 0,
    /// Packets have arrived beyond a gap, and none is lost yet.
    Disorder = 1,
    /// A mark has reduced the window, and packets sent before are in flight.
    Reduced = 2,
    /// Fast recovery.
    Recovery = 3,
    /// After a timeout.
    Loss = 4,
}

impl CongestionState {
    /// The name, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            CongestionState::Open => "open",
            CongestionState::Disorder => "disorder",
            CongestionState::Reduced => "reduced",
            CongestionState::Recovery => "recovery",
            CongestionState::Loss => "loss",
        }
    }
}

/// The state of a sender. Counts are in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SenderInfo {
    /// `tcpi_ca_state`.
    pub state: CongestionState,
    /// `tcpi_snd_cwnd`, which Linux rounds down.
    pub cwnd: f64,
    /// `tcpi_snd_ssthresh`; infinite until the first congestion, where Linux has 2^31 - 1.
    pub ssthresh: f64,
    /// `tcpi_unacked`: sent, and above the cumulative ACK.
    pub unacked: u64,
    /// `tcpi_sacked`: of these, the packets that have arrived; without selective ACKs, as many as
    /// there are duplicate ACKs.
    pub sacked: u64,
    /// `tcpi_lost`: of the unacknowledged, those that are lost, sent again or not.
    pub lost: u64,
    /// `tcpi_retrans`: retransmissions in the network.
    pub retransmitted: u64,
    /// `tcpi_delivered`: packets that have arrived.
    pub delivered: u64,
    /// `tcpi_rtt`: the smoothed RTT; zero before the first sample.
    pub srtt: Time,
    /// `tcpi_min_rtt`, since the connection began; zero before the first sample.
    pub min_rtt: Time,
    /// `tcpi_rto`: the timeout, with its backoff.
    pub rto: Time,
    /// `tcpi_pacing_rate`, in packets/s: the control's; otherwise that at which a host would pace
    /// the window. Infinite before the first RTT sample.
    pub pacing_rate: f64,
}

impl Sender {
    /// The state of the sender.
    pub fn info(&self) -> SenderInfo {
        let unacked = self.next - self.una;
        let sacked =
            if self.is_sack { self.scoreboard.sacked() } else { self.duplicates.min(unacked) };
        let host_rate = || self.pacer.host_rate(self.cwnd, self.ssthresh, self.rtt.srtt());
        SenderInfo {
            state: self.congestion_state(sacked),
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            unacked,
            sacked,
            lost: self.scoreboard.lost(),
            retransmitted: self.scoreboard.retransmitted(),
            delivered: self.una + self.scoreboard.sacked(),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.least(),
            rto: self.rtt.rto(),
            pacing_rate: self.pacing_rate().unwrap_or_else(host_rate),
        }
    }

    fn congestion_state(&self, sacked: u64) -> CongestionState {
        match self.phase {
            Phase::Recovery => CongestionState::Recovery,
            Phase::Timeout => CongestionState::Loss,
            _ if self.is_reducing() || self.ecn.has_reduced_since(self.una) => {
                CongestionState::Reduced
            }
            _ if sacked > 0 => CongestionState::Disorder,
            Phase::Opening | Phase::Open => CongestionState::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::CongestionConfig;
    use crate::congestion::reno::RenoParams;
    use crate::packet::{Ack, Packet, Range};
    use crate::probe::flow::Checkpoints;
    use crate::tcp::TcpSpec;
    use crate::tcp::sender::ecn::EcnMode;
    use crate::tcp::sender::recovery::Recovery;
    use crate::tcp::sender::{PacketSink, SendQueue};
    use crate::units::Rate;

    struct Nowhere;

    impl PacketSink for Nowhere {
        fn send(&mut self, _packet: Packet) {}
    }

    /// A sender that has written 20 packets at 0 s into a window of 10.
    fn sender(recovery: Recovery) -> Sender {
        let mut spec = TcpSpec::new(CongestionConfig::Reno(RenoParams::default()));
        (spec.recovery, spec.ecn) = (recovery, EcnMode::Classic);
        let checkpoints = Checkpoints {
            measure_from: Time::ZERO,
            duration: Time::NEVER,
            series_interval: Time::NEVER,
            step_interval: Time::NEVER,
            progress_interval: Time::NEVER,
            reductions_kept: 0,
        };
        let send_queue = SendQueue {
            start: Time::ZERO,
            stop: Time::NEVER,
            packets: 0,
            packet_bytes: 1_500,
            last_packet_bytes: 1_500,
            header_bytes: 40,
            line_rate: Rate::FASTEST,
            hops: 1,
        };
        let mut sender = Sender::new(&spec, send_queue, 1, checkpoints);
        sender.expect_writes();
        sender.write(Time::ZERO, 20, &mut Nowhere);
        sender
    }

    fn hear(sender: &mut Sender, at_ms: u64, cumulative: u64, blocks: &[(u64, u64)], ece: bool) {
        let blocks: Vec<Range> = blocks.iter().map(|&(start, end)| Range { start, end }).collect();
        let ack = Ack {
            cumulative,
            echo: Time::ZERO,
            echoes_retransmission: false,
            ece,
            marked_packets: 0,
            duplicate: None,
            blocks: &blocks,
        };
        sender.on_ack(Time::from_milliseconds(at_ms), ack, &mut Nowhere);
    }

    #[test]
    fn each_state_of_linux_is_told_with_its_counts() {
        let mut sender = sender(Recovery::Rack);
        let info = sender.info();
        assert_eq!((info.state, info.unacked, info.srtt), (CongestionState::Open, 10, Time::ZERO));
        assert!(info.ssthresh.is_infinite() && info.pacing_rate.is_infinite());
        hear(&mut sender, 100, 1, &[(2, 3)], false);
        let info = sender.info();
        assert_eq!((info.state, info.sacked, info.lost), (CongestionState::Disorder, 1, 0));
        assert_eq!((info.srtt, info.min_rtt), (Time::from_milliseconds(100), info.srtt));
        assert_eq!(info.rto, Time::from_milliseconds(300));
        hear(&mut sender, 101, 1, &[(2, 5)], false);
        let info = sender.info();
        assert_eq!((info.state, info.sacked), (CongestionState::Recovery, 3));
        assert_eq!((info.lost, info.retransmitted, info.delivered), (1, 1, 4));
        sender.on_deadline(sender.rto_deadline, &mut Nowhere);
        let info = sender.info();
        assert_eq!((info.state, info.retransmitted), (CongestionState::Loss, 1));
    }

    #[test]
    fn a_mark_is_a_state_until_the_packets_before_it_are_acknowledged() {
        let mut sender = sender(Recovery::Rack);
        hear(&mut sender, 100, 1, &[], true);
        let sent = sender.next;
        assert_eq!(sender.info().state, CongestionState::Reduced);
        hear(&mut sender, 150, sent - 1, &[], false);
        assert_eq!(sender.info().state, CongestionState::Reduced);
        hear(&mut sender, 160, sent, &[], false);
        assert_eq!(sender.info().state, CongestionState::Open);
    }

    /// Linux `tcp_add_reno_sack`.
    #[test]
    fn without_selective_acks_duplicates_count_as_arrivals() {
        let mut sender = sender(Recovery::NewReno);
        hear(&mut sender, 100, 0, &[], false);
        hear(&mut sender, 101, 0, &[], false);
        let info = sender.info();
        assert_eq!((info.state, info.sacked), (CongestionState::Disorder, 2));
    }
}
