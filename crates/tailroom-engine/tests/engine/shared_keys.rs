//! Keys that groups of flows share, from `[defaults]` and from the profile of a host; and
//! components that are given by their name alone.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::quantity::PositiveDuration;
use tailroom_engine::tcp::TcpSpec;
use tailroom_engine::tcp::receiver::DelayedAck;
use tailroom_engine::tcp::sender::burst::SendBurst;
use tailroom_engine::tcp::sender::handshake::Handshake;

use crate::support::refusals::{assert_all_refused, assert_refused};
use crate::support::scenario_text::{self, BASE, base_with, parse, resolve, resolve_with};

/// Two groups that share a link and `[defaults]`; DEFAULTS, FIRST and SECOND are replaced.
const SHARED: &str = r#"
duration = "60 s"

[links.bottleneck]
rate = "100 Mbit/s"
delay = "20 ms"
queue = { kind = "codel" }

[defaults]
DEFAULTS

[flows.first]
path = ["bottleneck"]
FIRST

[flows.second]
path = ["bottleneck"]
SECOND
"#;

fn shared(defaults: &str, first: &str, second: &str) -> String {
    let text = SHARED.replace("DEFAULTS", defaults);
    text.replace("FIRST", first).replace("SECOND", second)
}

/// The scenario with every default filled in.
fn written_out(text: &str) -> String {
    let scenario = parse(text, &[]).unwrap();
    scenario.resolve().unwrap();
    scenario.to_toml()
}

/// The same without the names of hosts, which differ where keys are written by hand.
fn without_hosts(written: &str) -> String {
    written.lines().filter(|line| !line.starts_with("host = ")).collect::<Vec<_>>().join("\n")
}

/// Under `plain` hosts, keys that are written by hand are all that a group has.
const PLAIN: &str = "host = \"plain\"";

/// The keys of a Linux host, as the guide lists them.
const LINUX_KEYS: &str = "\
recovery = \"rack\"
prr = true
header_size = \"52 B\"
handshake = true
delayed_ack = true
quick_acks = 16
sack_compression = true
timestamp_tick = \"1 ms\"
rack_timer_margin = \"2 ms\"
window_validation = true
send_burst = \"auto\"
undo = true
frto = true";

#[test]
fn a_group_takes_from_defaults_the_keys_that_it_does_not_set() {
    let short = shared(
        "count = 3\ncongestion = \"cubic\"\nrtt = \"80 ms\"\nrecovery = \"newreno\"",
        "",
        "rtt = \"50 ms\"\ncongestion = { kind = \"cubic\", beta = 0.8 }",
    );
    let by_hand = shared(
        "",
        "count = 3\ncongestion = \"cubic\"\nrtt = \"80 ms\"\nrecovery = \"newreno\"",
        "count = 3\nrecovery = \"newreno\"\nrtt = \"50 ms\"\n\
         congestion = { kind = \"cubic\", beta = 0.8 }",
    );
    let written = written_out(&short);
    assert_eq!(written, written_out(&by_hand));
    assert!(!written.contains("defaults"), "{written}");
    assert_eq!(format!("{:?}", resolve(&short)), format!("{:?}", resolve(&by_hand)));
}

#[test]
fn a_group_without_a_host_has_the_linux_keys_that_the_guide_lists() {
    let short = written_out(&shared("", "congestion = \"cubic\"", "congestion = \"reno\""));
    let by_hand = |control: &str| format!("{LINUX_KEYS}\ncongestion = \"{control}\"");
    // As the guide says, CUBIC's alone.
    let cubic = format!("{}\nslow_start = \"hystart\"", by_hand("cubic"));
    let by_hand = written_out(&shared(PLAIN, &cubic, &by_hand("reno")));
    assert_eq!(without_hosts(&short), without_hosts(&by_hand));
    let named = "host = \"linux\"\ncongestion = \"reno\"";
    assert_eq!(short, written_out(&shared(named, "congestion = \"cubic\"", "")));
    assert_eq!(short.matches("host = \"linux\"").count(), 2, "{short}");
}

