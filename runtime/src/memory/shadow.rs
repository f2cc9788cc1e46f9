//! One bit per byte of device and shared memory, which states whether something has written the byte. It exists only
//! with the initialisation check or if values are tracked.
//!
//! A set bit means that nothing has written the byte. Memory that is not tracked (module variables, managed and pinned
//! memory) has no bit set.

use super::windows::WindowError;
use std::ops::Range;
use warpline_format::abi::windows;

/// The number of bytes after the last bit, so that complete words can be read and written.
const SLACK: usize = 64;

/// The maximum number of bytes of memory for one call of [`Bits::get`] or [`Bits::put`]: their bits are within one
/// 64-bit word, at any position.
pub const MOST: u64 = 56;

/// The value of memory before something writes it. As a floating-point value of any width, it is NaN; as an integer, it
/// is -1.
pub const PATTERN: u8 = 0xff;

/// The bits of one window.
#[derive(Debug)]
struct Bits {
    window: Range<u64>,
    first: *mut u8,
}

/// The bits of the device window and of the shared window.
#[derive(Debug)]
pub struct Shadow {
    device: Bits,
    shared: Bits,
}

// SAFETY: only this value uses the mappings.
unsafe impl Send for Shadow {}

impl Bits {
    fn new(base: u64, bytes: u64) -> Result<Bits, WindowError> {
        let length = (bytes / 8) as usize + SLACK;
        // SAFETY: the mapping is new and overlaps no other.
        let place = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if place == libc::MAP_FAILED {
            let source = std::io::Error::last_os_error();
            return Err(WindowError::Reserve { base, bytes: length as u64, source });
        }
        Ok(Bits { window: base..base + bytes, first: place.cast() })
    }

    fn holds(&self, address: u64, bytes: u64) -> bool {
        address >= self.window.start && address < self.window.end && bytes <= self.window.end - address
    }

    /// Returns the bits of up to [`MOST`] bytes; the lowest bit is that of the first byte.
    #[inline]
    fn get(&self, address: u64, bytes: u64) -> u64 {
        debug_assert!(self.holds(address, bytes) && bytes <= MOST);
        let at = address - self.window.start;
        // SAFETY: the word is within the mapping and its slack.
        let word = unsafe { self.first.add((at / 8) as usize).cast::<u64>().read_unaligned() };
        word >> (at % 8) & ((1 << bytes) - 1)
    }

    #[inline]
    fn put(&self, address: u64, bytes: u64, bits: u64) {
        debug_assert!(self.holds(address, bytes) && bytes <= MOST);
        let at = address - self.window.start;
        let mask = ((1u64 << bytes) - 1) << (at % 8);
        // SAFETY: the word is within the mapping and its slack.
        unsafe {
            let place = self.first.add((at / 8) as usize).cast::<u64>();
            place.write_unaligned(place.read_unaligned() & !mask | bits << (at % 8) & mask);
        }
    }

    fn fill(&self, address: u64, bytes: u64, set: bool) {
        let word = if set { u64::MAX } else { 0 };
        let (mut at, mut left) = (address, bytes);
        let head = ((8 - (address - self.window.start) % 8) % 8).min(left);
        self.put(at, head, word);
        (at, left) = (at + head, left - head);
        let whole = left / 8;
        // SAFETY: the range consists of complete bytes of the mapping.
        unsafe {
            let place = self.first.add(((at - self.window.start) / 8) as usize);
            place.write_bytes(word as u8, whole as usize);
        }
        self.put(at + 8 * whole, left % 8, word);
    }

    /// Returns the number of set bits, and the position of the first.
    fn count(&self, address: u64, bytes: u64) -> (u64, Option<u64>) {
        let (mut count, mut first) = (0, None);
        let mut done = 0;
        while done < bytes {
            let step = (bytes - done).min(MOST);
            let word = self.get(address + done, step);
            count += u64::from(word.count_ones());
            if word != 0 && first.is_none() {
                first = Some(done + u64::from(word.trailing_zeros()));
            }
            done += step;
        }
        (count, first)
    }
}

impl Shadow {
    /// Creates the shadow of memory that counts as completely written.
    pub fn new() -> Result<Shadow, WindowError> {
        Ok(Shadow {
            device: Bits::new(windows::DEVICE, windows::DEVICE_BYTES)?,
            shared: Bits::new(windows::SHARED, windows::SHARED_BYTES)?,
        })
    }

    #[inline]
    fn bits(&self, address: u64, bytes: u64) -> Option<&Bits> {
        [&self.device, &self.shared].into_iter().find(|bits| bits.holds(address, bytes.max(1)))
    }

    /// Marks bytes that contain no data of the program.
    pub fn clear(&self, address: u64, bytes: u64) {
        if let Some(bits) = self.bits(address, bytes) {
            bits.fill(address, bytes, true);
        }
    }

