//! Finds the queue disciplines that links, switches and fabrics name and the caller supplies.

use toml::{Table, Value};

use super::controls::{kinds_without, not_found};
use crate::custom::NotFound;
use crate::kind_or_name;
use crate::queue::QueueConfig;
use crate::queue::custom::CustomParams;
use crate::scenario::code::FindCode;
use crate::scenario::format::file::ScenarioFile;
use crate::scenario::text::error::{Fault, Path};

/// Replaces each discipline in Python that is given by its name alone, as in `"module:Class"`, by the
/// table that the name stands for.
pub(in crate::scenario) fn write_out(table: &mut Table) {
    for name in ["links", "switches", "fabrics"] {
        let entries = table.get_mut(name).and_then(Value::as_table_mut);
        for (_, entry) in entries.into_iter().flatten() {
            for key in ["queue", "nic_queue"] {
                let queue = entry.as_table_mut().and_then(|entry| entry.get_mut(key));
                if let Some(queue) = queue
                    && let Some(name) = queue.as_str().filter(|name| name.contains(':'))
                {
                    *queue = kind_or_name::table_of(key, name).into();
                }
            }
        }
    }
}

/// Every discipline of the file that is not in the registry, with its place.
pub(in crate::scenario) fn custom(
    file: &ScenarioFile,
) -> impl Iterator<Item = (Path, &CustomParams)> {
    let links = file.links.iter().map(|(name, link)| (["links", name, "queue"], &link.keys.queue));
    let switches = file.switches.iter().map(|(name, switch)| ("switches", name, &switch.ports));
    let fabrics = file.fabrics.iter().map(|(name, fabric)| ("fabrics", name, &fabric.ports));
    let ports = switches.chain(fabrics).flat_map(|(table, name, ports)| {
        [([table, name, "queue"], &ports.queue), ([table, name, "nic_queue"], &ports.nic_queue)]
    });
    links.chain(ports).filter_map(|(place, queue)| Some((Path::of(&place), queue.custom()?)))
}

/// The same disciplines in the same order, to be changed.
fn custom_mut(file: &mut ScenarioFile) -> impl Iterator<Item = &mut CustomParams> {
    let links = file.links.values_mut().map(|link| &mut link.keys.queue);
    let switches = file.switches.values_mut().map(|switch| &mut switch.ports);
    let ports = switches.chain(file.fabrics.values_mut().map(|fabric| &mut fabric.ports));
    let queues = links.chain(ports.flat_map(|ports| [&mut ports.queue, &mut ports.nic_queue]));
    queues.filter_map(|queue| match queue {
        QueueConfig::Custom(params) => Some(params),
        _ => None,
    })
}

/// Finds the disciplines that are not in the registry; returns a fault for each that is not found.
pub(in crate::scenario) fn find(file: &mut ScenarioFile, code: &dyn FindCode) -> Vec<Fault> {
    let places: Vec<Path> = custom(file).map(|(place, _)| place).collect();
    let mut faults = Vec::new();
    for (place, params) in places.iter().zip(custom_mut(file)) {
        match code.discipline(&params.discipline, &params.parameters) {
            Ok(maker) => *params = params.clone().made_by(maker),
            Err(reason) => faults.push(fault(place, &params.discipline, reason)),
        }
    }
    faults
}

/// Refuses custom disciplines that have not been found.
pub(in crate::scenario) fn check_found(file: &ScenarioFile) -> Vec<Fault> {
    let lost = custom(file).filter(|(_, params)| !params.is_found());
    lost.map(|(place, params)| fault(&place, &params.discipline, NotFound::Unknown(Vec::new())))
        .collect()
}

fn fault(at: &Path, name: &str, reason: NotFound) -> Fault {
    not_found(at, ("discipline", name), reason, || kinds_without("QueueConfig", &["custom"]))
}
