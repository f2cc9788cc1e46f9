//! The interface between pass and runtime for code on real GPUs: names in the fat binary, and the count cells that
//! hooks increment. `runtime/device/wire.h` describes the data that the device sends.

use crate::access::{MOST_ROWS, Space, part_word};
use crate::event::{BlockCount, BranchCount, SiteCount};
use crate::operation::ValueTypes;
use crate::site_table::{Site, SiteTable};

/// Suffix of a kernel's mangled name for its hooked version, which has [`TARGET_PARAMETERS`] additional parameters.
pub const HOOKED_SUFFIX: &str = "__warpline";
/// Suffix of a kernel's mangled name for the version that counts requests on the GPU without a trace.
pub const COUNTED_SUFFIX: &str = "__warpline_counted";
/// Kernel that runs after a hooked kernel in the same stream.
pub const FINISH_KERNEL: &str = "__warpline_finish";
/// Prefix for the names of the real CUDA runtime: that of NVIDIA, or a second copy of Warpline's runtime as the
/// emulated GPU.
pub const REAL_PREFIX: &str = "__wlreal_";
/// Number of additional parameters of a hooked kernel: `rings`, `data`, `counts`, `flags`, 64 bits each.
pub const TARGET_PARAMETERS: usize = 4;

/// Number of cells of a basic block: executions with 32 lanes; other executions; lanes of those; other executions with
/// all live lanes. The frequent case, a full warp, needs only one addition.
pub const BLOCK_CELLS: u64 = 4;
/// Number of cells of a branch before its sides: executions that the cells of the sides do not contain, and divergent
/// executions. Each side then has two cells: executions in which all 32 lanes take it, and lanes of other executions.
pub const BRANCH_CELLS: u64 = 2;

/// Number of cells of a site in one space, in counters mode: missing lanes (of 32 per request); ideal sectors; then the
/// number of requests with 1, 2, … 32 sectors, and with as many lines. For accesses to the lanes' stacks, the numbers
/// refer to one word.
pub const SITE_CELLS: u64 = 66;
/// Number of cells of a site before its distributions.
const SITE_FIXED: usize = 2;
/// Number of cells of a distribution.
const PIECES: usize = 32;

/// Maximum number of words of 32 bits per lane in the record of an operation.
pub const OPERATION_WORDS: usize = 2 * MOST_ROWS;

/// Meaning of the words in the record of an operation: types in the lowest 16 bits, then the [`part_word`] in 32 bits,
/// then the memory of addresses in two bits for each row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationShape(pub u64);

/// Memory to which a recorded value refers, if it is an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// The value is no address, or one in the stack of a lane.
    Value,
    /// Generic address, or one in global memory.
    Global,
    /// Address in the shared memory of a block.
    Shared,
}

impl OperationShape {
    const TYPES: u64 = 0xffff;
    const PART_SHIFT: u32 = 16;
    const KINDS_SHIFT: u32 = 48;

    /// Creates the shape of rows with these types and memories, for a part of the results.
    pub fn new(types: ValueTypes, (part, parts): (u16, u16), kinds: &[AddressKind]) -> OperationShape {
        let kinds = kinds.iter().take(MOST_ROWS).enumerate();
        let kinds: u64 = kinds.map(|(row, kind)| (*kind as u64) << (Self::KINDS_SHIFT + 2 * row as u32)).sum();
        OperationShape(u64::from(types.0) & Self::TYPES | u64::from(part_word(part, parts)) << Self::PART_SHIFT | kinds)
    }

    /// Returns the types of the rows.
    pub fn types(self) -> ValueTypes {
        ValueTypes((self.0 & Self::TYPES) as u32)
    }

    /// Returns the [`part_word`].
    pub fn part(self) -> u32 {
        (self.0 >> Self::PART_SHIFT) as u32
    }

    /// Returns the memory to which a row's addresses refer.
    pub fn kind(self, row: usize) -> AddressKind {
        match self.0 >> (Self::KINDS_SHIFT + 2 * (row as u32 & 3)) & 3 {
            1 => AddressKind::Global,
            2 => AddressKind::Shared,
            _ => AddressKind::Value,
        }
    }

    /// Returns the number of words of 32 bits of each row, the result first.
    pub fn words(self) -> impl Iterator<Item = usize> {
        let types = self.types();
        (0..=types.operands()).map(move |row| if types.get(row).is_some_and(|ty| ty.bits() > 32) { 2 } else { 1 })
    }
}

/// Layout of the count cells of a module's blocks, branches and sites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountLayout {
    blocks: u64,
    /// First cell and number of sides of each branch.
    branches: Vec<(u64, u32)>,
    cells: u64,
    /// First cell of each site, its space at compile time, and its number of words if it accesses the lanes' stacks.
    sites: Vec<Option<(u64, Space, u32)>>,
    all_cells: u64,
}

