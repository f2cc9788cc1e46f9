//! What the device sends: `runtime/device/wire.h` in Rust. `runtime/tests/gpu_protocol.rs` compares the two.

use std::sync::atomic::{AtomicU64, Ordering};
use warpline_format::access::{LANES, SITE_MASK};

/// Set in every word that could otherwise be zero.
pub const MARK: u64 = 1 << 63;
/// Records start at multiples of this many bytes.
pub const RECORD_UNIT: u64 = 32;
/// Bits of the launch slot in the word that identifies the sender of a record.
pub const SLOT_BITS: u32 = 6;
/// Launches that can be under way at once.
pub const SLOTS: usize = 1 << SLOT_BITS;
/// Position of a ring's size (its logarithm) in `Target::flags`.
pub const FLAG_CAPACITY_SHIFT: u32 = 8;
/// Drop records and count them instead of waiting for room.
pub const FLAG_DROP: u64 = 1 << 13;
/// Position of the number of count cells per SM.
pub const FLAG_COUNTS_SHIFT: u32 = 32;

/// State of a ring in device memory.
#[repr(C, align(128))]
#[derive(Clone, Copy, Debug)]
pub struct RingControl {
    /// Bytes reserved so far.
    pub head: u64,
    /// Positions below may be written.
    pub limit: u64,
    /// Records not sent because the ring was full.
    pub dropped: u64,
    /// Device address of the host's position.
    pub tail: u64,
}

/// Start of what the finish kernel writes; `u64 positions[sms]`, `u64 dropped[sms]` and the sums of the count cells
/// follow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    /// 1 when all the rest is there.
    pub done: u64,
    /// SMs of the device; written by the host before the launch.
    pub sms: u64,
}

/// Kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// One address.
    Uniform = 3,
    /// Constant stride.
    Affine = 4,
    /// 32-bit offsets.
    Delta = 5,
    /// Whole addresses.
    Full = 6,
    /// Block-wide barrier.
    Barrier = 7,
    /// Enters a function.
    Call = 8,
    /// Leaves it.
    Return = 9,
    /// Lanes leave the kernel.
    Exit = 11,
}

impl Kind {
    fn of_head(head: u32) -> Option<Kind> {
        Some(match head >> 28 {
            3 => Kind::Uniform,
            4 => Kind::Affine,
            5 => Kind::Delta,
            6 => Kind::Full,
            7 => Kind::Barrier,
            8 => Kind::Call,
            9 => Kind::Return,
            11 => Kind::Exit,
            _ => return None,
        })
    }

    /// Bytes of a record.
    fn bytes(self, mask: u32) -> u64 {
        let lanes = u64::from(mask.count_ones());
        match self {
            Kind::Delta => (24 + 4 * lanes).next_multiple_of(RECORD_UNIT),
            Kind::Full => (16 + 8 * lanes).next_multiple_of(RECORD_UNIT),
            _ => RECORD_UNIT,
        }
    }
}

/// One record, addresses as the device has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Kind.
    pub kind: Kind,
    /// Space field of the head.
    pub space: u8,
    /// Site or call site.
    pub site: u32,
    /// Active lanes, never zero.
    pub mask: u32,
    /// Linear block.
    pub block: u64,
    /// Warp in the block.
    pub warp: u32,
    /// Launch slot.
    pub slot: u32,
    /// Address of the lowest active lane (uniform, affine).
    pub base: u64,
    /// Bytes from lane to lane, and from one half warp to the other (affine).
    pub stride: u32,
    /// See [`Record::stride`].
    pub half: u32,
}

impl Record {
    /// Address of a lane of a uniform or affine record.
    pub fn lane(&self, lane: u32) -> u64 {
        let first = self.mask.trailing_zeros();
        let step = (lane & 15).wrapping_sub(first & 15);
        let other = if (lane ^ first) & 16 != 0 { self.half } else { 0 };
        let offset = self.stride.wrapping_mul(step).wrapping_add(other) as i32;
        self.base.wrapping_add(i64::from(offset) as u64)
    }
}

/// What a ring holds next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A whole record; addresses of its lanes, where they are listed one by one, are in [`Reader::lanes`].
    Record(Record),
    /// Nothing, or a record that has not arrived whole.
    NotYet,
    /// Words that no hook writes.
    Damaged,
}

/// The host's end of one ring. Makes no call of CUDA.
#[derive(Debug)]
pub struct Reader {
    words: *mut AtomicU64,
    capacity: u64,
    tail: *const AtomicU64,
    position: u64,
    released: u64,
    lanes: [u64; LANES],
}

