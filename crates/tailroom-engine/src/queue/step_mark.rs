//! Marking at a threshold of the instantaneous queue, without an average: the switch of DCTCP
//! (Alizadeh et al. 2010, "Data center TCP"; RFC 8257 sec. 3.1).

use super::buffer::DropReason;
use super::{ArrivalRule, BadParameter, EnqueueEvent, LinkInfo, Parameters, Retune, Verdict};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::limit::{Limit, QueueLimit};

/// Parameters of threshold marking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StepMarkParams {
    /// Buffer size, excluding the packet in transmission. A packet that does not fit is dropped.
    #[schemars(example = "1 bdp")]
    pub limit: QueueLimit,
    /// Marking threshold (K): a packet that finds at least this much waiting is marked. The authors
    /// of DCTCP advise more than a seventh of the bandwidth-delay product, and room for bursts: 20
    /// packets at 1 Gbit/s, 65 packets at 10 Gbit/s.
    #[schemars(example = "65 packets")]
    pub threshold: QueueLimit,
    /// Drop packets that are not ECN-capable at the threshold, instead of accepting them until the
    /// buffer is full. If false, flows without ECN take the buffer from flows with ECN.
    #[serde(default = "yes")]
    pub drop_others: bool,
}

impl StepMarkParams {
    /// A buffer of this size that marks from `threshold` on, and drops other packets there.
    pub fn new(limit: QueueLimit, threshold: QueueLimit) -> Self {
        StepMarkParams { limit, threshold, drop_others: yes() }
    }
}

fn yes() -> bool {
    true
}

impl Parameters for StepMarkParams {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        vec![("limit", &mut self.limit), ("threshold", &mut self.threshold)]
    }

    fn binding(&self) -> &'static [&'static str] {
        &["threshold"]
    }

    fn validate(&self, link: &LinkInfo) -> Result<(), BadParameter> {
        let (limit, threshold) = (link.limit(self.limit), link.limit(self.threshold));
        if threshold.in_bytes(link.packet_bytes) >= limit.in_bytes(link.packet_bytes) {
            let problem = format!("{} is not below the limit of {}", self.threshold, self.limit);
            let remedy = format!(
                "lower it below {}; a full buffer drops packets instead of marking them",
                self.limit
            );
            return Err(BadParameter::new("threshold", problem, remedy));
        }
        Ok(())
    }
}

/// A buffer that marks at a threshold.
#[derive(Clone, Debug)]
pub struct StepMark {
    limit: Limit,
    threshold: Limit,
    drop_others: bool,
}

impl StepMark {
    /// Creates the discipline for `link`.
    pub fn new(params: &StepMarkParams, link: &LinkInfo) -> Self {
        StepMark {
            limit: link.limit(params.limit),
            threshold: link.limit(params.threshold),
            drop_others: params.drop_others,
        }
    }

    /// Returns whether at least K waits. The paper and RFC 8257 mark when the occupancy of the
    /// buffer is "greater than" K; the occupancy of a switch includes the packet in transmission,
    /// while the counts here exclude it. ns-2's DCTCP, a RED queue with both thresholds at K and
    /// weight 1, compares in the same way.
    #[inline]
    fn is_reached(&self, event: &EnqueueEvent) -> bool {
        match self.threshold {
            Limit::Packets(packets) => event.waiting_packets >= packets,
            Limit::Bytes(bytes) => event.waiting_bytes >= bytes,
        }
    }
}

impl Retune for StepMark {
    type Params = StepMarkParams;

    fn retune(&mut self, params: &StepMarkParams, link: &LinkInfo) {
        *self = StepMark::new(params, link);
    }
}

impl ArrivalRule for StepMark {
    #[inline]
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        if !event.fits(self.limit) {
            return Verdict::Drop(DropReason::Overflow);
        }
        if self.is_reached(event) && (self.drop_others || event.ecn.is_capable()) {
            return event.mark_or_drop();
        }
        Verdict::Accept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::script;
    use crate::units::Time;

    fn params(limit: &str, threshold: &str) -> StepMarkParams {
        let read = |text: &str| QueueLimit::read(text).unwrap();
        StepMarkParams { limit: read(limit), threshold: read(threshold), drop_others: true }
    }

    /// Returns the verdict about a packet of 1,000 bytes that finds `waiting_packets` packets at a
    /// busy link.
    fn verdict(params: &StepMarkParams, waiting_packets: u64, ecn: Ecn) -> Verdict {
        let event = EnqueueEvent {
            now: Time::ZERO,
            flow: 0,
            bytes: 1_000,
            ecn,
            idle_since: None,
            waiting_packets,
            waiting_bytes: 1_000 * waiting_packets,
        };
        StepMark::new(params, &script::link(8_000_000)).on_enqueue(&event)
    }

    #[test]
    fn marks_a_packet_that_finds_the_queue_at_the_threshold() {
        // 5 ms at 8 Mbit/s are 5,000 bytes.
        for threshold in ["5 packets", "5 kB", "5 ms"] {
            let params = params("10 packets", threshold);
            for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
                assert_eq!(verdict(&params, 4, ecn), Verdict::Accept, "{threshold}");
                assert_eq!(verdict(&params, 5, ecn), Verdict::Mark, "{threshold}");
                assert_eq!(verdict(&params, 9, ecn), Verdict::Mark, "{threshold}");
            }
        }
    }

    #[test]
    fn drops_packets_without_ecn_at_the_threshold_unless_disabled() {
        let strict = params("10 packets", "5 packets");
        assert_eq!(verdict(&strict, 4, Ecn::NotEct), Verdict::Accept);
        assert_eq!(verdict(&strict, 5, Ecn::NotEct), Verdict::Drop(DropReason::Early));
        let lenient = StepMarkParams { drop_others: false, ..strict };
        assert_eq!(verdict(&lenient, 9, Ecn::NotEct), Verdict::Accept);
        assert_eq!(verdict(&lenient, 9, Ecn::Ect0), Verdict::Mark);
    }

    #[test]
    fn a_full_buffer_drops_every_packet() {
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            let full = verdict(&params("10 packets", "5 packets"), 10, ecn);
            assert_eq!(full, Verdict::Drop(DropReason::Overflow));
        }
    }
}
