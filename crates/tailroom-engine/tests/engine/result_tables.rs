//! What the tables declare is what a run returns.

use serde_json::{Value, json};
use tailroom_engine::observe::Act;
use tailroom_engine::queue::buffer::DropReason;
use tailroom_engine::results::tables::{Column, ColumnDeclaration, Labels, Values};
use tailroom_engine::results::{Results, Tables, TimeSeries, series_json};
use tailroom_engine::simulation::Simulation;
use tailroom_engine::units::Time;

use crate::support::case::{Case, case};
use crate::support::scenario_run::finish;

/// Records every table, with every fate of a packet that a `codel` queue knows.
fn everything() -> Case {
    let logs = "packet_log = 1000, arrival_dispersion = '10 ms'";
    let reno =
        "reverse_path = ['back'], congestion = 'reno', packet_size = '1000 B', rtt = '40 ms'";
    let ends = "endpoint_log = { from = '0 s', to = '2 s', most_packets = 10_000 }";
    let short = "kind = 'finite_flows', load = 0.2, size = '20 kB', flow_log = 100";
    case("4 s from 1 s")
        .table("series", "interval = '100 ms'")
        .table("pools.memory", "size = '40 kB', policy = 'dynamic_threshold'")
        .link("link", format!("10 Mbit/s, 5 ms, codel 20 packets, pool = 'memory', {logs}"))
        .link("back", "10 Mbit/s, 5 ms, 20 packets")
        .set("links.link.arrival_log", "{ from = '1 s', to = '2 s' }")
        .set("links.back.arrival_log", "{ from = '1 s', to = '4 s' }")
        .flows("reno", "link", format!("{reno}, count = 2, ecn = 'classic', {ends}"))
        .flows("short", "link", format!("{reno}, count = 1, source = {{ {short} }}"))
}

fn length(column: &Column) -> usize {
    match &column.values {
        Values::U8(values) => values.len(),
        Values::U32(values) => values.len(),
        Values::U64(values) => values.len(),
        Values::F64(values) => values.len(),
    }
}

fn element(column: &Column) -> &'static str {
    match column.values {
        Values::U8(_) => "u8",
        Values::U32(_) => "u32",
        Values::U64(_) => "u64",
        Values::F64(_) => "f64",
    }
}

/// The largest position in a column of positions.
fn largest(column: &Column) -> usize {
    let largest = match &column.values {
        Values::U8(values) => values.iter().copied().max().map(usize::from),
        Values::U32(values) => values.iter().max().map(|value| *value as usize),
        _ => None,
    };
    largest.expect("positions are small integers")
}

fn number_of_labels(results: &Results, labels: Labels) -> usize {
    let summary = &results.summary;
    match labels {
        Labels::Links => summary.links.0.len(),
        Labels::Flows => summary.flows.len(),
        Labels::Groups => summary.groups.0.len(),
        Labels::FlowsAndGroups => summary.flows.len() + summary.groups.0.len(),
        Labels::Places => {
            let flows = number_of_labels(results, Labels::FlowsAndGroups);
            summary.links.0.len() + 2 * flows
        }
        Labels::Words(words) => words.len(),
    }
}

#[test]
fn every_declared_table_has_the_declared_columns() {
    let results = everything().run().results;
    let tables = results.tables.clone().into_columns();
    let declarations = Tables::declarations();
    assert_eq!(tables.len(), declarations.len());
    for ((name, columns), declaration) in tables.into_iter().zip(&declarations) {
        assert_eq!(name, declaration.name);
        let columns = columns.unwrap_or_else(|| panic!("{name} is not recorded"));
        assert!(length(&columns[0]) > 0, "{name}");
        assert!(columns.iter().all(|column| length(column) == length(&columns[0])), "{name}");
        let (of_run, fixed): (Vec<&ColumnDeclaration>, Vec<_>) =
            declaration.columns.iter().partition(|column| column.is_named_by_run);
        for (column, declared) in columns.iter().zip(&fixed) {
            let place = format!("{name}.{}", column.name);
            assert_eq!(column.name, declared.name, "{place}");
            assert_eq!(element(column), declared.element, "{place}");
            assert_eq!(column.labels, declared.labels, "{place}");
            if let Some(labels) = column.labels {
                assert!(largest(column) < number_of_labels(&results, labels), "{place}");
            }
        }
        assert_eq!(columns.len() > fixed.len(), !of_run.is_empty(), "{name}");
        assert!(columns[fixed.len()..].iter().all(|column| element(column) == "f64"), "{name}");
    }
}