/// Returns whether counters mode counts a site. A lane must touch one sector, and two lanes must access either the same
/// bytes or disjoint bytes.
pub fn is_counted(site: &Site) -> bool {
    site.bytes.is_power_of_two() && site.bytes <= 32 && site.align >= site.bytes
}

impl CountLayout {
    /// Computes the layout for a module.
    pub fn new(table: &SiteTable) -> CountLayout {
        let blocks = table.blocks.len() as u64;
        let mut cells = blocks * BLOCK_CELLS;
        let branches = table
            .branches
            .iter()
            .map(|branch| {
                let first = cells;
                cells += BRANCH_CELLS + 2 * u64::from(branch.sides);
                (first, branch.sides)
            })
            .collect();
        let mut all_cells = cells;
        let sites = table.sites.iter().map(|site| {
            is_counted(site).then(|| {
                let first = all_cells;
                // If the space is known only at run time, the cells for global, shared and local memory are
                // consecutive.
                all_cells += SITE_CELLS * if site.space == Space::Generic { 3 } else { 1 };
                (first, site.space, site.bytes.div_ceil(4))
            })
        });
        let sites = sites.collect();
        CountLayout { blocks, branches, cells, sites, all_cells }
    }

    /// Returns the number of 64-bit cells, including those of sites, which only counters mode has.
    pub fn all_cells(&self) -> u64 {
        self.all_cells
    }

    /// Returns the first cell of a site in counters mode; `None` if it is not counted.
    pub fn site(&self, site: u32) -> Option<u64> {
        self.sites.get(site as usize)?.map(|(first, ..)| first)
    }

    /// Returns the number of 64-bit cells of blocks and branches.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// Returns the first cell of a block.
    pub fn block(&self, block: u32) -> u64 {
        u64::from(block) * BLOCK_CELLS
    }

    /// Returns the first cell of a branch.
    pub fn branch(&self, branch: u32) -> u64 {
        self.branches[branch as usize].0
    }

    /// Returns the counts in the cells, for executed blocks and branches only.
    ///
    /// # Panics
    /// Panics if `cells` is shorter than [`Self::cells`].
    pub fn counts(&self, cells: &[u64]) -> (Vec<BlockCount>, Vec<BranchCount>) {
        let blocks = (0..self.blocks)
            .filter_map(|block| {
                let cell = &cells[(block * BLOCK_CELLS) as usize..][..BLOCK_CELLS as usize];
                let executions = cell[0] + cell[1];
                let lanes = 32 * cell[0] + cell[2];
                (executions != 0).then(|| BlockCount {
                    block: block as u32,
                    executions,
                    lanes,
                    partial: cell[1] - cell[3].min(cell[1]),
                })
            })
            .collect();
        let branches = self
            .branches
            .iter()
            .enumerate()
            .filter_map(|(branch, &(first, sides))| {
                let cell = &cells[first as usize..][..(BRANCH_CELLS + 2 * u64::from(sides)) as usize];
                let sides = cell[BRANCH_CELLS as usize..].chunks_exact(2);
                let executions = cell[0] + sides.clone().map(|side| side[0]).sum::<u64>();
                let lanes = sides.map(|side| 32 * side[0] + side[1]).collect();
                (executions != 0).then_some(BranchCount {
                    branch: branch as u32,
                    executions,
                    divergent: cell[1],
                    lanes,
                })
            })
            .collect();
        (blocks, branches)
    }

