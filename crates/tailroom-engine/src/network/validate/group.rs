//! What a group of flows must satisfy.

use super::super::{GroupSpec, Network};
use super::check_delay;
use super::link::{check_log, check_start_of_log};
use crate::fabric::{HostPairs, OUTSIDE, Route};
use crate::packet::MAX_PACKET_BYTES;
use crate::packet::transit::MAX_HOPS;
use crate::parameters::{BadParameter, Range, Ranges, check, check_field};
use crate::quantity::{PositiveDuration, Size};
use crate::tcp::TcpSpec;
use crate::tcp::sender::rtt::MAX_RTO;
use crate::traffic::{SourceClass, class_of};
use crate::units::{Rate, Time};

/// Checks a group by itself, in a network of this number of links.
pub(super) fn check_group(
    group: &GroupSpec,
    links: usize,
    duration: Time,
) -> Result<(), BadParameter> {
    if group.path.is_empty() {
        let remedy = "name the links to the receiver, at least one";
        return Err(BadParameter::new("path", "is empty", remedy));
    }
    check_path("path", &group.path, links)?;
    check_path("reverse_path", &group.reverse_path, links)?;
    if group.hosts.is_some() {
        check_hosts(group, links)?;
    }
    check_sizes(group.packet_size.into(), group.header_size.into())?;
    check_delay("send_jitter", group.send_jitter.unwrap_or(Time::ZERO))?;
    check_field("hosts", &group.flow_hosts, &Range::ANY)?;
    check_transport(group)?;
    if let Some(log) = group.tcp.as_ref().and_then(|tcp| tcp.endpoint_log.as_ref()) {
        check_start_of_log("endpoint_log", log, duration)?;
    }
    check_source(group)
}

fn check_path(key: &str, path: &[usize], links: usize) -> Result<(), BadParameter> {
    for (position, &link) in path.iter().enumerate() {
        let place = format!("{key}[{position}]");
        if link >= links {
            let problem = format!("there is no link {link}");
            let remedy = format!("write less than {links}, the number of links");
            return Err(BadParameter::new(place, problem, remedy));
        }
        check_new(&place, &path[..position], link, &link.to_string())?;
    }
    Ok(())
}

/// Refuses a link that a path has already passed.
pub(crate) fn check_new(
    place: &str,
    passed: &[usize],
    link: usize,
    name: &str,
) -> Result<(), BadParameter> {
    if !passed.contains(&link) {
        return Ok(());
    }
    let problem = format!("the path passes \"{name}\" twice");
    Err(BadParameter::new(place, problem, "name each link once: a loop would never end"))
}

/// Refuses a path and a reverse path that have too many hops together: links, and the far end of a last
/// link that reorders.
pub(crate) fn check_hops(hops: usize) -> Result<(), BadParameter> {
    if hops <= MAX_HOPS {
        return Ok(());
    }
    let problem = format!("path and reverse_path have {hops} links together");
    let remedy = format!("shorten one of them: a flow and its ACKs may cross {MAX_HOPS}");
    Err(BadParameter::new("reverse_path", problem, remedy))
}

/// Refuses packets that are larger than an IP packet can be, or have no room for data.
pub(crate) fn check_sizes(packet_size: u64, header_size: u64) -> Result<(), BadParameter> {
    check_packet_size("packet_size", packet_size)?;
    if packet_size > header_size {
        return Ok(());
    }
    let problem = format!(
        "{} leaves no room for data after the header of {}",
        Size::new(packet_size),
        Size::new(header_size)
    );
    Err(BadParameter::new("packet_size", problem, "raise packet_size or lower header_size"))
}

fn check_packet_size(key: &str, bytes: u64) -> Result<(), BadParameter> {
    if bytes <= u64::from(MAX_PACKET_BYTES) {
        return Ok(());
    }
    let problem = format!("{} is larger than an IP packet can be", Size::new(bytes));
    Err(BadParameter::new(key, problem, format!("write at most \"{MAX_PACKET_BYTES} B\"")))
}

