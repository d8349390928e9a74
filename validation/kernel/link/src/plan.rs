//! What a scenario of tailroom means between two hosts of the kernel.
//!
//! The first link of the scenario carries packets from host A to host B, and a second one those from
//! B to A; a direction without a link only delays. A flow sends in the direction of its path. All of
//! its RTT that is not the delay of a link lies on the way of its ACKs, so that flows of different
//! RTT differ in nothing else. Flows that arrive and depart are requests: connections of their own, of
//! the sizes and at the times that the simulator draws from the same seed. The objects of a flow that
//! lasts are writes to its connection, of the same sizes and at the same times.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tailroom_engine::dynamic_flows::source_group;
use tailroom_engine::flow::objects_of;
use tailroom_engine::network::{GroupSpec, Network};
use tailroom_engine::scenario::{self, FileLoader};
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::sender::ecn::EcnMode;
use tailroom_engine::traffic::{FlowSource, FlowSourceSpec, SourceSpec};
use tailroom_engine::units::Time;

/// Port at the receiver of flow 0; flow n has the port n above it.
pub const FIRST_PORT: u16 = 10_000;
/// Most flows of a run: their ports stay below those that the kernel chooses for senders.
pub const MAX_FLOWS: usize = 1_000;
/// Queue disciplines that tell flows apart: a group of requests is one flow here.
const FAIR: &[&str] = &["fair", "fq_codel", "fq_pie"];
/// The direction from host A to host B.
pub const A_TO_B: usize = 0;

/// A run: the network of the scenario, and what is added to it here.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The network that the simulator would run.
    pub network: Network,
    /// The permanent flows, in the order of the network; then the groups of requests.
    pub flows: Vec<FlowPlan>,
    /// Largest packet that the hosts send, in bytes.
    pub mtu: u32,
}

/// A flow between the two hosts, or a group of requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowPlan {
    /// Name of the flow, as in results of the simulator.
    pub name: String,
    /// Its group.
    pub group: String,
    /// The kernel's congestion control.
    pub control: String,
    /// Port at its receiver; the sender's port is the kernel's choice.
    pub port: u16,
    /// The direction of its data: 0 from host A to host B, 1 from B to A.
    pub direction: usize,
    /// When it connects.
    pub start_s: f64,
    /// When it stops sending.
    pub stop_s: f64,
    /// Propagation in both directions together.
    pub rtt_s: f64,
    /// Size of a full data packet on the wire.
    pub packet_bytes: u32,
    /// What the sender asks for in `net.ipv4.tcp_ecn` when it connects: 1 to use ECN, 2 not to, 3
    /// for accurate feedback (RFC 9768).
    pub tcp_ecn: u8,
    /// In each direction, what its packets pass.
    #[serde(skip)]
    pub routes: [Route; 2],
    /// The requests of a group, in order of time; `None` for a permanent flow.
    #[serde(skip)]
    pub requests: Option<Vec<Request>>,
    /// What the application of a permanent flow writes, in order of time; `None` if it always has data.
    #[serde(skip)]
    pub writes: Option<Vec<Request>>,
}

/// A connection that sends so much and is closed, or what is written to one that lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it connects, or the application writes.
    pub start: Time,
    /// Payload.
    pub bytes: u64,
}

/// What the packets of a flow pass in a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Route {
    /// The class of the flow's group at the link; `None` if it passes no link.
    pub class: Option<u32>,
    /// Delay behind the link, in addition to that of the link.
    pub delay: Time,
}

/// Reads the files that a scenario names, from its own directory.
struct SameDirectory(PathBuf);

impl FileLoader for SameDirectory {
    fn load(&self, path: &str, most_bytes: u64) -> Result<Option<String>, String> {
        let mut text = String::new();
        File::open(self.0.join(path))
            .and_then(|file| file.take(most_bytes + 1).read_to_string(&mut text))
            .map_err(|error| error.to_string())?;
        Ok(Some(text).filter(|text| text.len() as u64 <= most_bytes))
    }
}