    /// Returns the counted requests of counters mode, by site and space, for those that occur.
    ///
    /// # Panics
    /// Panics if `cells` is shorter than [`Self::all_cells`].
    pub fn site_counts(&self, cells: &[u64]) -> Vec<SiteCount> {
        let mut counts = Vec::new();
        for (site, entry) in self.sites.iter().enumerate() {
            let Some((first, known, words)) = *entry else { continue };
            let generic = [Space::Global, Space::Shared, Space::Local];
            let spaces = if known == Space::Generic { &generic[..] } else { std::slice::from_ref(&known) };
            for (index, &space) in spaces.iter().enumerate() {
                let cell = &cells[first as usize + index * SITE_CELLS as usize..][..SITE_CELLS as usize];
                // Each word of an access to a stack lies in different sectors and lines.
                let times = if space == Space::Local { words } else { 1 };
                let pieces = |from: usize| -> Vec<(u32, u64)> {
                    let counts = (1u32..).zip(&cell[from..from + PIECES]);
                    counts.filter(|(_, count)| **count != 0).map(|(pieces, &count)| (pieces * times, count)).collect()
                };
                let by_sectors = pieces(SITE_FIXED);
                let requests: u64 = by_sectors.iter().map(|(_, count)| count).sum();
                if requests != 0 {
                    counts.push(SiteCount {
                        site: site as u32,
                        space,
                        lanes: (32 * requests).saturating_sub(cell[0]),
                        ideal_sectors: cell[1],
                        by_sectors,
                        by_lines: pieces(SITE_FIXED + PIECES),
                    });
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::ValueType;
    use crate::site_table::{Block, Branch, CacheOp, Op};

    fn site(space: Space, bytes: u32, align: u32) -> Site {
        let (op, cache) = (Op::Load, CacheOp::Default);
        let chain = vec![0];
        Site {
            function: 0,
            op,
            space,
            bytes,
            byte_mask: None,
            align,
            cache,
            chain,
            approximate: false,
            in_library: false,
        }
    }

    #[test]
    fn shapes_have_types_parts_and_memories() {
        let types = ValueTypes::new(&[ValueType::Single, ValueType::Int64, ValueType::Double]);
        let kinds = [AddressKind::Value, AddressKind::Shared, AddressKind::Global];
        let shape = OperationShape::new(types, (3, 40), &kinds);
        assert_eq!((shape.types(), shape.part()), (types, part_word(3, 40)));
        assert_eq!([0, 1, 2, 3].map(|row| shape.kind(row)), [kinds[0], kinds[1], kinds[2], AddressKind::Value]);
        assert_eq!(shape.words().collect::<Vec<_>>(), [1, 2, 2]);
        assert_eq!(OperationShape::new(types, (65_535, 65_535), &kinds).0 >> 63, 0, "the highest bit is not used");
    }

    #[test]
    fn cells_tell_requests_of_sites() {
        let sites = vec![site(Space::Global, 4, 4), site(Space::Global, 4, 2), site(Space::Generic, 16, 16)];
        let table = SiteTable { blocks: vec![Block::default()], sites, ..SiteTable::default() };
        let layout = CountLayout::new(&table);
        assert_eq!((layout.cells(), layout.all_cells()), (4, 4 + 66 + 3 * 66));
        assert_eq!([0, 1, 2, 3].map(|site| layout.site(site)), [Some(4), None, Some(70), None]);
        let mut cells = vec![0; layout.all_cells() as usize];
        // There are five full requests of 4 sectors in one line, and one request of 8 lanes in 8 different sectors and
        // lines.
        let global = &mut cells[4..70];
        (global[0], global[1], global[2 + 3], global[2 + 7]) = (24, 5 * 4 + 1, 5, 1);
        (global[34], global[34 + 7]) = (5, 1);
        // There is one request to the stacks; each of its four words of 32 lanes is a line of 4 sectors.
        let local = &mut cells[70 + 2 * 66..];
        (local[1], local[2 + 3], local[34]) = (16, 1, 1);
        let counts = layout.site_counts(&cells);
        let expected = [
            SiteCount {
                site: 0,
                space: Space::Global,
                lanes: 5 * 32 + 8,
                ideal_sectors: 21,
                by_sectors: vec![(4, 5), (8, 1)],
                by_lines: vec![(1, 5), (8, 1)],
            },
            SiteCount {
                site: 2,
                space: Space::Local,
                lanes: 32,
                ideal_sectors: 16,
                by_sectors: vec![(16, 1)],
                by_lines: vec![(4, 1)],
            },
        ];
        assert_eq!(counts, expected);
    }

    #[test]
    fn cells_tell_executions_lanes_and_sides() {
        let table = SiteTable {
            blocks: vec![Block::default(); 2],
            branches: vec![Branch { sides: 2, ..Branch::default() }, Branch { sides: 3, ..Branch::default() }],
            ..SiteTable::default()
        };
        let layout = CountLayout::new(&table);
        assert_eq!((layout.block(1), layout.branch(0), layout.branch(1), layout.cells()), (4, 8, 14, 22));
        let mut cells = vec![0; 22];
        // Block 1 has ten full warps and three others with 50 lanes, one of which had all its live lanes.
        cells[4..8].copy_from_slice(&[10, 3, 50, 1]);
        // Branch 0 has five warps that take side 0, two that take side 1, and four divergent ones with 20 and 60 lanes.
        cells[8..14].copy_from_slice(&[4, 4, 5, 20, 2, 60]);
        let (blocks, branches) = layout.counts(&cells);
        assert_eq!(blocks, [BlockCount { block: 1, executions: 13, lanes: 370, partial: 2 }]);
        assert_eq!(branches, [BranchCount { branch: 0, executions: 11, divergent: 4, lanes: vec![180, 124] }]);
    }
}
