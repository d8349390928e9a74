//! Controls, disciplines and sources that the registry does not hold: a page has none.

use tailroom_engine::congestion::custom::ControlMaker;
use tailroom_engine::custom::{Arguments, NotFound};
use tailroom_engine::queue::custom::DisciplineMaker;
use tailroom_engine::quoting::quoted;
use tailroom_engine::scenario::FindCode;
use tailroom_engine::traffic::custom::{FlowsMaker, PacketsMaker};

/// Refuses code in Python ("module:Class") with the way to run it.
pub(crate) struct NoCode;

impl FindCode for NoCode {
    fn control(&self, name: &str, _arguments: &Arguments) -> Result<ControlMaker, NotFound> {
        Err(refusal("control", name))
    }

    fn discipline(&self, name: &str, _arguments: &Arguments) -> Result<DisciplineMaker, NotFound> {
        Err(refusal("discipline", name))
    }

    fn packets(&self, name: &str, _arguments: &Arguments) -> Result<PacketsMaker, NotFound> {
        Err(refusal("source", name))
    }

    fn flows(&self, name: &str, _arguments: &Arguments) -> Result<FlowsMaker, NotFound> {
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
