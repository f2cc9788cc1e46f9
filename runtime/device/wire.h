// The data that a GPU sends to the host: the words of a record, and the state of a ring. `runtime/src/gpu/wire.rs`
// mirrors every number here; `tests/gpu` compares the two.
//
// A record is a sequence of 8-byte words that starts at a multiple of 32 bytes:
//
//   word 0   head (site : 24 | space : 4 | kind : 4, as format/src/access.rs) | mask << 32
//   word 1   who: MARK | block << 11 | warp in block << 6 | launch slot
//   short    word 2 MARK | address of the lowest active lane, word 3 stride | half << 32, or 1 when both are 0
//   delta    word 2 as above, then one u32 per active lane: offset + 2^31
//   full     from word 2 on MARK | address, one word per active lane
//   operation  the head's space field is the number n of 32-bit words per lane; word 2 MARK | the shape, as
//            format/src/gpu.rs; n words MARK | the lanes in which this word of the values is 0; then for each of the
//            n words one u32 per active lane, which is 1 in place of 0
//
// In a short record lane l lies at  address + stride · ((l & 15) − (first & 15)) + (other half ? half : 0),
// where the sum of offsets is taken modulo 2^32 and then as signed.
//
// No word (no u32 of a delta or an operation) of a record is ever zero, and the host zeroes what it has read before it gives the room
// back. So the host can detect the arrival of each word separately. A producer needs neither a fence nor a second
// atomic to publish a record, and the host can read what a faulting kernel sent before the fault.
#pragma once

namespace warpline {

using u32 = unsigned int;
using u64 = unsigned long long;

constexpr u64 MARK = 1ull << 63;
constexpr u32 RECORD_UNIT = 32;
constexpr u32 SHORT_BYTES = 32;

enum Kind : u32 {
    KIND_UNIFORM = 3,
    KIND_AFFINE = 4,
    KIND_DELTA = 5,
    KIND_FULL = 6,
    KIND_BARRIER = 7,
    KIND_CALL = 8,
    KIND_RETURN = 9,
    KIND_EXIT = 11,  // the lanes leave the kernel; the trace does not contain this record
    KIND_OPERATION = 12,
};

enum Space : u32 { SPACE_GLOBAL = 1, SPACE_SHARED = 2, SPACE_LOCAL = 3, SPACE_CONSTANT = 4 };

constexpr u32 head(u32 kind, u32 space, u32 site) { return kind << 28 | space << 24 | (site & 0xffffffu); }

// The control data of one ring. Each SM has a ring, and its control data fills its own cache line in device memory.
// Positions count bytes since the start and never wrap; the index into the data is the position modulo the capacity.
struct alignas(128) RingControl {
    u64 head;         // the position up to which warps have reserved space
    u64 limit;        // warps may write positions below this one: the last tail seen + capacity
    u64 dropped;      // number of records that were not sent because the ring was full (only if dropping was requested)
    const u64* tail;  // the host's position, in pinned memory
};

// Hooked kernels have these fields as extra parameters at the end.
struct Target {
    RingControl* rings;  // indexed by SM
    unsigned char* data;  // pinned host memory: the data of all rings, one after another
    u64* counts;         // count cells, `counts_per_sm` for each SM
    u64 flags;           // see the FLAG_ constants
};

// Target::flags
constexpr u32 FLAG_SLOT_MASK = 0x3f;     // the launch slot
constexpr u32 FLAG_CAPACITY_SHIFT = 8;   // 5 bits: log2 of a ring's bytes
constexpr u32 FLAG_DROP = 1u << 13;      // drop and count a record instead of waiting
constexpr u32 FLAG_COUNTS_SHIFT = 32;    // number of count cells per SM

constexpr u32 BLOCK_CELLS = 4;   // per block: full warps; other executions, their lanes, and executions with all live lanes
constexpr u32 BRANCH_CELLS = 2;  // per branch: mixed and divergent executions; then per side: full warps and other lanes

// Counters mode: the cells of a site in one space, in the order of format/src/gpu.rs.
constexpr u32 SITE_IDLE = 0;      // 32 − lanes, summed over requests
constexpr u32 SITE_IDEAL = 1;     // ideal sectors, summed
constexpr u32 SITE_SECTORS = 2;   // requests with 1, 2, … 32 sectors
constexpr u32 SITE_LINES = 34;    // requests with 1, 2, … 32 lines
constexpr u32 SITE_CELLS = 66;

// The finish kernel writes this structure in pinned memory: the positions of the rings at the end of the launch, and
// the sums of the launch's count cells. It writes `done` last.
struct Ticket {
    u64 done;
    u64 sms;
    // Two arrays follow: u64 positions[sms], then u64 dropped[sms] (since the start), then u64 counts[cells per SM]
};

}  // namespace warpline
