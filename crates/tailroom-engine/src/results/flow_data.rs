//! What is known of a permanent flow at the end of a run.

use crate::flow::Endpoints;
use crate::probe::flow::{FlowAccount, FlowCounters, FlowProbe, FlowRecord, FlowState};

/// What is known of one flow at the end of a run.
pub(super) struct FlowData<'a> {
    pub(super) record: &'a FlowRecord,
    /// Counts inside the window; deliveries from the receiving side for uncontrolled sources.
    pub(super) window: FlowCounters,
    pub(super) account: FlowAccount,
    pub(super) is_complete: bool,
    pub(super) is_controlled: bool,
}

/// Counts between the marks of a probe, which has passed them all.
fn between(probe: &FlowProbe) -> FlowCounters {
    probe.window(&FlowState::default())
}

impl<'a> FlowData<'a> {
    pub(super) fn new(endpoints: &'a Endpoints, account: FlowAccount) -> Self {
        match endpoints {
            Endpoints::Tcp(connection) => {
                let probe = &connection.sender.probe;
                FlowData {
                    record: probe.record(),
                    window: between(probe),
                    account,
                    is_complete: connection.sender.is_complete_at_end(),
                    is_controlled: true,
                }
            }
            Endpoints::Unresponsive(source) => {
                let received = between(&source.received);
                FlowData {
                    record: source.received.record(),
                    window: FlowCounters {
                        delivered: received.delivered,
                        delivered_bytes: received.delivered_bytes,
                        rtt_sum: received.rtt_sum,
                        rtt_count: received.rtt_count,
                        ..between(&source.sent)
                    },
                    account,
                    is_complete: false,
                    is_controlled: false,
                }
            }
        }
    }
}

/// `part` over `whole`, if there is any.
pub(super) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// The mean of some values, if there are any.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    ratio(sum, count)
}
