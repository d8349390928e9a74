//! The integration tests of the engine: one binary, so that the engine is linked once, with one
//! module per subject. `cargo test -p tailroom-engine --test engine ordering::` runs one module.

mod support;

mod admission;
mod arrival_log;
mod classes;
mod closed_form;
mod closed_form_red;
mod contract;
mod coupled_queues;
mod custom_control;
mod delay_controls;
mod dispersion;
mod distributions;
mod ecn_patterns;
mod fair_queueing;
mod flow_level;
mod fractions;
mod group_delays;
mod limits;
mod loss_patterns;
mod marking_controls;
mod model_controls;
mod objects;
mod ordering;
mod passing_sources;
mod phase_effects;
mod published_windows;
mod queue_contract;
mod response_functions;
mod result_tables;
mod scalable_controls;
mod scenario;
mod send_jitter;
mod several_errors;
mod shared_keys;
mod sources;
mod steady_state;
mod tables;
mod trajectories;
mod two_way;
mod wrong_distribution;
mod wrong_passing_source;
mod wrong_queue;
mod wrong_scenario;
