//! Shadow memory: the last accesses to each word.

use rustc_hash::FxHashMap;

/// Bytes of a word.
pub(super) const WORD: u64 = 4;
/// Number of words per line.
const LINE: u64 = 32;

/// An access to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Linear index of the block; [`Mark::NONE`] if no warp accessed the word.
    pub(super) block: u32,
    /// Number of barriers that the warp had passed.
    pub(super) interval: u32,
    /// Number of the site.
    pub(super) site: u32,
    /// Number of the warp in the block.
    pub(super) warp: u16,
    /// Accessed bytes of the word, one bit each.
    pub(super) bytes: u8,
    /// Combination of [`flags`].
    pub(super) flags: u8,
}

pub(super) mod flags {
    /// The access is atomic or volatile, so it is intended to be concurrent.
    pub const MEETS: u8 = 1;
    /// The access is volatile.
    pub const VOLATILE: u8 = 2;
    /// In this interval, the warp had read a value by which another warp may have signalled it.
    pub const WARP_KNOWS: u8 = 4;
    /// A warp of the block had read such a value in this launch.
    pub const BLOCK_KNOWS: u8 = 8;
    /// The access writes.
    pub const WRITES: u8 = 16;
}

impl Mark {
    /// Marks the absence of an access.
    pub(super) const NONE: Mark = Mark { block: u32::MAX, interval: 0, site: 0, warp: 0, bytes: 0, flags: 0 };

    fn same_warp(&self, other: &Mark) -> bool {
        self.block == other.block && self.warp == other.warp
    }

    pub(super) fn writes(&self) -> bool {
        self.flags & flags::WRITES != 0
    }
}

/// The last accesses to a word, separately for reads and writes: the last access, the last access by another warp of
/// its block, and the last access by another block. If any earlier access conflicts with a new access, one of these
/// does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    writers: [Mark; 3],
    readers: [Mark; 3],
}

impl Word {
    pub(super) const EMPTY: Word = Word { writers: [Mark::NONE; 3], readers: [Mark::NONE; 3] };
    /// Number of stored accesses.
    pub(super) const MARKS: usize = 6;

    /// Stores an access. Calls `meet` with each stored access to the same bytes by another warp, unless both only read.
    #[inline]
    pub(super) fn touch(&mut self, mark: Mark, mut meet: impl FnMut(&Mark)) {
        let mut each = |others: &[Mark; 3]| {
            for other in others.iter().filter(|other| other.bytes & mark.bytes != 0 && !other.same_warp(&mark)) {
                meet(other);
            }
        };
        each(&self.writers);
        if mark.writes() {
            each(&self.readers);
            enter(&mut self.writers, mark);
        } else {
            enter(&mut self.readers, mark);
        }
    }
}

#[inline]
fn enter(marks: &mut [Mark; 3], mark: Mark) {
    let [last, beside, elsewhere] = marks;
    if last.same_warp(&mark) {
        let again = last.interval == mark.interval;
        let bytes = if again && last.site == mark.site { last.bytes } else { 0 };
        // Bytes that another statement of the warp accessed keep that statement.
        if again && bytes == 0 && last.bytes & !mark.bytes != 0 && (*beside == Mark::NONE || beside.same_warp(&mark)) {
            *beside = *last;
        }
        *last = Mark { bytes: mark.bytes | bytes, ..mark };
        return;
    }
    if last.block == mark.block {
        *beside = *last;
    } else {
        (*beside, *elsewhere) = (Mark::NONE, *last);
    }
    *last = mark;
}

/// Number of lines that are allocated together.
const CHUNK: usize = 64;

/// Shadow of the device memory that a launch accessed, in lines of 128 bytes.
#[derive(Default)]
pub(super) struct GlobalShadow {
    chunks: Vec<Box<[[Word; LINE as usize]]>>,
    by_number: FxHashMap<u64, u32>,
    /// Number of lines in `chunks` that stay in use until the launch ends.
    kept: usize,
    /// If these are used up: lines of single blocks' intervals between two barriers.
    passing: [Passing; PASSING],
    last: Option<(u64, u32)>,
}

/// Maximum number of blocks whose intervals have their own lines.
const PASSING: usize = 4;
/// Maximum number of lines of an interval that loads may add, and that all accesses may add.
const PASSING_LINES: [usize; 2] = [128, 256];
/// Line numbers from here on belong to intervals.
const FIRST_PASSING: u32 = 1 << 31;

/// Lines of an interval of a block.
#[derive(Default)]
struct Passing {
    /// The block, and the number of passed barriers.
    of: Option<(u32, u32)>,
    words: Vec<[Word; LINE as usize]>,
    numbers: Vec<u64>,
}