/// The rules of ns-2 that tests/validation/ns2.py writes into its scenarios by hand.
#[test]
fn an_ns2_host_has_the_rules_of_the_comparison_with_ns2() {
    let keys = "\
recovery = \"sack\"
count_lost_in_pipe = true
forget_sack_at_timeout = true
delayed_ack = false
initial_window = 2
min_rto = \"200 ms\"
rto_granularity = \"10 ms\"
send_jitter = \"none\"
";
    let by_hand = format!("{keys}\ncongestion = \"cubic\"");
    let by_hand = written_out(&shared(PLAIN, &by_hand, "congestion = \"reno\""));
    let short = "host = \"ns2\"\ncongestion = \"cubic\"";
    let short = written_out(&shared(PLAIN, short, "congestion = \"reno\""));
    assert_eq!(without_hosts(&short), without_hosts(&by_hand));
    let newreno = "host = \"ns2\"\ncongestion = \"reno\"\nrecovery = \"newreno\"";
    let newreno = written_out(&shared("", newreno, "congestion = \"reno\""));
    assert!(!newreno.contains("count_lost_in_pipe = true"), "{newreno}");
}

#[test]
fn a_key_that_is_written_comes_before_the_profile_wherever_host_and_key_stand() {
    let keys = LINUX_KEYS.replace("send_burst = \"auto\"", "send_burst = 4");
    let by_hand = written_out(&shared(
        &format!("{PLAIN}\ncongestion = \"reno\""),
        &keys.replace("send_burst = 4", "send_burst = 2"),
        &keys,
    ));
    for (defaults, group) in
        [("", ""), ("host = \"linux\"", ""), ("", "host = \"linux\""), (PLAIN, "host = \"linux\"")]
    {
        let short = written_out(&shared(
            &format!("{defaults}\ncongestion = \"reno\"\nsend_burst = 4"),
            &format!("{group}\nsend_burst = 2"),
            group,
        ));
        assert_eq!(without_hosts(&short), without_hosts(&by_hand), "{defaults}, {group}");
    }
}

#[test]
fn a_profile_leaves_out_what_does_not_go_with_keys_of_defaults() {
    for key in ["recovery = \"newreno\"", "count_lost_in_pipe = true"] {
        let defaults = format!("congestion = \"reno\"\n{key}");
        let network = resolve(&shared(&defaults, "", "host = \"linux\""));
        for group in &network.groups {
            assert!(!group.tcp.as_ref().unwrap().prr, "{key}");
        }
    }
}

#[test]
fn the_host_in_defaults_applies_to_every_group_without_a_host() {
    let defaults = "host = \"ns2\"\ncongestion = \"reno\"";
    let network = resolve(&shared(defaults, "", "host = \"linux\""));
    let windows: Vec<u32> =
        network.groups.iter().map(|group| group.tcp.as_ref().unwrap().initial_window).collect();
    assert_eq!(windows, [2, 10]);
}

#[test]
fn the_scenario_with_all_keys_says_which_host_it_has() {
    let stream = "source = { kind = \"cbr\", rate = \"1 Mbit/s\" }";
    for host in ["linux", "data_center", "ns2", "plain"] {
        let text = shared(&format!("host = \"{host}\""), "congestion = \"reno\"", stream);
        let written = written_out(&text);
        assert_eq!(written.matches("host = ").count(), 1, "the stream has none: {written}");
        assert!(written.contains(&format!("host = \"{host}\"")), "{written}");
        assert_eq!(written, written_out(&written));
    }
}

