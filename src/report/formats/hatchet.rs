//! Writes Hatchet's literal format, which Thicket also reads: the call tree as nested lists, for
//! `GraphFrame.from_literal`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::stacks::{COSTS, Costs, frame_name, stacks};
use warpline_profile::Profile;
use warpline_profile::model::Frame;

/// Maximum depth of a stack, because readers are recursive.
const MOST_DEPTH: usize = 200;

/// A node of the tree during construction.
#[derive(Default)]
struct Node {
    own: Costs,
    children: BTreeMap<Frame, Node>,
}

/// Returns the tree as JSON. Each cost is exclusive (`sectors`), or includes all callees (`sectors (inc)`).
pub fn hatchet(profile: &Profile) -> String {
    let mut root = Node::default();
    for (stack, costs) in stacks(profile) {
        let mut node = &mut root;
        for frame in stack.into_iter().take(MOST_DEPTH) {
            // Readers distinguish nodes by the contents of their frames, so columns are removed.
            node = node.children.entry(Frame { column: 0, ..frame }).or_default();
        }
        for (sum, more) in node.own.iter_mut().zip(costs) {
            *sum = sum.saturating_add(more);
        }
    }
    let roots: Vec<Value> = root.children.iter().map(|(frame, node)| literal(frame, node).0).collect();
    let mut text = serde_json::to_string(&roots).expect("texts and numbers");
    text.push('\n');
    text
}

fn literal(frame: &Frame, node: &Node) -> (Value, Costs) {
    let mut all = node.own;
    let mut children = Vec::with_capacity(node.children.len());
    for (frame, child) in &node.children {
        let (value, costs) = literal(frame, child);
        for (sum, more) in all.iter_mut().zip(costs) {
            *sum = sum.saturating_add(more);
        }
        children.push(value);
    }
    let mut metrics = Map::new();
    for (kind, (name, _)) in COSTS.iter().enumerate() {
        metrics.insert((*name).to_owned(), node.own[kind].into());
        metrics.insert(format!("{name} (inc)"), all[kind].into());
    }
    let name = frame_name(frame);
    // All metrics must be numbers, because readers subtract and divide them.
    let frame = json!({ "name": name, "type": "function", "file": frame.file, "line": frame.line });
    (json!({ "frame": frame, "metrics": metrics, "children": children }), all)
}
