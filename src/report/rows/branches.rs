//! Groups branches by source position, for every output format.

use std::collections::BTreeMap;

use crate::words::{percent, ratio};
use warpline_profile::Profile;
use warpline_profile::model::Branch;

/// Maximum number of listed sides of a branch.
const MOST_SIDES: usize = 6;

/// The branches at one source position in a kernel, because unrolling and inlining create copies. Two positions in a
/// line, as in `a && b`, are two rows.
#[derive(Clone, Debug)]
pub(crate) struct BranchRow<'a> {
    pub(crate) kernel: u32,
    pub(crate) file: &'a str,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) executions: u64,
    pub(crate) divergent: u64,
    copies: Vec<&'a Branch>,
}

impl BranchRow<'_> {
    /// Returns the share of its executions that diverge.
    pub(crate) fn share(&self) -> f64 {
        ratio(self.divergent, self.executions)
    }

    /// Describes the sides that lanes take. Copies may have their sides in another order, so the sides of several
    /// copies are not listed.
    pub(crate) fn sides(&self) -> String {
        let [branch] = self.copies[..] else { return format!("in {} copies", self.copies.len()) };
        let lanes: u64 = branch.lanes.iter().sum();
        let sides: Vec<String> =
            branch.lanes.iter().take(MOST_SIDES).map(|&side| percent(ratio(side, lanes))).collect();
        format!("lanes {}", sides.join(" / "))
    }
}

/// Returns the rows with divergence, in descending order of divergent executions.
pub(crate) fn branch_rows(profile: &Profile) -> Vec<BranchRow<'_>> {
    let mut places: BTreeMap<(u32, &str, u32, u32), BranchRow<'_>> = BTreeMap::new();
    for branch in &profile.branches {
        let key = (branch.kernel, &branch.file[..], branch.line, branch.column);
        let row = places.entry(key).or_insert_with(|| BranchRow {
            kernel: branch.kernel,
            file: &branch.file,
            line: branch.line,
            column: branch.column,
            executions: 0,
            divergent: 0,
            copies: Vec::new(),
        });
        row.executions = row.executions.saturating_add(branch.executions);
        row.divergent = row.divergent.saturating_add(branch.divergent);
        row.copies.push(branch);
    }
    let mut rows: Vec<_> = places.into_values().filter(|row| row.divergent > 0).collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.divergent), row.kernel, row.file, row.line, row.column));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_analyzer::analysis::{Analysis, Finish};
    use warpline_profile::{BuildInput, RunFacts, build};

    #[test]
    fn copies_of_a_branch_are_one_row_and_two_of_a_line_are_two() {
        let branch = |column, executions, divergent| Branch {
            order_assumed: false,
            kernel: 0,
            kernel_line: 7,
            file: "/a.cu".to_owned(),
            line: 7,
            column,
            executions,
            divergent,
            lanes: vec![executions * 8, executions * 24],
            instructions: Vec::new(),
            idle_lane_slots: 0,
            decided_by: Vec::new(),
            ends_loop: false,
        };
        let analysis = Analysis::empty(Finish::Complete);
        let mut profile = build(BuildInput { analysis: &analysis, facts: RunFacts::default() });
        profile.branches = vec![branch(3, 10, 4), branch(9, 5, 5), branch(3, 30, 6), branch(12, 8, 0)];
        let rows = branch_rows(&profile);
        let shown: Vec<_> = rows.iter().map(|row| (row.column, row.executions, row.divergent, row.sides())).collect();
        assert_eq!(shown, [(3, 40, 10, "in 2 copies".to_owned()), (9, 5, 5, "lanes 25.0 % / 75.0 %".to_owned())]);
    }
}
