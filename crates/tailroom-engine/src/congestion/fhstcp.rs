//! FHSTCP (Su, Pan, Lv, Ping 2005, "A fair bulk data transmission protocol in grid environments"):
//! HighSpeed TCP whose increase is proportional to the round trip time, so that flows with
//! different RTTs get the same window (and rates in inverse proportion to their RTTs), and whose
//! window is sent in blocks spread over the round trip.
//!
//! The pseudo-code of the paper's Figure 1 can be read in several ways, all of which the parameters
//! offer. The defaults correct its errors: a block has cwnd / k packets, all of which wait until RTT
//! / k after the beginning of the previous block, and slow start has no blocks, because `block = 0`
//! would limit it to two packets per round trip. Under all readings a block follows at once if
//! sending the previous block took longer than RTT / k (the printed delay is negative then), the RTT
//! is the smoothed RTT, and `time_0` is 0 at the beginning.

use super::blocks::{BlockHold, BlockLength, BlockRules};
use super::highspeed::{Highspeed, HighspeedParams};
use super::{AckEvent, CongestionEvent, ControlParameters, WindowLaw};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::units::Time;

/// Parameters of FHSTCP; a(w) and b(w) are those of RFC 3649.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FhstcpParams {
    /// Fair factor over RTT, in 1/s: the increase a(w) is multiplied by c times RTT. The paper
    /// compares 5, 10 and 20 and recommends 10. Below an RTT of 1 / c a flow grows more slowly than
    /// standard TCP.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1_000_000.0))]
    pub c: f64,
    /// Send the window in k blocks spread over the round trip. Without it, packets leave as soon as
    /// the window allows, and the other keys of blocks have no effect.
    pub block_pacing: bool,
    /// How the number of blocks k is computed: `integer`, int(c RTT) + 1; or `fractional`, int(c)
    /// RTT + 1, as C reads the paper's expression.
    pub block_count: BlockCount,
    /// How many packets a block has: `window_share`, cwnd / k; or `printed`, floor(cwnd / k) + 2, as
    /// the paper's code counts.
    pub block_length: BlockLength,
    /// Which packets wait for the beginning of a block: `block`, all packets; or `packet`, only the
    /// first packet of the block, which later packets overtake.
    pub block_hold: BlockHold,
    /// Send slow start in blocks too: two packets per round trip before the first congestion
    /// avoidance, as `block = 0` and `k = 1` in Figure 1 say; later with the last k and block of
    /// congestion avoidance. By default packets in slow start leave as soon as the window allows.
    pub block_slow_start: bool,
}

/// How `k=(int)c*RTT+1` is read.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Ranges,
)]
#[serde(rename_all = "snake_case")]
pub enum BlockCount {
    /// int(c RTT) + 1: k is a whole number.
    #[default]
    Integer,
    /// int(c) RTT + 1: as C reads the expression, where the cast applies to c alone, with a
    /// floating-point k.
    Fractional,
}

impl Default for FhstcpParams {
    fn default() -> Self {
        FhstcpParams {
            c: 10.0,
            block_pacing: true,
            block_count: BlockCount::default(),
            block_length: BlockLength::default(),
            block_hold: BlockHold::default(),
            block_slow_start: false,
        }
    }
}

impl ControlParameters for FhstcpParams {}

/// A running FHSTCP.
#[derive(Clone, Debug)]
pub struct Fhstcp {
    highspeed: Highspeed,
    c: f64,
    /// How blocks are counted, unless block pacing is off.
    block_count: Option<BlockCount>,
    block_rules: BlockRules,
}

impl Fhstcp {
    /// Starts the control.
    pub fn new(params: &FhstcpParams) -> Self {
        Fhstcp {
            highspeed: Highspeed::new(&HighspeedParams::default()),
            c: params.c,
            block_count: params.block_pacing.then_some(params.block_count),
            block_rules: BlockRules {
                hold: params.block_hold,
                length: params.block_length,
                in_slow_start: params.block_slow_start,
            },
        }
    }
}

impl WindowLaw for Fhstcp {
    #[inline]
    fn on_ack(&mut self, cwnd_packets: f64, event: &AckEvent) -> f64 {
        let fair_factor = self.c * event.srtt.seconds();
        let increment = fair_factor * self.highspeed.increase(cwnd_packets) / cwnd_packets;
        // "Avoid the increment larger than slow start."
        cwnd_packets + increment.min(1.0) * event.acked_packets as f64
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> f64 {
        self.highspeed.on_congestion(event)
    }

    fn blocks(&self, srtt: Time) -> Option<f64> {
        self.block_count.map(|count| match count {
            BlockCount::Integer => (self.c * srtt.seconds()).floor() + 1.0,
            BlockCount::Fractional => self.c.floor() * srtt.seconds() + 1.0,
        })
    }

    fn block_rules(&self) -> BlockRules {
        self.block_rules
    }
}

#[cfg(test)]
mod tests {
    use super::super::closed_loop::ClosedLoop;
    use super::super::{CongestionConfig, script};
    use super::*;

