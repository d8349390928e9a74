//! What has reached a pool of each flow, packet by packet: a flow is short if those since its last gap
//! amount to little.

use std::collections::BTreeMap;

use tailroom_engine::pool::policy::PolicyConfig;
use tailroom_engine::units::Time;

/// The pool, the flow, when it began, and whether the packets are ACKs.
pub(super) type Stream = (usize, usize, Time, bool);

#[derive(Debug, Default)]
pub(super) struct Arrivals(BTreeMap<Stream, Vec<(Time, u64)>>);

impl Arrivals {
    /// Notes an arrival; returns whether its flow is short, `None` if the policy does not care.
    pub(super) fn note(
        &mut self,
        policy: &PolicyConfig,
        stream: Stream,
        now: Time,
        bytes: u32,
    ) -> Option<bool> {
        let PolicyConfig::Fab(params) = policy else { return None };
        let all = self.0.entry(stream).or_default();
        all.push((now, bytes.into()));
        let (mut sum, mut after) = (0, now);
        for (at, bytes) in all.iter().rev() {
            if after - *at > params.window.time() || sum >= params.short_flow_size.bytes() {
                break;
            }
            sum += bytes;
            after = *at;
        }
        Some(sum < params.short_flow_size.bytes())
    }
}