// SAFETY: the memory behind the pointers is shared with the device by atomic words only, and is not bound to a thread.
unsafe impl Send for Reader {}

impl Reader {
    /// # Safety
    /// `data` points to `capacity` zeroed bytes (a power of two, at least 512) at a multiple of 8, `tail` to a zero;
    /// both outlive the reader, and no other reader reads or zeroes them.
    pub unsafe fn new(data: *mut u8, capacity: u64, tail: *const AtomicU64) -> Reader {
        assert!(capacity.is_power_of_two() && capacity >= 512, "a ring of {capacity} bytes");
        Reader { words: data.cast(), capacity, tail, position: 0, released: 0, lanes: [0; LANES] }
    }

    /// Bytes read so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Bytes read and not given back.
    pub fn unreleased(&self) -> u64 {
        self.position - self.released
    }

    /// Addresses of the last delta or full record, in lane order; as many as its mask has lanes.
    pub fn lanes(&self) -> &[u64; LANES] {
        &self.lanes
    }

    fn word(&self, position: u64) -> &AtomicU64 {
        // SAFETY: the index is below the number of words.
        unsafe { &*self.words.add(((position & (self.capacity - 1)) / 8) as usize) }
    }

    fn load(&self, position: u64) -> u64 {
        // Relaxed: each word shows whether it has arrived.
        self.word(position).load(Ordering::Relaxed)
    }

    /// Reads the next record, if it has arrived whole.
    #[inline]
    pub fn read_next(&mut self) -> Next {
        if self.unreleased() >= self.capacity - 288 {
            // What follows may be what was read already.
            return Next::NotYet;
        }
        let at = self.position;
        let (first, who) = (self.load(at), self.load(at + 8));
        if first == 0 || who == 0 {
            return Next::NotYet;
        }
        let (head, mask) = (first as u32, (first >> 32) as u32);
        let Some(kind) = Kind::of_head(head).filter(|_| mask != 0 && who & MARK != 0) else { return Next::Damaged };
        let third = self.load(at + 16);
        if third == 0 {
            return Next::NotYet;
        }
        let mut record = Record {
            kind,
            space: (head >> 24) as u8 & 15,
            site: head & SITE_MASK,
            mask,
            block: (who & !MARK) >> (SLOT_BITS + 5),
            warp: (who >> SLOT_BITS) as u32 & 31,
            slot: who as u32 & (SLOTS as u32 - 1),
            base: third & !MARK,
            stride: 0,
            half: 0,
        };
        match kind {
            Kind::Delta => {
                let base = record.base;
                for index in 0..mask.count_ones() as usize {
                    let place = at + 24 + 4 * index as u64;
                    let delta = (self.load(place & !7) >> (8 * (place & 4))) as u32;
                    if delta == 0 {
                        return Next::NotYet;
                    }
                    self.lanes[index] = base.wrapping_add(u64::from(delta)).wrapping_sub(1 << 31);
                }
            }
            Kind::Full => {
                for index in 0..mask.count_ones() as usize {
                    let address = self.load(at + 16 + 8 * index as u64);
                    if address == 0 {
                        return Next::NotYet;
                    }
                    self.lanes[index] = address & !MARK;
                }
            }
            _ => {
                let fourth = self.load(at + 24);
                if fourth == 0 {
                    return Next::NotYet;
                }
                if kind == Kind::Affine {
                    (record.stride, record.half) = (fourth as u32, (fourth >> 32) as u32);
                }
            }
        }
        self.position = at + kind.bytes(mask);
        Next::Record(record)
    }

    /// Skips words that will not be written any more: the kernel has faulted, or they are damaged. Ends at the next
    /// record, or at `end`.
    pub fn skip(&mut self, end: u64) {
        self.position += RECORD_UNIT;
        while self.position < end && self.load(self.position) == 0 {
            self.position += RECORD_UNIT;
        }
    }

    /// Where the ring ends as far as it can have been written.
    pub fn horizon(&self) -> u64 {
        self.released + self.capacity
    }

    /// Zeroes what was read and gives the room back.
    pub fn release(&mut self) {
        while self.released < self.position {
            self.word(self.released).store(0, Ordering::Relaxed);
            self.released += 8;
        }
        // SAFETY: valid by the contract of `new`. Release: the zeroes come before the device can write there again.
        unsafe { &*self.tail }.store(self.position, Ordering::Release);
    }
}
