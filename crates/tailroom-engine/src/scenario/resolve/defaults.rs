//! Keys that groups of flows share: `[defaults]`, and the profile of a group's host, which also
//! chooses the queue of the hosts' interfaces at a switch or fabric.
//!
//! All are copied into the groups before anything is checked. Every later step therefore sees
//! groups with all their keys, and a scenario in which they are written out by hand is the same
//! scenario. A key of the group takes precedence over `[defaults]`, and both over the profile.

use serde::Deserialize;
use toml::{Table, Value};

use super::controls;
use crate::congestion::CongestionConfig;
use crate::scenario::format::hosts;
use crate::scenario::format::schema::tcp_keys;
use crate::scenario::format::source_class::class_as_written;
use crate::scenario::text::document::Inherited;

/// Copies the keys of `[defaults]` and of the hosts into the groups.
pub(in crate::scenario) fn write_out(table: &mut Table) -> Inherited {
    let mut inherited = Inherited::default();
    let defaults = table.get("defaults").and_then(Value::as_table).cloned().unwrap_or_default();
    let groups = table.get_mut("flows").and_then(Value::as_table_mut);
    for (name, group) in groups.into_iter().flatten() {
        let Some(group) = group.as_table_mut() else { continue };
        let class = class_as_written(group.get("source").or_else(|| defaults.get("source")));
        let (is_controlled, has_count) = (class.is_responsive(), !class.is_dynamic());
        for (key, value) in &defaults {
            // An unresponsive stream does not use a host and the keys of a transport, and a group
            // whose flows arrive and depart does not use a count.
            let is_of_use = match key.as_str() {
                "count" => has_count,
                "host" => is_controlled,
                _ => is_controlled || !tcp_keys().contains(key),
            };
            if is_of_use && !group.contains_key(key) {
                group.insert(key.clone(), value.clone());
                inherited.defaults.insert((name.clone(), key.clone()));
            }
        }
        if is_controlled {
            for key in add_host(group) {
                inherited.host.insert((name.clone(), key.to_owned()));
            }
        }
    }
    add_interfaces(table);
    inherited
}

/// Adds the queue of the hosts' interfaces to the switches and fabrics that leave it open. The flows of
/// all groups share an interface: one group whose host serves flows in turn decides for the others.
fn add_interfaces(table: &mut Table) {
    let mut found: Vec<(String, Value)> = Vec::new();
    for (_, group) in table.get("flows").and_then(Value::as_table).into_iter().flatten() {
        let host = group.get("host").and_then(Value::as_str).and_then(hosts::profile);
        let Some(queue) = host.and_then(hosts::Profile::interface) else { continue };
        let from = match group.get("from") {
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            one => Vec::from_iter(one.and_then(Value::as_str)),
        };
        let switches = from.into_iter().map(|node| node.split('.').next().unwrap_or(node));
        found.extend(switches.map(|switch| (switch.to_owned(), queue.clone())));
    }
    for kind in ["switches", "fabrics"] {
        let Some(switches) = table.get_mut(kind).and_then(Value::as_table_mut) else { continue };
        for (name, queue) in &found {
            if let Some(Value::Table(switch)) = switches.get_mut(name)
                && !switch.contains_key(hosts::INTERFACE)
            {
                switch.insert(hosts::INTERFACE.to_owned(), queue.clone());
            }
        }
    }
}

/// Adds the host, if the group has none, and what its profile sets; returns the added keys.
fn add_host(group: &mut Table) -> Vec<&'static str> {
    let mut added = Vec::new();
    if !group.contains_key("host") {
        group.insert("host".to_owned(), hosts::DEFAULT.into());
        added.push("host");
    }
    let profile = group["host"].as_str().and_then(hosts::profile);
    let control = group.get("congestion").and_then(control);
    let settings = profile.map(|profile| profile.settings(control.as_ref(), group));
    for (key, value) in settings.into_iter().flatten() {
        if !group.contains_key(key) {
            group.insert(key.to_owned(), value);
            added.push(key);
        }
    }
    added
}

/// The control that a scenario names, if its table is right.
fn control(value: &Value) -> Option<CongestionConfig> {
    match value {
        Value::String(name) => Some(controls::of_name(name)),
        table => CongestionConfig::deserialize(table.clone()).ok(),
    }
}
