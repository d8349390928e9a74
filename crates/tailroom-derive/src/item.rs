//! Reads what a derive macro is applied to. The crates that parse all of Rust take longer to compile than
//! the engine's other dependencies together; this needs a fraction of the language.

use std::iter::Peekable;

use proc_macro::token_stream::IntoIter;
use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

type Tokens = Peekable<IntoIter>;

/// A struct, or an enum.
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) body: Body,
}

pub(crate) enum Body {
    Struct(Fields),
    Enum(Vec<(String, Fields)>),
}

/// The fields of a struct or of a variant.
pub(crate) enum Fields {
    None,
    Named(Vec<Field>),
    Numbered(Vec<Field>),
}

/// A field: its name, or its number; and the content of its `schemars` attributes.
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) attributes: Vec<TokenStream>,
}

/// Reads an item.
///
/// # Errors
/// Why the macro cannot be applied to it.
pub(crate) fn read(input: TokenStream) -> Result<Item, String> {
    let mut tokens = input.into_iter().peekable();
    skip_attributes_and_visibility(&mut tokens);
    let kind = word(&mut tokens)?;
    let name = word(&mut tokens)?;
    let body = match (kind.as_str(), tokens.next()) {
        ("struct", Some(TokenTree::Group(group))) => Body::Struct(fields(&group)?),
        ("struct", Some(TokenTree::Punct(mark))) if mark.as_char() == ';' => {
            Body::Struct(Fields::None)
        }
        ("enum", Some(TokenTree::Group(group))) => Body::Enum(variants(group.stream())?),
        _ => return Err(format!("{name} is not a struct or an enum without parameters")),
    };
    Ok(Item { name, body })
}

fn word(tokens: &mut Tokens) -> Result<String, String> {
    match tokens.next() {
        Some(TokenTree::Ident(word)) => Ok(word.to_string()),
        other => Err(format!("expected a name, not {other:?}")),
    }
}

fn variants(stream: TokenStream) -> Result<Vec<(String, Fields)>, String> {
    let mut tokens = stream.into_iter().peekable();
    let mut variants = Vec::new();
    while tokens.peek().is_some() {
        skip_attributes_and_visibility(&mut tokens);
        let name = word(&mut tokens)?;
        let held = match tokens.peek() {
            Some(TokenTree::Group(group)) => fields(group)?,
            _ => Fields::None,
        };
        variants.push((name, held));
        skip_to_comma(&mut tokens);
    }
    Ok(variants)
}

fn fields(group: &Group) -> Result<Fields, String> {
    let is_named = group.delimiter() == Delimiter::Brace;
    let mut tokens = group.stream().into_iter().peekable();
    let mut fields = Vec::new();
    while tokens.peek().is_some() {
        let attributes = skip_attributes_and_visibility(&mut tokens);
        let name = if is_named { word(&mut tokens)? } else { fields.len().to_string() };
        fields.push(Field { name, attributes });
        skip_to_comma(&mut tokens);
    }
    Ok(if is_named { Fields::Named(fields) } else { Fields::Numbered(fields) })
}

/// Skips attributes and `pub`; returns the content of the `schemars` attributes.
fn skip_attributes_and_visibility(tokens: &mut Tokens) -> Vec<TokenStream> {
    let mut contents = Vec::new();
    loop {
        match tokens.peek() {
            Some(TokenTree::Punct(mark)) if mark.as_char() == '#' => {
                tokens.next();
                if let Some(TokenTree::Group(attribute)) = tokens.next() {
                    contents.extend(content_of_schemars(attribute.stream()));
                }
            }
            Some(TokenTree::Ident(word)) if word.to_string() == "pub" => {
                tokens.next();
                let is_scope = |token: &TokenTree| {
                    matches!(token, TokenTree::Group(group)
                        if group.delimiter() == Delimiter::Parenthesis)
                };
                tokens.next_if(is_scope);
            }
            _ => return contents,
        }
    }
}

fn content_of_schemars(attribute: TokenStream) -> Option<TokenStream> {
    let mut tokens = attribute.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(name)), Some(TokenTree::Group(content)))
            if name.to_string() == "schemars" =>
        {
            Some(content.stream())
        }
        _ => None,
    }
}

/// Skips a type, or a discriminant, and the comma behind it; the commas between `<` and `>` are part of a
/// type.
fn skip_to_comma(tokens: &mut Tokens) {
    let mut depth = 0;
    for token in tokens.by_ref() {
        if let TokenTree::Punct(mark) = token {
            match mark.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                ',' if depth == 0 => return,
                _ => {}
            }
        }
    }
}
