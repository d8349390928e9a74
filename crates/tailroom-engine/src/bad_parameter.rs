//! What is wrong with a parameter of a component.

/// A parameter that contradicts another one, or what the component is part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadParameter {
    /// The parameter's key below its component, dotted, with list indices in brackets:
    /// `size.values[2]`; empty for the component as a whole.
    pub key: String,
    /// What is wrong.
    pub problem: String,
    /// What to do: the allowed range.
    pub remedy: String,
}

impl BadParameter {
    /// A fault of the parameter `key`.
    pub fn new(
        key: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        BadParameter { key: key.into(), problem: problem.into(), remedy: remedy.into() }
    }
}
