//! The scenario file as types, whose doc comments are the user's documentation, and its schema.

pub(in crate::scenario) mod components;
pub(in crate::scenario) mod defaults_config;
pub(in crate::scenario) mod fabrics;
pub(in crate::scenario) mod file;
pub(in crate::scenario) mod flows;
pub(in crate::scenario) mod hosts;
pub(in crate::scenario) mod pools;
pub(in crate::scenario) mod published_schema;
pub(in crate::scenario) mod schema;
pub(in crate::scenario) mod source_class;
