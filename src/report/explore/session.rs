//! The state of a session: tabs, each with a stack of pages.

use std::collections::BTreeSet;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::help;
use super::page::Page;
use crate::views::{self, Block, CallTree, Table, Target, View};
use warpline_profile::Profile;

/// The profiles of a session.
#[derive(Debug)]
pub struct Profiles {
    /// The profile.
    pub profile: Profile,
    /// A profile to compare it with.
    pub before: Option<Profile>,
}

/// The action that the terminal performs after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Redraw the screen.
    Draw,
    /// Open the editor.
    Edit {
        /// Path of the file.
        file: String,
        /// Line, counted from 1.
        line: u32,
    },
    /// End the session.
    Leave,
}

/// The lists with which a session starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Findings,
    Kernels,
    Lines,
    Allocations,
    Calls,
    Ranks,
    Changes,
}

impl List {
    fn name(self) -> &'static str {
        match self {
            List::Findings => "Findings",
            List::Kernels => "Kernels",
            List::Lines => "Lines",
            List::Allocations => "Allocations",
            List::Calls => "Call paths",
            List::Ranks => "Ranks",
            List::Changes => "Changes",
        }
    }
}

/// A list and the pages opened from it.
#[derive(Debug)]
struct Tab {
    list: List,
    pages: Vec<Page>,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    profiles: Profiles,
    tree: CallTree,
    /// Expanded nodes of the tree.
    open: BTreeSet<usize>,
    tabs: Vec<Tab>,
    tab: usize,
    /// Words of a filter while the user types them.
    typed: Option<String>,
    message: Option<String>,
    /// Number of terminal rows for a page, for Page Up and Page Down.
    height: usize,
}

impl Session {
    /// Creates a session that shows the findings.
    pub fn new(profiles: Profiles) -> Session {
        let profile = &profiles.profile;
        let tree = CallTree::new(profile);
        let table =
            |title: &str, table| View { title: title.to_owned(), place: None, blocks: vec![Block::Table(table)] };
        let mut lists = vec![
            (List::Findings, views::program(profile)),
            (List::Kernels, table("KERNELS", views::kernels(profile))),
            (List::Lines, table("LINES", views::lines(profile))),
            (List::Allocations, table("ALLOCATIONS", views::allocations(profile))),
        ];
        // The tree is expanded down to the first node with several children, and one level further.
        let mut open = BTreeSet::new();
        let mut at = Some(0);
        while let Some(node) = at {
            open.insert(node);
            at = tree.node(node).and_then(|node| match node.children[..] {
                [only] => Some(only),
                _ => None,
            });
        }
        let calls = tree.table(|node| open.contains(&node));
        lists.push((List::Calls, table("CALL PATHS", calls)));
        lists.extend(views::ranks(profile).map(|view| (List::Ranks, view)));
        if let Some(before) = &profiles.before {
            lists.push((List::Changes, views::comparison(before, profile)));
        }
        let tabs = lists.into_iter().map(|(list, view)| Tab { list, pages: vec![Page::new(view)] });
        Session { tabs: tabs.collect(), tree, open, tab: 0, typed: None, message: None, height: 20, profiles }
    }

    /// Returns the names of the tabs, and the index of the visible one.
    pub(super) fn tabs(&self) -> (Vec<&'static str>, usize) {
        (self.tabs.iter().map(|tab| tab.list.name()).collect(), self.tab)
    }

    /// Returns the titles of the open pages of the tab, starting with the list.
    pub(super) fn trail(&self) -> Vec<&str> {
        self.tabs[self.tab].pages.iter().map(|page| &page.view.title[..]).collect()
    }

    pub(super) fn page(&mut self) -> &mut Page {
        let pages = &mut self.tabs[self.tab].pages;
        let last = pages.len() - 1;
        &mut pages[last]
    }

    /// Returns whether the run was complete.
    pub(super) fn is_complete(&self) -> bool {
        self.profiles.profile.run.complete
    }

