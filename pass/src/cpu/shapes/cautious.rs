//! Cautious regions: parts of a function where lanes of a warp may have to progress while other lanes of the warp wait
//! in a loop.
//!
//! A lane that holds a lock must be able to release it while its neighbours poll for it. The region extends from such a
//! loop to the positions up to which other lanes could affect the loop's end. In it, every value is kept for each lane,
//! and a dispatcher selects the next block. The code before and after the region is lowered as usual: all lanes have
//! arrived when the region is entered, and all have left it when the code after it runs.

use super::analysis::{Analysis, Version};
use super::body::Body;
use super::spin::idle_until_barrier;
use crate::llvm::Layout;
use std::collections::BTreeSet;
use std::ops::Range;

/// Finds the cautious regions of a function: disjoint ranges of the warp order in ascending order. A loop is inside a
/// region, contains it, or has no block in common with it. `kernel` means that the function's end is the end of the
/// thread.
pub fn find_regions(body: &mut Body<'_>, kernel: bool, layout: Layout<'_>) {
    // Values in a region vary, which can make more branches diverge, so that more lanes can wait. This is repeated
    // until nothing changes.
    while body.spins.contains(&true) {
        let analysis = Analysis::new(body, Version::General, kernel, layout);
        let grown = grown(body, kernel, |block| analysis.flow.others(block));
        if grown == body.regions {
            break;
        }
        body.regions = grown;
    }
}

/// Returns the minimal regions. `others` returns the blocks where lanes can wait while a block, or its region, runs.
fn grown(body: &Body<'_>, kernel: bool, others: impl Fn(usize) -> BTreeSet<usize>) -> Vec<Range<usize>> {
    let mut regions = body.regions.clone();
    for (one, _) in body.loops.iter().zip(&body.spins).filter(|(_, spins)| **spins) {
        let stretch = one.header..one.header + one.blocks.len();
        let home = regions.iter().position(|region| region.contains(&stretch.start));
        let needed: Vec<usize> = (one.blocks.iter().flat_map(|&block| others(block)))
            .filter(|&block| block < body.end() && !stretch.contains(&block))
            .filter(|block| home.is_none_or(|home| !regions[home].contains(block)))
            .filter(|&block| !idle_until_barrier(body, block, kernel))
            .collect();
        if !needed.is_empty() {
            let low = needed.iter().copied().fold(stretch.start, usize::min);
            let high = needed.iter().copied().fold(stretch.end - 1, usize::max);
            regions.push(low..high + 1);
        }
    }
    joined(body, regions)
}

/// Merges overlapping regions, and extends them by the loops of which they contain a part.
fn joined(body: &Body<'_>, mut regions: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let overlap = |left: &Range<usize>, right: &Range<usize>| left.start < right.end && right.start < left.end;
    loop {
        let before = regions.clone();
        for one in &body.loops {
            let stretch = one.header..one.header + one.blocks.len();
            for region in regions.iter_mut().filter(|region| overlap(region, &stretch)) {
                let around = stretch.start <= region.start && region.end <= stretch.end;
                if !around {
                    *region = region.start.min(stretch.start)..region.end.max(stretch.end);
                }
            }
        }
        regions.sort_by_key(|region| region.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for region in regions {
            match merged.last_mut() {
                Some(last) if overlap(last, &region) => last.end = last.end.max(region.end),
                _ => merged.push(region),
            }
        }
        regions = merged;
        if regions == before {
            return regions;
        }
    }
}
