//! The scenario file and the files that it names, after they have been checked.

use std::collections::BTreeMap;

use super::fabrics::Fabrics;
use super::mahimahi::Trace;
use crate::distribution::config::FileTexts;
use crate::quantity::{BitRate, Size};
use crate::scenario::format::file::ScenarioFile;
use crate::scenario::text::document::Document;
use crate::units::Rate;

/// The scenario file and the files that it names.
#[derive(Clone, Copy)]
pub(in crate::scenario) struct Inputs<'a> {
    /// The scenario file in typed form.
    pub(in crate::scenario) file: &'a ScenarioFile,
    /// The switches and fabrics, whose links are in the file.
    pub(in crate::scenario) fabrics: &'a Fabrics,
    /// The parsed text, which knows the line of each key.
    pub(in crate::scenario) document: &'a Document,
    /// Rate traces by the name of their link.
    pub(in crate::scenario) traces: &'a BTreeMap<String, Trace>,
    /// The files of distributions and sources, by their path.
    pub(in crate::scenario) files: &'a FileTexts,
    /// The memory that a run may take.
    pub(in crate::scenario) memory: MemoryLimit,
}

/// The memory that a run may take.
#[derive(Clone, Copy)]
pub(in crate::scenario) struct MemoryLimit {
    pub(in crate::scenario) size: Size,
    /// Whether it is the scenario's `memory_limit`, and not what there is.
    pub(in crate::scenario) is_asked_for: bool,
}

impl Inputs<'_> {
    /// The rate of a link, if it exists and has one.
    pub(in crate::scenario) fn link_rate(&self, name: &str) -> Option<Rate> {
        let link = self.file.links.get(name)?;
        let trace = self.traces.get(name).map(|trace| trace.mean_rate);
        let shaped = link.keys.shaper.map(|shaper| shaper.rate.rate());
        shaped.or(link.rate.map(BitRate::rate)).or(trace)
    }
}
