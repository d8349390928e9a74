//! The measurements of a permanent flow at the end of a run.

use crate::flow::Endpoints;
use crate::probe::flow::{FlowAccount, FlowCounters, FlowProbe, FlowRecord, FlowState};

/// The measurements of a permanent flow at the end of a run.
pub(super) struct FlowData<'a> {
    pub(super) record: &'a FlowRecord,
    /// Counts inside the measured window; those of deliveries come from the receiving side for
    /// unresponsive flows.
    pub(super) window: FlowCounters,
    pub(super) account: FlowAccount,
    pub(super) is_complete: bool,
    pub(super) is_controlled: bool,
}

/// Counts inside the measured window of a probe at the end of the run.
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
