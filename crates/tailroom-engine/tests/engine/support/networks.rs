//! Links and flows from which tests build their networks.

use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::{FlowSpec, GroupSpec};
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::drop_tail::DropTailParams;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::units::{Rate, Time};

/// A link with a tail-drop queue, without loss or changes.
pub(crate) fn link(name: &str, rate_bps: u64, delay: Time, limit: Limit) -> LinkSpec {
    let mut link = LinkSpec::new(Rate::from_bits_per_second(rate_bps), delay, drop_tail(limit));
    link.name = name.into();
    link
}

/// A tail-drop queue.
pub(crate) fn drop_tail(limit: Limit) -> QueueConfig {
    QueueConfig::DropTail(DropTailParams::new(limit.into()))
}

/// A group of permanent flows over the first link.
pub(crate) fn bulk(name: &str, tcp: TcpSpec) -> GroupSpec {
    let mut group = GroupSpec::bulk(name, vec![0], tcp);
    group.packet_size = 1_000;
    group
}

/// Flows of group 0 that start at time zero with the same RTT.
pub(crate) fn alike(count: usize, rtt: Time) -> Vec<FlowSpec> {
    vec![FlowSpec::new(0, rtt); count]
}