    /// Marks bytes as written. Addresses outside the windows are ignored.
    pub fn write(&self, address: u64, bytes: u64) {
        match self.bits(address, bytes) {
            Some(bits) if bytes <= MOST => bits.put(address, bytes, 0),
            Some(bits) => bits.fill(address, bytes, false),
            None => (),
        }
    }

    /// Returns the bits of up to [`MOST`] bytes; a set bit means that nothing has written the byte, and the lowest bit
    /// is that of the first byte.
    #[inline]
    pub fn unwritten(&self, address: u64, bytes: u64) -> u64 {
        self.bits(address, bytes).map_or(0, |bits| bits.get(address, bytes.min(MOST)))
    }

    /// Returns the number of bytes that nothing has written, and the offset of the first.
    pub fn count(&self, address: u64, bytes: u64) -> (u64, Option<u64>) {
        self.bits(address, bytes).map_or((0, None), |bits| bits.count(address, bytes))
    }

    /// Returns the number of bytes that nothing has written and that are part of a sequence of at least `run` such
    /// bytes.
    pub fn in_runs(&self, address: u64, bytes: u64, run: u64) -> u64 {
        let Some(bits) = self.bits(address, bytes) else { return 0 };
        let (mut total, mut length) = (0, 0);
        let mut end = |length: &mut u64| {
            total += if *length >= run { *length } else { 0 };
            *length = 0;
        };
        let mut done = 0;
        while done < bytes {
            let step = (bytes - done).min(MOST);
            let word = bits.get(address + done, step);
            match word {
                0 => end(&mut length),
                _ if u64::from(word.count_ones()) == step => length += step,
                _ => (0..step).for_each(|byte| match word >> byte & 1 {
                    0 => end(&mut length),
                    _ => length += 1,
                }),
            }
            done += step;
        }
        end(&mut length);
        total
    }

    /// Copies the state of bytes that a program copies, whatever their source is.
    pub fn copy(&self, to: u64, from: u64, bytes: u64) {
        let Some(target) = self.bits(to, bytes) else { return };
        let mut done = 0;
        while done < bytes {
            let step = (bytes - done).min(MOST);
            target.put(to + done, step, self.unwritten(from + done, step));
            done += step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// For any sequence of operations, the bits are those of a set of addresses.
    #[test]
    fn agrees_with_a_set_of_bytes() {
        let shadow = Shadow::new().unwrap();
        let mut reference = BTreeSet::new();
        let mut seed = 1u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for base in [windows::DEVICE, windows::SHARED] {
            for _ in 0..3000 {
                let (what, start, bytes) = (next(3), base + next(600), next(150));
                let other = base + next(600);
                match what {
                    0 => {
                        shadow.clear(start, bytes);
                        reference.extend(start..start + bytes);
                    }
                    1 => {
                        shadow.write(start, bytes);
                        reference.retain(|byte| !(start..start + bytes).contains(byte));
                    }
                    _ if start.abs_diff(other) >= bytes => {
                        shadow.copy(start, other, bytes);
                        for byte in 0..bytes {
                            match reference.contains(&(other + byte)) {
                                true => reference.insert(start + byte),
                                false => reference.remove(&(start + byte)),
                            };
                        }
                    }
                    _ => (),
                }
                let (from, length) = (base + next(600), next(100));
                let expected: Vec<u64> = reference.range(from..from + length).map(|byte| byte - from).collect();
                assert_eq!(shadow.count(from, length), (expected.len() as u64, expected.first().copied()));
                let short = length.min(MOST);
                let bits: u64 = expected.iter().filter(|&&byte| byte < short).map(|byte| 1 << byte).sum();
                assert_eq!(shadow.unwritten(from, short), bits);
            }
        }
    }

    #[test]
    fn short_runs_are_reported_from_long_ones() {
        let shadow = Shadow::new().unwrap();
        let base = windows::DEVICE;
        shadow.clear(base + 4, 4);
        shadow.clear(base + 100, 8);
        assert_eq!(shadow.in_runs(base, 200, 8), 8);
        assert_eq!(shadow.in_runs(base, 200, 4), 12);
        assert_eq!(shadow.in_runs(base + 102, 4, 4), 4);
    }

    #[test]
    fn other_memory_counts_as_written() {
        let shadow = Shadow::new().unwrap();
        shadow.clear(0x1000, 64);
        assert_eq!((shadow.unwritten(0x1000, 8), shadow.count(windows::LOCAL, 64)), (0, (0, None)));
        shadow.clear(windows::DEVICE, 16);
        shadow.copy(windows::DEVICE, 0x1000, 8);
        assert_eq!(shadow.count(windows::DEVICE, 16), (8, Some(8)));
    }
}
