//! Random memory that links share.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use tailroom_engine::link::LinkSpec;
use tailroom_engine::network::Network;
use tailroom_engine::pool::policy::PolicyConfig;
use tailroom_engine::pool::policy::abm::AbmParams;
use tailroom_engine::pool::policy::complete_partitioning::CompletePartitioningParams;
use tailroom_engine::pool::policy::complete_sharing::CompleteSharingParams;
use tailroom_engine::pool::policy::dynamic_threshold::{DynamicThresholdParams, Limits};
use tailroom_engine::pool::policy::fab::FabParams;
use tailroom_engine::pool::policy::longest_queue_drop::LongestQueueDropParams;
use tailroom_engine::pool::policy::occamy::OccamyParams;
use tailroom_engine::pool::policy::static_threshold::StaticThresholdParams;
use tailroom_engine::pool::{Frees, PoolMember, PoolSpec};
use tailroom_engine::quantity::{BitRate, PositiveDuration, Size};
use tailroom_engine::units::Time;

/// FAB, or Occamy.
pub(crate) fn policy_of_flows_and_heads() -> impl Strategy<Value = PolicyConfig> {
    let short = (select(vec![1_600, 10_000, 100_000]), select(vec![1_u64, 50, 2_000]));
    let fab = (select(vec![0.5, 2.0]), select(vec![0.1, 1024.0]), short).prop_map(
        |(alpha, short_flow_alpha, (size, window))| {
            let (short_flow_size, window) =
                (Size::new(size), PositiveDuration::new(window * 1_000_000_000));
            PolicyConfig::Fab(with!(
                FabParams::default(),
                FabParams { alpha, short_flow_alpha, short_flow_size, window }
            ))
        },
    );
    // From what a link sends to more than any number of them do.
    let rate = option::of(select(vec![20_000_000, 300_000_001, 100_000_000_000]));
    let occamy = (select(vec![0.5, 8.0]), rate, select(vec![1, 1_600, 40_000])).prop_map(
        |(alpha, rate, bucket)| {
            let (memory_rate, bucket) = (rate.map(BitRate::new), Size::new(bucket));
            PolicyConfig::Occamy(with!(
                OccamyParams::default(),
                OccamyParams { alpha, memory_rate, bucket }
            ))
        },
    );
    prop_oneof![fab, occamy]
}

/// A pool of any policy, which often binds.
pub(crate) fn random_pool() -> impl Strategy<Value = PoolSpec> {
    let alpha = select(vec![0.0625, 0.5, 1.0, 2.0, 8.0]);
    let lower_alphas = select(vec![vec![], vec![], vec![0.25], vec![2.0, 0.1]]);
    let limits = select(vec![Limits::Queue, Limits::Priority]);
    let alpha = (alpha, option::of(select(vec![0.5, 4.0])), lower_alphas, limits).prop_map(
        |(alpha, port_alpha, lower_alphas, limits)| {
            PolicyConfig::DynamicThreshold(with!(
                DynamicThresholdParams::default(),
                DynamicThresholdParams { alpha, port_alpha, lower_alphas, limits }
            ))
        },
    );
    let interval = select(vec![1_u64, 10, 333]).prop_map(Time::from_milliseconds);
    let first_window_alpha = option::of(select(vec![0.1, 1024.0]));
    let abm = (select(vec![0.5, 4.0]), interval, first_window_alpha).prop_map(
        |(alpha, interval, first_window_alpha)| {
            let params = AbmParams::new(alpha, interval);
            PolicyConfig::Abm(with!(params, AbmParams { first_window_alpha }))
        },
    );
    let threshold = select(vec![1_500, 6_000, 30_000])
        .prop_map(|bytes| StaticThresholdParams::new(Size::new(bytes)))
        .prop_map(PolicyConfig::StaticThreshold);
    let policy = prop_oneof![
        3 => Just(PolicyConfig::CompleteSharing(CompleteSharingParams::default())),
        1 => Just(PolicyConfig::CompletePartitioning(CompletePartitioningParams::default())),
        1 => threshold,
        4 => alpha,
        3 => abm,
        4 => policy_of_flows_and_heads(),
        2 => Just(PolicyConfig::LongestQueueDrop(LongestQueueDropParams::default())),
    ];
    pool_with(policy, vec![6_000, 10_000, 40_000, 300_000])
}

/// A pool with such a policy, of one of these sizes in bytes.
pub(crate) fn pool_with(
    policy: impl Strategy<Value = PolicyConfig>,
    sizes: Vec<u64>,
) -> impl Strategy<Value = PoolSpec> {
    // Less than an eighth of the memory is beyond all reserves in no case.
    let mark = option::of(any::<bool>());
    (select(sizes), select(vec![1, 208, 1_500]), policy, any::<bool>(), mark).prop_map(
        |(size_bytes, cell_bytes, mut policy, is_at_start, mark)| {
            let mark_above_bytes = mark.map(|is_low| if is_low { 1 } else { size_bytes / 8 });
            let frees = if is_at_start { Frees::AtStart } else { Frees::AtEnd };
            if let PolicyConfig::StaticThreshold(params) = &mut policy {
                params.threshold = Size::new(params.threshold.bytes().min(size_bytes));
            }
            let spec = PoolSpec::new(size_bytes, policy);
            with!(spec, PoolSpec { cell_bytes, frees, mark_above_bytes })
        },
    )
}

/// The place of a link in a pool: what it has reserved, of which three fit in the smallest pool in any
/// cells, its alpha and its port.
pub(crate) fn member() -> impl Strategy<Value = PoolMember> {
    let reserved = select(vec![0, 0, 1_000, 1_500]);
    let alpha = option::of(select(vec![0.25, 4.0]));
    (reserved, alpha, option::of(0_u32..2)).prop_map(|(reserved_bytes, alpha, port)| {
        with!(PoolMember::new(0), PoolMember { reserved_bytes, alpha, port })
    })
}

/// Lets links share a pool.
pub(crate) fn share(
    links: &mut [LinkSpec],
    pool: &PoolSpec,
    members: &[Option<PoolMember>],
) -> Vec<PoolSpec> {
    for (link, member) in links.iter_mut().zip(members) {
        let Some(mut member) = *member else { continue };
        let parameters = pool.policy.parameters();
        if parameters.drops_waiting() && link.queue.is_scheduler() {
            continue;
        }
        member.alpha = member.alpha.filter(|_| parameters.alpha().is_some());
        if parameters.look_interval().is_some() {
            // All links of a priority have the same alpha.
            member.priority = member.alpha.map(|alpha| (4.0 * alpha) as u32);
        }
        member.port = member.port.filter(|_| parameters.has_ports());
        if parameters.counts_priorities() {
            member.reserved_bytes = 0;
        }
        link.pool = Some(member);
        link.is_acted_on |= parameters.drops_waiting();
    }
    let is_shared = links.iter().any(|link| link.pool.is_some());
    is_shared.then(|| pool.clone()).into_iter().collect()
}

/// Gives the groups that cross a pool loss priorities for which it has alphas.
pub(crate) fn prioritize(network: &mut Network, pool: &PoolSpec) {
    let priorities = 1 + pool.policy.parameters().lower_alphas().len() as u32;
    let Network { links, groups, seed, .. } = network;
    for (group, index) in groups.iter_mut().zip(0_u32..) {
        let mut crossed = group.path.iter().chain(&group.reverse_path);
        if crossed.any(|link| links[*link].pool.is_some()) {
            group.loss_priority = seed.wrapping_shr(index) as u32 % priorities;
        }
    }
}
