//! What links that share a line must satisfy.

use std::collections::HashMap;

use crate::link::LinkSpec;
use crate::parameters::BadParameter;
use crate::quoting::quoted;

/// Refuses links of one line that differ in what the line decides: rate, changes of rate, and delay.
pub(super) fn check_lines(links: &[LinkSpec]) -> Result<(), (usize, BadParameter)> {
    let mut firsts: HashMap<&str, &LinkSpec> = HashMap::new();
    for (index, link) in links.iter().enumerate() {
        let Some(line) = &link.line else { continue };
        let first = firsts.entry(&line.name).or_insert(link);
        let differences = [
            ("rate", first.rate != link.rate),
            ("rate_changes", first.rate_changes != link.rate_changes),
            ("rate_period", first.rate_period != link.rate_period),
            ("delay", first.delay != link.delay),
        ];
        if let Some((key, _)) = differences.iter().find(|(_, differs)| *differs) {
            let problem = format!(
                "differs from that of \"{}\", with which the link shares the line \"{}\"",
                first.name,
                quoted(&line.name)
            );
            let remedy = "write the same for both, or let them have lines of their own";
            return Err((index, BadParameter::new(*key, problem, remedy)));
        }
    }
    Ok(())
}