    /// Returns the words of a filter while the user types them.
    pub(super) fn typed(&self) -> Option<&str> {
        self.typed.as_deref()
    }

    /// Returns the current message, shown until the next key.
    pub(super) fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Shows a message until the next key.
    pub fn show_message(&mut self, message: impl Into<String>) {
        self.message = Some(message.into());
    }

    /// Sets the number of terminal rows for a page.
    pub(super) fn set_height(&mut self, height: usize) {
        self.height = height.max(1);
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent) -> Action {
        self.message = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return Action::Leave;
        }
        if self.typed.is_some() {
            self.type_filter(key.code);
            return Action::Draw;
        }
        let page_height = self.height.saturating_sub(2).max(1) as isize;
        match key.code {
            KeyCode::Char('q') => return Action::Leave,
            KeyCode::Up | KeyCode::Char('k') => self.page().move_by(-1),
            KeyCode::Down | KeyCode::Char('j') => self.page().move_by(1),
            KeyCode::PageUp => self.page().move_by(-page_height),
            KeyCode::PageDown => self.page().move_by(page_height),
            KeyCode::Home | KeyCode::Char('g') => self.page().move_by(isize::MIN + 1),
            KeyCode::End | KeyCode::Char('G') => self.page().move_by(isize::MAX),
            KeyCode::Left | KeyCode::Char('h') => self.page().move_column(-1),
            KeyCode::Right | KeyCode::Char('l') => self.page().move_column(1),
            KeyCode::Tab => self.go_to_tab(self.tab + 1),
            KeyCode::BackTab => self.go_to_tab(self.tab + self.tabs.len() - 1),
            KeyCode::Char(digit @ '1'..='9') => {
                let number = digit as usize - '1' as usize;
                if number < self.tabs.len() {
                    self.go_to_tab(number);
                }
            }
            KeyCode::Enter => self.follow(),
            KeyCode::Backspace | KeyCode::Esc => self.back(),
            KeyCode::Char('s') => self.sort(false),
            KeyCode::Char('r') => self.sort(true),
            KeyCode::Char('/') => self.typed = Some(String::new()),
            KeyCode::Char(' ') => self.toggle(),
            KeyCode::Char('*') => self.toggle_all(),
            KeyCode::Char('e') => return self.edit(),
            KeyCode::Char('c') => self.changes(),
            KeyCode::Char('?') | KeyCode::F(1) => self.help(),
            KeyCode::Char(other) => self.show_message(format!("`{other}` does nothing; ? shows the keys")),
            _ => {}
        }
        Action::Draw
    }

    fn type_filter(&mut self, key: KeyCode) {
        let Some(typed) = &mut self.typed else { return };
        match key {
            KeyCode::Char(character) => typed.push(character),
            KeyCode::Backspace => _ = typed.pop(),
            KeyCode::Esc => self.typed = None,
            KeyCode::Enter => {
                let words = std::mem::take(typed);
                self.typed = None;
                self.page().filter(&words);
            }
            _ => {}
        }
    }

    fn go_to_tab(&mut self, number: usize) {
        self.tab = number % self.tabs.len();
    }

    fn open(&mut self, view: View) {
        self.tabs[self.tab].pages.push(Page::new(view));
    }

    fn help(&mut self) {
        let help = help::view();
        if self.page().view.title != help.title {
            self.open(help);
        }
    }

    fn back(&mut self) {
        let pages = &mut self.tabs[self.tab].pages;
        if pages.len() > 1 {
            pages.pop();
        } else if self.page().filter.is_empty() {
            self.show_message("this is the list; q leaves");
        } else {
            self.page().filter("");
        }
    }

    fn follow(&mut self) {
        let Some(target) = self.page().target() else {
            self.show_message("this row has no page");
            return;
        };
        match self.view_of(&target) {
            Some(view) if view.title == self.page().view.title => self.show_message("this is the page of it"),
            Some(view) => self.open(view),
            None => self.show_message("nothing is recorded of it"),
        }
    }

    fn view_of(&self, target: &Target) -> Option<View> {
        let profile = &self.profiles.profile;
        match target {
            Target::Kernel(id) => views::kernel(profile, *id),
            Target::Line { file, line } => views::line(profile, file, *line),
            Target::Allocation(id) => views::allocation(profile, *id),
            Target::Finding(rank) => views::finding(profile, *rank),
            // The end of a call path is the kernel itself.
            Target::Calls(node) => match &self.tree.node(*node)?.target {
                Some(Target::Kernel(id)) => views::kernel(profile, *id),
                _ => self.tree.view(*node),
            },
        }
    }

    fn sort(&mut self, reverse: bool) {
        if self.in_tree() {
            self.show_message("call paths are sorted by traffic; a node's own page sorts what it calls");
            return;
        }
        let page = self.page();
        let Some(table) = page.table() else {
            self.show_message("the cursor is in no table");
            return;
        };
        let (column, descending) = (page.column, table.descending());
        let highest_first = if reverse || table.sorted == Some(column) { !descending } else { true };
        if reverse && let Some(sorted) = table.sorted {
            page.column = sorted;
        }
        page.sort(highest_first);
    }

    fn in_tree(&self) -> bool {
        let tab = &self.tabs[self.tab];
        tab.list == List::Calls && tab.pages.len() == 1
    }

    /// Returns the node of the tree that the cursor is on.
    fn node(&mut self) -> Option<usize> {
        if !self.in_tree() {
            return None;
        }
        match self.page().target() {
            Some(Target::Calls(node)) => Some(node),
            _ => None,
        }
    }

    fn toggle(&mut self) {
        let Some(node) = self.node() else {
            self.show_message("only call paths open and close");
            return;
        };
        if !self.open.remove(&node) {
            self.open.insert(node);
        }
        self.show_tree();
    }

    fn toggle_all(&mut self) {
        if !self.in_tree() {
            self.show_message("only call paths open and close");
            return;
        }
        let all = self.tree.len();
        if self.open.len() == all {
            self.open.retain(|node| *node == 0);
        } else {
            self.open.extend(0..all);
        }
        self.show_tree();
    }

    fn show_tree(&mut self) {
        let table = self.tree.table(|node| self.open.contains(&node));
        let title = self.page().view.title.clone();
        self.page().set(View { title, place: None, blocks: vec![Block::Table(table)] });
    }

    /// Opens the editor at the line of the row, or of the page.
    fn edit(&mut self) -> Action {
        let place = match self.page().target() {
            Some(Target::Line { file, line }) => Some((file, line)),
            Some(target) => self.view_of(&target).and_then(|view| view.place),
            None => None,
        };
        match place.or_else(|| self.page().view.place.clone()) {
            Some((file, line)) => Action::Edit { file, line },
            None => {
                self.show_message("no line of source belongs to this");
                Action::Draw
            }
        }
    }

    /// Shows the changes of the item at the cursor, or of the page's subject.
    fn changes(&mut self) {
        let Some(list) = self.tabs.iter().find(|tab| tab.list == List::Changes) else {
            self.show_message("give a second profile to compare with: warpline explore AFTER BEFORE");
            return;
        };
        let title = self.tabs[self.tab].pages.last().map_or(String::new(), |page| page.view.title.clone());
        let target = self.tabs[self.tab].pages.last().and_then(Page::target);
        let about =
            |row: &Target| target.as_ref() == Some(row) || self.view_of(row).is_some_and(|view| view.title == title);
        let mut blocks = Vec::new();
        for block in list.pages.first().into_iter().flat_map(|page| &page.view.blocks) {
            let Block::Table(table) = block else { continue };
            let rows = table.rows.iter().filter(|row| row.target.as_ref().is_some_and(about));
            let here = Table { rows: rows.cloned().collect(), ..table.clone() };
            if !here.rows.is_empty() {
                blocks.push(Block::Table(here));
            }
        }
        if blocks.is_empty() {
            self.show_message("nothing changed here");
        } else {
            self.open(View { title: "CHANGES here".to_owned(), place: None, blocks });
        }
    }
}