#[test]
fn a_profile_sets_only_the_keys_that_apply_to_the_group() {
    let group = |keys: &str| {
        let scenario = parse(&shared("host = \"linux\"", keys, "congestion = \"reno\""), &[]);
        let written: toml::Table = scenario.unwrap().to_toml().parse().unwrap();
        written["flows"]["first"].as_table().unwrap().clone()
    };
    let stream = group("source = { kind = \"cbr\", rate = \"1 Mbit/s\" }");
    assert!(!stream.contains_key("delayed_ack"), "{stream}");
    let kind = |group: &toml::Table| group["slow_start"]["kind"].as_str().unwrap().to_owned();
    // HyStart is part of Linux's tcp_cubic.c alone.
    for loss_based in ["reno", "cubic", "bic", "highspeed", "westwood"] {
        let found = group(&format!("congestion = \"{loss_based}\""));
        let slow_start = if loss_based == "cubic" { "hystart" } else { "standard" };
        assert_eq!(kind(&found), slow_start, "{loss_based}");
        assert_eq!(found["send_burst"].as_str(), Some("auto"), "{loss_based}");
        assert_eq!(found["window_validation"].as_bool(), Some(true), "{loss_based}");
    }
    let marks = "congestion = \"dctcp\"\necn = \"accurate\"";
    for other in ["congestion = \"vegas\"", "congestion = \"ledbat\"", marks] {
        assert_eq!(kind(&group(other)), "standard", "{other}");
    }
    let bbr = group("congestion = \"bbr3\"");
    assert_eq!(kind(&bbr), "standard");
    assert_eq!(bbr["prr"].as_bool(), Some(false));
    assert_eq!(bbr["window_validation"].as_bool(), Some(false));
    assert_eq!(bbr["recovery"].as_str(), Some("rack"));
    assert_eq!(bbr["delayed_ack"].as_bool(), Some(true));
}

/// The profile of a data centre is that of Linux except for its own keys; an RTT of 1 ms is known, so
/// that the first timeout is 1 + 5 ms, and hardware transports acknowledge each packet.
#[test]
fn a_host_in_a_data_centre_is_a_linux_host_with_open_connections_and_short_timers() {
    let transport = |host: &str, control: &str| {
        let first = format!("host = \"{host}\"\ncongestion = \"{control}\"");
        let network = resolve(&shared("", &first, "congestion = \"reno\""));
        network.groups[0].tcp.clone().unwrap()
    };
    let (linux, found) = (transport("linux", "cubic"), transport("data_center", "cubic"));
    let (handshake, min_rto) = (Handshake::DONE, PositiveDuration::from_milliseconds(5));
    let timeout = PositiveDuration::from_milliseconds(4);
    let delayed_ack = DelayedAck::Set { packets: 2, timeout };
    let timestamp_tick = Some(PositiveDuration::new(1_000_000));
    assert_eq!(found, with!(linux, TcpSpec { handshake, min_rto, delayed_ack, timestamp_tick }));
    for control in ["swift", "timely", "packet_pair"] {
        let found = transport("data_center", control);
        assert_eq!((found.delayed_ack, found.send_burst), (DelayedAck::OFF, SendBurst::SINGLE));
    }
}

#[test]
fn a_profile_never_makes_a_valid_group_invalid() {
    let components = scenario_text::components();
    let names = |kind: &str| -> Vec<String> {
        let entries = components[kind].as_array().unwrap();
        entries.iter().map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
    };
    let keys =
        ["", "recovery = \"newreno\"", "count_lost_in_pipe = true", "prr = false", "prr = true"];
    for host in names("host") {
        for control in names("congestion") {
            for keys in keys {
                let group = |host: &str| {
                    let keys = format!("congestion = \"{control}\"\necn = \"l4s\"\n{keys}");
                    shared("", &format!("host = \"{host}\"\n{keys}"), "congestion = \"reno\"")
                };
                // Skips groups that are refused without a profile too.
                if resolve_with(&group("plain"), &[]).is_ok() {
                    let with_host = resolve_with(&group(&host), &[]);
                    assert!(with_host.is_ok(), "{host} {control} {keys}: {with_host:?}");
                }
            }
        }
    }
}

