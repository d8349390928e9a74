//! Finds the congestion control that a group names: in the registry or among the controls of the
//! caller.

use serde::Deserialize;
use toml::Table;

use crate::congestion::CongestionConfig;
use crate::congestion::custom::CustomParams;
use crate::custom::NotFound;
use crate::kind_or_name::alternatives::{alternatives, kind_of};
use crate::quoting::quoted;
use crate::scenario::code::FindCode;
use crate::scenario::format::file::ScenarioFile;
use crate::scenario::format::flows::ControlConfig;
use crate::scenario::format::schema::schema;
use crate::scenario::text::error::{Fault, Path, bad_parameter, suggestion_of_kinds};

/// Replaces each control that is given by its name alone by the table that the name stands for.
pub(in crate::scenario) fn write_out(file: &mut ScenarioFile) {
    for group in file.flows.values_mut() {
        if let Some(ControlConfig::Named(name)) = &group.tcp.congestion {
            let config = of_name(name);
            group.tcp.congestion = Some(ControlConfig::Table(config));
        }
    }
}

/// The control of the registry with this name and its defaults, or else a custom control.
pub(in crate::scenario) fn of_name(name: &str) -> CongestionConfig {
    let kind = Table::from_iter([("kind".to_owned(), name.into())]);
    let registered = CongestionConfig::deserialize(kind);
    registered.unwrap_or_else(|_| CongestionConfig::Custom(CustomParams::named(name)))
}

/// Finds the controls that are not in the registry; returns a fault for each that is not found.
pub(in crate::scenario) fn find(file: &mut ScenarioFile, code: &dyn FindCode) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (name, group) in &mut file.flows {
        let Some(ControlConfig::Table(CongestionConfig::Custom(params))) =
            &mut group.tcp.congestion
        else {
            continue;
        };
        let at = Path::of(&["flows", name, "congestion"]);
        match code.control(&params.control, &params.parameters) {
            Ok(maker) => *params = params.clone().made_by(maker),
            Err(reason) => faults.push(fault(&at, &params.control, reason)),
        }
    }
    faults
}

/// Refuses custom controls that have not been found.
pub(in crate::scenario) fn check_found(file: &ScenarioFile) -> Vec<Fault> {
    let lost = file.flows.iter().filter_map(|(name, group)| match &group.tcp.congestion {
        Some(ControlConfig::Table(CongestionConfig::Custom(params))) if !params.is_found() => {
            let at = Path::of(&["flows", name, "congestion"]);
            Some(fault(&at, &params.control, NotFound::Unknown(Vec::new())))
        }
        _ => None,
    });
    lost.collect()
}

fn fault(at: &Path, name: &str, reason: NotFound) -> Fault {
    not_found(at, ("control", name), reason, || {
        let mut kinds = kinds_without("CongestionConfig", &[]);
        kinds.retain(|kind| !matches!(of_name(kind), CongestionConfig::Custom(_)));
        kinds
    })
}

/// The fault of a component that the caller supplies and that is not found: what it is, and its name.
/// `kinds` are the kinds of the registry that the name may stand for.
pub(super) fn not_found(
    at: &Path,
    (what, name): (&str, &str),
    reason: NotFound,
    kinds: impl Fn() -> Vec<String>,
) -> Fault {
    match reason {
        NotFound::Wrong { problem, remedy } => Fault::new(at, problem, remedy),
        NotFound::BadParameter(bad) => bad_parameter(&at.key("parameters"), bad),
        NotFound::Unknown(known) => {
            let kinds = kinds();
            let names: Vec<&str> = kinds.iter().chain(&known).map(String::as_str).collect();
            let remedy = suggestion_of_kinds(name, &names, Some(what));
            Fault::new(at, format!("there is no {what} \"{}\"", quoted(name)), remedy)
        }
    }
}

/// The kinds of a registry, named by its definition in the schema, without some.
pub(super) fn kinds_without(definition: &str, without: &[&str]) -> Vec<String> {
    let root = schema();
    let entries = alternatives(&root["$defs"][definition]).into_iter().flatten();
    let kinds = entries.filter_map(kind_of).filter(|kind| !without.contains(kind));
    kinds.map(str::to_owned).collect()
}
