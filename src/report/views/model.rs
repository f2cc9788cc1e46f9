//! Paragraphs and tables, and what their rows lead to.

use std::cmp::Ordering;

use crate::words::{bytes, count, percent, seconds};

/// Target of a link in a row or a fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A kernel, by its number.
    Kernel(u32),
    /// Over all kernels.
    Line {
        /// Path.
        file: String,
        /// From 1.
        line: u32,
    },
    /// An allocation, by its number.
    Allocation(u64),
    /// A finding, by its rank.
    Finding(u32),
    /// A node of the tree of call paths, by number.
    Calls(usize),
}

/// One figure or word.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// There is no value.
    Nothing,
    /// Text, shown unchanged.
    Text(String),
    /// Something that is counted.
    Count(u64),
    /// A size.
    Bytes(u64),
    /// From 0 to 1.
    Share(f64),
    /// The same, where 1 is good and 0 is bad.
    Quality(f64),
    /// A mean.
    Mean(f64),
    /// A time.
    Seconds(f64),
    /// How many times as fast.
    Factor(f64),
}

impl Cell {
    /// Returns the cell as people read it.
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

    /// Returns whether it is a figure, or would be one if it were known.
    pub fn is_figure(&self) -> bool {
        !matches!(self, Cell::Text(_))
    }

    /// Small before large, what has no figure before all that have one.
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

/// Most characters of a cell before the last one.
const MOST_CELL: usize = 32;
/// Least room for the name of a row, if it is as long.
const LEAST_NAME: usize = 20;

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub name: &'static str,
    /// Where there is no room for all columns, those with the highest numbers go first; 0 always stays.
    pub dispensable: u8,
    /// What the figure is, in a sentence; empty for words.
    pub meaning: &'static str,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// One per column; what names the row comes last.
    pub cells: Vec<Cell>,
    /// Where it leads.
    pub target: Option<Target>,
}

/// Rows of figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What it lists.
    pub heading: String,
    /// Figures first, the name last.
    pub columns: Vec<Column>,
    /// In the order of `sorted`.
    pub rows: Vec<Row>,
    /// Column that the rows are sorted by; `None`: in an order of their own.
    pub sorted: Option<usize>,
}

impl Table {
    /// Columns for a width, and how wide each is: those with a value in the first `rows` rows, without the ones that
    /// can be spared where there is no room. `gap` columns of the terminal lie between two; the last one, which names
    /// the row, gets what is left. `keep` is not spared. With `signs` the name of the sorted column has room for one.
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

    /// Returns whether the highest come first, in the column that the rows are sorted by.
    pub fn descending(&self) -> bool {
        let ends = self.sorted.and_then(|column| {
            let cell = |row: &Row| row.cells.get(column).cloned().unwrap_or(Cell::Nothing);
            Some((cell(self.rows.first()?), cell(self.rows.last()?)))
        });
        ends.is_none_or(|(first, last)| first.compare(&last) != Ordering::Less)
    }

    /// Returns whether a column has figures, which stand to the right.
    pub fn has_figures(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row.cells.get(column).is_none_or(Cell::is_figure))
    }

    /// Sorts by a column; rows that are alike in it keep their order.
    pub fn sort(&mut self, column: usize, highest_first: bool) {
        self.rows.sort_by(|one, other| {
            let [one, other] = [one, other].map(|row| row.cells.get(column).unwrap_or(&Cell::Nothing));
            if highest_first { other.compare(one) } else { one.compare(other) }
        });
        self.sorted = Some(column);
    }
}

/// A sentence about the whole, with a label before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// One or two words; empty where the sentence continues from the fact before.
    pub label: &'static str,
    /// A sentence or a list.
    pub text: String,
    /// Where it leads.
    pub target: Option<Target>,
}

/// A line of source.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceLine {
    /// From 1.
    pub number: u32,
    /// Text with tabs replaced by blanks.
    pub text: String,
    /// Its share of the file's traffic or instructions, whichever is larger.
    pub heat: f64,
    /// It is what the view is about.
    pub marked: bool,
}

/// Lines of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Path.
    pub file: String,
    /// Those that the profile has, in order.
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

/// Everything about one thing, or a list of things.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// What it is about.
    pub title: String,
    /// Where that is in the source, if anywhere.
    pub place: Option<(String, u32)>,
    /// From top to bottom.
    pub blocks: Vec<Block>,
}
