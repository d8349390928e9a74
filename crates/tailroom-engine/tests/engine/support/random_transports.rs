//! Options from which random transports are drawn.

use proptest::prelude::*;
use proptest::sample::select;
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
    ])
}

/// Every kind of slow start. Limited slow start has this threshold, in packets.
pub(crate) fn slow_start(max_ssthresh: u32) -> impl Strategy<Value = SlowStartSpec> {
    select(vec![
        SlowStartSpec::Standard,
        SlowStartSpec::Limited { max_ssthresh },
        SlowStartSpec::HystartPlusPlus,
    ])
}
