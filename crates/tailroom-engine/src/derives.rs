//! The derive macros of parameters and results, in one place.

pub(crate) use crate::parameters::Ranges;
pub(crate) use schemars::JsonSchema;
pub(crate) use serde::{Deserialize, Serialize};
