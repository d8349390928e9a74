//! The derive macro of `tailroom_engine::parameters::Ranges`, which `tailroom-engine` re-exports, and
//! macros that write nothing in the place of those of serde and schemars: parameters keep their attributes,
//! without a condition at each, in builds that have neither crate.

mod item;
mod ranges;

use proc_macro::TokenStream;

/// Stands for serde's macro of this name in builds without it, and writes nothing.
#[proc_macro_derive(Serialize, attributes(serde))]
pub fn no_serialize(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Stands for serde's macro of this name in builds without it, and writes nothing.
#[proc_macro_derive(Deserialize, attributes(serde))]
pub fn no_deserialize(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Stands for the macro of schemars of this name in builds without it, and writes nothing.
#[proc_macro_derive(JsonSchema, attributes(schemars, serde))]
pub fn no_schema(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}

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