impl Plan {
    /// Reads a scenario file. `controls` are pairs of a group and the kernel's control for it, where
    /// the name is not that of the scenario's control.
    ///
    /// # Errors
    /// What is wrong with the scenario, or what of it cannot be run here.
    pub fn read(path: &Path, controls: &[(String, String)], seed: u64) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let directory = path.parent().unwrap_or(Path::new(".")).to_owned();
        Plan::of(&text, &SameDirectory(directory), controls, seed)
    }

    /// The plan of a scenario.
    ///
    /// # Errors
    /// Those of [`Plan::read`].
    pub fn of(
        text: &str,
        files: &dyn FileLoader,
        controls: &[(String, String)],
        seed: u64,
    ) -> Result<Self, String> {
        let scenario = scenario::parse(text, &[], Some(seed), files).map_err(|e| e.to_string())?;
        let network = scenario.resolve().map_err(|error| error.to_string())?;
        Plan::of_network(network, controls)
    }

    fn of_network(network: Network, controls: &[(String, String)]) -> Result<Self, String> {
        if network.links.len() > 2 {
            return Err(format!(
                "[links] has {} links; at most 2 are allowed: one from host A to host B, and one back",
                network.links.len()
            ));
        }
        if let Some((group, _)) =
            controls.iter().find(|(name, _)| network.groups.iter().all(|group| group.name != *name))
        {
            return Err(format!(
                "there is no group \"{group}\" for a control; name a group of [flows]"
            ));
        }
        let sources = || network.groups.iter().enumerate();
        let requests: Vec<_> =
            sources().filter_map(|(at, group)| Some((at, request_source(group)?))).collect();
        let count = network.flows.len() + requests.len();
        if count == 0 || count > MAX_FLOWS {
            return Err(format!(
                "the scenario has {count} flows and groups of requests; between 1 and {MAX_FLOWS} \
                 are allowed"
            ));
        }
        for group in &network.groups {
            check(&network, group)?;
        }
        let permanent = (0..network.flows.len()).map(|index| flow(&network, index, controls));
        let groups = (network.flows.len()..).zip(requests).map(|(index, (group, source))| {
            request_group(&network, index, &network.groups[group], source, controls)
        });
        let flows: Result<Vec<_>, _> = permanent.chain(groups).collect();
        let mtu = network.groups.iter().map(|group| group.packet_size).max().unwrap_or(1_500);
        Ok(Plan { flows: flows?, mtu, network })
    }

    /// Whether there is a flow of which the link notes more than the packets.
    pub fn has_conversations(&self) -> bool {
        self.flows.iter().any(FlowPlan::has_conversations)
    }

    /// The flow of a packet, by the port of its receiver.
    pub fn flow_of(&self, source_port: u16, destination_port: u16) -> Option<u32> {
        let flow = |port: u16| {
            let flow = usize::from(port.checked_sub(FIRST_PORT)?);
            (flow < self.flows.len()).then_some(flow as u32)
        };
        flow(destination_port).or_else(|| flow(source_port))
    }
}

impl FlowPlan {
    /// Whether the link notes when requests or writes are acknowledged.
    pub fn has_conversations(&self) -> bool {
        self.requests.is_some() || self.writes.is_some()
    }
}

/// The source of a group of requests.
fn request_source(group: &GroupSpec) -> Option<&FlowSourceSpec> {
    match &group.source {
        SourceSpec::Flows(source @ FlowSourceSpec::FiniteFlows(_)) => Some(source),
        _ => None,
    }
}

/// Whether the flows of a group can be run here.
fn check(network: &Network, group: &GroupSpec) -> Result<(), String> {
    let refuse = |problem: String| Err(format!("[flows.{}]: {problem}", group.name));
    let Some(tcp) = &group.tcp else {
        return refuse("it has no congestion control; only TCP is supported here".to_owned());
    };
    let is_permanent = group.source.bulk().is_some() || group.source.objects().is_some();
    if !is_permanent && request_source(group).is_none() {
        let kind = group.source.name();
        return refuse(format!(
            "source \"{kind}\" is not supported here; use \"bulk\", \"objects\" or \"finite_flows\""
        ));
    }
    if group.path.len() != 1 || group.reverse_path.len() > 1 {
        return refuse("path must name one link, and reverse_path at most one".to_owned());
    }
    let disciplines = group.path.iter().map(|&link| network.links[link].queue.name());
    if request_source(group).is_some() && disciplines.clone().any(|name| FAIR.contains(&name)) {
        return refuse("requests cannot pass a queue that tells flows apart".to_owned());
    }
    if !(576..=9_000).contains(&group.packet_size) {
        let size = group.packet_size;
        return refuse(format!(
            "packet_size is {size} B; between 576 B and 9000 B is allowed here"
        ));
    }
    if tcp.ecn == EcnMode::L4s {
        return refuse(
            "ecn = \"l4s\" is not supported: the kernel's controls do not send ECT(1)".into(),
        );
    }
    Ok(())
}

