//! Looks up groups and links of a summary by name.

use tailroom_engine::results::{GroupSummary, LinkSummary, Summary};

pub(crate) fn group<'a>(summary: &'a Summary, name: &str) -> &'a GroupSummary {
    summary.groups.get(name).unwrap_or_else(|| panic!("the scenario has no group {name}"))
}

pub(crate) fn link<'a>(summary: &'a Summary, name: &str) -> &'a LinkSummary {
    summary.links.get(name).unwrap_or_else(|| panic!("the scenario has no link {name}"))
}
