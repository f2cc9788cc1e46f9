//! Determines which blocks may have waiting lanes while another block runs.
//!
//! Blocks are numbered in warp order, and the lowest block with waiting lanes runs next. For most blocks, lanes can
//! wait at only a few other blocks meanwhile (the other side of an enclosing branch, the exits of enclosing loops).
//! Only these blocks are tested after the block, and only for these blocks are masks kept. In this way, the code size
//! and the compile time grow nearly linearly with the number of blocks.
//!
//! In a cautious region, any block may run while lanes wait at any other. For the code around it, the region is like
//! one block: it runs until no lanes wait at its blocks.

use std::collections::BTreeSet;
use std::ops::Range;

/// The end of a block. Targets are positions in warp order; the function's end is the position after the last block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All lanes go to one target.
    Goto(usize),
    /// All lanes together go to one of two different targets.
    Either(usize, usize),
    /// Each lane goes to one of two different targets.
    Split(usize, usize),
    /// The lanes have ended, after a trap or the end of the thread.
    Gone,
}

impl End {
    fn targets(&self) -> Vec<usize> {
        match *self {
            End::Goto(to) => vec![to],
            End::Either(yes, no) | End::Split(yes, no) => vec![yes, no],
            End::Gone => Vec::new(),
        }
    }
}

/// The blocks that may run next after one way of leaving a block, in the order in which they are tested. Each block
/// except the last runs only if lanes wait there; the last one needs no test.
pub type Candidates = Vec<usize>;

/// The result of the analysis.
#[derive(Clone, Debug)]
pub struct Flow {
    /// For each block, the blocks that may have waiting lanes when it starts to run. All of them are higher. For a
    /// block in a region, this applies when the region is entered there.
    pub waiting: Vec<BTreeSet<usize>>,
    regions: Vec<Range<usize>>,
    /// For each region, the targets of its blocks outside the region.
    exits: Vec<BTreeSet<usize>>,
}

impl Flow {
    /// Analyses blocks in warp order, with disjoint cautious regions.
    pub fn new(ends: &[End], regions: &[Range<usize>]) -> Flow {
        let count = ends.len();
        let leaves = |region: &Range<usize>| {
            let targets = ends[region.clone()].iter().flat_map(|end| end.targets());
            targets.filter(|to| !region.contains(to)).collect()
        };
        let exits = regions.iter().map(leaves).collect();
        let mut flow = Flow { waiting: vec![BTreeSet::new(); count + 1], regions: regions.to_vec(), exits };
        let mut work: BTreeSet<usize> = (0..count).collect();
        while let Some(block) = work.pop_first() {
            let ways = match flow.region(block) {
                Some(region) => vec![(flow.behind(region), flow.behind(region).into_iter().collect())],
                None => flow.ways(block, &ends[block], count),
            };
            for (ready, candidates) in ways {
                for next in candidates {
                    let before = flow.waiting[next].len();
                    let more: Vec<usize> = ready.iter().copied().filter(|&other| other > next).collect();
                    flow.waiting[next].extend(more);
                    if flow.waiting[next].len() != before && next < count {
                        work.insert(next);
                    }
                }
            }
        }
        flow
    }

    /// Returns the region of a block.
    pub fn region(&self, block: usize) -> Option<usize> {
        self.regions.iter().position(|region| region.contains(&block))
    }

    /// Returns the blocks of a region.
    pub fn blocks(&self, region: usize) -> Range<usize> {
        self.regions[region].clone()
    }

    /// Returns where lanes can wait when a region is done: where they left it, and where they waited when it was
    /// entered.
    pub fn behind(&self, region: usize) -> BTreeSet<usize> {
        let blocks = &self.regions[region];
        let before = self.waiting[blocks.clone()].iter().flatten().copied();
        before.filter(|block| !blocks.contains(block)).chain(self.exits[region].iter().copied()).collect()
    }

    /// Returns where other lanes can wait while a block runs or, outside its region, while the region runs.
    pub fn others(&self, block: usize) -> BTreeSet<usize> {
        match self.region(block) {
            Some(region) => self.behind(region),
            None => self.waiting[block].clone(),
        }
    }