#[test]
fn every_profile_sets_known_keys_and_cites_their_sources() {
    let hosts = scenario_text::components()["host"].clone();
    let names: Vec<&str> =
        hosts.as_array().unwrap().iter().map(|host| host["kind"].as_str().unwrap()).collect();
    assert_eq!(names, ["plain", "linux", "data_center", "ns2"]);
    for host in hosts.as_array().unwrap() {
        for set in host["sets"].as_array().unwrap() {
            let (name, value) = (set["name"].as_str().unwrap(), set["value"].as_str().unwrap());
            let source = set["doc"].as_str().unwrap();
            let places = ["RFC", "net/", ".cc", "ns-default.tcl", "ip route", "et al."];
            assert!(places.iter().any(|place| source.contains(place)), "{name}: {source}");
            // A key of the switch that the hosts are behind.
            if name == "nic_queue" {
                continue;
            }
            let by_hand = format!("{name} = {value}\ncongestion = \"reno\"");
            resolve(&shared("", &by_hand, "congestion = \"reno\""));
        }
    }
}

#[test]
fn defaults_of_the_transport_and_counts_apply_only_to_groups_that_have_them() {
    let defaults = "congestion = \"reno\"\nrecovery = \"newreno\"\ncount = 4\nhost = \"linux\"";
    let sources = [
        ("bulk", "", true, 4),
        ("objects", "size = \"9 kB\", arrivals_per_second = 1", true, 4),
        ("finite_flows", "size = \"1 MB\", arrivals_per_second = 1", true, 0),
        ("trace", "file = \"flows.csv\"", true, 0),
        ("streaming", "rate = \"1 Mbps\", duration = \"1 s\", load = 0.1", false, 0),
        ("web", "model = \"ns3\", pages = 5, arrivals_per_second = 1", true, 0),
        ("incast", "fan_in = 3, size = \"9 kB\", period = \"1 s\"", true, 0),
        ("poisson", "rate = \"1 Mbit/s\"", false, 4),
        ("cbr", "rate = \"1 Mbit/s\"", false, 4),
        ("on_off", "rate = \"1 Mbit/s\", on = \"1 s\", off = \"1 s\"", false, 4),
    ];
    let known = scenario_text::components()["source"].as_array().unwrap().len();
    // A collective needs hosts, and the two kinds of one's own need code.
    assert_eq!(sources.len() + 3, known, "every kind of source on a path is in the list above");
    for (kind, parameters, has_transport, flows) in sources {
        let source = format!("source = {{ kind = \"{kind}\", {parameters} }}");
        let source = source.replace(", }", " }");
        let network = resolve(&shared(defaults, &source, "count = 1"));
        assert_eq!(network.groups[0].tcp.is_some(), has_transport, "{kind}");
        assert_eq!(network.flows.len(), flows + 1, "{kind}");
    }
}

#[test]
fn a_wrong_default_is_reported_once_and_at_its_own_line() {
    let text = shared("congestion = \"reno\"\nrtt = \"80\"\nrcovery = \"sack\"", "", "");
    assert_all_refused(
        &parse(&text, &[]).unwrap_err().to_string(),
        &[
            ("line 11, defaults.rtt", &["ps, ns, us, ms, s, min, h", "\"100 ms\""]),
            ("line 12, defaults.rcovery", &["`recovery`"]),
        ],
    );
    let text = shared("congestion = \"reno\"\nrtt = \"1 ms\"", "", "");
    let error = resolve_with(&text, &[]).unwrap_err().to_string();
    assert_refused(&error, "line 11, defaults.rtt (used by flows.first)", &["\"40 ms\""]);
}

