//! Finds the branches that decide whether a block runs: control dependence by post-dominance (Ferrante, Ottenstein and
//! Warren, "The Program Dependence Graph and Its Use in Optimization", TOPLAS 9(3), 1987, section 3.1).

use super::graph::Graph;

/// A successor edge of a block that always leads to another block, while other successor edges need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Decision {
    /// The block that ends in the branch.
    pub(crate) block: usize,
    /// The index into the block's distinct successors, in their order.
    pub(crate) side: usize,
}

/// Returns the direct dependences of each block, in the order of the deciding block. The list is empty for blocks that
/// run whenever the function runs, and for blocks from which no path leads to the function's end. `successors` are
/// distinct in each block; block 0 is the entry.
pub(crate) fn decisions(successors: &[Vec<usize>]) -> Vec<Vec<Decision>> {
    let after = post_dominators(successors);
    let mut found = vec![Vec::new(); successors.len()];
    for (block, ways) in successors.iter().enumerate().filter(|(_, ways)| ways.len() > 1) {
        for (side, &first) in ways.iter().enumerate() {
            let mut at = Some(first);
            while let Some(next) = at.filter(|next| Some(*next) != after[block]) {
                found[next].push(Decision { block, side });
                at = after[next];
            }
        }
    }
    found
}

/// Returns the nearest block that all paths from a block to the end contain.
fn post_dominators(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    // The control flow graph in reverse, with one entry before all exits.
    let mut backwards = vec![Vec::new(); successors.len() + 1];
    for (block, ways) in successors.iter().enumerate() {
        if ways.is_empty() {
            backwards[0].push(block + 1);
        }
        for &next in ways {
            backwards[next + 1].push(block + 1);
        }
    }
    let dominators = Graph { successors: backwards }.dominators();
    dominators[1..].iter().map(|dominator| dominator.and_then(|block| block.checked_sub(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependences(successors: &[&[usize]]) -> Vec<Vec<(usize, usize)>> {
        let successors: Vec<Vec<usize>> = successors.iter().map(|ways| ways.to_vec()).collect();
        let all = decisions(&successors).into_iter();
        all.map(|row| row.into_iter().map(|decision| (decision.block, decision.side)).collect()).collect()
    }

    #[test]
    fn sides_of_a_branch_depend_on_it_and_what_follows_does_not() {
        assert_eq!(dependences(&[&[1, 2], &[3], &[3], &[]]), [vec![], vec![(0, 0)], vec![(0, 1)], vec![]]);
        // An `if` without `else`; nested `if`s.
        assert_eq!(dependences(&[&[1, 3], &[2, 3], &[3], &[]]), [vec![], vec![(0, 0)], vec![(1, 0)], vec![]]);
    }

    #[test]
    fn loops_depend_on_their_own_ends() {
        // 0 is the guard, 1 the body and latch, 2 the code after the loop.
        assert_eq!(dependences(&[&[1, 2], &[1, 2], &[]]), [vec![], vec![(0, 0), (1, 0)], vec![]]);
        // Endless loops have no dependence that could be reported.
        assert_eq!(dependences(&[&[1, 2], &[1], &[]])[2], []);
    }

    /// Returns whether every path from `from` contains `wanted`.
    fn always(from: usize, wanted: usize, successors: &[Vec<usize>]) -> bool {
        from == wanted
            || !successors[from].is_empty() && successors[from].iter().all(|&next| always(next, wanted, successors))
    }

    /// Compares with the definition, on all graphs of six blocks with one or two forward edges per block: a block
    /// depends on a side if every path from that side contains the block, and some path from the branch does not.
    #[test]
    fn agrees_with_paths() {
        const COUNT: usize = 6;
        let mut graphs = vec![Vec::new()];
        for block in 0..COUNT - 1 {
            let later = || block + 1..COUNT;
            let one = later().map(|next| vec![next]);
            let two = later()
                .flat_map(|one| (block + 1..COUNT).filter(move |two| *two != one).map(move |two| vec![one, two]));
            let ways: Vec<Vec<usize>> = one.chain(two).collect();
            graphs = graphs
                .into_iter()
                .flat_map(|graph: Vec<Vec<usize>>| {
                    ways.iter().map(move |way| graph.iter().cloned().chain([way.clone()]).collect()).collect::<Vec<_>>()
                })
                .collect();
        }
        for mut successors in graphs {
            successors.push(Vec::new());
            let got = decisions(&successors);
            for (block, got) in got.iter().enumerate() {
                for decider in 0..COUNT {
                    for (side, &first) in successors[decider].iter().enumerate() {
                        let sure = |next: &usize| always(*next, block, &successors);
                        let want = sure(&first) && !successors[decider].iter().all(sure);
                        let decision = Decision { block: decider, side };
                        assert_eq!(got.contains(&decision), want, "{block} by {decision:?} in {successors:?}");
                    }
                }
            }
        }
    }
}
