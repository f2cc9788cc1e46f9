//! The data that the device sends: `runtime/device/wire.h` in Rust. `runtime/tests/gpu_protocol.rs` compares the two.

use std::sync::atomic::{AtomicU64, Ordering};
use warpline_format::access::{LANES, MOST_ROWS, SITE_MASK};
use warpline_format::gpu::{OPERATION_WORDS, OperationShape};

/// A bit that is set in every word that could otherwise be zero.
pub const MARK: u64 = 1 << 63;
/// Records start at multiples of this number of bytes.
pub const RECORD_UNIT: u64 = 32;
/// The number of bits of the launch slot in the word that identifies the sender of a record.
pub const SLOT_BITS: u32 = 6;
/// The maximum number of launches that can run at once.
pub const SLOTS: usize = 1 << SLOT_BITS;
/// The position of a ring's size (its logarithm) in `Target::flags`.
pub const FLAG_CAPACITY_SHIFT: u32 = 8;
/// The flag for dropping and counting records instead of waiting for room.
pub const FLAG_DROP: u64 = 1 << 13;
/// The position of the number of count cells per SM.
pub const FLAG_COUNTS_SHIFT: u32 = 32;

/// The position of the words after the shape in the record of an operation.
const VALUES_START: u64 = 24;
/// The number of bytes of the longest record.
const MOST_BYTES: u64 = (VALUES_START + (8 + 4 * LANES as u64) * OPERATION_WORDS as u64).next_multiple_of(RECORD_UNIT);

/// The state of a ring in device memory.
#[repr(C, align(128))]
#[derive(Clone, Copy, Debug)]
pub struct RingControl {
    /// The number of bytes reserved so far.
    pub head: u64,
    /// Positions below this value may be written.
    pub limit: u64,
    /// The number of records that were not sent because the ring was full.
    pub dropped: u64,
    /// The device address of the host's position.
    pub tail: u64,
}

/// The start of the data that the finish kernel writes; `u64 positions[sms]`, `u64 dropped[sms]` and the sums of the
/// count cells follow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    /// Is 1 when all other data is complete.
    pub done: u64,
    /// The number of SMs of the device; the host writes it before the launch.
    pub sms: u64,
}

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// One address.
    Uniform = 3,
    /// Addresses with a constant stride.
    Affine = 4,
    /// Addresses as 32-bit offsets.
    Delta = 5,
    /// Complete addresses.
    Full = 6,
    /// A block-wide barrier.
    Barrier = 7,
    /// The call of a function.
    Call = 8,
    /// The return from a function.
    Return = 9,
    /// Lanes leave the kernel.
    Exit = 11,
    /// Values of an operation.
    Operation = 12,
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
            12 => Kind::Operation,
            _ => return None,
        })
    }

    /// Returns the size of a record in bytes. `words` is the number of words per lane of an operation.
    fn bytes(self, mask: u32, words: u64) -> u64 {
        let lanes = u64::from(mask.count_ones());
        match self {
            Kind::Operation => (VALUES_START + 8 * words + 4 * words * lanes).next_multiple_of(RECORD_UNIT),
            Kind::Delta => (24 + 4 * lanes).next_multiple_of(RECORD_UNIT),
            Kind::Full => (16 + 8 * lanes).next_multiple_of(RECORD_UNIT),
            _ => RECORD_UNIT,
        }
    }
}

/// One record with the addresses of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Kind.
    pub kind: Kind,
    /// The space field of the head; for an operation, the number of words per lane.
    pub space: u8,
    /// The site, call site or operation.
    pub site: u32,
    /// The active lanes, never zero.
    pub mask: u32,
    /// The linear number of the block.
    pub block: u64,
    /// The number of the warp in the block.
    pub warp: u32,
    /// The launch slot.
    pub slot: u32,
    /// The address of the lowest active lane (uniform, affine), or the `OperationShape`.
    pub base: u64,
    /// The number of bytes from lane to lane (affine).
    pub stride: u32,
    /// The number of bytes from one half warp to the other (affine).
    pub half: u32,
}

impl Record {
    /// Returns the address of a lane of a uniform or affine record.
    pub fn lane(&self, lane: u32) -> u64 {
        let first = self.mask.trailing_zeros();
        let step = (lane & 15).wrapping_sub(first & 15);
        let other = if (lane ^ first) & 16 != 0 { self.half } else { 0 };
        let offset = self.stride.wrapping_mul(step).wrapping_add(other) as i32;
        self.base.wrapping_add(i64::from(offset) as u64)
    }
}

/// The result of reading the next record of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A complete record. Addresses that are listed one by one, and values, are in [`Reader::lanes`].
    Record(Record),
    /// There is no record, or it has not arrived completely.
    NotYet,
    /// Words that no hook writes.
    Damaged,
}

/// The head of an operation's record does not fit its shape.
struct Unreadable;

/// The host's end of one ring. It makes no CUDA call.
#[derive(Debug)]
pub struct Reader {
    words: *mut AtomicU64,
    capacity: u64,
    tail: *const AtomicU64,
    position: u64,
    released: u64,
    lanes: [u64; MOST_ROWS * LANES],
    listed: usize,
}

// SAFETY: the memory behind the pointers is shared with the device only by atomic words, and it is not bound to a
// thread.
unsafe impl Send for Reader {}

impl Reader {
    /// # Safety
    /// `data` points to `capacity` zeroed bytes (a power of two, at least 2048) at a multiple of 8, and `tail`
    /// points to a zero. Both outlive the reader, and no other reader reads or zeroes them.
    pub unsafe fn new(data: *mut u8, capacity: u64, tail: *const AtomicU64) -> Reader {
        assert!(capacity.is_power_of_two() && capacity >= MOST_BYTES, "a ring of {capacity} bytes");
        let lanes = [0; MOST_ROWS * LANES];
        Reader { words: data.cast(), capacity, tail, position: 0, released: 0, lanes, listed: 0 }
    }

