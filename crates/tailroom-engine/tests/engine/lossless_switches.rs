//! Switches and fabrics whose ports are lossless.

use crate::support::case::{Case, NULL, Run, above, below, case};
use crate::support::paused_links::PAUSE;
use crate::support::refusals::assert_refused;

const OF_PORTS: &str = "rate = '10 Gbit/s', delay = '1 us'";
const QUEUE: &str = "queue = { kind = 'drop_tail', limit = '800 kB' }";
const THRESHOLD: &str = "alpha = 0.25, xon_offset = '2 kB'";

/// Eight hosts send to one. The queue of its port has room for all that the ingresses can hold.
fn incast(keys: &str) -> Case {
    let hosts = [1, 2, 3, 4, 5, 6, 7, 8].map(|host| format!("tor.h{host}"));
    let fixed = "congestion = { kind = 'fixed_window', window = 400 }";
    case("20 ms")
        .table("switches.tor", format!("hosts = 9, {OF_PORTS}, {QUEUE}, {keys}"))
        .table("flows.all", format!("from = {hosts:?}, to = 'tor.h0', count = 2, {fixed}"))
}

#[test]
fn a_switch_with_pause_frames_loses_nothing_in_an_incast() {
    incast("").run().expect("links.tor-switch-h0.drops_packets", above(0.0));
    let run = incast(PAUSE).run();
    run.expect("links.tor-switch-h0.drops_packets", 0)
        .expect("links.tor-switch-h0.utilization", above(0.99))
        // A link that leads to a host has no switch at its end.
        .expect("links.tor-switch-h0.pause_frames", NULL);
    for host in 1..9 {
        run.expect(&format!("links.tor-h{host}-switch.pause_frames"), above(0.0));
    }
}

#[test]
fn the_links_of_a_fabric_that_lead_to_switches_are_paused() {
    let queue = "queue = { kind = 'drop_tail', limit = '1 MB' }";
    let fabric = case("1 ms")
        .table(
            "fabrics.dc",
            format!("leaves = 2, spines = 2, hosts = 2, {OF_PORTS}, {queue}, {PAUSE}"),
        )
        .table("flows.all", "from = 'dc', congestion = 'reno'");
    for link in fabric.network().links {
        let leads_to_host = link.name.starts_with("dc-leaf") && link.name.contains("-h");
        assert_eq!(link.pause.is_none(), leads_to_host, "{}", link.name);
        assert!(link.is_served(), "{}", link.name);
    }
}

/// The two classes of three ports, the first of them lossless, and the weights of their lines.
const CLASSES: [(&str, f64); 2] = [("storage", 15.0), ("tcp", 14.0)];

/// The flows of both classes between three hosts; `way` says how a group names its hosts.
fn with_flows(case: Case, way: impl Fn(&str, usize, usize) -> String) -> Case {
    let fixed = "count = 2, congestion = { kind = 'fixed_window', window = 200 }";
    let pairs = [(1, 0), (2, 0), (0, 1), (1, 2)];
    let flows = CLASSES.iter().flat_map(|(class, _)| pairs.map(|(from, to)| (class, from, to)));
    case.each(flows, |case, (class, from, to)| {
        let way = way(class, from, to);
        case.table(format!("flows.{class}-{from}-{to}"), format!("{way}, {fixed}"))
    })
}

/// A table of `[switches]` for each class, with these keys.
fn short_form(of_class: [&str; 2]) -> Case {
    let tables =
        case("20 ms").each(CLASSES.iter().zip(of_class), |case, ((class, weight), keys)| {
            let line = format!("line = {{ name = 'port', weight = {weight:?} }}");
            let keys = format!("hosts = 3, {OF_PORTS}, {QUEUE}, {line}, {keys}");
            case.table(format!("switches.{class}"), keys)
        });
    with_flows(tables, |class, from, to| format!("from = '{class}.h{from}', to = '{class}.h{to}'"))
}

/// The same, link by link, with these keys for the links of each class that lead to the switch, and those
/// that lead to its hosts.
fn long_form(memory: &str, of_class: [[&str; 2]; 2]) -> Case {
    let nic = "queue = { kind = 'drop_tail', limit = '10000 packets' }";
    let hosts = CLASSES.iter().zip(of_class).flat_map(|of| [0, 1, 2].map(|host| (of, host)));
    let links = case("20 ms").toml(memory).each(hosts, |case, (((class, weight), keys), host)| {
        let ways = [format!("h{host}-switch"), format!("switch-h{host}")];
        case.each(ways.iter().zip([nic, QUEUE]).zip(keys), |case, ((way, queue), keys)| {
            let line = format!("line = {{ name = 'port-{way}', weight = {weight:?} }}");
            let keys = format!("{OF_PORTS}, {queue}, {line}, {keys}");
            case.table(format!("links.{class}-{way}"), keys)
        })
    });
    with_flows(links, |class, from, to| {
        format!("path = ['{class}-h{from}-switch', '{class}-switch-h{to}']")
    })
}

/// Runs both, and compares the results of links and flows.
#[track_caller]
fn run_both(short: &Case, long: &Case) -> Run {
    let (short, long) = (short.run(), long.run());
    assert!(short.summary.links == long.summary.links, "results of links differ");
    assert!(short.summary.flows == long.summary.flows, "results of flows differ");
    short
}

