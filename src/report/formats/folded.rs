//! Writes folded stacks, one per line with its cost, which Brendan Gregg's `flamegraph.pl`, inferno and other tools
//! draw.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::stacks::{COSTS, frame_name, stacks};
use warpline_profile::Profile;

/// Returns the stacks with their exclusive cost of one kind, given by index into [`COSTS`]. Stacks without cost are
/// omitted.
pub fn folded(profile: &Profile, cost: usize) -> String {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for (stack, costs) in stacks(profile) {
        let names: Vec<String> = stack.iter().map(|frame| frame_name(frame).replace(';', ",")).collect();
        let sum = lines.entry(names.join(";")).or_default();
        *sum = sum.saturating_add(costs[cost.min(COSTS.len() - 1)]);
    }
    let mut out = String::new();
    for (stack, cost) in lines.into_iter().filter(|(_, cost)| *cost > 0) {
        _ = writeln!(out, "{stack} {cost}");
    }
    out
}
