//! Closed-form rules: a buffer, or a bound, from a formula.

#![expect(clippy::unnecessary_wraps, reason = "the assumptions of the burst cliff can fail")]

pub mod bbr_buffer;
pub mod burst_cliff;
pub mod dctcp_threshold;
pub mod decrease_rule;
pub mod loss_and_delay_bounds;
mod rule_of_thumb;
pub mod square_root_rule;
pub mod stability;
pub mod tiny_buffers;

use crate::rule::Rule;

/// Every rule, in the order in which it is shown.
pub const RULES: [&Rule; 9] = [
    &rule_of_thumb::RULE,
    &square_root_rule::RULE,
    &decrease_rule::RULE,
    &tiny_buffers::RULE,
    &burst_cliff::RULE,
    &stability::RULE,
    &loss_and_delay_bounds::RULE,
    &bbr_buffer::RULE,
    &dctcp_threshold::RULE,
];
