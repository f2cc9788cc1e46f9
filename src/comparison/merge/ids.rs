//! The keys of rows, and the new numbers that rows get.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use warpline_profile::model::{BlockPart, Frame};

/// Numbers texts and call paths, so that the keys of rows are small and fast to compare.
#[derive(Debug, Default)]
pub(super) struct Interner {
    texts: FxHashMap<Box<str>, u32>,
    lists: FxHashMap<Box<[[u32; 4]]>, u32>,
    list: Vec<[u32; 4]>,
}

impl Interner {
    pub(super) fn text(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.texts.get(text) {
            return known;
        }
        let number = self.texts.len() as u32;
        self.texts.insert(text.into(), number);
        number
    }

    /// Returns the number of a call path.
    pub(super) fn path(&mut self, path: &[Frame]) -> u32 {
        self.list.clear();
        for frame in path {
            let (function, file) = (self.text(&frame.function), self.text(&frame.file));
            self.list.push([function, file, frame.line, frame.column]);
        }
        self.interned()
    }

    /// Returns the number of a basic block's lines.
    pub(super) fn parts(&mut self, parts: &[BlockPart]) -> u32 {
        self.list.clear();
        for part in parts {
            let file = self.text(&part.file);
            self.list.push([file, part.line, part.instructions as u32, (part.instructions >> 32) as u32]);
        }
        self.interned()
    }

    fn interned(&mut self) -> u32 {
        if let Some(&known) = self.lists.get(&self.list[..]) {
            return known;
        }
        let number = self.lists.len() as u32;
        self.lists.insert(self.list[..].into(), number);
        number
    }
}

/// Rows by key. A profile may have several rows with equal keys (copies from unrolling). The n-th such row of one
/// profile corresponds to the n-th of another.
#[derive(Debug)]
pub(super) struct Rows<K> {
    places: FxHashMap<(K, u32), usize>,
    /// Number of occurrences of each key in the current profile.
    met: FxHashMap<K, u32>,
}

impl<K> Default for Rows<K> {
    fn default() -> Self {
        Rows { places: FxHashMap::default(), met: FxHashMap::default() }
    }
}

impl<K: Eq + Hash + Copy> Rows<K> {
    /// Returns the row with a key, or `next` for a new one.
    pub(super) fn place(&mut self, key: K, next: usize) -> usize {
        let met = self.met.entry(key).or_default();
        let place = *self.places.entry((key, *met)).or_insert(next);
        *met += 1;
        place
    }

    fn begin(&mut self) {
        self.met.clear();
    }
}

/// New numbers for one profile's rows.
#[derive(Debug, Default)]
pub(super) struct Ids {
    pub(super) kernels: FxHashMap<u32, u32>,
    pub(super) allocations: FxHashMap<u64, u64>,
    pub(super) host_allocations: FxHashMap<u64, u64>,
    /// Rank of the profile.
    pub(super) rank: Option<u32>,
}

/// Module and mangled name.
type KernelKey = (u32, u32);
/// Kernel, number, file, line, column, operation, space, bytes per lane.
type SiteKey = [u32; 8];
/// Name, kind, path, size.
type AllocationKey = (Option<u32>, u32, u32, u64);
/// Kernel, file, line, column, line of the kernel, sides.
type BranchKey = [u32; 6];
/// Kernel, file, line, line of the kernel, lines of its instructions; instructions.
type BlockKey = ([u32; 5], u64);
/// Kernel, verdict, scope, space; operation, position and site of both accesses; allocation; variable.
type ConflictKey = ([u32; 4], [[u32; 3]; 2], Option<u64>, Option<u32>);

/// All rows so far.
#[derive(Debug, Default)]
pub(super) struct MergedRows {
    pub(super) interner: Interner,
    pub(super) kernels: Rows<KernelKey>,
    pub(super) lines: Rows<[u32; 3]>,
    pub(super) sites: Rows<SiteKey>,
    pub(super) allocations: Rows<AllocationKey>,
    pub(super) host_allocations: Rows<AllocationKey>,
    pub(super) branches: Rows<BranchKey>,
    pub blocks: Rows<BlockKey>,
    pub(super) conflicts: Rows<ConflictKey>,
}

impl MergedRows {
    /// Starts the next profile.
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
