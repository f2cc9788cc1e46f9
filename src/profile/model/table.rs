//! Tables of analyses that have no place of their own in the document.

use serde::{Deserialize, Serialize};

use warpline_analyzer::analyses::Merged;

/// What an analysis found in a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Stable name of the analysis.
    pub id: String,
    /// What the rows are, for people.
    pub title: String,
    /// What each cell of a row is.
    pub columns: Vec<TableColumn>,
    /// Those that matter most first.
    pub rows: Vec<Vec<TableCell>>,
    /// Rows that are left out.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub omitted: u64,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableColumn {
    /// Heading.
    pub name: String,
    /// Empty for names and places.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// What merging profiles does with it.
    pub merged: Merged,
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TableCell {
    /// A number.
    Count(u64),
    /// A name.
    Text(String),
    /// A source position.
    Position {
        /// Path.
        file: String,
        /// From 1; 0 unknown.
        line: u32,
        /// From 1; 0 unknown.
        column: u32,
    },
    /// An allocation by number; `None`: memory of none.
    Allocation {
        /// Its number.
        allocation: Option<u64>,
    },
}
