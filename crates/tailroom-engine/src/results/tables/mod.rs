//! The tables of a run: columns of equal length, each table with its collector in a file of its
//! own.
//!
//! A table is declared once. `table!` makes a struct of columns and keeps what the declaration
//! says about them: names, element types, labels and documentation. The binding, the Python package
//! and the reference read the declarations ([`Tables::declarations`]), so none of them names a
//! table.

mod columns;

pub use columns::{Column, Labels, Values};
use columns::{Field, table};

use super::finished_run::FinishedRun;
use crate::derives::Serialize;

/// What a table is, for documentation and for whoever reads its columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TableDeclaration {
    /// Name of the table: an attribute of `Result` in Python, and a Parquet file in a directory.
    pub name: &'static str,
    /// What one row is, the order of the rows, and when the table is recorded.
    pub description: String,
    /// The columns in their order.
    pub columns: Vec<ColumnDeclaration>,
}

/// What a column is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ColumnDeclaration {
    /// Name of the column, whose last word is the unit. If `is_named_by_run`, a name for all these
    /// columns together.
    pub name: &'static str,
    /// What the values mean.
    pub description: String,
    /// Type of the values: `u8`, `u32`, `u64` or `f64`.
    pub element: &'static str,
    /// What the values stand for, if they are positions in a list of names.
    pub labels: Option<Labels>,
    /// Whether this stands for any number of columns, which have other names in each run.
    pub is_named_by_run: bool,
}

/// The text of a doc comment without its line breaks.
fn text(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

macro_rules! registry {
    ($($name:ident: $table:ident,)+) => {
        $(mod $name; pub use $name::$table;)+

        /// The tables of one run; `None` for a table that was not recorded.
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct Tables {
            $(#[doc = concat!("See [`", stringify!($table), "`].")] pub $name: Option<$table>,)+
        }

        impl Tables {
            /// Collects every table that the scenario asks for.
            pub(super) fn collect(run: &FinishedRun<'_>) -> Self {
                Tables { $($name: $table::collect(run),)+ }
            }

            /// The columns of each table by its name, in the order of the declarations.
            pub fn into_columns(self) -> Vec<(&'static str, Option<Vec<Column>>)> {
                vec![$((stringify!($name), self.$name.map($table::into_columns)),)+]
            }

            /// What each table and each of its columns is.
            pub fn declarations() -> Vec<TableDeclaration> {
                vec![$(TableDeclaration {
                    name: stringify!($name),
                    description: text($table::DESCRIPTION),
                    columns: $table::column_declarations(),
                },)+]
            }
        }
    };
}

registry! {
    link_series: LinkSeries,
    pool_series: PoolSeries,
    flow_series: FlowSeries,
    packet_log: PacketLog,
    flow_counts: FlowCounts,
    flow_log: FlowLog,
    arrival_dispersion: ArrivalDispersion,
    packets: Packets,
    sack_blocks: SackBlocks,
}
