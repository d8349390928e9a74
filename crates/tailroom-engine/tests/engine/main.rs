//! The integration tests of the engine: one binary, so that the engine is linked once, with one
//! module per subject. `cargo test -p tailroom-engine --test engine ordering::` runs one module.

mod support;

mod admission;
mod arrival_log;
mod contract;
mod custom_control;
mod dctcp_analysis;
mod delay_controls;
mod dispersion;
mod distributions;
mod dual_pi2_delay;
mod ecn_patterns;
mod fair_queueing;
mod flow_level;
mod flow_sources;
mod fractions;
mod group_delays;
mod groups_at_a_link;
mod highspeed_rfc_3649;
mod limits;
mod loss_patterns;
mod objects;
mod ordering;
mod phase_effects;
mod poisson_queues;
mod published_windows;
mod queue_contract;
mod rate_based_controls;
mod response_functions;
mod result_tables;
mod sawtooth;
mod scalable_controls;
mod scenario;
mod send_jitter;
mod several_errors;
mod shared_keys;
mod source_contract;
mod sources;
mod steady_state;
mod trajectories;
mod two_way;
mod wrong_distribution;
mod wrong_flow_source;
mod wrong_queue;
mod wrong_scenario;