    fn ack(srtt_ms: u64) -> AckEvent {
        AckEvent { srtt: Time::from_milliseconds(srtt_ms), ..script::ack(1) }
    }

    /// RFC 3649's a(w) at 1058 packets by its formulas: p = exp(ln(1058/38) / ln(83000/38) *
    /// ln(1e-7/1e-3) + ln(1e-3)) = 1.8597e-5, b = 0.32695, a = 1058^2 p 2b / (2 - b) = 8.136.
    #[test]
    fn the_increase_is_that_of_highspeed_times_c_and_rtt() {
        let a = 8.136;
        for (c, srtt_ms, factor) in [(10.0, 100, 1.0), (10.0, 200, 2.0), (5.0, 80, 0.4)] {
            let mut control = Fhstcp::new(&FhstcpParams { c, ..FhstcpParams::default() });
            let growth = 1_058.0 * (control.on_ack(1_058.0, &ack(srtt_ms)) - 1_058.0);
            assert!((growth / (factor * a) - 1.0).abs() < 2e-3, "c {c}, {srtt_ms} ms: {growth}");
        }
    }

    /// At 2 s and c = 10 the factor is 20, so a window of 10 would grow by 2 per ACK.
    #[test]
    fn an_ack_adds_at_most_one_packet() {
        let mut control = Fhstcp::new(&FhstcpParams::default());
        assert!((control.on_ack(10.0, &ack(2_000)) - 11.0).abs() < 1e-12);
    }

    /// k at a smoothed RTT of so many milliseconds.
    fn blocks(params: &FhstcpParams, srtt_ms: u64) -> Option<f64> {
        Fhstcp::new(params).blocks(Time::from_milliseconds(srtt_ms))
    }

    /// Fig. 1: k = (int) c RTT + 1.
    #[test]
    fn a_round_trip_has_c_rtt_blocks_and_one_more() {
        let params = FhstcpParams::default();
        for (srtt_ms, k) in [(0, 1.0), (80, 1.0), (99, 1.0), (140, 2.0), (200, 3.0), (1_050, 11.0)]
        {
            assert_eq!(blocks(&params, srtt_ms), Some(k));
        }
        let unpaced = FhstcpParams { block_pacing: false, ..params };
        assert_eq!(blocks(&unpaced, 200), None);
    }

    /// C casts c alone: (int) 10.9 * 0.14 + 1 = 2.4, and (int) 0.9 * 0.14 + 1 = 1.
    #[test]
    fn as_c_reads_it_the_number_of_blocks_has_a_fraction() {
        for (c, srtt_ms, k) in [(10.9, 140, 2.4), (0.9, 140, 1.0), (5.0, 80, 1.4)] {
            let block_count = BlockCount::Fractional;
            let params = FhstcpParams { c, block_count, ..FhstcpParams::default() };
            let ours = blocks(&params, srtt_ms).expect("blocks are on");
            assert!((ours - k).abs() < 1e-12, "c {c}, {srtt_ms} ms: {ours}");
        }
    }
    /// 10 s on a path of 1000 packets/s with a round trip time of 200 ms, without losses.
    fn after_ten_seconds(hold: BlockHold, in_slow_start: bool) -> ClosedLoop {
        let params = FhstcpParams {
            block_hold: hold,
            block_slow_start: in_slow_start,
            ..FhstcpParams::default()
        };
        let congestion = CongestionConfig::Fhstcp(params);
        let mut path =
            ClosedLoop::new(congestion, 1_000.0, Time::from_milliseconds(200), usize::MAX);
        path.run_until(Time::from_milliseconds(10_000));
        assert_eq!(path.network.dropped, 0);
        path
    }

    /// An initial window of ten packets, then two packets in each of 49 round trips: 108 packets.
    #[test]
    fn a_first_slow_start_in_blocks_sends_two_packets_per_round_trip() {
        let path = after_ten_seconds(BlockHold::Block, true);
        assert!((104..=110).contains(&path.network.sent), "{} packets", path.network.sent);
        assert!(path.sender.ssthresh_packets().is_infinite());
    }

    /// Later packets overtake a held one, and after three of them it counts as lost.
    #[test]
    fn a_sender_that_holds_single_packets_takes_them_for_lost() {
        let path = after_ten_seconds(BlockHold::Packet, true);
        assert!(path.sender.ssthresh_packets() < 100.0);
        assert!(path.network.sent > path.sender.delivered());
    }

    #[test]
    fn without_blocks_in_slow_start_a_flow_fills_the_path() {
        let path = after_ten_seconds(BlockHold::Packet, false);
        assert!(path.sender.delivered() > 7_000, "{} packets", path.sender.delivered());
    }
}
