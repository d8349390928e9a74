//! Reads a list of flows as `tailroom import` writes it: CSV with the names of the columns in its
//! first line.

use crate::derives::Ranges;
use crate::quantity::{BitRate, Duration, Kind, PositiveDuration, Quantity, Size};
use crate::units::{Rate, Time};

/// Problem and remedy.
type Bad = (String, &'static str);

/// What a list looks like.
const FORM: &str = "write a first line `start_s,bytes,rate_bps,rtt_s` and below it a flow a line, as \
                    in `0.25,14600,,0.1`; `tailroom import` makes such a list from a capture";
const NO_PARQUET: &str = "the engine reads CSV; convert the list, as in \
                          `python -c \"import pyarrow.csv as c, pyarrow.parquet as p; \
                          c.write_csv(p.read_table('flows.parquet'), 'flows.csv')\"`";
/// The most flows of a list: each takes some 50 bytes.
const MAX_FLOWS: usize = 20_000_000;

/// A flow of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Ranges)]
pub struct TraceFlow {
    /// When it starts.
    pub start: Time,
    /// Its payload, at least 1.
    #[schemars(range(min = 1))]
    pub bytes: u64,
    /// The rate that it cannot exceed, if it is known.
    pub rate: Option<Rate>,
    /// Its round trip, if it is known.
    pub rtt: Option<Time>,
}

/// Where the columns are that are read.
struct Columns {
    count: usize,
    start: usize,
    bytes: usize,
    rate: Option<usize>,
    rtt: Option<usize>,
}

/// The flows of a list, in order of their start.
pub(super) fn read_list(text: &str) -> Result<Vec<TraceFlow>, Bad> {
    if text.starts_with("PAR1") {
        return Err(("is Parquet".into(), NO_PARQUET));
    }
    let mut lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    let (_, header) = lines.next().ok_or(("is empty".to_owned(), FORM))?;
    let columns = Columns::find(header).map_err(|problem| (format!("line 1: {problem}"), FORM))?;
    let mut flows: Vec<TraceFlow> = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let at = |problem: String| format!("line {number}: {problem}");
        let flow = columns.read(line).map_err(|problem| (at(problem), FORM))?;
        if flows.last().is_some_and(|before| flow.start < before.start) {
            let problem = at("the flow starts before the one in front of it".into());
            return Err((problem, "sort the lines by start_s"));
        }
        if flows.len() >= MAX_FLOWS {
            return Err((at(format!("has more than {MAX_FLOWS} flows")), "split the list"));
        }
        flows.push(flow);
    }
    if flows.is_empty() { Err(("holds no flow".into(), FORM)) } else { Ok(flows) }
}

impl Columns {
    fn find(header: &str) -> Result<Self, String> {
        let names: Vec<String> = fields(header).map(|name| name.trim().to_owned()).collect();
        let find = |name: &str| {
            let mut found = names.iter().enumerate().filter(|(_, other)| *other == name);
            match (found.next(), found.next()) {
                (first, None) => Ok(first.map(|(at, _)| at)),
                _ => Err(format!("there are two columns {name}")),
            }
        };
        let needed = |name: &str| find(name)?.ok_or_else(|| format!("there is no column {name}"));
        Ok(Columns {
            count: names.len(),
            start: needed("start_s")?,
            bytes: needed("bytes")?,
            rate: find("rate_bps")?,
            rtt: find("rtt_s")?,
        })
    }

    fn read(&self, line: &str) -> Result<TraceFlow, String> {
        let fields: Vec<&str> = fields(line).map(str::trim).collect();
        if fields.len() != self.count {
            let (found, expected) = (fields.len(), self.count);
            return Err(format!("there are {found} columns, and {expected} names in line 1"));
        }
        let start = number::<_>("start_s", fields[self.start], Duration::new)?;
        let bytes = number::<_>("bytes", fields[self.bytes], Size::new)?;
        let optional = |at: Option<usize>| at.map(|at| fields[at]).filter(|text| !text.is_empty());
        let rate = optional(self.rate).map(|text| number("rate_bps", text, BitRate::new));
        let rtt = optional(self.rtt).map(|text| number("rtt_s", text, PositiveDuration::new));
        Ok(TraceFlow {
            start: start.time(),
            bytes: bytes.bytes(),
            rate: rate.transpose()?.map(BitRate::rate),
            rtt: rtt.transpose()?.map(PositiveDuration::time),
        })
    }
}

