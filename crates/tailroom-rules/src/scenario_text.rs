//! Changes of one key of a scenario's text that keep everything else in it, comments included.

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, TomlError, Value};

/// Replaces the value of a key, or adds the key to the table in which it belongs.
///
/// A value that is a word, such as `queue = "codel"`, becomes `{ kind = "codel", ... }` if a key
/// below it is set. `value` is TOML.
///
/// # Errors
/// The text or the value is not TOML, with the line of the text; or a table on the path is a list.
pub fn set_key(text: &str, path: &[String], value: &str) -> Result<String, String> {
    let mut document = parse(text)?;
    let value: Value = value.parse().map_err(|error: TomlError| error.message().to_owned())?;
    if let Some((key, above)) = path.split_last() {
        insert(table_at(document.as_item_mut(), above)?, key, value);
    }
    Ok(document.to_string())
}

/// Removes a key, or a table with everything below it. A text without such a key stays as it is.
///
/// # Errors
/// The text is not TOML; with the line.
pub fn remove_key(text: &str, path: &[String]) -> Result<String, String> {
    let mut document = parse(text)?;
    let Some((key, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in above {
        let below = table.get_mut(part).and_then(Item::as_table_like_mut);
        let Some(below) = below else { return Ok(text.to_owned()) };
        table = below;
    }
    table.remove(key);
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: TomlError| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or(text);
        format!("line {}: {}", before.matches('\n').count() + 1, error.message())
    })
}

/// The table at a path; what is missing is made, and a word becomes a table.
fn table_at<'a>(root: &'a mut Item, path: &[String]) -> Result<&'a mut Item, String> {
    let mut item = root;
    for part in path {
        let child = child_of(item);
        let Some(table) = item.as_table_like_mut() else {
            return Err(format!("{} has a list above {part}", path.join(".")));
        };
        item = table.entry(part).or_insert(child);
        if let Some(word) = item.as_value_mut().filter(|value| !value.is_inline_table()) {
            make_table(word);
        }
    }
    Ok(item)
}

/// A new table gets dotted keys in the section above it, and a header of its own if there is none.
fn child_of(parent: &Item) -> Item {
    let Some(parent) = parent.as_table() else {
        return Item::Value(Value::InlineTable(InlineTable::new()));
    };
    let mut table = Table::new();
    table.set_implicit(true);
    let is_root = parent.position().is_none() && !parent.is_implicit();
    table.set_dotted(parent.is_dotted() || !(is_root || parent.is_implicit()));
    Item::Table(table)
}

/// Makes `{ kind = word }` of a word.
fn make_table(value: &mut Value) {
    let decor = value.decor().clone();
    let mut kind = value.clone();
    kind.decor_mut().clear();
    let mut table = InlineTable::new();
    table.insert("kind", kind);
    *value = Value::InlineTable(table);
    *value.decor_mut() = decor;
}

/// A value keeps the white space and the comment around the value that it replaces.
fn insert(parent: &mut Item, key: &str, mut value: Value) {
    let is_inline = parent.is_inline_table();
    let Some(table) = parent.as_table_like_mut() else { return };
    if let Some(Item::Value(old)) = table.get_mut(key) {
        *value.decor_mut() = old.decor().clone();
        *old = value;
        return;
    }
    if is_inline && let Some((_, Item::Value(last))) = table.iter_mut().last() {
        // The space before the brace belongs to the last value.
        last.decor_mut().set_suffix("");
    }
    table.remove(key);
    table.insert(key, Item::Value(value));
}

#[cfg(test)]
mod tests {
    use super::{remove_key, set_key};

    fn path(keys: &str) -> Vec<String> {
        keys.split('/').map(str::to_owned).collect()
    }

    fn set(text: &str, keys: &str, value: &str) -> String {
        set_key(text, &path(keys), value).expect("TOML")
    }

    fn removed(text: &str, keys: &str) -> String {
        remove_key(text, &path(keys)).expect("TOML")
    }

