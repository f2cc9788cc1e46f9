//! Tables of analyses that have no place of their own in the document.

use std::collections::BTreeMap;

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

/// Returns the rows with equal keys as one each: greatest sums first, then by their keys.
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