/// Refuses data to send without a transport, and a transport without data to send.
fn check_transport(group: &GroupSpec) -> Result<(), BadParameter> {
    let kind = group.source.name();
    let is_responsive = class_of(kind).is_some_and(SourceClass::is_responsive);
    match &group.tcp {
        Some(tcp) if is_responsive => {
            // A SYN has the size of a header, and every packet has a size.
            check("header_size", group.header_size, group.header_size >= 1, "at least 1")?;
            check_tcp(tcp)
        }
        Some(_) => {
            let problem = format!("a source of kind \"{kind}\" has no congestion control");
            Err(BadParameter::new("tcp", problem, "write None"))
        }
        None if is_responsive => {
            let problem = format!(
                "is missing, and a source of kind \"{kind}\" sends what its congestion control allows"
            );
            Err(BadParameter::new("tcp", problem, "add a transport"))
        }
        None if !group.reverse_path.is_empty() => {
            let problem = "without a transport there are no ACKs to cross it";
            Err(BadParameter::new("reverse_path", problem, "leave it empty"))
        }
        None => Ok(()),
    }
}

fn check_tcp(tcp: &TcpSpec) -> Result<(), BadParameter> {
    let congestion = tcp.congestion.parameters();
    tcp.check_ranges()
        .and_then(|()| congestion.validate().map_err(|bad| bad.below("congestion")))
        .and_then(|()| check_times_and_acks(tcp))
        .map_err(|bad| bad.below("tcp"))
}

/// Refuses a shortest timeout above the longest, a log without a span, and ACKs that are larger than an
/// IP packet can be.
pub(crate) fn check_times_and_acks(tcp: &TcpSpec) -> Result<(), BadParameter> {
    if tcp.min_rto.time() > MAX_RTO {
        let most = PositiveDuration::new(MAX_RTO.picoseconds());
        let problem = format!("{} is above {most}, the longest timeout", tcp.min_rto);
        return Err(BadParameter::new("min_rto", problem, format!("write at most \"{most}\"")));
    }
    if let Some(log) = &tcp.endpoint_log {
        check_log("endpoint_log", log)?;
    }
    tcp.ack_size.map_or(Ok(()), |size| check_ack_size(tcp, size))
}

/// Refuses ACKs without room for the options of their host.
fn check_ack_size(tcp: &TcpSpec, size: Size) -> Result<(), BadParameter> {
    let least = Size::new(tcp.least_ack_bytes());
    if size.bytes() < least.bytes() && size.bytes() > 0 {
        let problem = format!(
            "{size} is less than {least}, an ACK with timestamps: IPv4, TCP and 12 B for the option"
        );
        let remedy = format!(
            "remove it, write at least \"{least}\", or write rtt_samples = \"karn\" for a host without \
             timestamps"
        );
        return Err(BadParameter::new("ack_size", problem, remedy));
    }
    check_packet_size("ack_size", size.bytes())
}

/// Refuses parameters out of range, and a source that sends nothing on average.
fn check_source(group: &GroupSpec) -> Result<(), BadParameter> {
    let source = &group.source;
    source.check(group.packet_size).map_err(|bad| bad.below("source"))?;
    if let Some(flows) = source.flows() {
        flows.check_hosts(group.hosts.as_ref()).map_err(|bad| bad.below("source"))?;
    }
    if let Some(rate) = source.offered_rate_bps() {
        let is_allowed = rate > 0.0 && rate <= Rate::FASTEST.bits_per_second() as f64;
        let allowed = "a mean rate of more than 0 bit/s and at most 1000000 Tbit/s";
        check("source.rate", rate, is_allowed, allowed)?;
    }
    let rtt = source.dynamic_rtt().unwrap_or(0.0);
    let most = super::LONGEST_SPAN.picoseconds() as f64;
    check("source.rtt", rtt, (0.0..=most).contains(&rtt), "a mean of at most 30 days")
}