/// A permanent flow.
fn flow(
    network: &Network,
    index: usize,
    controls: &[(String, String)],
) -> Result<FlowPlan, String> {
    let spec = &network.flows[index];
    let group = &network.groups[spec.group];
    let plan = flow_plan(network, index, group, spec.rtt, controls)?;
    let writes = writes(network, index, group)?;
    Ok(FlowPlan { name: network.flow_name(index), start_s: spec.start.seconds(), writes, ..plan })
}

/// What the application of a permanent flow writes: the objects that the simulator draws from the same
/// seed, in whole packets; `None` if it always has data.
fn writes(
    network: &Network,
    index: usize,
    group: &GroupSpec,
) -> Result<Option<Vec<Request>>, String> {
    let Some(mut objects) = objects_of(network, index) else { return Ok(None) };
    let payload = u64::from(group.packet_size - group.header_size);
    let mut writes = Vec::new();
    while objects.next_arrival() < network.duration {
        let start = objects.next_arrival();
        writes.push(Request { start, bytes: objects.take(start) * payload });
    }
    if writes.is_empty() {
        return Err(format!("[flows.{}]: no object arrives before the end", group.name));
    }
    Ok(Some(writes))
}

/// A group of requests: those that the simulator draws from the same seed.
fn request_group(
    network: &Network,
    index: usize,
    group: &GroupSpec,
    source: &FlowSourceSpec,
    controls: &[(String, String)],
) -> Result<FlowPlan, String> {
    let (forward, backward) = network.propagation(group, None);
    let mut source = source.start(&source_group(network, group), forward + backward);
    let mut flows = Vec::new();
    while source.next_arrival() < network.duration
        && let Some(flow) = source.next_flow()
    {
        flows.push(flow);
    }
    let Some(first) = flows.first().copied() else {
        return Err(format!("[flows.{}]: no request arrives before the end", group.name));
    };
    if flows.iter().any(|flow| flow.rtt != first.rtt || flow.access_rate.is_some()) {
        return Err(format!(
            "[flows.{}]: requests of different rtt, or with an access_rate, are not supported here",
            group.name
        ));
    }
    let requests =
        flows.iter().map(|flow| Request { start: flow.start, bytes: flow.bytes.unwrap_or(0) });
    let plan = flow_plan(network, index, group, first.rtt, controls)?;
    Ok(FlowPlan { requests: Some(requests.collect()), ..plan })
}

/// What permanent flows and requests have in common.
fn flow_plan(
    network: &Network,
    index: usize,
    group: &GroupSpec,
    rtt: Time,
    controls: &[(String, String)],
) -> Result<FlowPlan, String> {
    let tcp = group.tcp.as_ref().ok_or("a group without a congestion control")?;
    let stop = group.stop.unwrap_or(network.duration).min(network.duration);
    Ok(FlowPlan {
        name: group.name.clone(),
        group: group.name.clone(),
        control: control(group, tcp, controls)?,
        port: FIRST_PORT + index as u16,
        direction: group.path[0],
        start_s: 0.0,
        stop_s: stop.seconds(),
        rtt_s: rtt.seconds(),
        packet_bytes: group.packet_size,
        tcp_ecn: match tcp.ecn {
            EcnMode::Off | EcnMode::L4s => 2,
            EcnMode::Classic => 1,
            EcnMode::Accurate => 3,
        },
        routes: routes(network, group, rtt),
        requests: None,
        writes: None,
    })
}

