//! Valid files with random changes: what `make fuzz` looks for at length, in a bounded time. A case
//! that fails is kept in `mutated.regressions`, and the next run tries it first.
//!
//! `TAILROOM_CASES=100 cargo test --package hostile-inputs` tries a hundred times as many.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::FileFailurePersistence;

/// Values that have broken something, or nearly.
const EXTREMES: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "1e308",
    "-1e308",
    "5e-324",
    "nan",
    "inf",
    "-inf",
    "65536",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"0 s\"",
    "\"1 ps\"",
    "\"720 h\"",
    "\"999999999999 ps\"",
    "\"-1 s\"",
    "\"1e400 s\"",
    "\"0 packets\"",
    "\"1 packet\"",
    "\"1e18 packets\"",
    "\"1e9 bdp\"",
    "\"1e-9 bdp\"",
    "\"1 B\"",
    "\"1e15 B\"",
    "\"18446744073709551616 B\"",
    "\"1 bit/s\"",
    "\"100 Tbit/s\"",
    "\"0 bit/s\"",
    "\"\\u001b[31mred\"",
    "\"../../../../etc/passwd\"",
    "\"os:system\"",
    "\"$x^$\"",
    "\"\\u0000\"",
    "\"reno\"",
    "\"bbr3\"",
    "\"fixed_window\"",
    "\"codel\"",
    "\"dual_pi2\"",
    "\"fair\"",
    "{ kind = \"fair\", limit = \"9 packets\" }",
    "{ uniform = [\"1 ms\", \"2 ms\"] }",
];

/// A change of a text, line by line.
#[derive(Clone, Debug)]
enum Change {
    /// Another value behind the first `=`, or another field behind the first comma.
    Value(Index, &'static str),
    Delete(Index),
    Repeat(Index, Index),
    Byte(Index, u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (any::<Index>(), select(EXTREMES)).prop_map(|(at, value)| Change::Value(at, value)),
        2 => any::<Index>().prop_map(Change::Delete),
        2 => any::<(Index, Index)>().prop_map(|(from, to)| Change::Repeat(from, to)),
        1 => any::<(Index, u8)>().prop_map(|(at, byte)| Change::Byte(at, byte)),
    ]
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec(change(), 0..6)
}

fn changed(file: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = file.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for change in changes.iter().filter(|_| !lines.is_empty()).collect::<Vec<_>>() {
        if lines.is_empty() {
            break;
        }
        match change {
            Change::Value(at, value) => replace_value(at.get_mut(&mut lines), value),
            Change::Delete(at) => drop(lines.remove(at.index(lines.len()))),
            Change::Repeat(from, to) => {
                let line = from.get(&lines).clone();
                lines.insert(to.index(lines.len()), line);
            }
            Change::Byte(at, byte) => {
                let line = at.get_mut(&mut lines);
                if !line.is_empty() {
                    *at.get_mut(line) = *byte;
                }
            }
        }
    }
    lines.join(&b'\n')
}

fn replace_value(line: &mut Vec<u8>, value: &str) {
    let separator = line.iter().position(|byte| [b'=', b','].contains(byte));
    line.truncate(separator.map_or(0, |at| at + 1));
    line.extend(value.bytes());
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The shipped scenarios, short enough for thousands of runs.
fn scenarios() -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    collect(&repository().join("scenarios"), &mut paths);
    paths.sort();
    let short = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("it can be read");
        let short = text.lines().map(|line| match line.split(' ').next() {
            Some("duration") => "duration = \"20 ms\"",
            Some("measure_from") => "measure_from = \"5 ms\"",
            _ => line,
        });
        short.collect::<Vec<_>>().join("\n").into_bytes()
    };
    paths.iter().map(short).collect()
}

fn collect(directory: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the scenarios are there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            paths.push(path);
        }
    }
}

/// The inputs of past findings, and where they lie.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let directory = repository().join("fuzz/corpus").join(target);
    let files = fs::read_dir(directory).expect("every target has a corpus");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("it can be read").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).expect("a file"))).collect()
}

