//! The search for the smallest sufficient buffer by regression: runs of all buffers near it count.
//!
//! A coarse scan shows where a target begins to be met. Near that limit, the mean of the target's
//! metric is fitted over the limit ([`inverse_regression`](crate::statistics::inverse_regression)),
//! runs are added where they tell most about the crossing, and the answer is the end of the
//! crossing's interval. The search refuses what the fit cannot answer, with the reason.
//!
//! [`next_step`] is a function of the runs that there are: it searches from the start, and ends where
//! runs are missing. A caller performs them and asks again, so that the search has no state that it
//! could lose, and the same runs give the same answer, in whatever order they end.

mod buffers;
mod fit;
mod question;
mod regression;
mod search;

pub use question::{Question, Runs, Stage, Step, Target};
pub use regression::{next_step, next_step_json};
