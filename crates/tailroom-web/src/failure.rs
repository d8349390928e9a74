//! Why a question has no answer, as JSON that the page shows.

use serde_json::{Value, json};
use tailroom_engine::scenario::{Place, Problem, ScenarioError};
use tailroom_engine::simulation::error::RunError;
use wasm_bindgen::JsValue;

/// The reasons for which a question has no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    Scenario(ScenarioError),
    Run(RunError),
    /// A fault of the page itself.
    Page(String),
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Failure::Scenario(error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Failure::Run(error)
    }
}

impl Failure {
    fn to_json(&self) -> Value {
        match self {
            Failure::Scenario(error) => {
                let problems: Vec<Value> = error.problems().iter().map(problem).collect();
                json!({ "kind": "scenario", "problems": problems })
            }
            Failure::Run(error) => json!({ "kind": "run", "message": error.to_string() }),
            Failure::Page(message) => json!({ "kind": "run", "message": message }),
        }
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        JsValue::from_str(&failure.to_json().to_string())
    }
}

fn problem(problem: &Problem) -> Value {
    let line = match problem.place {
        Place::Line(line) => Some(line),
        _ => None,
    };
    json!({
        "line": line,
        "key": problem.key,
        "problem": problem.problem,
        "remedy": problem.remedy,
        "text": problem.to_string(),
    })
}
