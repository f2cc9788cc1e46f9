//! The tree of a run's call paths.

use std::collections::BTreeMap;

use super::row::Rows;
use super::tables::PathRow;
use warpline_profile::model::Frame;

/// Maximum number of frames of a path that are kept; further inner frames are omitted.
const MOST_FRAMES: usize = 1024;

/// Length of a path's text in bytes from which no further frame is appended. Without the limit, the total size would
/// grow with the square of the depth.
const MOST_TEXT: usize = 4096;

/// Numbers the nodes, counted from 0 in the order of first uses.
pub(super) struct CallPaths<'a> {
    run: &'a str,
    nodes: BTreeMap<(Option<u64>, Frame), u64>,
    /// Text of each node's path.
    texts: Vec<String>,
    rows: Rows,
}

impl<'a> CallPaths<'a> {
    pub(super) fn new(run: &'a str) -> CallPaths<'a> {
        CallPaths { run, nodes: BTreeMap::new(), texts: Vec::new(), rows: Rows::new::<PathRow<'_>>() }
    }

    /// Returns the node of a path, given with the outermost frame first; `None` for an empty path.
    pub(super) fn node<'f>(&mut self, frames: impl IntoIterator<Item = &'f Frame>) -> Option<u64> {
        let mut parent = None;
        for (depth, frame) in frames.into_iter().take(MOST_FRAMES).enumerate() {
            let next = self.texts.len() as u64;
            let node = *self.nodes.entry((parent, frame.clone())).or_insert(next);
            if node == next {
                let file = frame.file.rsplit('/').next().unwrap_or(&frame.file);
                let own = format!("{} {file}:{}", frame.function, frame.line);
                let text = match parent.and_then(|parent: u64| self.texts.get(parent as usize)) {
                    Some(callers) if callers.len() < MOST_TEXT => format!("{callers} > {own}"),
                    Some(_) => format!("... > {own}"),
                    None => own,
                };
                self.rows.push(PathRow {
                    run: self.run,
                    path: node,
                    parent,
                    depth: depth as u64,
                    function: &frame.function,
                    file: &frame.file,
                    line: frame.line,
                    column: frame.column,
                    text: &text,
                });
                self.texts.push(text);
            }
            parent = Some(node);
        }
        parent
    }

    pub(super) fn rows(self) -> Rows {
        self.rows
    }
}
