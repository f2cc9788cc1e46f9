//! Tables of analyses without separate fields in the document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use warpline_analyzer::analyses::Merged;

/// The results of an analysis for a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Stable name of the analysis.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// Description of each cell in a row.
    pub columns: Vec<TableColumn>,
    /// Rows, the most important first.
    pub rows: Vec<Vec<TableCell>>,
    /// Number of omitted rows.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub omitted: u64,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableColumn {
    /// Heading.
    pub name: String,
    /// Unit; empty for names and positions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// How merging profiles combines the column.
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
        /// Line, counted from 1; 0 if unknown.
        line: u32,
        /// Column, counted from 1; 0 if unknown.
        column: u32,
    },
    /// An allocation, given by number.
    Allocation {
        /// Number of the allocation; `None` for memory without an allocation.
        allocation: Option<u64>,
    },
}

/// Combines rows with equal keys. The result is sorted by the largest sums, then by the keys.
pub fn join_rows<'r>(
    columns: &[TableColumn],
    rows: impl IntoIterator<Item = &'r Vec<TableCell>>,
) -> Vec<Vec<TableCell>> {
    let mut joined: BTreeMap<Vec<TableCell>, Vec<TableCell>> = BTreeMap::new();
    for row in rows {
        let key = pick(row, columns, |merged| merged == Merged::Key);
        match joined.get_mut(&key) {
            None => _ = joined.insert(key, row.clone()),
            Some(sum) => add_row(sum, row, columns),
        }
    }
    let figures = |row: &[TableCell]| pick(row, columns, |merged| merged != Merged::Key);
    let mut sorted: Vec<_> = joined.into_iter().collect();
    sorted.sort_by(|(key, row), (other_key, other)| figures(other).cmp(&figures(row)).then_with(|| key.cmp(other_key)));
    sorted.into_iter().map(|(_, row)| row).collect()
}

fn pick(row: &[TableCell], columns: &[TableColumn], wanted: impl Fn(Merged) -> bool) -> Vec<TableCell> {
    let wanted = |(_, column): &(&TableCell, &TableColumn)| wanted(column.merged);
    row.iter().zip(columns).filter(wanted).map(|(cell, _)| cell.clone()).collect()
}

fn add_row(sum: &mut [TableCell], more: &[TableCell], columns: &[TableColumn]) {
    for ((sum, more), column) in sum.iter_mut().zip(more).zip(columns) {
        let (TableCell::Count(sum), TableCell::Count(more)) = (sum, more) else { continue };
        match column.merged {
            Merged::Key => {}
            Merged::Sum => *sum = sum.saturating_add(*more),
            Merged::Greatest => *sum = (*sum).max(*more),
        }
    }
}
