//! The arguments that a scenario gives to code of the caller's.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::parameters::{BadParameter, Ranges};

/// Keys and values, as a table of the scenario's text has them. Displays as TOML, a line for each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Arguments(Table);

impl Arguments {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads the arguments as parameters.
    ///
    /// # Errors
    /// What is wrong, in one line.
    pub fn read<P: DeserializeOwned>(&self) -> Result<P, String> {
        P::deserialize(self.0.clone()).map_err(|error| error.message().replace('\n', " "))
    }
}

/// The component that takes the arguments checks them.
impl Ranges for Arguments {
    fn check_ranges(&self) -> Result<(), BadParameter> {
        Ok(())
    }
}

impl fmt::Display for Arguments {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl JsonSchema for Arguments {
    fn schema_name() -> Cow<'static, str> {
        "Arguments".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": true })
    }
}
