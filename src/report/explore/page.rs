//! A view with a cursor: its visible items, their order, and the selection.

use crate::views::{Block, Cell, Row, Table, Target, View};

/// An item of a page. The cursor can be on some kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Blank,
    /// Heading of a block.
    Heading(usize),
    /// Column headings of a table.
    Head(usize),
    /// A row, by index of the block and of the row.
    Row(usize, usize),
    /// A fact, by index of the block and of the fact.
    Fact(usize, usize),
    /// A source line, by index of the block and of the line.
    Code(usize, usize),
    /// Prose, by index of the block.
    Prose(usize),
}

impl Item {
    /// Returns whether the cursor can be on the item.
    fn is_place(self) -> bool {
        !matches!(self, Item::Blank | Item::Heading(_) | Item::Head(_))
    }
}

/// Terminal columns between two columns of a table.
pub(super) const GAP: usize = 2;

/// The visible columns of a table, each with its width.
pub(super) type Columns = Vec<(usize, usize)>;

/// A page of the session.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) view: View,
    /// Visible items, from top to bottom.
    pub(super) items: Vec<Item>,
    /// Index of the item at the cursor.
    pub(super) cursor: usize,
    /// Selected column of the table at the cursor.
    pub(super) column: usize,
    /// First visible line of the page.
    pub(super) scroll: usize,
    /// Words that rows and facts must contain.
    pub(super) filter: String,
    /// Layouts of the tables, with the terminal width and the selected column that they were computed for.
    layouts: Option<((usize, usize), Vec<Columns>)>,
}

impl Page {
    pub(super) fn new(view: View) -> Page {
        let mut page =
            Page { view, items: Vec::new(), cursor: 0, column: 0, scroll: 0, filter: String::new(), layouts: None };
        page.list();
        // The cursor starts in the first table.
        let table = page.view.blocks.iter().position(|block| matches!(block, Block::Table(_)));
        let first = page.items.iter().position(|item| matches!(item, Item::Row(block, _) if Some(*block) == table));
        page.cursor = first.filter(|_| page.view.place.is_none()).unwrap_or_else(|| page.first());
        page.column = page.table().and_then(|table| table.sorted).unwrap_or(0);
        page
    }

    /// Replaces the view, and keeps the position of the cursor.
    pub(super) fn set(&mut self, view: View) {
        self.view = view;
        self.list();
        self.cursor = self.cursor.min(self.items.len().saturating_sub(1));
        self.settle();
    }

    fn first(&self) -> usize {
        self.items.iter().position(|item| item.is_place()).unwrap_or(0)
    }

    /// Builds the list of items.
    fn list(&mut self) {
        self.layouts = None;
        self.items.clear();
        let words = self.filter.to_lowercase();
        let fits = |text: &str| words.is_empty() || text.to_lowercase().contains(&words);
        for (number, block) in self.view.blocks.iter().enumerate() {
            if number > 0 {
                self.items.push(Item::Blank);
            }
            match block {
                Block::Facts(facts) => {
                    let shown = (0..facts.len()).filter(|&at| fits(&facts[at].text));
                    self.items.extend(shown.map(|at| Item::Fact(number, at)));
                }
                Block::Table(table) => {
                    if table.heading != self.view.title {
                        self.items.push(Item::Heading(number));
                    }
                    self.items.push(Item::Head(number));
                    let has = |row: &Row| row.cells.iter().any(|cell| fits(&cell.text()));
                    let shown = (0..table.rows.len()).filter(|&at| has(&table.rows[at]));
                    self.items.extend(shown.map(|at| Item::Row(number, at)));
                }
                Block::Source(source) => {
                    self.items.push(Item::Heading(number));
                    self.items.extend((0..source.lines.len()).map(|at| Item::Code(number, at)));
                }
                Block::Prose(_) => self.items.push(Item::Prose(number)),
            }
        }
    }

    /// Shows only items that contain these words.
    pub(super) fn filter(&mut self, words: &str) {
        words.clone_into(&mut self.filter);
        self.list();
        self.cursor = self.first();
        self.scroll = 0;
    }

