//! The default transport of the tests.

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::reno::RenoParams;
use tailroom_engine::quantity::{PositiveDuration, Size};
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::DelayedAck;
use tailroom_engine::tcp::sender::burst::SendBurst;
use tailroom_engine::tcp::sender::ecn::EcnMode;
use tailroom_engine::tcp::sender::handshake::Handshake;
use tailroom_engine::tcp::sender::recovery::Recovery;
use tailroom_engine::tcp::sender::rtt::RttSamples;
use tailroom_engine::tcp::sender::slow_start::SlowStartSpec;

/// A Reno transport with SACK and without delayed ACKs.
pub(crate) fn reno() -> TcpSpec {
    TcpSpec {
        congestion: CongestionConfig::Reno(RenoParams::default()),
        recovery: Recovery::Sack,
        prr: false,
        count_lost_in_pipe: false,
        delayed_ack: DelayedAck::OFF,
        ack_aggregation: None,
        initial_window: 2,
        initial_ssthresh: None,
        min_rto: PositiveDuration::from_milliseconds(200),
        // The finest granularity there is: a coarser one could hide an error in the timer.
        rto_granularity: Some(PositiveDuration::new(1)),
        restart_rto_at_retransmission: true,
        rtt_samples: RttSamples::Timestamps,
        max_window: None,
        slow_start: SlowStartSpec::Standard,
        slow_start_after_idle: true,
        pacing: false,
        send_burst: SendBurst::SINGLE,
        quick_acks: 0,
        sack_compression: false,
        window_validation: false,
        handshake: Handshake::NONE,
        initial_rto: None,
        timestamp_tick: None,
        forget_sack_at_timeout: false,
        undo: false,
        frto: false,
        ecn: EcnMode::Off,
        reverse_path: Vec::new(),
        ack_size: Size::new(40),
    }
}
