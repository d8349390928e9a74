//! Options from which random transports are drawn.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::tcp::sender::burst::SendBurst;
use tailroom_engine::tcp::sender::handshake::Handshake;
use tailroom_engine::tcp::sender::recovery::Recovery;
use tailroom_engine::tcp::sender::slow_start::SlowStartSpec;

/// Every kind of loss recovery: the algorithm, whether it uses PRR, and whether the pipe counts
/// lost packets.
pub(crate) fn repair() -> impl Strategy<Value = (Recovery, bool, bool)> {
    select(vec![
        (Recovery::NewReno, false, false),
        (Recovery::Sack, false, false),
        (Recovery::Sack, false, true),
        (Recovery::Sack, true, false),
        (Recovery::Rack, false, false),
        (Recovery::Rack, true, false),
    ])
}

/// The bursts of a host.
pub(crate) fn bursts() -> impl Strategy<Value = SendBurst> {
    select(vec![SendBurst::SINGLE, SendBurst::SINGLE, SendBurst::Packets(4), SendBurst::AUTO])
}

/// How a connection begins, and the timeout until its first RTT sample.
pub(crate) fn beginning() -> impl Strategy<Value = (Handshake, Option<PositiveDuration>)> {
    let handshakes = select(vec![Handshake::NONE, Handshake::BY_FLOW, Handshake::DONE]);
    (handshakes, option::of(Just(PositiveDuration::from_milliseconds(1_500))))
}

/// What a host adds to delayed ACKs: quick ACKs, the compression of SACKs and the clock of timestamps.
pub(crate) fn acks() -> impl Strategy<Value = (u32, bool, Option<PositiveDuration>)> {
    let ticks = option::of(Just(PositiveDuration::from_milliseconds(1)));
    (select(vec![0, 16]), any::<bool>(), ticks)
}

/// Whether a host takes spurious reductions back, and whether by F-RTO too.
pub(crate) fn undo() -> impl Strategy<Value = (bool, bool)> {
    select(vec![(false, false), (true, false), (true, true), (true, true)])
}

/// Every kind of slow start. Limited slow start has this threshold, in packets.
pub(crate) fn slow_start(max_ssthresh: u32) -> impl Strategy<Value = SlowStartSpec> {
    select(vec![
        SlowStartSpec::Standard,
        SlowStartSpec::Limited { max_ssthresh },
        SlowStartSpec::Hystart,
        SlowStartSpec::HystartPlusPlus,
    ])
}
