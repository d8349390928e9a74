//! Writes the implementation of `Ranges`.

use proc_macro::{TokenStream, TokenTree};

use crate::item::{Body, Field, Fields, Item};

const PARAMETERS: &str = "::tailroom_engine::parameters";

/// The implementation for `item`.
pub(crate) fn implementation(item: &Item) -> String {
    let name = &item.name;
    let checks = match &item.body {
        Body::Struct(fields) => arm(name, fields),
        Body::Enum(variants) => {
            let arms =
                variants.iter().map(|(variant, fields)| arm(&format!("{name}::{variant}"), fields));
            arms.collect()
        }
    };
    format!(
        "#[automatically_derived]
        impl {PARAMETERS}::Ranges for {name} {{
            fn check_ranges(&self) -> ::core::result::Result<(), {PARAMETERS}::BadParameter> {{
                match self {{ {checks} }}
                ::core::result::Result::Ok(())
            }}
        }}"
    )
}

/// The arm of a `match` that checks the fields of a struct or of a variant.
fn arm(pattern: &str, fields: &Fields) -> String {
    match fields {
        Fields::None => format!("{pattern} => {{}}"),
        Fields::Named(fields) => {
            let bound = list(fields, |field| format!("{0}: field_{0}", field.name));
            let checks: String = fields.iter().map(|field| check(field, &field.name)).collect();
            format!("{pattern} {{ {bound} }} => {{ {checks} }}")
        }
        // A variant with unnamed content is written as the content.
        Fields::Numbered(fields) => {
            let bound = list(fields, |field| format!("field_{}", field.name));
            let checks: String = fields.iter().map(|field| check(field, "")).collect();
            format!("{pattern}({bound}) => {{ {checks} }}")
        }
    }
}

fn list(fields: &[Field], bind: impl Fn(&Field) -> String) -> String {
    fields.iter().map(bind).collect::<Vec<String>>().join(", ")
}

fn check(field: &Field, key: &str) -> String {
    let bounds = bounds(field);
    let value = format!("field_{}", field.name);
    let length = bounds
        .length
        .map(|range| format!("{PARAMETERS}::check_length({key:?}, {value}.len(), &{range})?;"));
    let range = bounds.range.unwrap_or_else(|| format!("{PARAMETERS}::Range::ANY"));
    let length = length.unwrap_or_default();
    format!("{length} {PARAMETERS}::check_field({key:?}, {value}, &{range})?;")
}

/// The ranges of a field as expressions.
#[derive(Default)]
struct Bounds {
    range: Option<String>,
    length: Option<String>,
}

fn bounds(field: &Field) -> Bounds {
    let mut bounds = Bounds::default();
    for attribute in &field.attributes {
        read(attribute.clone(), &mut bounds);
    }
    bounds
}

/// Reads `range(..)`, `extend(..)`, `length(..)` and `inner(..)`.
fn read(attribute: TokenStream, bounds: &mut Bounds) {
    let mut tokens = attribute.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let (TokenTree::Ident(name), Some(TokenTree::Group(content))) = (token, tokens.peek())
        else {
            continue;
        };
        match name.to_string().as_str() {
            "range" | "extend" => extend(&mut bounds.range, content.stream()),
            "length" => extend(&mut bounds.length, content.stream()),
            "inner" => read(content.stream(), bounds),
            _ => {}
        }
    }
}

/// Adds the bounds `KEY = NUMBER, ..` to a range.
fn extend(range: &mut Option<String>, content: TokenStream) {
    let mut tokens = content.into_iter().peekable();
    while let Some(key) = tokens.next() {
        tokens.next(); // The equals sign.
        let is_comma =
            |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
        let mut number = String::new();
        while let Some(token) = tokens.next_if(|token| !is_comma(token)) {
            number.push_str(&token.to_string());
        }
        tokens.next();
        let method = match key.to_string().as_str() {
            "min" => "at_least",
            "max" => "at_most",
            "\"exclusiveMinimum\"" => "more_than",
            "\"exclusiveMaximum\"" => "less_than",
            _ => continue,
        };
        let start = range.take().unwrap_or_else(|| format!("{PARAMETERS}::Range::ANY"));
        *range = Some(format!("{start}.{method}(({number}) as f64)"));
    }
}
