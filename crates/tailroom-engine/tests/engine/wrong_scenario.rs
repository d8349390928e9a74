//! What is refused, and how: place, key, problem, remedy.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use tailroom_engine::scenario;

use crate::support::scenario_text::{BASE, base_with, message, resolve_with};

/// Every congestion control, as an error names them.
fn congestion_kinds() -> String {
    let components = scenario::components();
    let entries = components["congestion"].as_array().unwrap();
    let kinds: Vec<&str> = entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    kinds.join(", ")
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_name() {
    assert_eq!(
        message("duration", "duratoin"),
        "line 2, duratoin: there is no such key here; did you mean `duration`?"
    );
    assert_eq!(
        message("rate =", "Rate ="),
        "line 6, links.bottleneck.Rate: there is no such key here; did you mean `rate`?"
    );
    assert_eq!(
        message("\"highspeed\"", "\"highspeed\", low_windw = 10.0"),
        "line 13, flows.tcp.congestion.low_windw: there is no such key here; \
         did you mean `low_window`?"
    );
    assert_eq!(
        message("limit = ", "qqq = "),
        "line 8, links.bottleneck.queue.qqq: there is no such key here; use one of kind, limit"
    );
    assert_eq!(
        message("\"highspeed\"", "\"higspeed\""),
        "line 13, flows.tcp.congestion.kind: \"higspeed\" is not a kind known here; \
         did you mean `highspeed`?"
    );
    assert_eq!(
        message("{ kind = \"highspeed\" }", "3"),
        format!(
            "line 13, flows.tcp.congestion: is the number 3; write a string in quotes, or \
             {{ kind = \"reno\" }}, with one of the kinds {}",
            congestion_kinds()
        )
    );
}

#[test]
fn a_control_that_nobody_brings_is_refused() {
    assert_eq!(
        message("{ kind = \"highspeed\" }", "\"higspeed\""),
        "line 13, flows.tcp.congestion: there is no control \"higspeed\"; \
         did you mean `highspeed`?"
    );
    assert!(
        message("kind = \"highspeed\"", "kind = \"custom\", control = \"mine\"")
            .starts_with("line 13, flows.tcp.congestion: there is no control \"mine\"; use one of")
    );
    assert_eq!(
        message("kind = \"highspeed\"", "kind = \"custom\""),
        "line 13, flows.tcp.congestion.control: is missing; \
         add it, as in `control = \"mymodule:MyControl\"`"
    );
}

#[test]
fn missing_keys_are_named_with_an_example() {
    assert_eq!(
        message("duration = \"60 s\"\n", ""),
        "duration: is missing; add it, as in `duration = \"60 s\"`"
    );
    assert_eq!(
        message("queue = { kind = \"drop_tail\", limit = \"100 packets\" }\n", ""),
        "line 5, links.bottleneck.queue: is missing; \
         add it, as in `queue = { kind = \"drop_tail\", limit = \"100 packets\" }`"
    );
    assert_eq!(
        message("path = [\"bottleneck\"]\n", ""),
        "line 10, flows.tcp.path: is missing; \
         add it, as in `path = [\"bottleneck\"]`, here or in [defaults]"
    );
    assert_eq!(
        message("rate = \"100 Mbit/s\"\n", ""),
        "line 5, links.bottleneck.rate: is missing; \
         add it, as in `rate = \"1 Gbit/s\"`, or a `trace` file"
    );
    assert_eq!(
        message("congestion = { kind = \"highspeed\" }\n", ""),
        format!(
            "line 10, flows.tcp.congestion: is missing, and a bulk source sends what its \
             congestion control allows; add `congestion = {{ kind = \"reno\" }}`, with one of \
             the kinds {}",
            congestion_kinds()
        )
    );
}

#[test]
fn quantities_without_a_known_unit_are_refused() {
    let units = "write a number and one of ps, ns, us, ms, s, min, h, as in \"100 ms\"";
    let named = "one of the units ps, ns, us, ms, s, min, h, as in \"100 ms\"";
    let line = "line 2, duration: ";
    let duration = |value: &str| message("\"60 s\"", value);
    assert_eq!(duration("\"60\""), format!("{line}\"60\" has no unit; {units}"));
    assert_eq!(duration("\"60 sec\""), format!("{line}\"sec\" is not a unit known here; {units}"));
    assert_eq!(
        duration("\"nan s\""),
        format!("{line}\"nan s\" is not a number with a unit; {units}")
    );
    assert_eq!(duration("\"-1 s\""), format!("{line}\"-1 s\" is negative; {units}"));
    assert_eq!(
        duration("60"),
        format!("{line}is the bare number 60, without a unit; write a string with {named}")
    );
    assert_eq!(
        duration("inf"),
        format!("{line}is the bare number inf, without a unit; write a string with {named}")
    );
    assert_eq!(duration("true"), format!("{line}is true; write a string with {named}"));
}

#[test]
fn quantities_out_of_range_are_refused() {
    assert_eq!(
        message("\"60 s\"", "\"0 s\""),
        "line 2, duration: \"0 s\" must not be zero; write a positive value, as in \"100 ms\""
    );
    assert_eq!(
        message("\"60 s\"", "\"1e30 s\""),
        "line 2, duration: \"1e30 s\" is too large; write at most \"2592000 s\""
    );
    assert_eq!(
        message("\"60 s\"", "\"0.1 ps\""),
        "line 2, duration: \"0.1 ps\" is less than 1 ps; write at least \"1 ps\""
    );
    assert_eq!(
        message("\"100 Mbit/s\"", "\"0 bit/s\""),
        "line 6, links.bottleneck.rate: \"0 bit/s\" must not be zero; \
         write a positive value, as in \"1 Gbit/s\""
    );
    assert_eq!(
        message("rtt =", "packet_size = \"1000.5 B\"\nrtt ="),
        "line 14, flows.tcp.packet_size: \"1000.5 B\" is not a whole number of B; \
         write whole B, as in \"1500 B\""
    );
    assert_eq!(
        message("count = 4", "count = 0"),
        "line 11, flows.tcp.count: 0 is out of range; write at least 1 and at most 16777215"
    );
    assert_eq!(
        message("\"highspeed\"", "\"highspeed\", high_decrease = nan"),
        "line 13, flows.tcp.congestion.high_decrease: nan is out of range; \
         write at least 0.0 and at most 0.5"
    );
    assert_eq!(
        message("count = 4", "count = 4.0"),
        "line 11, flows.tcp.count: is the number 4; write a whole number"
    );
}

#[test]
fn paths_must_exist_and_end() {
    assert_eq!(
        message("path = [\"bottleneck\"]", "path = [\"botleneck\"]"),
        "line 12, flows.tcp.path[0]: there is no link \"botleneck\"; did you mean `bottleneck`?"
    );
    assert_eq!(
        message("path = [\"bottleneck\"]", "path = [\"bottleneck\", \"bottleneck\"]"),
        "line 12, flows.tcp.path[1]: the path passes \"bottleneck\" twice; \
         name each link once: a loop would never end"
    );
    assert_eq!(
        message("path = [\"bottleneck\"]", "path = []"),
        "line 12, flows.tcp.path: is empty; write 1 to 250"
    );
    assert_eq!(
        message("path = [\"bottleneck\"]", "path = \"bottleneck\""),
        "line 12, flows.tcp.path: is the string \"bottleneck\"; \
         write a list, as in [\"a\", \"b\"]"
    );
}

#[test]
fn contradictions_are_refused() {
    assert_eq!(
        message("\"10 s\"", "\"60 s\""),
        "line 3, measure_from: 60 s is not before the end of the run, 60 s; \
         lower measure_from or raise duration"
    );
    assert_eq!(
        message("\"80 ms\"", "{ from = \"30 ms\", to = \"50 ms\" }"),
        "line 14, flows.tcp.rtt: 30 ms is less than the propagation of the shared links there and \
         back, 40 ms; raise rtt to at least \"40 ms\" or lower the links' delay"
    );
    assert_eq!(
        message("rtt =", "packet_size = \"40 B\"\nrtt ="),
        "line 14, flows.tcp.packet_size: 40 B leaves no room for data beside the header of 40 B; \
         raise packet_size or lower header_size"
    );
    assert_eq!(
        message("rtt =", "packet_size = \"64 KiB\"\nrtt ="),
        "line 14, flows.tcp.packet_size: 65536 B is larger than an IP packet can be; \
         write at most \"65535 B\""
    );
    assert_eq!(
        message("rtt =", "start = \"60 s\"\nrtt ="),
        "line 14, flows.tcp.start: a flow starts at 60 s, when the run is over; \
         lower start or raise duration"
    );
    assert_eq!(
        message("rtt =", "start = \"5 s\"\nstop = \"4 s\"\nrtt ="),
        "line 15, flows.tcp.stop: 4 s is not after the last start, 5 s; raise stop or lower start"
    );
    assert_eq!(
        message("\"80 ms\"", "{ uniform = [\"90 ms\", \"80 ms\"] }"),
        "line 14, flows.tcp.rtt.uniform: the lower bound 90 ms is above the upper bound 80 ms; \
         swap the bounds"
    );
    assert_eq!(
        message("rtt =", "source = { kind = \"poisson\", rate = \"1 Mbps\" }\nrtt ="),
        "line 13, flows.tcp.congestion: a source of kind \"poisson\" has no congestion control; \
         remove the key, or use `source = { kind = \"bulk\" }`"
    );
    assert_eq!(
        message("\"highspeed\"", "\"highspeed\", high_window = 38"),
        "line 13, flows.tcp.congestion: needs 1 <= low_window < high_window; \
         correct the parameters"
    );
    for ecn in ["", "ecn = \"off\"\n", "ecn = \"classic\"\n"] {
        let dctcp = format!("{ecn}congestion = {{ kind = \"dctcp\" }}");
        let refusal = message("congestion = { kind = \"highspeed\" }", &dctcp);
        assert!(
            refusal.ends_with(
                "flows.tcp.ecn: dctcp counts marked packets, and only accurate feedback reports \
                 their number; set `ecn = \"accurate\"` (or \"l4s\"), and let the queue mark"
            ),
            "{refusal}"
        );
    }
    assert_eq!(
        message("rtt =", "prr = true\nrecovery = \"newreno\"\nrtt ="),
        "line 14, flows.tcp.prr: proportional rate reduction needs selective acknowledgements; \
         set `recovery = \"sack\"` or drop prr"
    );
    for (keys, refusal) in [
        (
            "recovery = \"newreno\"",
            "the pipe belongs to recovery by selective acknowledgements; \
             set `recovery = \"sack\"` or drop count_lost_in_pipe",
        ),
        (
            "prr = true",
            "proportional rate reduction takes the place of this pipe; \
             set `prr = false` or drop count_lost_in_pipe",
        ),
    ] {
        assert_eq!(
            message("rtt =", &format!("count_lost_in_pipe = true\n{keys}\nrtt =")),
            format!("line 14, flows.tcp.count_lost_in_pipe: {refusal}")
        );
    }
    assert_eq!(
        message("{ kind = \"highspeed\" }", "\"bbr1\"\ncount_lost_in_pipe = true"),
        "line 14, flows.tcp.count_lost_in_pipe: the control models the path and counts what is in \
         flight itself; choose another `congestion` or drop count_lost_in_pipe"
    );
}

#[test]
fn a_scenario_needs_flows() {
    let flows_at = BASE.find("[flows").unwrap();
    assert_eq!(
        resolve_with(&BASE[..flows_at], &[]).unwrap_err().to_string(),
        "flows: the scenario has no flows; \
         add a table [flows.NAME] with at least `path` and `congestion`"
    );
}

#[test]
fn what_a_link_measures_and_refuses_must_make_sense() {
    let with = |keys: &str| message("packets\" }\n", &format!("packets\" }}\n{keys}\n"));
    assert!(
        with("arrival_dispersion = 10")
            .starts_with("line 9, links.bottleneck.arrival_dispersion: is the bare number 10")
    );
    assert!(
        with("arrival_dispersion = \"0 s\"")
            .starts_with("line 9, links.bottleneck.arrival_dispersion: \"0 s\" must not be zero")
    );
    assert_eq!(
        with("arrival_log = { from = \"2 s\", to = \"2 s\" }"),
        "line 9, links.bottleneck.arrival_log.to: 2 s is not after `from`, 2 s; \
         give a span, as in { from = \"60 s\", to = \"62 s\" }"
    );
    assert_eq!(
        with("arrival_log = { from = \"2 h\", to = \"3 h\" }"),
        "line 9, links.bottleneck.arrival_log.from: is not before the end of the run; \
         lower it, or raise duration"
    );
    assert!(
        with("arrival_log = { from = \"2 s\" }")
            .starts_with("line 9, links.bottleneck.arrival_log.to: is missing")
    );
    assert_eq!(
        with("arrival_log = { from = \"2 s\", to = \"3 s\", most_packets = 100_000_000 }"),
        "memory_limit: the run may need 8.6 GB of memory, more than 4 GB; raise memory_limit, or use \
         a smaller packet_log or arrival_log.most_packets, or a shorter trace"
    );
    assert_eq!(
        with("admission = {}"),
        "line 9, links.bottleneck.admission: never refuses a flow; \
         add `min_fair_rate = \"1 Mbit/s\"`, `max_priority_load = 0.9` or both"
    );
    assert_eq!(
        with("admission = { min_fair_rate = \"100 Mbit/s\" }"),
        "line 9, links.bottleneck.admission.min_fair_rate: 100 Mbit/s is not below the link's rate, \
         so that no flow would begin; lower it"
    );
    assert_eq!(
        with("admission = { max_priority_load = 1.5 }"),
        "line 9, links.bottleneck.admission.max_priority_load: 1.5 is out of range; \
         write more than 0.0 and at most 1.0"
    );
    assert_eq!(
        with("admission = { max_priority_load = 0.9, interval = \"1 us\" }"),
        "line 9, links.bottleneck.admission.interval: 1 us is too short to measure a rate in; \
         write at least \"1 ms\""
    );
    assert_eq!(
        with("admission = { max_priority_load = 0.9 }"),
        "line 9, links.bottleneck.admission: no flows that come and go cross the link; \
         remove it, or add a `finite_flows` source"
    );
}

#[test]
fn text_that_is_no_scenario_is_refused() {
    assert_eq!(
        resolve_with("duration = \"1 s\"\nx = = 1\n", &[])
            .unwrap_err()
            .to_string()
            .split(';')
            .next(),
        Some("line 2: not valid TOML: extra `=`, expected nothing")
    );
    let twice = base_with("measure_from", "duration");
    assert!(
        resolve_with(&twice, &[]).unwrap_err().to_string().starts_with("line 3: not valid TOML")
    );
    let huge = "#".repeat((4 << 20) + 1);
    assert_eq!(
        resolve_with(&huge, &[]).unwrap_err().to_string(),
        "the scenario has 4194305 bytes, more than 4194304; check that this is a scenario file"
    );
}

#[test]
fn memory_beyond_the_limit_is_refused_before_the_run() {
    let many = base_with("count = 4", "count = 5000000");
    assert_eq!(
        resolve_with(&many, &[]).unwrap_err().to_string(),
        "memory_limit: the run may need 5.3 GB of memory, more than 4 GB; \
         raise memory_limit, or use fewer flows"
    );
    assert_eq!(resolve_with(&many, &[("memory_limit", "8 GB")]).unwrap().flows.len(), 5_000_000);
    let deep = base_with("100 packets", "1000000000000 packets");
    let error = resolve_with(&deep, &[]).unwrap_err().to_string();
    assert!(error.ends_with("or use a smaller rate, rtt or queue limit"), "{error}");
    // Windows bound what a deep buffer can hold.
    assert!(resolve_with(&deep, &[("flows.tcp.max_window", "1000")]).is_ok());
}
