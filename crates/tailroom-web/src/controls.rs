//! Controls, disciplines and sources that the registry does not hold: a page has none.

use tailroom_engine::congestion::custom::{Arguments, ControlMaker, FindControl, NotFound};
use tailroom_engine::queue::custom::{DisciplineMaker, FindDiscipline};
use tailroom_engine::quoting::quoted;
use tailroom_engine::traffic::custom::{FindSource, FlowsMaker, PacketsMaker};

/// Refuses code in Python ("module:Class") with the way to run it.
pub(crate) struct NoCode;

impl FindControl for NoCode {
    fn find(&self, name: &str, _arguments: &Arguments) -> Result<ControlMaker, NotFound> {
        Err(refusal("control", name))
    }
}

impl FindDiscipline for NoCode {
    fn find(&self, name: &str, _arguments: &Arguments) -> Result<DisciplineMaker, NotFound> {
        Err(refusal("discipline", name))
    }
}

impl FindSource for NoCode {
    fn find_packets(&self, name: &str, _arguments: &Arguments) -> Result<PacketsMaker, NotFound> {
        Err(refusal("source", name))
    }

    fn find_flows(&self, name: &str, _arguments: &Arguments) -> Result<FlowsMaker, NotFound> {
        Err(refusal("source", name))
    }
}

fn refusal(what: &str, name: &str) -> NotFound {
    if !name.contains(':') {
        return NotFound::Unknown(Vec::new());
    }
    NotFound::Wrong {
        problem: format!("the page does not run {what}s in Python, such as \"{}\"", quoted(name)),
        remedy: format!("use a {what} of tailroom here, or `tailroom run` and `tailroom size`"),
    }
}
