//! The source of a group, resolved against what the group's own keys say.

use super::host_pairs::{capacity, mean_propagation};
use super::inputs::Inputs;
use crate::distribution::Distribution;
use crate::fabric::HostPairs;
use crate::quantity::PositiveDuration;
use crate::scenario::format::flows::FlowsConfig;
use crate::scenario::text::error::{Fault, Path, bad_parameter};
use crate::traffic::context::{DynamicFlows, Group, GroupContext};
use crate::traffic::{SourceClass, SourceSpec};
use crate::units::Time;

/// Resolves the source of a group; `shortest_rtt` is the propagation of its shared links.
pub(in crate::scenario) fn resolve_source(
    inputs: Inputs<'_>,
    name: &str,
    group: &FlowsConfig,
    shortest_rtt: Time,
    hosts: Option<&HostPairs>,
) -> Result<SourceSpec, Fault> {
    let at = Path::of(&["flows", name]);
    let flows = match group.source.class() {
        SourceClass::Flows { is_unresponsive } => {
            let own_rtt = match hosts {
                Some(hosts) => mean_propagation(inputs.file, hosts),
                None => shortest_rtt.picoseconds() as f64,
            };
            dynamic_flows(inputs, &at, group, own_rtt, is_unresponsive)?
        }
        SourceClass::Data | SourceClass::Packets => DynamicFlows::default(),
    };
    let link = |name: &'_ String| inputs.link_rate(name);
    let context = GroupContext {
        group: Group {
            name,
            seed: inputs.file.seed,
            packet_bytes: group.packet_size.bytes() as u32,
            header_bytes: group.header_size.bytes() as u32,
            hosts,
        },
        links: group.path.iter().map(|name| (name.as_str(), link(name))).collect(),
        hosts_rate: hosts.map(|hosts| capacity(inputs, hosts)),
        files: inputs.files,
        flows,
    };
    group.source.resolve(&context).map_err(|bad| bad_parameter(&at.key("source"), bad))
}

/// What the keys of a group say of flows that arrive and depart.
fn dynamic_flows(
    inputs: Inputs<'_>,
    at: &Path,
    group: &FlowsConfig,
    own_rtt: f64,
    is_unresponsive: bool,
) -> Result<DynamicFlows, Fault> {
    if group.count != 1 {
        let problem = "flows that arrive and depart are not counted";
        let remedy = "remove the key; the source says how many flows arrive";
        return Err(Fault::new(&at.key("count"), problem, remedy));
    }
    let rtt = match &group.rtt {
        Some(rtt) => rtt.distribution(&at.key("rtt"), inputs.files)?,
        None => Distribution::Fixed(own_rtt),
    };
    if group.access_rate.is_some() && is_unresponsive {
        let kind = group.source.name();
        let problem = format!("a flow of a source of kind \"{kind}\" has its own rate");
        let remedy = "remove the key; the source says how fast its flows send";
        return Err(Fault::new(&at.key("access_rate"), problem, remedy));
    }
    let access_rate = group.access_rate.as_ref();
    let access_rate = access_rate.map(|rate| rate.resolve("access_rate", inputs.files));
    Ok(DynamicFlows {
        start: group.start.one(&at.key("start"))?,
        stop: group.stop.map_or(Time::NEVER, PositiveDuration::time),
        rtt,
        access_rate: access_rate.transpose().map_err(|bad| bad_parameter(at, bad))?,
    })
}
