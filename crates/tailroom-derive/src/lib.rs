//! The derive macro of `tailroom_engine::parameters::Ranges`.
//!
//! `tailroom-engine` re-exports it; no other crate needs this one.

mod item;
mod ranges;

use proc_macro::TokenStream;

/// Implements `Ranges`: checks each field against the range in its `schemars` attributes, from which its
/// JSON Schema is made too, and then the ranges of its type.
///
/// ```ignore
/// #[derive(Ranges)]
/// struct DctcpParams {
///     /// Weight of a new fraction of marks.
///     #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
///     gain: f64,
/// }
/// ```
///
/// The attributes `range(min = .., max = ..)`, `extend("exclusiveMinimum" = ..)`,
/// `extend("exclusiveMaximum" = ..)` and `length(min = .., max = ..)` are read, and `inner(range(..))`
/// for the items of a list. A type with parameters is refused.
#[proc_macro_derive(Ranges, attributes(schemars, serde))]
pub fn derive_ranges(input: TokenStream) -> TokenStream {
    let written = item::read(input).map(|item| ranges::implementation(&item));
    let text = written.unwrap_or_else(|problem| format!("compile_error!({problem:?});"));
    text.parse().unwrap_or_default()
}
