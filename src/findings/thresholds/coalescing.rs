//! How accesses to global memory are combined into sectors.

/// Bytes per lane of a narrow access. Physical: the smallest access.
pub const NARROW_BYTES: u32 = 1;
/// Bytes per lane that could take its place. Physical: `uchar4`, a word.
pub const WIDE_BYTES: u32 = 4;
/// Least share of requests whose lanes access consecutive bytes. Policy.
pub const LEAST_CONTIGUOUS_SHARE: f64 = 0.9;
/// Least mean number of active lanes, of 32: fewer leave nothing to combine. Policy.
pub const LEAST_NARROW_LANES: u64 = 24;
/// Least share of a kernel's requests that narrow accesses are. Policy.
pub const LEAST_NARROW_SHARE: f64 = 0.1;
/// Least mean number of active lanes of a strided request: two threads that load a halo have no stride. Policy.
pub const LEAST_LANES: u64 = 4;
/// Least share of a strided access's sectors that its bytes do not need. Policy.
pub const LEAST_STRIDED_EXCESS: f64 = 0.25;
/// The same of a scattered access. Policy.
pub const LEAST_SCATTERED_EXCESS: f64 = 0.4;
/// Bytes from the first lane to the last against those of the lanes' structures, at most, where these follow each
/// other. Policy.
pub const PACKED_STRUCTURES: f64 = 1.05;
/// The same, at least, where each lane has a structure of its own. Policy.
pub const ALL_STRUCTURES: f64 = 0.9;
/// Bytes from the first lane to the last against those of its lanes, at most, where a computed index is dense.
/// Calibrated on images scaled by two and three.
pub const DENSE_SPAN: f64 = 4.0;
/// The same of loaded indices, which are then in order. Calibrated on lists of what a search found.
pub const ORDERED_SPAN: f64 = 16.0;
/// Bytes of the data against those from the first lane to the last, at least, for loaded indices to be in order.
/// Calibrated likewise.
pub const MUCH_LONGER: f64 = 64.0;
/// Bytes from the first lane to the last that a library's own compaction leaves, at most. Calibrated on Thrust and CUB.
pub const LIBRARY_SPAN_BYTES: f64 = 1024.0;
/// Mean bytes between the lists of neighbouring lanes, at most. Calibrated on sparse matrices.
pub const NEAR_LISTS_BYTES: f64 = 128.0;
/// Bytes of a table that a block can copy into shared memory in addition to other data. Policy.
pub const SMALL_TABLE_BYTES: u64 = 8 << 10;
/// Consecutive elements that an unrolled iteration takes, at most. Calibrated on LLVM's unrolling.
pub const MOST_UNROLLED: i64 = 16;
/// Bytes of the widest access of a thread. Physical.
pub const WIDEST_BYTES: u64 = 16;
/// Consecutive items that a kernel gives a thread, at most; more are a row. Calibrated on CUB's tuning.
pub const MOST_LIBRARY_ITEMS: u64 = 32;
/// Elements by which a thread's part of a tile is wide, at most. Calibrated on register tiles of matrix products.
pub const MOST_OF_TILE: u64 = 4;
/// Different strides among the steps of a loop, at least, for the steps to be the reason. Policy.
pub const MANY_STRIDES: usize = 3;
/// Elements of a record, at most; more are a row of a matrix. Policy.
pub const MOST_FIELDS: u64 = 64;
/// Share of the touched bytes of an allocation from which on an access takes all of it. Policy.
pub const ALL_OF_DATA: f64 = 0.9;
/// Share of a record from which on a kernel takes all of it. Policy.
pub const WHOLE_RECORD: f64 = 0.75;
/// Bytes of the sectors that accesses touch for each byte that they take together, at most, where they fill them.
/// Policy.
pub const FILLED_SECTORS: f64 = 1.1;
/// Bytes of a table that is only read, at most, where no layout gains anything: L1 keeps it. Policy.
pub const CACHED_TABLE_BYTES: u64 = 4 << 10;
/// Share of a structure from which on all of its members are used. Policy.
pub const ALL_MEMBERS: f64 = 0.99;
/// Least share of a misaligned access's sectors that alignment would save: one in five or nine of full warps. Physical.
pub const LEAST_MISALIGNED_EXCESS: f64 = 0.1;
/// The same of the kernel's sectors. Policy.
pub const LEAST_MISALIGNED_SHARE: f64 = 0.05;
/// Misaligned pointers next to an aligned one of the same allocation that may be its neighbours on both sides.
/// Physical: of a stencil.
pub const STENCIL_NEIGHBOURS: usize = 2;
/// Share of the requests that are misaligned where all start at one offset. Policy.
pub const NEARLY_ALL: f64 = 0.9;
/// Lines from a load to the store of its value to shared memory, at most. Policy.
pub const NEAR_LINES: u32 = 2;
/// The same of a store that stands for those of several branches, of which the nearest known line is given. Policy: what an `if` with
/// its `else` takes.
pub const MERGED_LINES: u32 = 8;
/// Bytes of a border in front of what threads access of a row, at most; more are a row that unrolling made constant.
/// Policy.
pub const MOST_OF_BORDER: i64 = 4096;
/// Gain of padded rows, at least, for more than a note where a border has to be padded, too. Policy.
pub const LEAST_GAIN_OF_BORDERS: f64 = 1.25;
/// Share of the bytes of its sectors below which a store is partial. Policy.
pub const MOST_FILLED: f64 = 0.5;
/// Least share of the kernel's sectors that partial stores touch. Policy.
pub const LEAST_PARTIAL_SHARE: f64 = 0.2;
/// Share of a sector that counts as all of it: the ends of rows have fewer lanes. Policy.
pub const ABOUT_A_SECTOR: f64 = 0.75;
/// Bytes of memory, at least, for its sectors to be filled. Policy.
pub const LEAST_PARTIAL_BYTES: u64 = 128;
/// Mean active lanes of a store below which lanes are few. Policy.
pub const FEW_LANES: u64 = 16;
