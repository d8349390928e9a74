//! Wrong switches, fabrics and hosts are refused with the line, the key and a remedy.

use crate::support::refusals::assert_refused;
use crate::support::scenario_run::refusal;

/// A scenario with a switch and a fabric; the group begins on line 17.
fn scenario(group: &str) -> String {
    format!(
        r#"duration = "1 s"
[fabrics.dc]
leaves = 2
hosts = 4
spines = 2
rate = "1 Gbit/s"
delay = "1 us"
queue = {{ kind = "drop_tail", limit = "100 packets" }}
[switches.tor]
hosts = 8
rate = "1 Gbit/s"
delay = "1 us"
queue = {{ kind = "drop_tail", limit = "1 MB" }}

[flows.some]
congestion = "reno"
{group}
"#
    )
}

#[test]
fn hosts_that_do_not_exist_are_refused_with_those_that_do() {
    let cases: [(&str, &str, &[&str]); 14] = [
        ("from = \"cd\"", "from", &["dc", "tor"]),
        ("from = \"dc.h8\"", "from", &["dc.h0", "dc.h7", "dc.leaf1"]),
        ("from = \"dc.h+1\"", "from", &["dc.h0", "dc.h7"]),
        ("from = \"dc.h00001\"", "from", &["dc.h0", "dc.h7"]),
        ("from = \"dc\"\nto = \"dc.leaf2\"", "to", &["dc.leaf1"]),
        ("from = \"tor.leaf0\"", "from", &["tor.h7"]),
        ("from = \"tor.outside\"", "from", &["`uplinks`"]),
        ("from = \"dc\"\nto = \"tor\"", "to", &["one switch or fabric"]),
        ("from = [\"dc\", \"tor\"]", "from", &["one switch or fabric"]),
        ("from = \"dc.h1\"", "from", &["another host"]),
        ("to = \"dc\"", "to", &["`from`"]),
        ("path = [\"dc-h0-leaf0\"]\nfrom = \"dc\"", "path", &["`from`"]),
        ("from = \"dc\"\nto = \"dc.h1\"\npairs = \"permutation\"", "pairs", &["`to`"]),
        ("from = \"dc\"\ncount = 1000000", "count", &["fewer hosts"]),
    ];
    for (group, key, names) in cases {
        let line = 17 + group.lines().position(|line| line.starts_with(key)).expect("a line");
        let place = format!("line {line}, flows.some.{key}");
        assert_refused(&refusal(&scenario(group)), &place, names);
    }
}

#[test]
fn sources_that_cannot_do_with_their_hosts_are_refused() {
    let incast = |hosts: &str, fan_in: u32| {
        let keys = format!("kind = \"incast\", fan_in = {fan_in}, size = \"1 kB\"");
        format!("{hosts}\nsource = {{ {keys}, period = \"1 ms\" }}")
    };
    let collective = |hosts: &str| {
        let keys = "kind = \"collective\", operation = \"all_to_all\", size = \"1 MB\"";
        format!("{hosts}\nsource = {{ {keys} }}")
    };
    let load = "kind = \"finite_flows\", size = \"1 kB\", load = 0.5, load_of = \"dc-h0-leaf0\"";
    let two = "kind = \"incast\", fan_in = 2, size = \"1 kB\", load = 0.5, think_time = \"0 s\"";
    let cases: [(String, &str, &[&str]); 8] = [
        (incast("from = \"dc\"", 8), "fan_in", &["7"]),
        (incast("from = \"dc.leaf0\"\nto = \"dc.leaf1\"", 5), "fan_in", &["4"]),
        (incast("from = \"dc\"\npairs = \"permutation\"", 1), "kind", &["`pairs`"]),
        (collective("path = [\"dc-h0-leaf0\"]"), "kind", &["`from`"]),
        (collective("from = \"dc\"\nto = \"dc.leaf0\""), "kind", &["`to`"]),
        (collective("from = \"dc\"\npairs = \"permutation\""), "kind", &["`pairs`"]),
        (format!("from = \"dc\"\nsource = {{ {load} }}"), "load_of", &["load"]),
        (format!("from = \"dc\"\nsource = {{ {two} }}"), "think_time", &["one of them"]),
    ];
    for (group, key, names) in cases {
        let line = 16 + group.lines().count();
        let place = format!("line {line}, flows.some.source.{key}");
        assert_refused(&refusal(&scenario(&group)), &place, names);
    }
}

#[test]
fn a_wrong_switch_or_fabric_is_refused_at_the_key_that_caused_it() {
    let changed = |from: &str, to: &str| {
        let text = scenario("from = \"dc\"");
        assert!(text.contains(from));
        refusal(&text.replacen(from, to, 1))
    };
    let limit = "limit = \"100 packets\"";
    assert_refused(
        &changed(limit, "limit = \"20 B\""),
        "line 8, fabrics.dc.queue.limit",
        &["1 packet"],
    );
    let nic = "nic_queue = { kind = \"drop_tail\", limit = \"9 B\" }\nspines = 2";
    let place = "line 5, fabrics.dc.nic_queue.limit";
    assert_refused(&changed("spines = 2", nic), place, &["1 packet"]);
    assert_refused(&changed("leaves = 2", "leaves = 1"), "line 3, fabrics.dc.leaves", &["2"]);
    assert_refused(&changed("spines = 2", "spines = 0"), "line 5, fabrics.dc.spines", &["1"]);
    assert_refused(&changed("[switches.tor]", "[switches.dc]"), "line 2, fabrics.dc", &["name"]);
    let many = changed("leaves = 2\nhosts = 4", "leaves = 1000\nhosts = 4000");
    assert_refused(&many, "line 2, fabrics.dc", &["hosts"]);
    let link = "[links.dc-h0-leaf0]\nrate = \"1 Gbit/s\"\ndelay = \"0 s\"\n\
                queue = { kind = \"drop_tail\", limit = \"9 packets\" }\n[switches.tor]";
    assert_refused(&changed("[switches.tor]", link), "line 2, fabrics.dc", &["name"]);
    let rtt = refusal(&scenario("from = \"dc\"\nrtt = \"5 us\""));
    assert_refused(&rtt, "line 18, flows.some.rtt", &["8 us"]);
}

#[test]
fn wrong_memory_of_a_switch_is_refused_where_it_stands() {
    let with = |keys: &str| {
        let fabric = "[fabrics.dc]\n";
        refusal(&scenario("from = \"dc\"").replace(fabric, &format!("{fabric}{keys}\n")))
    };
    let policy = "policy = \"complete_sharing\"";
    for (keys, key, names) in [
        (format!("pool = {{ size = \"1 kB\", {policy} }}"), "pool.size", ["1500 B"]),
        (
            format!("ports_per_pool = 0\npool = {{ size = \"1 MB\", {policy} }}"),
            "ports_per_pool",
            ["1"],
        ),
        (
            format!("reserved = \"1 MB\"\npool = {{ size = \"1 MB\", {policy} }}"),
            "pool.size",
            ["`reserved`"],
        ),
        ("pool = { size = \"1 MB\" }".to_owned(), "pool.policy", ["policy"]),
        ("reserved = \"1 kB\"".to_owned(), "reserved", ["`pool`"]),
        ("ports_per_pool = 4".to_owned(), "ports_per_pool", ["`pool`"]),
    ] {
        let found = with(&keys);
        assert!(found.contains(&format!("fabrics.dc.{key}: ")), "{found}");
        assert!(names.iter().all(|name| found.contains(name)), "{found}");
    }
}
