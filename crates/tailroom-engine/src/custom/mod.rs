//! Code of the caller's: what controls, disciplines and sources that no registry holds have in common.
//!
//! A program that builds a network puts a maker into the parameters of the component. A scenario names the
//! code, and `scenario::FindCode` turns the name and the arguments into the maker.

#[cfg(feature = "scenario")]
mod arguments;
mod fault;
mod guest;
mod maker;
#[cfg(feature = "scenario")]
mod registry;

#[cfg(feature = "scenario")]
pub use self::arguments::Arguments;
pub use self::fault::CustomFault;
pub(crate) use self::fault::FirstFault;
pub(crate) use self::guest::{CallersCode, Guest, Missing};
pub use self::maker::Maker;
#[cfg(feature = "scenario")]
pub(crate) use self::registry::Entries;
#[cfg(feature = "scenario")]
pub use self::registry::NotFound;