/// What the packets of a flow pass in each direction.
fn routes(network: &Network, group: &GroupSpec, rtt: Time) -> [Route; 2] {
    let link = group.path[0];
    let class = |link: usize| {
        network.crossing()[link].iter().position(|&at| at == group_index(network, group))
    };
    let class = |link: usize| class(link).map(|class| class as u32);
    let back = group.reverse_path.first().copied();
    let in_links =
        network.links[link].delay + back.map_or(Time::ZERO, |back| network.links[back].delay);
    let data = Route { class: class(link), delay: Time::ZERO };
    let acks = Route { class: back.and_then(class), delay: rtt.since(in_links) };
    if link == A_TO_B { [data, acks] } else { [acks, data] }
}

fn group_index(network: &Network, group: &GroupSpec) -> usize {
    network.groups.iter().position(|other| other.name == group.name).unwrap_or(usize::MAX)
}

/// The kernel's name of a group's control.
fn control(
    group: &GroupSpec,
    tcp: &TcpSpec,
    controls: &[(String, String)],
) -> Result<String, String> {
    if let Some((_, name)) = controls.iter().find(|(name, _)| *name == group.name) {
        return Ok(name.clone());
    }
    match tcp.congestion.name() {
        name @ ("reno" | "cubic" | "dctcp") => Ok(name.to_owned()),
        "bbr1" => Ok("bbr".to_owned()),
        name => Err(format!(
            "[flows.{}]: the kernel has no control of the name \"{name}\"; name one for the group",
            group.name
        )),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use tailroom_engine::scenario::NoFiles;

    use super::*;

    /// A plan of a link of 10 Mbit/s and 5 ms with this queue, and of these flows.
    pub(crate) fn plan(queue: &str, flows: &str) -> Result<Plan, String> {
        let links = format!(
            "[links.there]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = {queue}\n\
             [links.back]\nrate = \"2 Mbit/s\"\ndelay = \"7 ms\"\nqueue = {queue}\n"
        );
        let text = format!("duration = \"8 s\"\nmeasure_from = \"2 s\"\n{links}{flows}");
        Plan::of(&text, &NoFiles, &[("named".into(), "bpf_named".into())], 1)
    }

    pub(crate) const DROP_TAIL: &str = "{ kind = \"drop_tail\", limit = \"20 packets\" }";
    pub(crate) const NAMED: &str =
        "[flows.named]\npath = [\"there\"]\ncongestion = \"htcp\"\nrtt = \"30 ms\"\n";

    #[test]
    fn all_propagation_but_that_of_links_delays_the_acks() {
        let flows = "[flows.back]\ncount = 2\npath = [\"back\"]\nreverse_path = [\"there\"]\n\
                     congestion = \"bbr1\"\nrtt = \"40 ms\"\nstart = \"1 s\"\nstop = \"3 s\"\n\
                     ecn = \"classic\"\nack_size = \"52 B\"\n";
        let plan = plan(DROP_TAIL, &format!("{NAMED}{flows}")).expect("a plan");
        let [named, _, back] = &plan.flows[..] else { panic!("three flows") };
        assert_eq!((named.control.as_str(), named.port, named.direction), ("bpf_named", 10_000, 0));
        assert_eq!((named.start_s, named.stop_s, named.tcp_ecn), (0.0, 8.0, 2));
        let ms = Time::from_milliseconds;
        let through = |class| Route { class: Some(class), delay: Time::ZERO };
        assert_eq!(named.routes, [through(0), Route { class: None, delay: ms(25) }]);
        assert_eq!((back.name.as_str(), back.control.as_str()), ("back.1", "bbr"));
        assert_eq!((back.port, back.direction, back.tcp_ecn), (10_002, 1, 1));
        assert_eq!((back.start_s, back.stop_s), (1.0, 3.0));
        assert_eq!(back.routes, [Route { class: Some(1), delay: ms(28) }, through(0)]);
    }

    #[test]
    fn requests_come_when_the_simulators_flows_do() {
        let flows = "[flows.asked]\npath = [\"there\"]\ncongestion = \"cubic\"\nrtt = \"20 ms\"\n\
                     stop = \"6 s\"\n\
                     source = { kind = \"finite_flows\", size = \"14480 B\", arrivals_per_second = 50 }\n";
        let plan = plan(DROP_TAIL, &format!("{NAMED}{flows}")).expect("a plan");
        let [named, asked] = &plan.flows[..] else { panic!("a flow and a group") };
        assert_eq!((named.port, asked.port, &named.requests), (10_000, 10_001, &None));
        assert_eq!((asked.name.as_str(), asked.control.as_str()), ("asked", "cubic"));
        let delay = Time::from_milliseconds(15);
        assert_eq!(asked.routes[0], Route { class: Some(1), delay: Time::ZERO });
        assert_eq!(asked.routes[1], Route { class: None, delay });
        let requests = asked.requests.as_ref().expect("requests");
        assert!(requests.len().abs_diff(300) < 60, "{} of 300", requests.len());
        assert!(requests.iter().all(|request| request.bytes == 14_480));
        assert!(requests.is_sorted_by_key(|request| request.start));
    }

    /// 3,000 bytes are three packets of 1,460 bytes of payload.
    #[test]
    fn an_application_writes_when_the_simulators_objects_arrive() {
        let flows = "[flows.open]\npath = [\"there\"]\ncongestion = \"cubic\"\nrtt = \"20 ms\"\n\
                     header_size = \"40 B\"\nstop = \"6 s\"\ncount = 2\n\
                     source = { kind = \"objects\", size = \"3000 B\", arrivals_per_second = 50 }\n";
        let plan = plan(DROP_TAIL, &format!("{NAMED}{flows}")).expect("a plan");
        let [named, first, second] = &plan.flows[..] else { panic!("three flows") };
        assert_eq!((&named.writes, named.has_conversations()), (&None, false));
        let writes = first.writes.as_ref().expect("writes");
        assert!(writes.len().abs_diff(300) < 60, "{} of 300", writes.len());
        assert!(writes.iter().all(|write| write.bytes == 3 * 1_460));
        assert!(writes.is_sorted_by_key(|write| write.start));
        assert_ne!(first.writes, second.writes);
        assert!(first.has_conversations() && first.requests.is_none());
    }

    #[test]
    fn writes_come_at_the_times_that_are_given_before_the_end() {
        let source = |arrivals: &str| {
            format!(
                "[flows.open]\npath = [\"there\"]\ncongestion = \"cubic\"\nrtt = \"20 ms\"\n\
                 source = {{ kind = \"objects\", size = \"100 B\", arrivals = [{arrivals}] }}\n"
            )
        };
        let given = plan(DROP_TAIL, &format!("{NAMED}{}", source("\"2 s\", \"3 s\", \"8 s\"")));
        let starts = |write: &Request| write.start;
        let writes = given.expect("a plan").flows[1].writes.clone().expect("writes");
        assert_eq!(
            writes.iter().map(starts).collect::<Vec<_>>(),
            [2_000, 3_000].map(Time::from_milliseconds)
        );
        let none = plan(DROP_TAIL, &format!("{NAMED}{}", source("\"8 s\""))).expect_err("refused");
        assert_eq!(none, "[flows.open]: no object arrives before the end");
    }

    #[test]
    fn packets_and_acks_of_a_flow_are_known_by_the_receivers_port() {
        let plan = plan(DROP_TAIL, NAMED).expect("a plan");
        assert_eq!(plan.flow_of(40_000, 10_000), Some(0));
        assert_eq!(plan.flow_of(10_000, 40_000), Some(0));
        assert_eq!(plan.flow_of(10_001, 40_000), None);
        assert_eq!(plan.flow_of(53, 53), None);
    }

    #[test]
    fn refuses_what_the_kernel_cannot_do_and_says_where() {
        let refused =
            |flows: &str| plan(DROP_TAIL, &format!("{NAMED}{flows}")).expect_err("refused");
        let unnamed = "[flows.two]\npath = [\"there\"]\ncongestion = \"htcp\"\nrtt = \"30 ms\"\n";
        assert!(refused(unnamed).starts_with("[flows.two]: the kernel has no control"));
        let background = "[flows.two]\npath = [\"there\"]\n\
                          source = { kind = \"poisson\", rate = \"1 Mbit/s\" }\n";
        assert!(refused(background).contains("no congestion control"));
        let no_group = plan(DROP_TAIL, &NAMED.replace("named", "other")).expect_err("refused");
        assert!(no_group.contains("no group \"named\""));
    }
}
