//! Lines that only one link names.

use std::collections::HashMap;

use crate::network::Network;
use crate::quoting::quoted;
use crate::scenario::text::error::{Fault, Path, suggestion};

/// Refuses a line that no other link shares: its name is probably misspelled.
pub(super) fn check_lines(network: &Network) -> Result<(), Fault> {
    let lines = || network.links.iter().filter_map(|link| Some((link, link.line.as_ref()?)));
    let mut links_of: HashMap<&str, u32> = HashMap::new();
    lines().for_each(|(_, line)| *links_of.entry(&line.name).or_default() += 1);
    for (link, line) in lines() {
        if links_of.get(line.name.as_str()) == Some(&1) {
            let at = Path::of(&["links", &link.name, "line", "name"]);
            let problem = format!("no other link shares the line \"{}\"", quoted(&line.name));
            let others = lines().filter(|(_, its)| its.name != line.name);
            let names: Vec<&str> = others.map(|(_, its)| its.name.as_str()).collect();
            let remedy = if names.is_empty() {
                "remove it, or give it to another link too".to_owned()
            } else {
                suggestion(&line.name, names.into_iter())
            };
            return Err(Fault::new(&at, problem, remedy));
        }
    }
    Ok(())
}
