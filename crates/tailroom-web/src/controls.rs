//! Congestion controls that the registry does not hold: a page has none.

use tailroom_engine::congestion::custom::{Arguments, ControlMaker, FindControl, NoControl};

/// Refuses controls in Python ("module:Class") with the way to run them.
pub(crate) struct NoControls;

impl FindControl for NoControls {
    fn find(&self, name: &str, _arguments: &Arguments) -> Result<ControlMaker, NoControl> {
        if !name.contains(':') {
            return Err(NoControl::Unknown(Vec::new()));
        }
        Err(NoControl::Wrong {
            problem: format!("the page does not run controls in Python, such as \"{name}\""),
            remedy: "use a control of tailroom here, or `tailroom run` and `tailroom size`"
                .to_owned(),
        })
    }
}
