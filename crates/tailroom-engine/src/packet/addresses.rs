//! The hosts between which the flows of a group run, as a queue that tells hosts apart sees them.

use crate::derives::{Deserialize, JsonSchema, Ranges, Serialize};
use crate::packet::dscp::Dscp;
use crate::random::{Random, SmallStream, stream};

/// Hosts of a group's flows, which take them in turn.
///
/// Flow i of the group has source i and destination i, counted from the first again where there are fewer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "FlowHostsConfig")]
#[non_exhaustive]
pub struct FlowHosts {
    /// Hosts that send the data. Left out, each flow has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 3)]
    pub sources: Option<HostSet>,
    /// Hosts that receive the data. Left out, each flow has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 2)]
    pub destinations: Option<HostSet>,
}

/// Hosts, by number or by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Ranges)]
#[serde(untagged)]
pub enum HostSet {
    /// So many hosts of this group alone.
    Count(#[schemars(range(min = 1, max = 65_536))] u32),
    /// Hosts by name; in other groups the same name is the same host, and a name may be given twice.
    Names(#[schemars(length(min = 1, max = 65_536))] Vec<String>),
}

impl FlowHosts {
    /// A group with these named hosts.
    pub fn named(sources: &[&str], destinations: &[&str]) -> Self {
        let names = |names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned());
            Some(HostSet::Names(names.collect()))
        };
        FlowHosts { sources: names(sources), destinations: names(destinations) }
    }
}

/// What the IP headers of a group's packets say at a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Headers {
    /// Code point of data and ACKs.
    pub dscp: Dscp,
    /// Number of links on the way to the receiver: what has passed so many is an ACK.
    forward_hops: u8,
    /// Number of the group's first permanent flow.
    first: u32,
    sources: Vec<u64>,
    destinations: Vec<u64>,
}

impl Default for Headers {
    /// Best effort, with hosts of each flow's own.
    fn default() -> Self {
        Headers::new(Dscp::Be, "", &FlowHosts::default(), 0, u8::MAX)
    }
}

impl Headers {
    /// The headers of a group by its name, code point and hosts, whose first permanent flow has this number and
    /// whose data cross so many links.
    pub fn new(dscp: Dscp, group: &str, hosts: &FlowHosts, first: u32, forward_hops: u8) -> Self {
        let identities = |set: &Option<HostSet>, side: &str| match set {
            None => Vec::new(),
            Some(HostSet::Count(count)) => {
                (0..*count).map(|host| identity(&format!("{side} {host} of {group}"))).collect()
            }
            Some(HostSet::Names(names)) => {
                names.iter().map(|name| identity(&format!("host {name}"))).collect()
            }
        };
        Headers {
            dscp,
            forward_hops,
            first,
            sources: identities(&hosts.sources, "source"),
            destinations: identities(&hosts.destinations, "destination"),
        }
    }

    /// Whether flows of the group share hosts.
    pub fn names_hosts(&self) -> bool {
        !self.sources.is_empty() || !self.destinations.is_empty()
    }

    /// Whether a packet that has passed so many links is an ACK.
    #[inline]
    pub fn is_ack(&self, passed: u8) -> bool {
        passed >= self.forward_hops
    }

    /// Source and destination of a packet of data; those of an ACK are the other way round.
    pub fn hosts(&self, flow: u32) -> [u64; 2] {
        let of = |hosts: &[u64], side: u64| match hosts.len() {
            0 => SmallStream::seeded(u64::from(flow) << 1 | side).next_u64(),
            count => hosts[flow.wrapping_sub(self.first) as usize % count],
        };
        [of(&self.sources, 0), of(&self.destinations, 1)]
    }
}

/// The same number for the same name, in every run.
fn identity(name: &str) -> u64 {
    stream(0, name).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(group: &str, hosts: &FlowHosts) -> Headers {
        Headers::new(Dscp::Ef, group, hosts, 10, 2)
    }

    #[test]
    fn flows_take_the_hosts_in_turn() {
        let hosts = FlowHosts { sources: Some(HostSet::Count(3)), destinations: None };
        let group = headers("g", &hosts);
        let sources: Vec<u64> = (10..16).map(|flow| group.hosts(flow)[0]).collect();
        assert_eq!(sources[..3], sources[3..]);
        assert!(sources[0] != sources[1] && sources[1] != sources[2] && sources[0] != sources[2]);
        assert_ne!(group.hosts(10)[1], group.hosts(13)[1], "each flow has its own destination");
        assert_ne!(group.hosts(10)[0], headers("h", &hosts).hosts(10)[0], "hosts of a group");
    }

    #[test]
    fn a_name_is_the_same_host_in_every_group() {
        let [one, other] = [
            headers("g", &FlowHosts::named(&["a", "b"], &["server"])),
            headers("h", &FlowHosts::named(&["b"], &["server"])),
        ];
        assert_eq!(one.hosts(11), other.hosts(10));
        assert_ne!(one.hosts(10)[0], other.hosts(10)[0]);
    }

    #[test]
    fn what_has_passed_the_links_of_the_data_is_an_ack() {
        let group = headers("g", &FlowHosts::default());
        assert_eq!([0, 1, 2, 3].map(|passed| group.is_ack(passed)), [false, false, true, true]);
        assert!(!group.names_hosts());
    }
}
