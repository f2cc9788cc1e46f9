//! What rows are known by, and the numbers that they get.

use std::collections::BTreeMap;

use crate::profile::model::{BlockPart, Frame};

/// Rows by what they are. A profile may have several that nothing tells apart (copies that unrolling made): the second of one
/// profile is the second of another.
#[derive(Debug)]
pub(super) struct Rows<K> {
    places: BTreeMap<(K, usize), usize>,
    /// How often each was met in the profile that is taken.
    met: BTreeMap<K, usize>,
}

impl<K> Default for Rows<K> {
    fn default() -> Self {
        Rows { places: BTreeMap::new(), met: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Rows<K> {
    /// The row that is known by a key, or `next` for a new one.
    pub(super) fn place(&mut self, key: K, next: usize) -> usize {
        let met = self.met.entry(key.clone()).or_default();
        let place = *self.places.entry((key, *met)).or_insert(next);
        *met += 1;
        place
    }

    pub(super) fn begin(&mut self) {
        self.met.clear();
    }
}

/// Numbers that one profile's rows get.
#[derive(Debug, Default)]
pub(super) struct Ids {
    pub(super) kernels: BTreeMap<u32, u32>,
    pub(super) allocations: BTreeMap<u64, u64>,
    pub(super) host_allocations: BTreeMap<u64, u64>,
    /// What is added to those of launches.
    pub(super) launches: u64,
}

impl Ids {
    pub(super) fn launch(&self, id: u64) -> u64 {
        self.launches.saturating_add(id)
    }
}

/// Module and mangled name.
type KernelKey = (String, String);
/// Kernel, number, file, line, column, operation, space, bytes per lane.
type SiteKey = (u32, u32, String, (u32, u32), String, String, u32);
/// Name, kind, path, size.
type AllocationKey = (Option<String>, String, Vec<Frame>, u64);
/// Kernel, file, line with column and line of the kernel, sides.
type BranchKey = (u32, String, (u32, u32, u32), usize);
/// Kernel, file, line and line of the kernel, instructions, and their lines.
type BlockKey = (u32, String, (u32, u32), u64, Vec<(String, u32, u64)>);
/// Kernel, verdict, scope, space, both accesses, allocation, variable.
type ConflictKey = (u32, String, String, String, [(String, Frame, u32); 2], Option<u64>, Option<String>);

/// All rows that there are so far.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) kernels: Rows<KernelKey>,
    pub(super) lines: Rows<(u32, String, u32)>,
    pub(super) sites: Rows<SiteKey>,
    pub(super) allocations: Rows<AllocationKey>,
    pub(super) host_allocations: Rows<AllocationKey>,
    pub(super) branches: Rows<BranchKey>,
    pub(super) blocks: Rows<BlockKey>,
    pub(super) conflicts: Rows<ConflictKey>,
    pub(super) next_launch: u64,
}

impl Known {
    /// Another profile is taken.
    pub(super) fn begin(&mut self) {
        self.kernels.begin();
        self.lines.begin();
        self.sites.begin();
        self.allocations.begin();
        self.host_allocations.begin();
        self.branches.begin();
        self.blocks.begin();
        self.conflicts.begin();
    }
}

/// What a block's lines are known by.
pub(super) fn parts(parts: &[BlockPart]) -> Vec<(String, u32, u64)> {
    parts.iter().map(|part| (part.file.clone(), part.line, part.instructions)).collect()
}
