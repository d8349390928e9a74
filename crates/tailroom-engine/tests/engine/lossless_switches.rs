//! Switches and fabrics whose ports are lossless.

use crate::support::paused_links::PAUSE;
use crate::support::refusals::assert_refused;
use crate::support::scenario_run::{network, refusal, run};
use crate::support::summaries::link;

/// Eight hosts send to one. The queue of its port has room for all that the ingresses can hold.
fn incast(keys: &str) -> String {
    format!(
        "duration = \"20 ms\"
        [switches.tor]
        hosts = 9
        rate = \"10 Gbit/s\"
        delay = \"1 us\"
        queue = {{ kind = \"drop_tail\", limit = \"800 kB\" }}
        {keys}
        [flows.all]
        from = [\"tor.h1\", \"tor.h2\", \"tor.h3\", \"tor.h4\", \"tor.h5\", \"tor.h6\", \"tor.h7\", \"tor.h8\"]
        to = \"tor.h0\"
        count = 2
        congestion = {{ kind = \"fixed_window\", window = 400 }}\n"
    )
}

#[test]
fn a_switch_with_pause_frames_loses_nothing_in_an_incast() {
    let lossy = run(&incast(""), 1);
    assert!(link(&lossy.summary, "tor-switch-h0").drops_packets > 0);
    let results = run(&incast(PAUSE), 1);
    let port = link(&results.summary, "tor-switch-h0");
    assert_eq!(port.drops_packets, 0);
    assert!(port.utilization > 0.99, "{}", port.utilization);
    for host in 1..9 {
        let nic = link(&results.summary, &format!("tor-h{host}-switch"));
        assert!(nic.pause_frames.expect("it is measured") > 0);
    }
    // A link that leads to a host has no switch at its end.
    assert_eq!(port.pause_frames, None);
}

#[test]
fn the_links_of_a_fabric_that_lead_to_switches_are_paused() {
    let text = format!(
        "duration = \"1 ms\"
        [fabrics.dc]
        leaves = 2
        spines = 2
        hosts = 2
        rate = \"10 Gbit/s\"
        delay = \"1 us\"
        queue = {{ kind = \"drop_tail\", limit = \"1 MB\" }}
        {PAUSE}
        [flows.all]
        from = \"dc\"
        congestion = \"reno\"\n"
    );
    for link in network(&text, 1).links {
        let leads_to_host = link.name.starts_with("dc-leaf") && link.name.contains("-h");
        assert_eq!(link.pause.is_none(), leads_to_host, "{}", link.name);
        assert!(link.is_served(), "{}", link.name);
    }
}

/// The keys of the two classes of three ports, the first of them lossless.
const CLASSES: [(&str, &str, &str); 2] = [
    ("storage", "name = \"PORT\", weight = 15.0", PAUSE),
    ("tcp", "name = \"PORT\", weight = 14.0", ""),
];

const OF_PORTS: &str = "rate = \"10 Gbit/s\"\ndelay = \"1 us\"\n";
const QUEUE: &str = "{ kind = \"drop_tail\", limit = \"800 kB\" }";
const THRESHOLD: &str = "alpha = 0.25, xon_offset = \"2 kB\"";

/// The flows of both classes between three hosts; `way` says how a group names its hosts.
fn of_classes(way: impl Fn(&str, usize, usize) -> String) -> String {
    let of_class = |class| {
        [(1, 0), (2, 0), (0, 1), (1, 2)].map(|(from, to)| {
            let way = way(class, from, to);
            format!(
                "[flows.{class}-{from}-{to}]\n{way}\ncount = 2\n\
                 congestion = {{ kind = \"fixed_window\", window = 200 }}\n"
            )
        })
    };
    CLASSES.map(|(class, ..)| of_class(class).concat()).concat()
}

/// Two tables of `[switches]`.
fn short_form() -> String {
    let tables = CLASSES.map(|(class, line, pause)| {
        let line = line.replace("PORT", "port");
        let ingress = format!("ingress = {{ pool = {{ size = \"300 kB\" }}, {THRESHOLD} }}");
        let ingress = if pause.is_empty() { "" } else { &ingress };
        format!(
            "[switches.{class}]\nhosts = 3\n{OF_PORTS}queue = {QUEUE}\n{pause}\n{ingress}\n\
             line = {{ {line} }}\n"
        )
    });
    let flows =
        of_classes(|class, from, to| format!("from = \"{class}.h{from}\"\nto = \"{class}.h{to}\""));
    format!("duration = \"20 ms\"\n{}{flows}", tables.concat())
}

/// The same, link by link.
fn long_form() -> String {
    let link = |class: &str, way: &str, queue: &str, line: &str, pause: &str| {
        let line = line.replace("PORT", &format!("port-{way}"));
        let ingress = format!("ingress = {{ pool = \"storage-switch\", {THRESHOLD} }}");
        let ingress = if pause.is_empty() { "" } else { &ingress };
        format!(
            "[links.{class}-{way}]\n{OF_PORTS}queue = {queue}\nline = {{ {line} }}\n\
             {pause}\n{ingress}\n"
        )
    };
    let nic = "{ kind = \"drop_tail\", limit = \"10000 packets\" }";
    let links = CLASSES.map(|(class, line, pause)| {
        let of_host = |host: usize| {
            let up = link(class, &format!("h{host}-switch"), nic, line, pause);
            up + &link(class, &format!("switch-h{host}"), QUEUE, line, "")
        };
        [0, 1, 2].map(of_host).concat()
    });
    let flows = of_classes(|class, from, to| {
        format!("path = [\"{class}-h{from}-switch\", \"{class}-switch-h{to}\"]")
    });
    let memory = "[ingress_pools.storage-switch]\nsize = \"300 kB\"\n";
    format!("duration = \"20 ms\"\n{memory}{}{flows}", links.concat())
}

#[test]
fn a_switch_with_lossless_ports_is_short_for_its_links() {
    let [short, long] = [short_form(), long_form()].map(|text| run(&text, 1).summary);
    assert!(link(&short, "storage-h2-switch").pause_frames > Some(10));
    assert_eq!(link(&short, "storage-switch-h0").drops_packets, 0);
    assert!(short.links == long.links, "results of links differ");
    assert!(short.flows == long.flows, "results of flows differ");
}

/// The lossy class takes of the memory in which the lossless one has its thresholds.
#[test]
fn a_lossy_class_counts_at_the_ingress_of_its_switch() {
    let table = "[switches.tcp]\n";
    let keys = "ingress = { alpha = 8.0 }\nmemory_of = \"storage\"\n";
    let short = short_form().replace(table, &format!("{table}{keys}"));
    let mut long = long_form();
    for host in 0..3 {
        let up = format!("[links.tcp-h{host}-switch]\n");
        let keys = "ingress = { pool = \"storage-switch\", alpha = 8.0 }\n";
        long = long.replace(&up, &format!("{up}{keys}"));
    }
    let [apart, short, long] = [short_form(), short, long].map(|text| run(&text, 1).summary);
    assert!(short.links == long.links, "results of links differ");
    assert!(short.flows == long.flows, "results of flows differ");
    let storage = |summary| link(summary, "storage-h2-switch").ingress_bytes_max;
    assert!(storage(&short) < storage(&apart), "less memory is free for the lossless class");
    assert!(link(&short, "tcp-h2-switch").ingress_bytes_max > Some(0.0));
    assert_eq!(link(&apart, "tcp-h2-switch").ingress_bytes_max, None);
}

#[test]
fn wrong_switches_with_lossless_ports_are_refused_with_the_key_and_a_remedy() {
    let switch = |keys: &str| incast(keys);
    let ingress = "ingress = { pool = { size = \"1 MB\" }, alpha = 1.0 }";
    for (keys, place, remedy) in [
        (
            ingress.replace("1.0", "1.0, xon_offset = \"2 kB\""),
            "line 7, switches.tor.ingress.xon_offset",
            "`pause`",
        ),
        (
            format!("{PAUSE}\n{}", ingress.replace("1.0", "0.0")),
            "line 8, switches.tor.ingress.alpha",
            "0",
        ),
        (
            format!("{PAUSE}\n{ingress}\n[ingress_pools.tor-switch]\nsize = \"1 MB\""),
            "line 8, switches.tor.ingress.pool",
            "another name",
        ),
        ("line = { name = \"port\" }".to_owned(), "line 7, switches.tor.line.name", "class"),
        (
            "pause_frames_wait = true".to_owned(),
            "line 7, switches.tor.pause_frames_wait",
            "`pause`",
        ),
    ] {
        assert_refused(&refusal(&switch(&keys)), place, &[remedy]);
    }
}

/// Two lossless classes of three ports, in tables of a switch; `of_second` are the keys of memory of the
/// second.
fn short_classes(of_second: &str) -> String {
    let of_first = format!(
        "pool = {{ size = \"600 kB\", policy = \"complete_sharing\" }}\n\
         ingress = {{ pool = {{ size = \"90 kB\" }}, {THRESHOLD} }}"
    );
    let tables = CLASSES.map(|(class, line, _)| {
        let memory = if class == "storage" { &of_first } else { of_second };
        let line = line.replace("PORT", "port");
        format!(
            "[switches.{class}]\nhosts = 3\n{OF_PORTS}queue = {QUEUE}\n{PAUSE}\n{memory}\n\
             line = {{ {line} }}\n"
        )
    });
    let flows =
        of_classes(|class, from, to| format!("from = \"{class}.h{from}\"\nto = \"{class}.h{to}\""));
    format!("duration = \"20 ms\"\n{}{flows}", tables.concat())
}

/// The same link by link, where all links name the same memory.
fn long_classes() -> String {
    let nic = "{ kind = \"drop_tail\", limit = \"10000 packets\" }";
    let ingress = format!("{PAUSE}\ningress = {{ pool = \"storage-switch\", {THRESHOLD} }}");
    let link = |class: &str, way: &str, queue: &str, line: &str, keys: &str| {
        let line = line.replace("PORT", &format!("port-{way}"));
        format!("[links.{class}-{way}]\n{OF_PORTS}queue = {queue}\nline = {{ {line} }}\n{keys}\n")
    };
    let links = CLASSES.map(|(class, line, _)| {
        let of_host = |host: usize| {
            link(class, &format!("h{host}-switch"), nic, line, &ingress)
                + &link(class, &format!("switch-h{host}"), QUEUE, line, "pool = \"storage-switch\"")
        };
        [0, 1, 2].map(of_host).concat()
    });
    let flows = of_classes(|class, from, to| {
        format!("path = [\"{class}-h{from}-switch\", \"{class}-switch-h{to}\"]")
    });
    let memory = "[ingress_pools.storage-switch]\nsize = \"90 kB\"\n\
                  [pools.storage-switch]\nsize = \"600 kB\"\npolicy = \"complete_sharing\"\n";
    format!("duration = \"20 ms\"\n{memory}{}{flows}", links.concat())
}

#[test]
fn classes_share_the_memory_of_a_switch_as_links_do() {
    let shared = format!("memory_of = \"storage\"\ningress = {{ {THRESHOLD} }}");
    let own = format!("ingress = {{ pool = {{ size = \"90 kB\" }}, {THRESHOLD} }}");
    let [short, long, apart] = [short_classes(&shared), long_classes(), short_classes(&own)]
        .map(|text| run(&text, 1).summary);
    assert!(link(&short, "tcp-h2-switch").pause_frames > Some(10));
    assert!(short.links == long.links, "results of links differ");
    assert!(short.flows == long.flows, "results of flows differ");
    assert!(short.links != apart.links, "the memory changes nothing");
    let pools = |summary: &tailroom_engine::results::Summary| summary.pools.0.len();
    assert_eq!((pools(&short), pools(&apart)), (1, 1));
}

#[test]
fn wrong_shared_memory_of_classes_is_refused_with_the_key_and_a_remedy() {
    for (keys, place, remedy) in [
        ("memory_of = \"storage2\"".to_owned(), "line 17, switches.tcp.memory_of", "storage"),
        ("memory_of = \"tcp\"".to_owned(), "line 17, switches.tcp.memory_of", "storage"),
        (format!("ingress = {{ {THRESHOLD} }}"), "line 17, switches.tcp.ingress", "memory_of"),
        (
            "memory_of = \"storage\"\nports_per_pool = 2".to_owned(),
            "line 18, switches.tcp.ports_per_pool",
            "remove it",
        ),
        ("reserved = \"1 kB\"".to_owned(), "line 17, switches.tcp.reserved", "pool"),
    ] {
        assert_refused(&refusal(&short_classes(&keys)), place, &[remedy]);
    }
    let other = |keys: &str| {
        incast(&format!("memory_of = \"b\"\n[switches.b]\n{OF_PORTS}queue = {QUEUE}\n{keys}"))
    };
    let place = "line 7, switches.tor.memory_of";
    let pool = "pool = { size = \"1 MB\", policy = \"complete_sharing\" }";
    assert_refused(&refusal(&other(&format!("hosts = 8\n{pool}"))), place, &["the same numbers"]);
    assert_refused(&refusal(&other("hosts = 9")), place, &["`pool` or `ingress.pool`"]);
}
