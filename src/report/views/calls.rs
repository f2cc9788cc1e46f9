//! The tree of host call paths that launch kernels, with the kernels as leaves.

use super::figures::{Figures, columns, figure, words};
use super::links::{all_sectors, kernel_name};
use super::model::{Block, Cell, Fact, Row, Table, Target, View};
use crate::words::{count, frame};
use warpline_profile::Profile;
use warpline_profile::model::{Frame, is_system, user_frame};

/// A frame of a call path, or a kernel at its end.
#[derive(Clone, Debug)]
pub struct CallNode {
    /// Number of the parent node; `None` for the root.
    pub parent: Option<usize>,
    /// Numbers of the child nodes, in descending order of traffic.
    pub children: Vec<usize>,
    /// Depth below the root.
    pub depth: usize,
    /// `function (file:line)`, or the kernel's name.
    pub name: String,
    /// The kernel, or the line of the call.
    pub target: Option<Target>,
    /// Number of launches below it.
    pub launches: u64,
    figures: Figures,
    key: Key,
}

#[derive(Clone, Debug, PartialEq)]
enum Key {
    Root,
    Frame(Frame),
    Kernel(u32),
}

/// All call paths of a profile. Node 0 is the program.
#[derive(Clone, Debug)]
pub struct CallTree {
    nodes: Vec<CallNode>,
    all: u64,
}

impl CallTree {
    /// Builds the tree from the launches of a profile.
    pub fn new(profile: &Profile) -> CallTree {
        let root = CallNode {
            parent: None,
            children: Vec::new(),
            depth: 0,
            name: "the program".to_owned(),
            target: None,
            launches: 0,
            figures: Figures::default(),
            key: Key::Root,
        };
        let mut tree = CallTree { nodes: vec![root], all: all_sectors(profile) };
        for kernel in &profile.kernels {
            let one = kernel.launches.iter().map(|launch| (&launch.path, 1, &launch.metrics));
            let groups = kernel.launch_groups.iter().map(|group| (&group.path, group.launches, &group.metrics));
            for (path, launches, metrics) in one.chain(groups) {
                tree.add(profile, kernel.id, path, launches, &Figures::from_spaces(metrics));
            }
        }
        tree.sort();
        tree
    }

    fn add(&mut self, profile: &Profile, kernel: u32, path: &[Frame], launches: u64, figures: &Figures) {
        // Frames inside the user's last frame are internal calls of the runtime.
        let end = path.iter().rposition(|frame| !frame.file.is_empty() && !is_system(&frame.file));
        let frames = path[..end.map_or(path.len(), |last| last + 1)].iter().cloned().map(Key::Frame);
        let mut at = 0;
        self.count(at, launches, figures);
        for key in frames.chain([Key::Kernel(kernel)]) {
            at = self.child(profile, at, key);
            self.count(at, launches, figures);
        }
    }

    fn count(&mut self, node: usize, launches: u64, figures: &Figures) {
        let node = &mut self.nodes[node];
        node.launches = node.launches.saturating_add(launches);
        node.figures.add(figures);
    }

    fn child(&mut self, profile: &Profile, parent: usize, key: Key) -> usize {
        let found = self.nodes[parent].children.iter().copied().find(|&child| self.nodes[child].key == key);
        if let Some(child) = found {
            return child;
        }
        let (name, target) = match &key {
            Key::Root => ("the program".to_owned(), None),
            Key::Kernel(id) => (kernel_name(profile, *id), Some(Target::Kernel(*id))),
            Key::Frame(at) => (frame(at), super::links::line_target(&at.file, at.line)),
        };
        let number = self.nodes.len();
        let depth = self.nodes[parent].depth + 1;
        self.nodes.push(CallNode {
            parent: Some(parent),
            children: Vec::new(),
            depth,
            name,
            target,
            launches: 0,
            figures: Figures::default(),
            key,
        });
        self.nodes[parent].children.push(number);
        number
    }

    fn sort(&mut self) {
        for node in 0..self.nodes.len() {
            let mut children = std::mem::take(&mut self.nodes[node].children);
            children.sort_by_key(|&child| {
                let node = &self.nodes[child];
                (std::cmp::Reverse((node.figures.memory.sectors, node.launches)), child)
            });
            self.nodes[node].children = children;
        }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there are no launches.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() < 2
    }

    /// Returns a node by number.
    pub fn node(&self, number: usize) -> Option<&CallNode> {
        self.nodes.get(number)
    }

    /// Returns the tree as a table in depth-first order, with the nodes whose ancestors are all expanded. Names are
    /// indented by depth.
    pub fn table(&self, is_open: impl Fn(usize) -> bool) -> Table {
        let mut shown = Vec::new();
        let mut left = vec![0];
        while let Some(number) = left.pop() {
            shown.push(number);
            if is_open(number) {
                left.extend(self.nodes[number].children.iter().rev());
            }
        }
        let rows = shown.iter().map(|&number| self.row(number, is_open(number)));
        let launches = figure("launches", 1, "Recorded launches from here");
        let columns = [launches].into_iter().chain(columns(&[words("call path")])).collect();
        Table { heading: "CALL PATHS".to_owned(), columns, rows: rows.collect(), sorted: None }
    }

    fn row(&self, number: usize, open: bool) -> Row {
        let node = &self.nodes[number];
        let mark = match (node.children.is_empty(), open) {
            (true, _) => "  ",
            (false, true) => "- ",
            (false, false) => "+ ",
        };
        let mut cells = vec![Cell::Count(node.launches)];
        cells.extend(super::figures::cells(&node.figures, self.all));
        cells.push(Cell::Text(format!("{}{mark}{}", "  ".repeat(node.depth), node.name)));
        Row { cells, target: Some(Target::Calls(number)) }
    }

    /// Returns the view of a node: the path to it and its calls; `None` if there is no node with this number.
    pub fn view(&self, number: usize) -> Option<View> {
        let node = self.nodes.get(number)?;
        let mut path = vec![node.name.clone()];
        let mut at = node;
        while let Some(parent) = at.parent.filter(|&parent| parent > 0) {
            at = &self.nodes[parent];
            path.push(at.name.clone());
        }
        path.reverse();
        let facts = vec![
            Fact { label: "path", text: path.join(" > "), target: node.target.clone() },
            Fact { label: "launches", text: count(node.launches), target: None },
        ];
        let rows: Vec<Row> = node
            .children
            .iter()
            .map(|&child| {
                let mut row = self.row(child, false);
                if let Some(last) = row.cells.last_mut() {
                    *last = Cell::Text(self.nodes[child].name.clone());
                }
                row
            })
            .collect();
        let launches = figure("launches", 1, "Recorded launches from here");
        let columns = [launches].into_iter().chain(columns(&[words("calls")])).collect();
        let mut blocks = vec![Block::Facts(facts)];
        blocks.extend(super::links::table("CALLS from here", columns, rows));
        let place = match (&node.key, &node.target) {
            (Key::Frame(frame), Some(_)) => {
                user_frame(std::slice::from_ref(frame)).map(|frame| (frame.file.clone(), frame.line))
            }
            _ => None,
        };
        Some(View { title: format!("CALL PATH {}", node.name), place, blocks })
    }
}