    #[test]
    fn a_value_keeps_the_comment_behind_it() {
        let text = "# a\nrate = \"1 Mbit/s\"   # slow\n";
        assert_eq!(set(text, "rate", "\"2 Mbit/s\""), "# a\nrate = \"2 Mbit/s\"   # slow\n");
    }

    #[test]
    fn a_key_goes_into_the_inline_table_above_it() {
        let text = "[links.a]\nqueue = { kind = \"codel\" } # c\n";
        let expected = "[links.a]\nqueue = { kind = \"codel\", limit = \"9 packets\" } # c\n";
        assert_eq!(set(text, "links/a/queue/limit", "\"9 packets\""), expected);
    }

    #[test]
    fn a_word_becomes_a_table_if_a_key_below_it_is_set() {
        let text = "[links.a]\nqueue = \"codel\" # c\n";
        let expected = "[links.a]\nqueue = { kind = \"codel\", limit = \"9 packets\" } # c\n";
        assert_eq!(set(text, "links/a/queue/limit", "\"9 packets\""), expected);
    }

    #[test]
    fn a_key_goes_to_the_end_of_its_table() {
        let text = "[flows.a]\npath = [\"l\"]\n\n[flows.b]\npath = [\"l\"]\n";
        let expected = "[flows.a]\npath = [\"l\"]\ncount = 3\n\n[flows.b]\npath = [\"l\"]\n";
        assert_eq!(set(text, "flows/a/count", "3"), expected);
    }

    #[test]
    fn a_key_without_a_table_gets_a_table() {
        let expected = "title = \"t\"\n\n[series]\ninterval = \"1 s\"\n";
        assert_eq!(set("title = \"t\"\n", "series/interval", "\"1 s\""), expected);
        let expected = "[links.a]\nrate = 1\nqueue.limit = 2\n";
        assert_eq!(set("[links.a]\nrate = 1\n", "links/a/queue/limit", "2"), expected);
        let expected = "[links.a]\nrate = 1\n\n[links.b]\nrate = 2\n";
        assert_eq!(set("[links.a]\nrate = 1\n", "links/b/rate", "2"), expected);
    }

    #[test]
    fn a_key_of_the_root_goes_before_the_tables() {
        assert_eq!(set("[links.a]\nx = 1\n", "seed", "2"), "seed = 2\n[links.a]\nx = 1\n");
    }

    #[test]
    fn a_value_replaces_a_table_with_a_header() {
        let text = "[flows.a]\nx = 1\n\n[flows.a.congestion]\nkind = \"reno\"\n\n[series]\ny = 2\n";
        let expected = "[flows.a]\nx = 1\ncongestion = \"cubic\"\n\n[series]\ny = 2\n";
        assert_eq!(set(text, "flows/a/congestion", "\"cubic\""), expected);
    }

    #[test]
    fn a_key_in_a_table_whose_neighbours_have_headers_gets_a_header() {
        let text = "[flows.web]\nx = 1\n[flows.web.source.size]\nkind = \"k\"\n";
        let changed = set(text, "flows/web/source/load", "0.5");
        let table: toml_edit::DocumentMut = changed.parse().expect("TOML");
        assert_eq!(table["flows"]["web"]["source"]["load"].as_float(), Some(0.5));
        assert_eq!(table["flows"]["web"]["source"]["size"]["kind"].as_str(), Some("k"));
    }

    #[test]
    fn a_removed_key_leaves_nothing_behind() {
        assert_eq!(removed("a = { b = 1, c = 2 }\n", "a/b"), "a = { c = 2 }\n");
        assert_eq!(
            removed("x = 1\n[series]\ny = 2\n[z]\nw = 3\n", "series"),
            "x = 1\n[z]\nw = 3\n"
        );
        assert_eq!(removed("x = 1 # c\n", "y/z"), "x = 1 # c\n");
    }

    #[test]
    fn a_text_that_is_not_toml_is_refused_with_its_line() {
        let refusal = set_key("x = 1\na = \n", &path("a"), "1").expect_err("no TOML");
        assert!(refusal.starts_with("line 2: "), "{refusal}");
    }
}
