//! DropTail: a packet that does not fit is dropped. The limit counts the waiting packets but not
//! the packet in transmission, as Linux's pfifo and bfifo do; a limit of B in ns-2's DropTail
//! corresponds to B - 1 packets here.

use super::buffer::DropReason;
use super::{ArrivalRule, EnqueueEvent, LinkInfo, Parameters, Retune, Verdict};
use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::quantity::limit::{Limit, QueueLimit};

/// Parameters of a tail-drop buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DropTailParams {
    /// Buffer size, excluding the packet in transmission.
    #[schemars(example = "1 bdp")]
    pub limit: QueueLimit,
}

impl DropTailParams {
    /// A buffer of this size.
    pub fn new(limit: QueueLimit) -> Self {
        DropTailParams { limit }
    }
}

impl Parameters for DropTailParams {
    fn limit(&self) -> QueueLimit {
        self.limit
    }

    fn amounts(&mut self) -> Vec<(&'static str, &mut QueueLimit)> {
        vec![("limit", &mut self.limit)]
    }
}

/// A tail-drop buffer.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: Limit,
}

impl DropTail {
    /// Creates the discipline for `link`.
    pub fn new(params: &DropTailParams, link: &LinkInfo) -> Self {
        DropTail { limit: link.limit(params.limit) }
    }
}

impl Retune for DropTail {
    type Params = DropTailParams;

    fn retune(&mut self, params: &DropTailParams, link: &LinkInfo) {
        *self = DropTail::new(params, link);
    }
}

impl ArrivalRule for DropTail {
    #[inline]
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        if event.fits(self.limit) { Verdict::Accept } else { Verdict::Drop(DropReason::Overflow) }
    }
}
