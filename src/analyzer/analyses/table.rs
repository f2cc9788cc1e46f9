//! What an analysis found in a kernel, as rows.

use serde::{Deserialize, Serialize};

use crate::requests::Owner;

/// Rows of one kernel, those that matter most first.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Stable name of the analysis, as `request-widths`.
    pub id: &'static str,
    /// What the rows are, for people.
    pub title: &'static str,
    /// What each value of a row is.
    pub columns: &'static [Column],
    /// As many values as columns each.
    pub rows: Vec<Vec<Value>>,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub name: &'static str,
    /// `requests`, `bytes` and the like; empty for names and places.
    pub unit: &'static str,
    /// What merging profiles makes of two rows with equal keys.
    pub merged: Merged,
}

/// How a column's values of two profiles are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Merged {
    /// Rows are the same where all their keys are.
    Key,
    /// Added up.
    Sum,
    /// The greater one.
    Greatest,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Count(u64),
    /// A name.
    Text(&'static str),
    /// A memory instruction of the kernel's module; the profile has its place in the source.
    Site(u32),
    /// The place of a followed operation of the kernel's module; the profile has its place in the source.
    Operation(u32),
    /// Its operator, as `multiply-add`.
    Operator(u32),
    /// Whose memory it is; the profile has its name.
    Owner(Owner),
}