/// Splits a line at its commas; one within quotes is part of a field, which keeps its quotes: only
/// columns that are not read may have them, and numbers in quotes.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let split = line.split(move |letter: char| {
        is_quoted ^= letter == '"';
        letter == ',' && !is_quoted
    });
    split.map(|field| {
        let inner = field.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        inner.unwrap_or(field)
    })
}

/// A number in the unit that the name of its column ends in.
fn number<K: Kind>(
    name: &str,
    text: &str,
    _kind: impl Fn(u64) -> Quantity<K>,
) -> Result<Quantity<K>, String> {
    let has_digits = text.ends_with(|letter: char| letter.is_ascii_digit());
    let read = Quantity::<K>::read_in_table(text).ok().filter(|_| has_digits);
    let value = read.filter(|value| K::ALLOWS_ZERO || value.base_units() > 0);
    let least = if K::ALLOWS_ZERO { "from 0 on" } else { "above 0" };
    let whole = if name == "bytes" { "whole number" } else { "number" };
    value.ok_or_else(|| format!("{name} is not a {whole} {least}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        read_list(text).expect_err("it is wrong").0
    }

    #[test]
    fn columns_go_by_their_names_and_may_be_empty_or_missing() {
        let text = "flow,rtt_s,bytes,start_s,rate_bps\n\
                    \"a, b\",,1460,0.25,\n\nc,0.05,1,1.5,1000000\n";
        let flow = |start, bytes, rate: Option<u64>, rtt: Option<u64>| TraceFlow {
            start: Time::from_milliseconds(start),
            bytes,
            rate: rate.map(Rate::from_bits_per_second),
            rtt: rtt.map(Time::from_milliseconds),
        };
        let expected = [flow(250, 1460, None, None), flow(1500, 1, Some(1_000_000), Some(50))];
        assert_eq!(read_list(text).expect("it is right"), expected);
        let short = read_list("\"start_s\",\"bytes\"\r\n0.25,1460\r\n").expect("it is right");
        assert_eq!(short, expected[..1]);
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_line() {
        assert_eq!(problem(""), "is empty");
        assert_eq!(problem("start_s,bytes\n"), "holds no flow");
        assert_eq!(problem("start,bytes\n1,2\n"), "line 1: there is no column start_s");
        assert_eq!(problem("start_s,size\n1,2\n"), "line 1: there is no column bytes");
        assert_eq!(problem("start_s,bytes,bytes\n1,2,2\n"), "line 1: there are two columns bytes");
        let of = |line: &str| problem(&format!("start_s,bytes,rate_bps,rtt_s\n0,9,,\n{line}\n"));
        assert_eq!(of("1,2"), "line 3: there are 2 columns, and 4 names in line 1");
        assert_eq!(of("-1,2,,"), "line 3: start_s is not a number from 0 on");
        assert_eq!(of(",2,,"), "line 3: start_s is not a number from 0 on");
        assert_eq!(of("nan,2,,"), "line 3: start_s is not a number from 0 on");
        assert_eq!(of("1,0,,"), "line 3: bytes is not a whole number above 0");
        assert_eq!(of("1,2.5,,"), "line 3: bytes is not a whole number above 0");
        assert_eq!(of("1,2 kB,,"), "line 3: bytes is not a whole number above 0");
        assert_eq!(of("1,2,0,"), "line 3: rate_bps is not a number above 0");
        assert_eq!(of("1,2,,fast"), "line 3: rtt_s is not a number above 0");
        let unsorted = problem("start_s,bytes\n1,2\n\n0.5,2\n");
        assert_eq!(unsorted, "line 4: the flow starts before the one in front of it");
        assert_eq!(problem("PAR1..."), "is Parquet");
    }
}