fn own_ingress(size: &str) -> String {
    format!("{PAUSE}, ingress = {{ pool = {{ size = '{size}' }}, {THRESHOLD} }}")
}

fn named_ingress() -> String {
    format!("{PAUSE}, ingress = {{ pool = 'storage-switch', {THRESHOLD} }}")
}

const MEMORY: &str = "ingress_pools.storage-switch = { size = '300 kB' }";

#[test]
fn a_switch_with_lossless_ports_is_short_for_its_links() {
    let long = long_form(MEMORY, [[&named_ingress(), ""], ["", ""]]);
    run_both(&short_form([&own_ingress("300 kB"), ""]), &long)
        .expect("links.storage-h2-switch.pause_frames", above(10.0))
        .expect("links.storage-switch-h0.drops_packets", 0);
}

/// The lossy class takes of the memory in which the lossless one has its thresholds.
#[test]
fn a_lossy_class_counts_at_the_ingress_of_its_switch() {
    let lossy = "ingress = { alpha = 8.0 }, memory_of = 'storage'";
    let of_link = "ingress = { pool = 'storage-switch', alpha = 8.0 }";
    let long = long_form(MEMORY, [[&named_ingress(), ""], [of_link, ""]]);
    let run = run_both(&short_form([&own_ingress("300 kB"), lossy]), &long);
    let apart = short_form([&own_ingress("300 kB"), ""]).run();
    // Less memory is free for the lossless class.
    let alone = apart.get("links.storage-h2-switch.ingress_bytes_max");
    run.expect("links.storage-h2-switch.ingress_bytes_max", below(alone))
        .expect("links.tcp-h2-switch.ingress_bytes_max", above(0.0));
    apart.expect("links.tcp-h2-switch.ingress_bytes_max", NULL);
}

#[test]
fn wrong_switches_with_lossless_ports_are_refused_with_the_key_and_a_remedy() {
    let ingress = "ingress = { pool = { size = '1 MB' }, alpha = 1.0 }";
    let taken = "ingress_pools.tor-switch = { size = '1 MB' }";
    for (case, place, remedy) in [
        (
            incast(&ingress.replace("1.0", "1.0, xon_offset = '2 kB'")),
            "ingress.xon_offset",
            "`pause`",
        ),
        (incast(&format!("{PAUSE}, {}", ingress.replace("1.0", "0.0"))), "ingress.alpha", "0"),
        (incast(&format!("{PAUSE}, {ingress}")).toml(taken), "ingress.pool", "another name"),
        (incast("line = { name = 'port' }"), "line.name", "class"),
        (incast("pause_frames_wait = true"), "pause_frames_wait", "`pause`"),
    ] {
        assert_refused(&case.refusal(), &format!("line 2, switches.tor.{place}"), &[remedy]);
    }
}

/// Two lossless classes, of which the first has memory; these are the keys of the second.
fn short_classes(of_second: &str) -> Case {
    let pool = "pool = { size = '600 kB', policy = 'complete_sharing' }";
    let of_first = format!("{}, {pool}", own_ingress("90 kB"));
    short_form([&of_first, &format!("{PAUSE}, {of_second}")])
}

#[test]
fn classes_share_the_memory_of_a_switch_as_links_do() {
    let memory = "ingress_pools.storage-switch = { size = '90 kB' }\n\
                  pools.storage-switch = { size = '600 kB', policy = 'complete_sharing' }";
    // All links name the same memory.
    let of_class = [&*named_ingress(), "pool = 'storage-switch'"];
    let short = short_classes(&format!("memory_of = 'storage', ingress = {{ {THRESHOLD} }}"));
    let shared = run_both(&short, &long_form(memory, [of_class, of_class]));
    shared.expect("links.tcp-h2-switch.pause_frames", above(10.0));
    let own = format!("ingress = {{ pool = {{ size = '90 kB' }}, {THRESHOLD} }}");
    let apart = short_classes(&own).run();
    assert!(shared.summary.links != apart.summary.links, "the memory changes nothing");
    assert_eq!((shared.summary.pools.0.len(), apart.summary.pools.0.len()), (1, 1));
}

#[test]
fn wrong_shared_memory_of_classes_is_refused_with_the_key_and_a_remedy() {
    for (keys, place, remedy) in [
        ("memory_of = 'storage2'", "memory_of", "storage"),
        ("memory_of = 'tcp'", "memory_of", "storage"),
        (&format!("ingress = {{ {THRESHOLD} }}"), "ingress", "memory_of"),
        ("memory_of = 'storage', ports_per_pool = 2", "ports_per_pool", "remove it"),
        ("reserved = '1 kB'", "reserved", "pool"),
    ] {
        let place = format!("line 3, switches.tcp.{place}");
        assert_refused(&short_classes(keys).refusal(), &place, &[remedy]);
    }
    let pool = "pool = { size = '1 MB', policy = 'complete_sharing' }";
    for (other, remedy) in [
        (format!("hosts = 8, {pool}"), "the same numbers"),
        ("hosts = 9".to_owned(), "`pool` or `ingress.pool`"),
    ] {
        let case = incast("memory_of = 'b'");
        let case = case.table("switches.b", format!("{OF_PORTS}, {QUEUE}, {other}"));
        assert_refused(&case.refusal(), "line 2, switches.tor.memory_of", &[remedy]);
    }
}