    /// Returns the number of bytes read so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the number of bytes that were read and not yet released.
    pub fn unreleased(&self) -> u64 {
        self.position - self.released
    }

    /// Returns the addresses of the last record if it is a delta or full one, in lane order, or the values of an
    /// operation: for the result and for each operand, one value of each active lane.
    pub fn lanes(&self) -> &[u64] {
        &self.lanes[..self.listed]
    }

    fn word(&self, position: u64) -> &AtomicU64 {
        // SAFETY: the index is below the number of words.
        unsafe { &*self.words.add(((position & (self.capacity - 1)) / 8) as usize) }
    }

    fn load(&self, position: u64) -> u64 {
        // Relaxed is enough, because each word shows whether it has arrived.
        self.word(position).load(Ordering::Relaxed)
    }

    /// Returns the 32 bits at a multiple of 4.
    fn half(&self, position: u64) -> u32 {
        (self.load(position & !7) >> (8 * (position & 4))) as u32
    }

    /// Reads the next record, if it has arrived completely.
    #[inline]
    pub fn read_next(&mut self) -> Next {
        let at = self.position;
        if at + RECORD_UNIT > self.horizon() {
            // The following words may have been read already.
            return Next::NotYet;
        }
        let (first, who) = (self.load(at), self.load(at + 8));
        if first == 0 || who == 0 {
            return Next::NotYet;
        }
        let (head, mask) = (first as u32, (first >> 32) as u32);
        let Some(kind) = Kind::of_head(head).filter(|_| mask != 0 && who & MARK != 0) else { return Next::Damaged };
        let space = (head >> 24) as u8 & 15;
        let bytes = kind.bytes(mask, u64::from(space));
        let third = self.load(at + 16);
        if third == 0 || at + bytes > self.horizon() {
            return Next::NotYet;
        }
        let mut record = Record {
            kind,
            space,
            site: head & SITE_MASK,
            mask,
            block: (who & !MARK) >> (SLOT_BITS + 5),
            warp: (who >> SLOT_BITS) as u32 & 31,
            slot: who as u32 & (SLOTS as u32 - 1),
            base: third & !MARK,
            stride: 0,
            half: 0,
        };
        self.listed = 0;
        match kind {
            Kind::Operation => match self.read_operation(&record) {
                Ok(true) => {}
                Ok(false) => return Next::NotYet,
                Err(Unreadable) => return Next::Damaged,
            },
            Kind::Delta => {
                let base = record.base;
                for index in 0..mask.count_ones() as usize {
                    let delta = self.half(at + 24 + 4 * index as u64);
                    if delta == 0 {
                        return Next::NotYet;
                    }
                    self.lanes[index] = base.wrapping_add(u64::from(delta)).wrapping_sub(1 << 31);
                }
                self.listed = mask.count_ones() as usize;
            }
            Kind::Full => {
                for index in 0..mask.count_ones() as usize {
                    let address = self.load(at + 16 + 8 * index as u64);
                    if address == 0 {
                        return Next::NotYet;
                    }
                    self.lanes[index] = address & !MARK;
                }
                self.listed = mask.count_ones() as usize;
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
        self.position = at + bytes;
        Next::Record(record)
    }

    /// Reads the values of an operation; returns whether all of them have arrived.
    fn read_operation(&mut self, record: &Record) -> Result<bool, Unreadable> {
        let shape = OperationShape(record.base);
        let words: usize = shape.words().sum();
        if words != usize::from(record.space) {
            return Err(Unreadable);
        }
        let (count, start) = (record.mask.count_ones() as usize, self.position + VALUES_START);
        let mut word = 0;
        for (row, halves) in shape.words().enumerate() {
            self.lanes[row * count..(row + 1) * count].fill(0);
            for half in 0..halves {
                let zeros = self.load(start + 8 * word as u64);
                if zeros == 0 {
                    return Ok(false);
                }
                let values = start + 8 * words as u64 + 4 * (word * count) as u64;
                let lanes = (0..LANES as u32).filter(|lane| record.mask >> lane & 1 != 0);
                for (index, lane) in lanes.enumerate() {
                    let value = self.half(values + 4 * index as u64);
                    if value == 0 {
                        return Ok(false);
                    }
                    let value = if zeros >> lane & 1 == 0 { value } else { 0 };
                    self.lanes[row * count + index] |= u64::from(value) << (32 * half);
                }
                word += 1;
            }
        }
        self.listed = shape.words().count() * count;
        Ok(true)
    }

    /// Skips words that will not be written any more, because the kernel has faulted or the words are damaged. Ends at
    /// the next record, or at `end`.
    pub fn skip(&mut self, end: u64) {
        self.position += RECORD_UNIT;
        while self.position < end && self.load(self.position) == 0 {
            self.position += RECORD_UNIT;
        }
    }

    /// Returns the position up to which the ring can have been written.
    pub fn horizon(&self) -> u64 {
        self.released + self.capacity
    }

    /// Zeroes the words that were read and releases their space.
    pub fn release(&mut self) {
        while self.released < self.position {
            self.word(self.released).store(0, Ordering::Relaxed);
            self.released += 8;
        }
        // SAFETY: the pointer is valid by the contract of `new`. Release makes the zeroes visible before the device can
        // write there again.
        unsafe { &*self.tail }.store(self.position, Ordering::Release);
    }
}