impl GlobalShadow {
    /// Returns the bytes of memory in use.
    pub(super) fn bytes(&self) -> u64 {
        let chunk = CHUNK * LINE as usize * size_of::<Word>();
        let passing: usize = self.passing.iter().map(|one| one.words.capacity()).sum();
        (self.chunks.len() * chunk + passing * LINE as usize * size_of::<Word>() + self.by_number.capacity() * 24)
            as u64
    }

    /// Discards the contents but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.by_number.clear();
        self.kept = 0;
        self.last = None;
        for passing in &mut self.passing {
            passing.of = None;
            passing.words.clear();
            passing.numbers.clear();
        }
    }

    /// Returns the word at an address for an access. If the line is new and `most` lines are in use, the line is stored
    /// until the end of the block's interval if the interval has room.
    #[inline]
    pub(super) fn word(&mut self, address: u64, most: usize, mark: &Mark) -> Option<&mut Word> {
        let (number, word) = (address / WORD / LINE, (address / WORD % LINE) as usize);
        let index = match self.last {
            Some((last, index)) if last == number => index,
            _ => {
                let index = match self.by_number.get(&number) {
                    Some(&index) => index,
                    None if self.kept >= most => self.add_passing(number, mark)?,
                    None => self.add(number),
                };
                self.last = Some((number, index));
                index
            }
        };
        let line = match index.checked_sub(FIRST_PASSING) {
            None => self.chunks.get_mut(index as usize / CHUNK)?.get_mut(index as usize % CHUNK)?,
            Some(index) => {
                let most = PASSING_LINES[1];
                self.passing.get_mut(index as usize / most)?.words.get_mut(index as usize % most)?
            }
        };
        line.get_mut(word)
    }

    /// Adds an empty line.
    fn add(&mut self, number: u64) -> u32 {
        let next = self.kept;
        let empty = [Word::EMPTY; LINE as usize];
        match self.chunks.get_mut(next / CHUNK) {
            Some(chunk) => chunk[next % CHUNK] = empty,
            None => self.chunks.push(vec![empty; CHUNK].into_boxed_slice()),
        }
        self.by_number.insert(number, next as u32);
        self.kept += 1;
        next as u32
    }

    /// Adds an empty line for the interval of an access. Lines of the block's previous interval are discarded.
    #[cold]
    fn add_passing(&mut self, number: u64, mark: &Mark) -> Option<u32> {
        let place = mark.block as usize % PASSING;
        let passing = &mut self.passing[place];
        if passing.of != Some((mark.block, mark.interval)) {
            for number in passing.numbers.drain(..) {
                self.by_number.remove(&number);
            }
            passing.words.clear();
            passing.of = Some((mark.block, mark.interval));
            self.last = None;
        }
        let next = passing.words.len();
        if next >= PASSING_LINES[usize::from(mark.writes())] {
            return None;
        }
        passing.words.push([Word::EMPTY; LINE as usize]);
        passing.numbers.push(number);
        let index = FIRST_PASSING + (place * PASSING_LINES[1] + next) as u32;
        self.by_number.insert(number, index);
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_again_and_bounded() {
        let mut shadow = GlobalShadow::default();
        let mark = |site| Mark { block: 0, site, flags: flags::WRITES, bytes: 15, ..Mark::NONE };
        for (site, address) in [(1, 0x1000), (2, 0x1004), (3, 0x1080)] {
            shadow.word(address, 2, &mark(site)).unwrap().touch(mark(site), |_| panic!("no access before"));
        }
        let next = Mark { interval: 1, ..mark(4) };
        // Beyond two lines, an interval uses its own lines, which are discarded with it.
        for line in 0..PASSING_LINES[1] as u64 {
            assert!(shadow.word(0x2000 + 128 * line, 2, &mark(4)).is_some());
        }
        assert!(shadow.word(0x1000_0000, 2, &mark(4)).is_none());
        assert!(shadow.word(0x2000, 2, &mark(4)).is_some());
        shadow.word(0x1000_0000, 2, &next).unwrap().touch(next, |_| panic!("no access before"));
        for (site, address) in [(1, 0x1000), (2, 0x1004), (3, 0x1080), (4, 0x1000_0000)] {
            let mut met = Vec::new();
            let other = Mark { warp: 1, ..mark(9) };
            shadow.word(address, 0, &next).unwrap().touch(other, |mark| met.push(mark.site));
            assert_eq!(met, [site]);
        }
        shadow.clear();
        shadow.word(0x1000, 0, &next).unwrap().touch(next, |_| panic!("all is cleared"));
    }
}