#[test]
fn overrides_may_set_defaults_and_hosts() {
    let with = |overrides: &[(&str, &str)]| parse(BASE, overrides).unwrap().to_toml();
    let plain = parse(&base_with("count = 4", &format!("count = 4\n{PLAIN}")), &[]);
    assert_eq!(with(&[("flows.tcp.host", "plain")]), plain.unwrap().to_toml());
    assert_eq!(with(&[("defaults.host", "plain")]), with(&[("flows.tcp.host", "plain")]));
    assert_eq!(
        with(&[("defaults.initial_window", "3")]),
        with(&[("flows.tcp.initial_window", "3")])
    );
    assert_eq!(with(&[("defaults.rtt", "90 ms")]), with(&[]), "the group sets its own RTT");
    let error = resolve_with(BASE, &[("defaults.max_windw", "3")]).unwrap_err().to_string();
    assert_refused(&error, "--set defaults.max_windw", &["`max_window`"]);
}

#[test]
fn a_kind_whose_parameters_all_have_defaults_may_be_given_by_name() {
    let table = "{ kind = \"drop_tail\", limit = \"100 packets\" }";
    for queue in ["codel", "fq_codel", "pie", "fq_pie", "dual_pi2", "cake"] {
        let named = parse(&base_with(table, &format!("\"{queue}\"")), &[]).unwrap().to_toml();
        let whole = format!("{{ kind = \"{queue}\" }}");
        assert_eq!(named, parse(&base_with(table, &whole), &[]).unwrap().to_toml());
        assert_eq!(named, parse(BASE, &[("links.bottleneck.queue", queue)]).unwrap().to_toml());
    }
    let same = |short: &str, long: &str| {
        let with = |keys: &str| parse(&base_with("count = 4", keys), &[]).unwrap().to_toml();
        assert_eq!(with(short), with(long));
    };
    same("source = \"bulk\"", "source = { kind = \"bulk\" }");
    same("slow_start = \"limited\"", "slow_start = { kind = \"limited\" }");
    same("slow_start = \"hystart_plus_plus\"", "slow_start = { kind = \"hystart_plus_plus\" }");
    let loss = |value: &str| base_with("delay =", &format!("loss = {value}\ndelay ="));
    let none = parse(&loss("\"none\""), &[]).unwrap().to_toml();
    assert_eq!(none, parse(BASE, &[]).unwrap().to_toml());
}

#[test]
fn overrides_may_set_parameters_of_a_kind_that_is_given_by_name() {
    let named = base_with("{ kind = \"drop_tail\", limit = \"100 packets\" }", "\"codel\"");
    let whole = base_with(
        "{ kind = \"drop_tail\", limit = \"100 packets\" }",
        "{ kind = \"codel\", target = \"10 ms\" }",
    );
    let set = parse(&named, &[("links.bottleneck.queue.target", "10 ms")]).unwrap().to_toml();
    assert_eq!(set, parse(&whole, &[]).unwrap().to_toml());
    // A name replaces the whole table, including its limit.
    let replaced = parse(BASE, &[("links.bottleneck.queue", "codel")]).unwrap().to_toml();
    assert!(replaced.contains("limit = \"1000 packets\""), "{replaced}");
}

#[test]
fn hystart_is_refused_under_a_control_with_a_start_of_its_own() {
    for (control, is_refused) in [
        ("cubic", false),
        ("reno", false),
        ("bbr1", true),
        ("bbr3", true),
        ("vegas", true),
        ("fast", true),
        ("hybla", true),
        ("swift", true),
    ] {
        let group = format!("congestion = \"{control}\"\nslow_start = \"hystart\"");
        let result = parse(&shared("", &group, "congestion = \"reno\""), &[])
            .map_err(|error| error.to_string())
            .and_then(|scenario| scenario.resolve().map_err(|error| error.to_string()));
        match result {
            Ok(_) => assert!(!is_refused, "{control}"),
            Err(message) => {
                let names = message.contains("slow_start") && message.contains(control);
                assert!(is_refused && names && message.contains("drop slow_start"), "{message}");
            }
        }
    }
}
