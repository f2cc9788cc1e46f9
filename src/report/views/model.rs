//! The types of views: paragraphs, tables, and the link targets of rows.

use std::cmp::Ordering;

use crate::words::{bytes, count, percent, seconds};

/// Target of a link in a row or a fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A kernel, by its number.
    Kernel(u32),
    /// A source line, over all kernels.
    Line {
        /// Path of the file.
        file: String,
        /// Line, counted from 1.
        line: u32,
    },
    /// An allocation, by its number.
    Allocation(u64),
    /// A finding, by its rank.
    Finding(u32),
    /// A node of the tree of call paths, by number.
    Calls(usize),
}

/// The value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// There is no value.
    Nothing,
    /// Text, shown unchanged.
    Text(String),
    /// A count.
    Count(u64),
    /// A size in bytes.
    Bytes(u64),
    /// A share from 0 to 1.
    Share(f64),
    /// A share for which 1 is good and 0 is bad.
    Quality(f64),
    /// A mean.
    Mean(f64),
    /// A time.
    Seconds(f64),
    /// A speedup factor.
    Factor(f64),
}

impl Cell {
    /// Returns the displayed text of the cell.
    pub fn text(&self) -> String {
        match self {
            Cell::Nothing => "-".to_owned(),
            Cell::Text(text) => text.clone(),
            Cell::Count(value) => count(*value),
            Cell::Bytes(value) => bytes(*value),
            Cell::Share(value) | Cell::Quality(value) => percent(*value),
            Cell::Mean(value) => format!("{value:.2}"),
            Cell::Seconds(value) => seconds(*value),
            Cell::Factor(value) => format!("{value:.2} x"),
        }
    }

    /// Returns whether it is a figure, possibly an unknown one.
    pub fn is_figure(&self) -> bool {
        !matches!(self, Cell::Text(_))
    }

    /// Compares cells: small values before large ones, and missing values before all others.
    pub fn compare(&self, other: &Cell) -> Ordering {
        match (self.number(), other.number()) {
            (Some(one), Some(other)) => one.total_cmp(&other),
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (None, None) => self.text().cmp(&other.text()),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Cell::Nothing | Cell::Text(_) => None,
            Cell::Count(value) | Cell::Bytes(value) => Some(*value as f64),
            Cell::Share(value)
            | Cell::Quality(value)
            | Cell::Mean(value)
            | Cell::Seconds(value)
            | Cell::Factor(value) => Some(*value),
        }
    }
}

/// Maximum number of characters of a cell, except in the last column.
const MOST_CELL: usize = 32;
/// Minimum width for the name of a row, if the name is that long.
const LEAST_NAME: usize = 20;

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub name: &'static str,
    /// Priority for removal if there is not enough room: columns with higher numbers are removed first, and those with
    /// 0 are always kept.
    pub dispensable: u8,
    /// Description of the figure in a sentence; empty for words.
    pub meaning: &'static str,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Cells, one per column. The name of the row comes last.
    pub cells: Vec<Cell>,
    /// The link target.
    pub target: Option<Target>,
}

/// Rows of figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Heading of the table.
    pub heading: String,
    /// Columns: figures first, the name last.
    pub columns: Vec<Column>,
    /// Rows in the order given by `sorted`.
    pub rows: Vec<Row>,
    /// Column by which the rows are sorted; `None` for another order.
    pub sorted: Option<usize>,
}

impl Table {
    /// Returns the visible columns for a width, each with its width. Columns without a value in the first `rows` rows
    /// are omitted, and so are dispensable columns if there is not enough room, except `keep`. `gap` terminal columns
    /// separate two columns. The last column, which names the row, gets the remaining width. If `signs` is true, there
    /// is room for a sign after the name of the sorted column.
    pub fn layout(
        &self,
        rows: std::ops::Range<usize>,
        width: usize,
        gap: usize,
        keep: Option<usize>,
        signs: bool,
    ) -> Vec<(usize, usize)> {
        let rows = self.rows.get(rows).unwrap_or(&[]);
        let cell = |row: &Row, column: usize| row.cells.get(column).cloned().unwrap_or(Cell::Nothing);
        let said = |column: &usize| rows.iter().any(|row| cell(row, *column) != Cell::Nothing);
        let widest = |column: usize| {
            let widest = rows.iter().map(|row| cell(row, column).text().chars().count()).max().unwrap_or(0);
            // The sorted column has a sign after its name.
            let name = self.columns[column].name.chars().count() + usize::from(self.sorted == Some(column) && signs);
            widest.min(MOST_CELL).max(name)
        };
        let mut shown: Vec<(usize, usize)> = (0..self.columns.len())
            .filter(|column| keep == Some(*column) || said(column))
            .map(|column| (column, widest(column)))
            .collect();
        loop {
            let Some((last, before)) = shown.split_last_mut() else { return shown };
            let used: usize = before.iter().map(|(_, wide)| wide + gap).sum();
            let wanted = last.1.min(LEAST_NAME);
            let spare = before.iter().enumerate().filter(|(_, (column, _))| keep != Some(*column));
            let spare = spare.max_by_key(|(at, (column, _))| (self.columns[*column].dispensable, *at));
            match spare.map(|(at, (column, _))| (at, self.columns[*column].dispensable)) {
                Some((at, 1..)) if used + wanted > width => _ = shown.remove(at),
                _ => {
                    last.1 = width.saturating_sub(used).max(wanted);
                    return shown;
                }
            }
        }
    }

    /// Returns whether the highest values come first in the sorted column.
    pub fn descending(&self) -> bool {
        let ends = self.sorted.and_then(|column| {
            let cell = |row: &Row| row.cells.get(column).cloned().unwrap_or(Cell::Nothing);
            Some((cell(self.rows.first()?), cell(self.rows.last()?)))
        });
        ends.is_none_or(|(first, last)| first.compare(&last) != Ordering::Less)
    }

    /// Returns whether a column contains figures, which are aligned right.
    pub fn has_figures(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row.cells.get(column).is_none_or(Cell::is_figure))
    }

    /// Sorts by a column; rows with equal values keep their order.
    pub fn sort(&mut self, column: usize, highest_first: bool) {
        self.rows.sort_by(|one, other| {
            let [one, other] = [one, other].map(|row| row.cells.get(column).unwrap_or(&Cell::Nothing));
            if highest_first { other.compare(one) } else { one.compare(other) }
        });
        self.sorted = Some(column);
    }
}

/// A labelled sentence about the subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// One or two words; empty if the sentence continues the previous fact.
    pub label: &'static str,
    /// A sentence or a list.
    pub text: String,
    /// The link target.
    pub target: Option<Target>,
}

/// A line of source.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceLine {
    /// Line, counted from 1.
    pub number: u32,
    /// Text in which tabs are replaced by blanks.
    pub text: String,
    /// The line's share of the file's traffic or instructions, whichever is larger.
    pub heat: f64,
    /// Whether the view is about this line.
    pub marked: bool,
}

/// Lines of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Path of the file.
    pub file: String,
    /// The lines that the profile contains, in order.
    pub lines: Vec<SourceLine>,
}

/// A piece of a view.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Facts, one below the other.
    Facts(Vec<Fact>),
    /// A table.
    Table(Table),
    /// A piece of source.
    Source(Source),
    /// Prose.
    Prose(String),
}

/// All data of one subject, or a list of subjects.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Title of the view.
    pub title: String,
    /// Source position of the subject, if it has one.
    pub place: Option<(String, u32)>,
    /// Blocks from top to bottom.
    pub blocks: Vec<Block>,
}