    /// Returns the ways of leaving a block: for each, the blocks where lanes may wait, and the blocks that may run
    /// next.
    fn ways(&self, block: usize, end: &End, count: usize) -> Vec<(BTreeSet<usize>, Candidates)> {
        let way = |targets: &[usize]| {
            let mut ready = self.waiting[block].clone();
            ready.extend(targets);
            (ready, self.candidates(block, targets, count))
        };
        match *end {
            End::Goto(to) => vec![way(&[to])],
            End::Either(yes, no) => vec![way(&[yes]), way(&[no])],
            End::Split(yes, no) => vec![way(&[yes, no])],
            End::Gone => vec![way(&[])],
        }
    }

    /// Returns the blocks that may run after `block` when its lanes went to `targets` (none, one, or two, of which one
    /// may have received no lanes). `count` is the position of the function's end.
    pub fn candidates(&self, block: usize, targets: &[usize], count: usize) -> Candidates {
        let certain = targets.iter().copied().max().unwrap_or(count);
        let mut all = self.waiting[block].clone();
        all.extend(targets);
        all.insert(certain);
        all.retain(|&next| next <= certain);
        all.into_iter().collect()
    }

    /// Returns whether other lanes may already wait at `target` when a lane of `block` goes there.
    pub fn accumulates(&self, block: usize, target: usize) -> bool {
        self.region(block).is_some() || self.waiting[block].contains(&target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_code_waits_for_nothing() {
        let flow = Flow::new(&[End::Goto(1), End::Either(2, 3), End::Goto(3), End::Goto(4)], &[]);
        assert!(flow.waiting.iter().all(BTreeSet::is_empty));
        assert_eq!(flow.candidates(0, &[1], 4), [1]);
    }

    #[test]
    fn a_divergent_diamond_joins() {
        // Block 0 splits to 1 and 2, and both go to 3.
        let flow = Flow::new(&[End::Split(1, 2), End::Goto(3), End::Goto(3), End::Goto(4)], &[]);
        assert_eq!(flow.waiting[1], BTreeSet::from([2]));
        assert_eq!(flow.waiting[2], BTreeSet::from([3]));
        assert!(flow.waiting[3].is_empty());
        assert_eq!(flow.candidates(0, &[1, 2], 4), [1, 2]);
        assert_eq!(flow.candidates(1, &[3], 4), [2, 3]);
        assert!(flow.accumulates(2, 3) && !flow.accumulates(1, 3));
    }

    #[test]
    fn lanes_that_left_a_loop_wait_for_the_others() {
        // Block 1 is the loop: it continues or leaves to 2.
        let flow = Flow::new(&[End::Goto(1), End::Split(1, 2), End::Goto(3)], &[]);
        assert_eq!(flow.waiting[1], BTreeSet::from([2]));
        assert!(flow.accumulates(1, 2));
        assert_eq!(flow.candidates(1, &[1, 2], 3), [1, 2]);
    }

    #[test]
    fn after_a_trap_the_rest_goes_on() {
        let flow = Flow::new(&[End::Split(1, 2), End::Gone, End::Goto(3)], &[]);
        assert_eq!(flow.candidates(1, &[], 3), [2, 3]);
    }

    #[test]
    fn a_region_is_like_one_block() {
        // Block 0 splits to the region 1..4 and to 5; 2 is a loop, and 4 and 5 follow.
        let ends = [End::Split(1, 5), End::Split(2, 3), End::Split(2, 4), End::Goto(4), End::Goto(5), End::Goto(6)];
        let region = 1..4;
        let flow = Flow::new(&ends, std::slice::from_ref(&region));
        assert_eq!(flow.behind(0), BTreeSet::from([4, 5]));
        assert_eq!(flow.others(2), flow.behind(0));
        assert_eq!(flow.waiting[4], BTreeSet::from([5]));
        assert!(flow.accumulates(3, 4) && flow.accumulates(2, 3) && !flow.accumulates(0, 1));
    }

    #[test]
    fn many_branches_in_a_row_keep_few_masks() {
        let mut ends = Vec::new();
        for index in 0..500 {
            let at = 3 * index;
            ends.extend([End::Split(at + 1, at + 2), End::Goto(at + 3), End::Goto(at + 3)]);
        }
        let flow = Flow::new(&ends, &[]);
        assert!(flow.waiting.iter().all(|waiting| waiting.len() <= 1));
    }
}
