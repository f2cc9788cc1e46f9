//! Block shapes that leave lanes of each warp empty, or split the requests of a warp into short rows.

use super::super::facts::launches::{is_next_to_nothing, shape};
use super::super::facts::rows::{saved_sectors, split_rows};
use super::super::prelude::*;
use super::super::thresholds::launches::*;

described! {
    enum Cause {
        OneThread { empty: Share } => "one-thread-per-block",
        ShortRows { block: Shown, memory: Shown, row: Count, sectors: Ratio, ideal: Ratio, empty: Option<Share> } => "short-rows",
        EmptyLanes { block: Shown, threads: Count, lanes: Count, warps: Count, empty: Share } => "empty-lanes",
    }
    enum Remedy {
        ShareWork => "share-work-among-threads",
        WidenBlock => "widen-block",
        WholeWarps => "whole-warps",
    }
}

/// The block shape of a kernel.
struct Block<'f, 'a> {
    kernel: &'f Kernel,
    sizes: [u32; 3],
    threads: u64,
    lanes: u64,
    /// Share of the lanes without a thread, if it is large enough to report.
    empty: Option<f64>,
    /// Accesses that the width of the block splits into rows.
    split: Vec<&'f Access<'a>>,
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter_map(|kernel| draft(facts, &Block::new(facts, kernel)?)).collect()
}

impl<'f, 'a> Block<'f, 'a> {
    fn new(facts: &'f Facts<'a>, kernel: &'f Kernel) -> Option<Block<'f, 'a>> {
        let sizes = block_of(kernel)?;
        let threads: u64 = sizes.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
        let lanes = threads.div_ceil(WARP).saturating_mul(WARP);
        let empty = share(lanes.saturating_sub(threads), lanes);
        let split = split_rows(facts, kernel, sizes[0].into());
        Some(Block { kernel, sizes, threads, lanes, empty: Some(empty).filter(|&one| one >= LEAST_EMPTY_LANES), split })
    }

    /// Returns the access for which longer rows save most sectors.
    fn worst(&self) -> Option<&'f Access<'a>> {
        let order = |access: &&&Access<'_>| (saved_sectors(access), std::cmp::Reverse((access.line, access.column)));
        self.split.iter().max_by_key(order).copied()
    }

    /// Returns the diagnosis of the first cause that applies.
    fn diagnosis(&self, facts: &Facts<'_>) -> Option<Diagnosis> {
        let block = Shown(shape(self.sizes));
        if let Some(empty) = self.empty.filter(|_| self.threads == 1) {
            return Some(Diagnosis::new(&Cause::OneThread { empty: Share(empty) }, &Remedy::ShareWork));
        }
        if let Some(worst) = self.worst() {
            let per_request = |sectors: u64| Ratio(share(sectors, worst.sums.requests));
            let cause = Cause::ShortRows {
                block,
                memory: Shown(facts.target(worst)),
                row: Count(worst.pattern.row_lanes.unwrap_or(0)),
                sectors: per_request(worst.sums.sectors),
                ideal: per_request(worst.sums.sectors.saturating_sub(saved_sectors(worst))),
                empty: self.empty.map(Share),
            };
            return Some(Diagnosis::new(&cause, &Remedy::WidenBlock));
        }
        let (threads, lanes, warps) = (Count(self.threads), Count(self.lanes), Count(self.lanes / WARP));
        let cause = Cause::EmptyLanes { block, threads, lanes, warps, empty: Share(self.empty?) };
        Some(Diagnosis::new(&cause, &Remedy::WholeWarps))
    }

    fn saving(&self, facts: &Facts<'_>) -> Saving {
        let mut saving = self.split.iter().fold(Saving::default(), |sum, access| {
            // The cost of rows that start within a sector remains, independent of the row length.
            let part = share(saved_sectors(access), access.sums.excess());
            sum.and(Saving::by_coalescing(&[access], facts).times(part))
        });
        // Full warps issue each instruction for the same number of lanes with fewer warps.
        let issued: u64 = self.kernel.instructions.values().map(|count| count.warps).total();
        let limits = self.kernel.estimates.first().map_or(&[][..], |estimate| &estimate.limits);
        for limit in ["instructions", "l1_tag", "l1_data", "shared"].into_iter().filter(|_| self.empty.is_some()) {
            let amount = limits.iter().find(|one| one.name == limit).map_or(issued, |one| one.amount);
            saving = saving.and(Saving::new(limit, self.empty.unwrap_or(0.0) * amount as f64));
        }
        saving
    }
}

fn draft(facts: &Facts<'_>, block: &Block<'_, '_>) -> Option<Draft> {
    let kernel = block.kernel;
    let (diagnosis, saving) = (block.diagnosis(facts)?, block.saving(facts));
    let empty = block.empty.unwrap_or(0.0);
    let sectors: u64 = facts.accesses_of(kernel.id, "global").map(|one| one.sums.sectors).total();
    let excess: f64 = block.split.iter().map(|access| share(saved_sectors(access), sectors)).sum();
    let waste = facts.waste(kernel, &saving, excess.max(empty)).max(empty * facts.kernel_share(kernel));
    let is_one = block.threads == 1;
    // A small kernel for initialisation has an adequate size, and a kernel with almost no work has no work to
    // distribute.
    let least = if is_one { WORTH_A_CHANGE } else { LEAST_SHAPE_WASTE };
    if waste < least || is_one && is_next_to_nothing(kernel) {
        return None;
    }
    let draft = match block.worst() {
        Some(worst) => Draft::for_access(facts, diagnosis, worst),
        None => Draft::new(diagnosis).at_launch(kernel),
    };
    // The share of one thread's work that could run in parallel is unknown.
    let gain = facts.gain(kernel, &saving).filter(|_| !is_one);
    let [x, y, z] = block.sizes.map(f64::from);
    Some(
        draft
            .evidence("block_x", x)
            .evidence("block_y", y)
            .evidence("block_z", z)
            .evidence("empty_lanes_share", share(block.lanes.saturating_sub(block.threads), block.lanes))
            .gain(gain)
            .score(waste),
    )
}
