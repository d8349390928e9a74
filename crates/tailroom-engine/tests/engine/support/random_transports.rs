//! What random transports are drawn from.

use proptest::prelude::*;
use proptest::sample::select;
use tailroom_engine::tcp::sender::recovery::Recovery;
use tailroom_engine::tcp::sender::slow_start::SlowStartSpec;

/// Every way to repair losses: the recovery, whether it has PRR, and whether lost packets count in
/// the pipe.
pub(crate) fn repair() -> impl Strategy<Value = (Recovery, bool, bool)> {
    select(vec![
        (Recovery::NewReno, false, false),
        (Recovery::Sack, false, false),
        (Recovery::Sack, false, true),
        (Recovery::Sack, true, false),
    ])
}

/// Every slow start; the limited one has this threshold, in packets.
pub(crate) fn slow_start(max_ssthresh: u32) -> impl Strategy<Value = SlowStartSpec> {
    select(vec![
        SlowStartSpec::Standard,
        SlowStartSpec::Limited { max_ssthresh },
        SlowStartSpec::HystartPlusPlus,
    ])
}
