//! Columns, and the macro that declares a table of them.

use crate::derives::Serialize;

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Codes.
    U8(Vec<u8>),
    /// Positions and small counts.
    U32(Vec<u32>),
    /// Counts.
    U64(Vec<u64>),
    /// Measurements.
    F64(Vec<f64>),
}

/// What the values of a column stand for: positions in one of these lists of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// The links, in the order of the scenario.
    Links,
    /// The permanent flows, in the order of the scenario.
    Flows,
    /// The groups of flows, in the order of the scenario.
    Groups,
    /// The permanent flows, followed by the groups: a flow that arrives and departs has the name of
    /// its group.
    FlowsAndGroups,
    /// The links, followed by the sender and the receiver of each of [`Labels::FlowsAndGroups`].
    Places,
    /// These words.
    Words(&'static [&'static str]),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Column {
    /// Name of the column, whose last word is the unit.
    pub name: &'static str,
    /// One value per row.
    pub values: Values,
    /// What the values stand for, if they are positions.
    pub labels: Option<Labels>,
}

/// The type of a field in a declaration: a column, or columns that have other names in each run.
pub(super) trait Field {
    /// Type of the values.
    const ELEMENT: &'static str;
    /// See [`super::ColumnDeclaration::is_named_by_run`].
    const IS_NAMED_BY_RUN: bool;

    /// Appends the columns of this field to `columns`.
    fn append_to(self, columns: &mut Vec<Column>, name: &'static str, labels: Option<Labels>);
}

macro_rules! field {
    ($($element:ident => $variant:ident,)+) => {$(
        impl Field for Vec<$element> {
            const ELEMENT: &'static str = stringify!($element);
            const IS_NAMED_BY_RUN: bool = false;

            fn append_to(
                self, columns: &mut Vec<Column>, name: &'static str, labels: Option<Labels>,
            ) {
                columns.push(Column { name, values: Values::$variant(self), labels });
            }
        }
    )+};
}

field! { u8 => U8, u32 => U32, u64 => U64, f64 => F64, }

impl Field for Vec<(&'static str, Vec<f64>)> {
    const ELEMENT: &'static str = "f64";
    const IS_NAMED_BY_RUN: bool = true;

    fn append_to(self, columns: &mut Vec<Column>, _name: &'static str, labels: Option<Labels>) {
        let named = self.into_iter();
        columns.extend(named.map(|(name, values)| Column {
            name,
            values: Values::F64(values),
            labels,
        }));
    }
}

/// Declares a table: a struct with a field per column, in the order in which users see them.
///
/// The first doc comment says what a row is, the order of the rows, and when the table is recorded;
/// the others say what a column means. All of them become documentation of the Python package. A
/// column `as Labels::Links` holds positions in the list of links, and users see the names.
///
/// The file also has a function `collect(&FinishedRun) -> Option<Self>`.
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        pub struct $table:ident {
            $(
                $(#[doc = $column_doc:literal])+
                pub $column:ident: $type:ty $(as $labels:expr)?,
            )+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $table {
            $($(#[doc = $column_doc])+ pub $column: $type,)+
        }

        impl $table {
            pub(super) const DESCRIPTION: &'static str = concat!($($doc, "\n"),+);

            pub(super) fn column_declarations() -> Vec<super::ColumnDeclaration> {
                vec![$(super::ColumnDeclaration {
                    name: stringify!($column),
                    description: super::text(concat!($($column_doc, "\n"),+)),
                    element: <$type as super::Field>::ELEMENT,
                    labels: [$($labels)?].first().copied(),
                    is_named_by_run: <$type as super::Field>::IS_NAMED_BY_RUN,
                },)+]
            }

            pub(super) fn into_columns(self) -> Vec<super::Column> {
                let mut columns = Vec::new();
                $(
                    let labels: &[super::Labels] = &[$($labels)?];
                    let (name, labels) = (stringify!($column), labels.first().copied());
                    super::Field::append_to(self.$column, &mut columns, name, labels);
                )+
                columns
            }
        }
    };
}

pub(super) use table;
