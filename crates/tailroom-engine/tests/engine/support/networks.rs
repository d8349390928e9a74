//! Links and flows from which tests build their networks.

use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::{FlowSpec, GroupSpec};
use tailroom_engine::quantity::limit::Limit;
use tailroom_engine::queue::QueueConfig;
use tailroom_engine::queue::drop_tail::DropTailParams;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::traffic::bulk::BulkParams;
use tailroom_engine::units::{Rate, Time};

/// A link with a tail-drop queue, without loss or changes.
pub(crate) fn link(name: &str, rate_bps: u64, delay: Time, limit: Limit) -> LinkSpec {
    let rate = Rate::from_bits_per_second(rate_bps);
    LinkSpec { name: name.into(), ..LinkSpec::new(rate, delay, drop_tail(limit)) }
}

/// A tail-drop queue.
pub(crate) fn drop_tail(limit: Limit) -> QueueConfig {
    QueueConfig::DropTail(DropTailParams { limit: limit.into() })
}

/// A group of permanent flows over the first link.
pub(crate) fn bulk(name: &str, tcp: TcpSpec) -> GroupSpec {
    GroupSpec {
        name: name.into(),
        path: vec![0],
        reverse_path: Vec::new(),
        source: BulkParams { bytes: None }.into(),
        stop: None,
        packet_size: 1_000,
        header_size: 40,
        sender_side: None,
        send_jitter: None,
        tcp: Some(tcp),
    }
}

/// Flows of group 0 that start at time zero with the same RTT.
pub(crate) fn alike(count: usize, rtt: Time) -> Vec<FlowSpec> {
    vec![FlowSpec { group: 0, rtt, start: Time::ZERO, access_rate: None }; count]
}