/// Two-way propagation of the shared links of a flow.
pub(super) fn shared_propagation(
    network: &Network,
    group: &GroupSpec,
    route: Option<Route>,
) -> Time {
    let (forward, backward) = network.propagation(group, route);
    forward.saturating_add(backward)
}

/// Refuses hosts that the fabric does not have, links that are not those between them, and hosts of
/// which none can send to another.
fn check_hosts(group: &GroupSpec, links: usize) -> Result<(), BadParameter> {
    let Some(hosts) = &group.hosts else { return Ok(()) };
    let HostPairs { fabric, from, to, is_one_to_one, .. } = hosts;
    let has_room = fabric.hosts_per_leaf > 0
        && fabric.links() <= links
        && fabric.first_link <= links - fabric.links();
    check("hosts.fabric", fabric.first_link, has_room, "a host, and links that the network has")?;
    for (key, set) in [("hosts.from", from), ("hosts.to", to)] {
        for &host in set.iter() {
            let is_known = host < fabric.hosts() || (host == OUTSIDE && fabric.leaves == 1);
            let allowed = format!("less than {}, the number of hosts", fabric.hosts());
            check(key, host, is_known, &allowed)?;
        }
    }
    let is_matched = !is_one_to_one || from.len() == to.len();
    check("hosts.to", to.len(), is_matched, "as many as senders, one to one")?;
    let mut pairs = hosts.all();
    let Some(first) = pairs.next() else {
        let problem = "has no host that can send to another";
        return Err(BadParameter::new("hosts", problem, "add a host"));
    };
    let needs_spine = std::iter::once(first).chain(pairs).any(|(a, b)| fabric.passes_spine(a, b));
    check("hosts.fabric.spines", fabric.spines, fabric.spines > 0 || !needs_spine, "at least 1")?;
    if group.path == hosts.links() && group.reverse_path.is_empty() {
        return Ok(());
    }
    let problem = "is not that of the hosts, or there is a reverse path";
    Err(BadParameter::new("path", problem, "make the group with GroupSpec::between"))
}

/// Refuses a flow without a route between hosts of its group, or with one if the group has none.
pub(super) fn check_route(group: &GroupSpec, route: Option<Route>) -> Result<(), BadParameter> {
    let is_right = match (&group.hosts, route) {
        (None, None) => true,
        (Some(hosts), Some(Route { from, to, .. })) => {
            from != to && hosts.from.contains(&from) && hosts.to.contains(&to)
        }
        _ => false,
    };
    if is_right {
        return Ok(());
    }
    let problem = "is not between hosts of the group";
    Err(BadParameter::new("route", problem, "write a pair of the group's hosts, or None without"))
}

/// Refuses an RTT below the propagation of the shared links there and back, and one of no time under
/// congestion control.
pub(crate) fn check_round_trip(
    rtt: Time,
    shared: Time,
    is_controlled: bool,
) -> Result<(), BadParameter> {
    let printed = |time: Time| PositiveDuration::new(time.picoseconds());
    if rtt < shared {
        let shared = printed(shared);
        let problem = format!(
            "{} is less than the propagation of the shared links there and back, {shared}",
            printed(rtt)
        );
        let remedy = format!("raise rtt to at least \"{shared}\" or lower the links' delay");
        return Err(BadParameter::new("rtt", problem, remedy));
    }
    if rtt == Time::ZERO && is_controlled {
        let problem = "is missing or 0, and the shared links have no delay";
        return Err(BadParameter::new("rtt", problem, "set it, as in `rtt = \"100 ms\"`"));
    }
    Ok(())
}

/// Refuses a flow that starts after the end of the run.
pub(crate) fn check_start(start: Time, duration: Time) -> Result<(), BadParameter> {
    if start < duration {
        return Ok(());
    }
    let start = PositiveDuration::new(start.picoseconds());
    let problem = format!("a flow starts at {start}, after the end of the run");
    Err(BadParameter::new("start", problem, "lower start or raise duration"))
}