#[test]
fn a_run_that_records_nothing_has_the_numbers_of_flows_alone() {
    let mut quiet = everything()
        .without("series")
        .replaced(", packet_log = 1000, arrival_dispersion = '10 ms'", "")
        .replaced(", endpoint_log = { from = '0 s', to = '2 s', most_packets = 10_000 }", "")
        .replaced(", flow_log = 100", "")
        .network();
    quiet.links.iter_mut().for_each(|link| link.arrival_log = None);
    let tables = finish(&quiet).tables.into_columns();
    let recorded: Vec<&str> =
        tables.iter().filter(|(_, columns)| columns.is_some()).map(|(name, _)| *name).collect();
    assert_eq!(recorded, ["flow_counts"]);
}

#[test]
fn words_stand_for_the_codes_of_the_engine() {
    let declarations = Tables::declarations();
    let word = |table: &str, column: &str, code: u8| {
        let table = declarations.iter().find(|one| one.name == table).expect("there is one");
        let column = table.columns.iter().find(|one| one.name == column).expect("there is one");
        match column.labels {
            Some(Labels::Words(words)) => words[usize::from(code)],
            labels => panic!("{} has no words: {labels:?}", column.name),
        }
    };
    let head = Act::Dropped(DropReason::Head);
    let events = [Act::Arrived, Act::Departed, head, Act::Marked];
    let words = events.map(|act| word("packet_log", "event", act.event()));
    assert_eq!(words, ["arrival", "departure", "drop", "mark"]);
    let fates = [Act::Arrived, Act::Marked, Act::Sent, Act::Received, head];
    let words = fates.map(|act| word("packets", "fate", act.fate()));
    assert_eq!(words, ["accepted", "marked", "sent", "received", "head"]);
}

#[test]
fn the_series_so_far_begin_the_series_of_the_whole_run() {
    let network = everything().network();
    let mut simulation = Simulation::new(&network).expect("the network is valid");
    let json =
        |series| -> Value { serde_json::to_value(series_json(&network, series)).expect("JSON") };
    let nothing = json(simulation.series_so_far().expect("the scenario has series"));
    assert_eq!(nothing["link_series"]["time_s"], json!([]));
    simulation.run_until(Time::from_milliseconds(2_000)).expect("the run goes on");
    let part = json(simulation.series_so_far().expect("the scenario has series"));
    let tables = simulation.finish().expect("the run ends").tables;
    let whole = json(TimeSeries::of(&tables).expect("the scenario has series"));
    for (table, least_rows) in [("link_series", 19), ("pool_series", 19), ("flow_series", 2 * 19)] {
        for (column, values) in whole[table].as_object().expect("columns by name") {
            let begin = part[table][column].as_array().expect("a column");
            let all = values.as_array().expect("a column");
            assert!(begin.len() >= least_rows, "{column} has {} rows", begin.len());
            assert!(all.len() > begin.len());
            assert_eq!(all[..begin.len()], begin[..], "{column}");
        }
    }
    assert_eq!(part["names"], json!({ "links": ["link", "back"], "flows": ["reno.0", "reno.1"] }));
    assert_eq!(part["names"], whole["names"]);
    let pools = json!([{ "name": "memory", "size_bytes": 40_000, "links": [0] }]);
    assert_eq!((&part["pools"], &whole["pools"]), (&pools, &pools));
}
