//! The derive macros of parameters and results, in one place. Without the features that need them, those
//! of serde and schemars are macros that write nothing.

#[cfg(feature = "scenario")]
pub(crate) use schemars::JsonSchema;
#[cfg(feature = "scenario")]
pub(crate) use serde::Deserialize;
#[cfg(any(feature = "results", feature = "scenario"))]
pub(crate) use serde::Serialize;
#[cfg(not(any(feature = "results", feature = "scenario")))]
pub(crate) use tailroom_derive::Serialize;
#[cfg(not(feature = "scenario"))]
pub(crate) use tailroom_derive::{Deserialize, JsonSchema};

pub(crate) use crate::parameters::Ranges;
