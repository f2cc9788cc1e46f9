//! Tables: the results of an analysis for a kernel, as rows.

use serde::{Deserialize, Serialize};

use crate::requests::Owner;

/// Rows of one kernel, the most important first.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Stable name of the analysis, for example `request-widths`.
    pub id: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// Description of each value in a row.
    pub columns: &'static [Column],
    /// Rows, with one value per column.
    pub rows: Vec<Vec<Value>>,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub name: &'static str,
    /// Unit, such as `requests` or `bytes`; empty for names and positions.
    pub unit: &'static str,
    /// How merging profiles combines two rows with equal keys.
    pub merged: Merged,
}

/// How the values of two rows in a column are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Merged {
    /// The column is part of the key; rows with equal keys are combined.
    Key,
    /// The values are added.
    Sum,
    /// The maximum is used.
    Greatest,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Count(u64),
    /// A name.
    Text(&'static str),
    /// A memory instruction of the kernel's module. The profile contains its source position.
    Site(u32),
    /// A recorded operation of the kernel's module. The profile contains its source position.
    Operation(u32),
    /// The operator of a recorded operation, for example `multiply-add`.
    Operator(u32),
    /// The owner of memory. The profile contains its name.
    Owner(Owner),
}
