//! The default transport of the tests.

use tailroom_engine::congestion::CongestionConfig;
use tailroom_engine::congestion::reno::RenoParams;
use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::tcp::TcpSpec;

/// A Reno transport with SACK and without delayed ACKs.
pub(crate) fn reno() -> TcpSpec {
    let mut tcp = TcpSpec::new(CongestionConfig::Reno(RenoParams::default()));
    tcp.initial_window = 2;
    // The finest granularity there is: a coarser one could hide an error in the timer.
    tcp.rto_granularity = Some(PositiveDuration::new(1));
    tcp
}