/// A number that is small, of another order of magnitude, or none.
fn parameter_bits() -> impl Strategy<Value = u64> {
    let numbers = [0.0, -1.0, 1.0, 0.5, 2.0, 5e-324, 1e-9, 1e3, 1e6, 1e9, 1e12, 1e18, 1e300];
    let others = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0_f64.next_up(), 0.05, 7.0, -1e-9];
    prop_oneof![
        2 => 0_u64..300,
        4 => select([&numbers[..], &others].concat()).prop_map(f64::to_bits),
        1 => any::<f64>().prop_map(f64::to_bits),
        1 => any::<u64>(),
    ]
}

fn config(cases: u32) -> ProptestConfig {
    let factor = std::env::var("TAILROOM_CASES").ok().and_then(|text| text.parse::<u32>().ok());
    ProptestConfig {
        cases: cases * factor.unwrap_or(1),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    fn scenarios_with_changes(file in select(scenarios()), changes in changes()) {
        hostile_inputs::scenario(&changed(&file, &changes));
    }

    #[test]
    fn traces_with_changes(
        opportunities in prop::collection::vec(0_u32..60, 0..40), changes in changes(),
    ) {
        let mut times = opportunities;
        times.sort_unstable();
        let lines: Vec<String> = times.iter().map(u32::to_string).collect();
        hostile_inputs::trace(&changed(lines.join("\n").as_bytes(), &changes));
    }

    #[test]
    fn flow_lists_with_changes(
        flows in prop::collection::vec((0_u32..60, 0_u32..100_000), 0..20), changes in changes(),
    ) {
        let mut flows = flows;
        flows.sort_unstable();
        let rows = flows.iter().map(|(start, bytes)| format!("{},{bytes}\n", f64::from(*start) / 1e3));
        let text: String = std::iter::once("start_s,bytes\n".to_owned()).chain(rows).collect();
        hostile_inputs::flow_list(&changed(text.as_bytes(), &changes));
    }

    #[test]
    fn distributions_with_changes(
        steps in prop::collection::vec((0_u32..1_000_000, 0.0..1.0_f64), 1..20), changes in changes(),
    ) {
        let (mut values, mut levels): (Vec<u32>, Vec<f64>) = steps.into_iter().unzip();
        values.sort_unstable();
        levels.sort_by(f64::total_cmp);
        let rows = values.iter().zip(&levels).map(|(value, level)| format!("{value},{level}\n"));
        let text: String = rows.chain([format!("{},1\n", 1_000_000)]).collect();
        hostile_inputs::distribution(&changed(text.as_bytes(), &changes));
    }

    #[test]
    fn networks_built_by_hand(edits in prop::collection::vec(any::<u8>(), 0..40)) {
        hostile_inputs::network(&edits);
    }

    #[test]
    fn captures_with_changes(
        edits in prop::collection::vec((any::<Index>(), any::<u8>()), 0..20),
        cut in any::<Index>(),
        is_cut in any::<bool>(),
    ) {
        let path = repository().join("tests/captures/loopback.pcap");
        let mut bytes = fs::read(path).expect("the capture is there");
        for (at, byte) in edits {
            *at.get_mut(&mut bytes) = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        hostile_inputs::capture(&bytes);
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// The numbers of components: fields 240 to 255, each with the eight bytes of its value.
    #[test]
    fn parameters_of_networks(
        edits in prop::collection::vec((240_u8..=255, any::<u8>(), parameter_bits()), 1..5),
    ) {
        let bytes = edits.iter().flat_map(|(field, at, bits)| {
            [*field, *at, 8].into_iter().chain(bits.to_be_bytes())
        });
        hostile_inputs::network(&bytes.collect::<Vec<u8>>());
    }
}

/// What must hold of an input.
type Check = fn(&[u8]);

#[test]
fn past_findings() {
    let targets: [(&str, Check); 6] = [
        ("scenario", hostile_inputs::scenario),
        ("trace", hostile_inputs::trace),
        ("flow_list", hostile_inputs::flow_list),
        ("distribution", hostile_inputs::distribution),
        ("capture", hostile_inputs::capture),
        ("network", hostile_inputs::network),
    ];
    for (target, check) in targets {
        for (path, input) in corpus(target) {
            println!("{}", path.display()); // of the one that fails
            check(&input);
        }
    }
}
