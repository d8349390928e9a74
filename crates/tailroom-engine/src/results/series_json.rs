//! Time series as JSON: an array per column; numbers that are not finite are null.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::TimeSeries;
use super::tables::{Column, Values};
use crate::network::Network;

/// The time series of a run, as pages read them. Displays and serializes as a JSON object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SeriesJson(Value);

impl fmt::Display for SeriesJson {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The time series of a run, with the names that the columns `link` and `flow` count from 0; where
/// links share memory, also the `pools`: name, `size_bytes`, and numbers of the links.
pub fn series_json(network: &Network, series: TimeSeries) -> SeriesJson {
    let recorded = series.into_tables().into_columns().into_iter();
    let recorded = recorded.filter_map(|(name, columns)| Some((name.to_owned(), of(columns?))));
    let mut series: Map<String, Value> = recorded.collect();
    series.insert("names".to_owned(), names(network));
    if !network.pools.is_empty() {
        series.insert("pools".to_owned(), pools(network));
    }
    SeriesJson(series.into())
}

fn of(columns: Vec<Column>) -> Value {
    let columns = columns.into_iter();
    columns
        .map(|column| (column.name.to_owned(), array(column.values)))
        .collect::<Map<_, _>>()
        .into()
}

fn array(values: Values) -> Value {
    match values {
        Values::U8(values) => json!(values),
        Values::U32(values) => json!(values),
        Values::U64(values) => json!(values),
        Values::F64(values) => json!(values),
    }
}

fn names(network: &Network) -> Value {
    let links: Vec<&str> = network.links.iter().map(|link| link.name.as_str()).collect();
    let flows: Vec<String> = (0..network.flows.len()).map(|flow| network.flow_name(flow)).collect();
    json!({ "links": links, "flows": flows })
}

fn pools(network: &Network) -> Value {
    let memory = network.empty_pools();
    let pools = network.pools.iter().enumerate();
    pools
        .map(|(index, pool)| {
            let links = memory.links_of(index);
            json!({ "name": pool.name, "size_bytes": pool.size_bytes, "links": links })
        })
        .collect()
}
