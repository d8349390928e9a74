//! Scenarios, networks, references and checks that several test modules use.

/// The specification with other values of some fields. Those of the engine may get more fields, so that
/// no other crate may write them as a whole.
macro_rules! with {
    ($base:expr, $type:ident { $($field:ident $(: $value:expr)?),+ $(,)? }) => {{
        let mut changed: $type = $base;
        $(with!(@set changed, $field $(, $value)?);)+
        changed
    }};
    (@set $changed:ident, $field:ident) => { $changed.$field = $field };
    (@set $changed:ident, $field:ident, $value:expr) => { $changed.$field = $value };
}

pub(crate) mod ack_by_ack;
pub(crate) mod case;
pub(crate) mod control_schema;
pub(crate) mod controls;
pub(crate) mod disciplines;
pub(crate) mod lossy;
pub(crate) mod networks;
pub(crate) mod path;
pub(crate) mod paused_links;
pub(crate) mod poisson;
pub(crate) mod random_cases;
pub(crate) mod random_fabrics;
pub(crate) mod random_networks;
pub(crate) mod random_pools;
pub(crate) mod random_transports;
pub(crate) mod reference;
pub(crate) mod refusals;
pub(crate) mod scenario_run;
pub(crate) mod scenario_text;
pub(crate) mod shared_memory_chain;
pub(crate) mod summaries;
pub(crate) mod transport;
