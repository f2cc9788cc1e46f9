//! `mbarrier` objects. Eight bytes of shared memory store the counts of arrivals and of expected bytes.

use super::lanes::lanes;
use super::scheduled::warp_of;
use crate::device::initialisation;
use warpline_format::abi::WarpContext;
use warpline_format::abi::mbarrier::{
    ARRIVE, ARRIVE_EXPECTING, BYTES_BITS, BYTES_SHIFT, COMPLETE, COUNT_BITS, COUNT_MASK, DROP, DROP_EXPECTING, EXPECT,
    INIT, INVALIDATE, PHASE, TEST, TEST_PARITY,
};

/// The fields of an `mbarrier` object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    phase: bool,
    /// The number of arrivals that the phase still waits for.
    pending: u64,
    /// The number of arrivals of a complete phase.
    expected: u64,
    /// The number of bytes that the phase still waits for.
    bytes: i64,
}

impl Object {
    fn read(word: u64) -> Object {
        let unused = 64 - BYTES_BITS;
        let bytes = ((word >> BYTES_SHIFT) << unused) as i64 >> unused;
        Object {
            phase: word & PHASE != 0,
            pending: word & COUNT_MASK,
            expected: word >> COUNT_BITS & COUNT_MASK,
            bytes,
        }
    }

    fn word(self) -> u64 {
        let bytes = (self.bytes as u64) & ((1 << BYTES_BITS) - 1);
        let counts = (self.pending & COUNT_MASK) | (self.expected & COUNT_MASK) << COUNT_BITS;
        counts | bytes << BYTES_SHIFT | if self.phase { PHASE } else { 0 }
    }

    fn arrive(&mut self, count: u64) {
        self.pending = self.pending.saturating_sub(count);
        self.end_phase();
    }

    /// Begins the next phase if the current phase waits for nothing more.
    fn end_phase(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase = !self.phase;
            self.pending = self.expected;
        }
    }

    /// Performs any operation other than a test.
    fn change(&mut self, operation: u32, operand: u64) {
        match operation {
            INIT => {
                let count = operand & COUNT_MASK;
                *self = Object { phase: false, pending: count, expected: count, bytes: 0 };
            }
            INVALIDATE => *self = Object { phase: false, pending: 0, expected: 0, bytes: 0 },
            ARRIVE => self.arrive(operand),
            DROP => {
                self.expected = self.expected.saturating_sub(operand);
                self.arrive(operand);
            }
            ARRIVE_EXPECTING | DROP_EXPECTING => {
                self.bytes += operand as i64;
                if operation == DROP_EXPECTING {
                    self.expected = self.expected.saturating_sub(1);
                }
                self.arrive(1);
            }
            EXPECT => self.bytes += operand as i64,
            COMPLETE => {
                self.bytes -= operand as i64;
                self.end_phase();
            }
            _ => {}
        }
    }
}

/// Performs operations on `mbarrier` objects, lane by lane.
///
/// # Safety
/// Lowered code calls this function with its own context; the arrays have 32 entries, of which the active ones
/// are defined, and the addresses were checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_mbarrier(
    context: *mut WarpContext,
    mask: u32,
    operation: u32,
    addresses: *const [u64; 32],
    operands: *const [u64; 32],
    states: *mut [u64; 32],
) -> u32 {
    let mut held = 0;
    for lane in lanes(mask) {
        // SAFETY: by the contract; one thread runs device code at a time.
        unsafe {
            let place = (*addresses)[lane] as *mut u64;
            let operand = (*operands)[lane];
            let word = place.read_unaligned();
            let mut object = Object::read(word);
            match operation {
                TEST => held |= u32::from(object.phase != (operand & PHASE != 0)) << lane,
                TEST_PARITY => held |= u32::from(object.phase != (operand & 1 != 0)) << lane,
                _ => {
                    object.change(operation, operand);
                    place.write_unaligned(object.word());
                    initialisation::write_object(warp_of(context), place as u64, 8);
                }
            }
            (*states)[lane] = word;
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(count: u64) -> Object {
        let mut object = Object::read(0);
        object.change(INIT, count);
        object
    }

    #[test]
    fn words_are_read_back() {
        for bytes in [0, 1, -1, 4096, -4096, (1 << 20) - 1, 1 - (1 << 20)] {
            let object = Object { phase: bytes < 0, pending: 3, expected: COUNT_MASK, bytes };
            assert_eq!(Object::read(object.word()), object);
        }
    }

    #[test]
    fn phases_end_with_the_last_arrival() {
        let mut object = object(3);
        object.change(ARRIVE, 2);
        assert_eq!((object.phase, object.pending), (false, 1));
        object.change(DROP, 1);
        assert_eq!((object.phase, object.pending), (true, 2), "one is expected no more");
        object.change(ARRIVE, 2);
        assert!(!object.phase);
    }

    #[test]
    fn phases_wait_for_bytes() {
        let mut object = object(1);
        object.change(ARRIVE_EXPECTING, 64);
        assert!(!object.phase);
        object.change(COMPLETE, 32);
        assert!(!object.phase);
        object.change(COMPLETE, 32);
        assert_eq!((object.phase, object.pending), (true, 1));
        object.change(COMPLETE, 16);
        object.change(ARRIVE_EXPECTING, 16);
        assert!(!object.phase, "bytes may come before they are expected");
    }
}
