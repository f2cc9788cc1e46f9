//! Who touched a word of memory last.

use rustc_hash::FxHashMap;

/// Bytes of a word.
pub(super) const WORD: u64 = 4;
/// Words of a line.
const LINE: u64 = 32;

/// An access to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Linear block; [`Mark::NONE`] if no warp accessed it.
    pub(super) block: u32,
    /// Barriers that the warp had passed.
    pub(super) interval: u32,
    /// Site.
    pub(super) site: u32,
    /// Warp in the block.
    pub(super) warp: u16,
    /// Bit per byte of the word.
    pub(super) bytes: u8,
    /// Bits of [`flags`].
    pub(super) flags: u8,
}

pub(super) mod flags {
    /// Atomic, or volatile: made to meet others.
    pub const MEETS: u8 = 1;
    /// Volatile.
    pub const VOLATILE: u8 = 2;
    /// The warp had read something in this interval by which another may have signalled it.
    pub const WARP_KNOWS: u8 = 4;
    /// So had a warp of the block, in this launch.
    pub const BLOCK_KNOWS: u8 = 8;
    /// Writes.
    pub const WRITES: u8 = 16;
}

impl Mark {
    /// No access.
    pub(super) const NONE: Mark = Mark { block: u32::MAX, interval: 0, site: 0, warp: 0, bytes: 0, flags: 0 };

    fn same_warp(&self, other: &Mark) -> bool {
        self.block == other.block && self.warp == other.warp
    }

    pub(super) fn writes(&self) -> bool {
        self.flags & flags::WRITES != 0
    }
}

/// The last accesses to a word, of each kind: the last one, that of another warp of its block before it, and the last
/// one of another block. With these, whoever comes finds one that nothing keeps apart from it where there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    writers: [Mark; 3],
    readers: [Mark; 3],
}

impl Word {
    pub(super) const EMPTY: Word = Word { writers: [Mark::NONE; 3], readers: [Mark::NONE; 3] };
    /// Accesses that are remembered.
    pub(super) const MARKS: usize = 6;

    /// Enters an access and gives to `meet` each of the last ones that touched the same bytes from another warp, unless
    /// all only read.
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
        // Bytes that another statement of the warp touched stay that statement's.
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

/// Lines that are made room for at once.
const CHUNK: usize = 64;

/// The words of device memory that a launch touched, in lines of 128 bytes.
#[derive(Default)]
pub(super) struct GlobalShadow {
    chunks: Vec<Box<[[Word; LINE as usize]]>>,
    by_number: FxHashMap<u64, u32>,
    /// Lines in `chunks` that are in use to the launch's end.
    kept: usize,
    /// Where those are used up: lines of what a block does between two barriers.
    passing: [Passing; PASSING],
    last: Option<(u64, u32)>,
}

/// Blocks whose intervals have lines of their own.
const PASSING: usize = 4;
/// Lines that an interval has, and as many for loads as leave room for its stores.
const PASSING_LINES: [usize; 2] = [128, 256];
/// Numbers of lines from here on are those of intervals.
const FIRST_PASSING: u32 = 1 << 31;

/// Lines of an interval of a block.
#[derive(Default)]
struct Passing {
    /// Block and barriers passed.
    of: Option<(u32, u32)>,
    words: Vec<[Word; LINE as usize]>,
    numbers: Vec<u64>,
}

impl GlobalShadow {
    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        let chunk = CHUNK * LINE as usize * size_of::<Word>();
        let passing: usize = self.passing.iter().map(|one| one.words.capacity()).sum();
        (self.chunks.len() * chunk + passing * LINE as usize * size_of::<Word>() + self.by_number.capacity() * 24)
            as u64
    }

    /// Discards everything but the allocated memory.
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

    /// Returns the word that an address lies in, for an access. Where nothing is known of its line and `most` lines are in use,
    /// the line is remembered to the end of the block's interval, if that has room.
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

    /// Adds an empty line for the interval of an access; those of the interval before make room.
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
        // Beyond two lines an interval has its own, which go with it.
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
