//! What a search knows.

use super::buffers::Buffers;
use super::question::{Question, Stage};

/// A search by the runs that there are.
pub(super) struct Search<'a> {
    pub(super) question: &'a Question,
    pub(super) buffers: Buffers<'a>,
    pub(super) stage: Stage,
    pub(super) runs_left: usize,
}
