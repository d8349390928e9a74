//! DropTail: a packet that does not fit is dropped. The limit counts what waits, not what is being
//! sent, as Linux's pfifo and bfifo do; ns-2's DropTail limit B is our B - 1 packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::buffer::DropReason;
use super::{Admission, EnqueueEvent, LinkInfo, Parameters, Verdict};
use crate::quantity::limit::{Limit, QueueLimit};

/// Parameters of a tail-drop buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropTailParams {
    /// How much may wait.
    #[schemars(example = "1 bdp")]
    pub limit: QueueLimit,
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
#[derive(Debug)]
pub struct DropTail {
    limit: Limit,
}

impl DropTail {
    /// Starts the discipline.
    pub fn new(params: &DropTailParams, link: &LinkInfo) -> Self {
        DropTail { limit: link.limit(params.limit) }
    }
}

impl Admission for DropTail {
    #[inline]
    fn on_enqueue(&mut self, event: &EnqueueEvent) -> Verdict {
        if event.fits(self.limit) { Verdict::Accept } else { Verdict::Drop(DropReason::Overflow) }
    }
}