    /// Moves the cursor by a number of selectable items.
    pub(super) fn move_by(&mut self, steps: isize) {
        let before = self.block();
        for _ in 0..steps.unsigned_abs() {
            let next = if steps > 0 {
                (self.cursor + 1..self.items.len()).find(|&at| self.items[at].is_place())
            } else {
                (0..self.cursor.min(self.items.len())).rev().find(|&at| self.items[at].is_place())
            };
            let Some(next) = next else { break };
            self.cursor = next;
        }
        if self.block() != before {
            self.column = self.table().and_then(|table| table.sorted).unwrap_or(0);
        }
        if steps < 0 && self.cursor == self.first() {
            self.scroll = 0;
        }
    }

    /// Moves the cursor to a selectable item.
    fn settle(&mut self) {
        if !self.items.get(self.cursor).is_some_and(|item| item.is_place()) {
            self.move_by(-1);
        }
        if !self.items.get(self.cursor).is_some_and(|item| item.is_place()) {
            self.cursor = self.first();
        }
    }

    /// Returns the item at the cursor.
    pub(super) fn item(&self) -> Option<Item> {
        self.items.get(self.cursor).copied()
    }

    fn block(&self) -> Option<usize> {
        match self.item()? {
            Item::Row(block, _) | Item::Fact(block, _) | Item::Code(block, _) | Item::Prose(block) => Some(block),
            Item::Blank | Item::Heading(_) | Item::Head(_) => None,
        }
    }

    /// Returns the table at the cursor.
    pub(super) fn table(&self) -> Option<&Table> {
        match (self.item()?, self.view.blocks.get(self.block()?)?) {
            (Item::Row(..), Block::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// Selects another column of the table, among those with a value.
    pub(super) fn move_column(&mut self, steps: isize) {
        let Some(table) = self.table() else { return };
        let said = |column: &usize| table.rows.iter().any(|row| row.cells.get(*column) != Some(&Cell::Nothing));
        let columns: Vec<usize> = (0..table.columns.len()).filter(said).collect();
        let at = columns.iter().position(|&column| column >= self.column).unwrap_or(0);
        let next = at.saturating_add_signed(steps).min(columns.len().saturating_sub(1));
        self.column = columns.get(next).copied().unwrap_or(0);
    }

    /// Sorts the table by the selected column.
    pub(super) fn sort(&mut self, highest_first: bool) {
        let Some(block) = self.block() else { return };
        let column = self.column;
        if let Some(Block::Table(table)) = self.view.blocks.get_mut(block) {
            table.sort(column, highest_first);
        }
        let cursor = self.cursor;
        self.list();
        self.cursor = cursor;
        self.settle();
    }

    /// Returns the link target of the item at the cursor.
    pub(super) fn target(&self) -> Option<Target> {
        let block = self.view.blocks.get(self.block()?)?;
        match (self.item()?, block) {
            (Item::Row(_, at), Block::Table(table)) => table.rows.get(at)?.target.clone(),
            (Item::Fact(_, at), Block::Facts(facts)) => facts.get(at)?.target.clone(),
            (Item::Code(_, at), Block::Source(source)) => {
                Some(Target::Line { file: source.file.clone(), line: source.lines.get(at)?.number })
            }
            _ => None,
        }
    }

    /// Returns the visible columns of each table and their widths for this terminal width; empty for other blocks.
    pub(super) fn layouts(&mut self, width: usize) -> &[Columns] {
        let keep = self.table().map(|_| self.column);
        let chosen = (width, keep.unwrap_or(usize::MAX));
        if self.layouts.as_ref().is_none_or(|(key, _)| *key != chosen) {
            let here = self.block();
            let layout = |(number, block): (usize, &Block)| match block {
                Block::Table(table) => {
                    table.layout(0..table.rows.len(), width, GAP, keep.filter(|_| here == Some(number)), true)
                }
                _ => Vec::new(),
            };
            let all = self.view.blocks.iter().enumerate().map(layout).collect();
            self.layouts = Some((chosen, all));
        }
        self.layouts.as_ref().map_or(&[], |(_, all)| all)
    }
}
