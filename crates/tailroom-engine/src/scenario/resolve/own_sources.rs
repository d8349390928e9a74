//! Finds the sources that groups name and the caller supplies.

use super::controls::not_found;
use crate::custom::NotFound;
use crate::scenario::code::FindCode;
use crate::scenario::format::file::ScenarioFile;
use crate::scenario::text::error::{Fault, Path};
use crate::traffic::SourceConfig;

/// Every source of the file that is not in the registry, with its group.
pub(in crate::scenario) fn custom(file: &ScenarioFile) -> impl Iterator<Item = (&String, &str)> {
    file.flows.iter().filter_map(|(group, keys)| Some((group, keys.source.custom()?)))
}

/// Finds the sources that are not in the registry; returns a fault for each that is not found.
pub(in crate::scenario) fn find(file: &mut ScenarioFile, code: &dyn FindCode) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (group, keys) in &mut file.flows {
        let missing = match &mut keys.source {
            SourceConfig::CustomPackets(params) => {
                let found = code.packets(&params.source, &params.parameters);
                found.map(|maker| *params = params.clone().made_by(maker)).err()
            }
            SourceConfig::CustomFlows(params) => {
                let found = code.flows(&params.source, &params.parameters);
                found.map(|maker| *params = params.clone().made_by(maker)).err()
            }
            _ => None,
        };
        let name = keys.source.custom().unwrap_or_default();
        faults.extend(missing.map(|reason| fault(group, name, reason)));
    }
    faults
}

/// Refuses custom sources that have not been found.
pub(in crate::scenario) fn check_found(file: &ScenarioFile) -> Vec<Fault> {
    let is_lost = |(group, _): &(&String, &str)| match &file.flows[*group].source {
        SourceConfig::CustomPackets(params) => !params.is_found(),
        SourceConfig::CustomFlows(params) => !params.is_found(),
        _ => false,
    };
    let lost = custom(file).filter(is_lost);
    lost.map(|(group, name)| fault(group, name, NotFound::Unknown(Vec::new()))).collect()
}

fn fault(group: &str, name: &str, reason: NotFound) -> Fault {
    not_found(&Path::of(&["flows", group, "source"]), ("source", name), reason, Vec::new)
}
