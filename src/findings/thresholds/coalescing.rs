//! Thresholds for the coalescing of accesses to global memory.

/// Bytes per lane of a narrow access. Physical: the smallest access.
pub const NARROW_BYTES: u32 = 1;
/// Bytes per lane of an access that could replace narrow accesses. Physical: `uchar4`, one word.
pub const WIDE_BYTES: u32 = 4;
/// Minimum share of requests whose lanes access consecutive bytes. Policy.
pub const LEAST_CONTIGUOUS_SHARE: f64 = 0.9;
/// Minimum mean number of active lanes, of 32. Policy: requests with fewer lanes cannot be combined.
pub const LEAST_NARROW_LANES: u64 = 24;
/// Minimum share of narrow accesses in a kernel's requests. Policy.
pub const LEAST_NARROW_SHARE: f64 = 0.1;
/// Minimum mean number of active lanes of a strided request. Policy: two threads that load a halo have no stride.
pub const LEAST_LANES: u64 = 4;
/// Minimum share of a strided access's sectors that its bytes do not need. Policy.
pub const LEAST_STRIDED_EXCESS: f64 = 0.25;
/// Minimum share of a scattered access's sectors that its bytes do not need. Policy.
pub const LEAST_SCATTERED_EXCESS: f64 = 0.4;
/// Maximum ratio of the bytes from the first to the last lane to the bytes of the lanes' structures, if the structures
/// are contiguous. Policy.
pub const PACKED_STRUCTURES: f64 = 1.05;
/// Minimum of this ratio if each lane has a separate structure. Policy.
pub const ALL_STRUCTURES: f64 = 0.9;
/// Maximum ratio of the bytes from the first to the last lane to the bytes of the lanes, if a computed index is dense.
/// Calibrated on images scaled by two and three.
pub const DENSE_SPAN: f64 = 4.0;
/// Maximum of this ratio for loaded indices that are sorted. Calibrated on lists of search results.
pub const ORDERED_SPAN: f64 = 16.0;
/// Minimum ratio of the bytes of the data to the bytes from the first to the last lane, for sorted loaded indices.
/// Calibrated on the same lists.
pub const MUCH_LONGER: f64 = 64.0;
/// Maximum bytes from the first to the last lane after a library's own compaction. Calibrated on Thrust and CUB.
pub const LIBRARY_SPAN_BYTES: f64 = 1024.0;
/// Maximum mean number of bytes between the lists of neighbouring lanes. Calibrated on sparse matrices.
pub const NEAR_LISTS_BYTES: f64 = 128.0;
/// Maximum bytes of a table that a block can copy into shared memory in addition to other data. Policy.
pub const SMALL_TABLE_BYTES: u64 = 8 << 10;
/// Maximum number of consecutive elements that an unrolled iteration accesses. Calibrated on LLVM's unrolling.
pub const MOST_UNROLLED: i64 = 16;
/// Bytes of a thread's widest access. Physical.
pub const WIDEST_BYTES: u64 = 16;
/// Maximum number of consecutive items that a kernel assigns to a thread; more items are a row. Calibrated on CUB's
/// tuning.
pub const MOST_LIBRARY_ITEMS: u64 = 32;
/// Maximum width in elements of a thread's part of a tile. Calibrated on register tiles of matrix products.
pub const MOST_OF_TILE: u64 = 4;
/// Minimum number of different strides among the iterations of a loop for the iterations to be the cause. Policy.
pub const MANY_STRIDES: usize = 3;
/// Maximum number of elements of a record; more elements are a row of a matrix. Policy.
pub const MOST_FIELDS: u64 = 64;
/// Minimum share of an allocation's touched bytes for an access that covers all of it. Policy.
pub const ALL_OF_DATA: f64 = 0.9;
/// Minimum share of a record for a kernel that uses all of it. Policy.
pub const WHOLE_RECORD: f64 = 0.75;
/// Maximum ratio of the bytes of the touched sectors to the accessed bytes, if the accesses together fill the sectors.
/// Policy.
pub const FILLED_SECTORS: f64 = 1.1;
/// Maximum bytes of a read-only table for which no layout has a gain, because L1 contains it. Policy.
pub const CACHED_TABLE_BYTES: u64 = 4 << 10;
/// Minimum share of a structure for all of its members to count as used. Policy.
pub const ALL_MEMBERS: f64 = 0.99;
/// Minimum share of a misaligned access's sectors that alignment would save. Physical: full warps save one sector in
/// five or nine.
pub const LEAST_MISALIGNED_EXCESS: f64 = 0.1;
/// Minimum share of the kernel's sectors that alignment would save. Policy.
pub const LEAST_MISALIGNED_SHARE: f64 = 0.05;
/// Maximum number of misaligned pointers that may be the two neighbours of an aligned pointer to the same allocation.
/// Physical: a stencil has two neighbours.
pub const STENCIL_NEIGHBOURS: usize = 2;
/// Minimum share of misaligned requests if all requests start at one offset. Policy.
pub const NEARLY_ALL: f64 = 0.9;
/// Maximum number of lines from a load to the store of its value to shared memory. Policy.
pub const NEAR_LINES: u32 = 2;
/// Maximum number of lines from a load to a merged store of several branches, for which the nearest line is known.
/// Policy: the length of an `if` with its `else`.
pub const MERGED_LINES: u32 = 8;
/// Maximum bytes of a border before the elements of a row that threads access; more bytes are a row that unrolling made
/// constant. Policy.
pub const MOST_OF_BORDER: i64 = 4096;
/// Minimum gain of padded rows for a severity above a note, if a border must be padded as well. Policy.
pub const LEAST_GAIN_OF_BORDERS: f64 = 1.25;
/// Maximum filled share of the sectors' bytes for a partial store. Policy.
pub const MOST_FILLED: f64 = 0.5;
/// Minimum share of the kernel's sectors that partial stores touch. Policy.
pub const LEAST_PARTIAL_SHARE: f64 = 0.2;
/// Minimum share of a sector that counts as a whole sector. Policy: the ends of rows have fewer lanes.
pub const ABOUT_A_SECTOR: f64 = 0.75;
/// Minimum bytes of memory for which filling sectors has a benefit. Policy.
pub const LEAST_PARTIAL_BYTES: u64 = 128;
/// Maximum mean number of active lanes of a store with few lanes. Policy.
pub const FEW_LANES: u64 = 16;
