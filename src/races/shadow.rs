//! Who touched a word of memory last.

use rustc_hash::FxHashMap;

/// Bytes of a word.
pub(super) const WORD: u64 = 4;
/// Words of a line.
const LINE: u64 = 32;

/// An access to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Linear block; [`Mark::NONE`] where nobody was there.
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
    /// The warp had read something in this interval by which another may have told it to go on.
    pub const WARP_KNOWS: u8 = 4;
    /// So had a warp of the block, in this launch.
    pub const BLOCK_KNOWS: u8 = 8;
    /// Writes.
    pub const WRITES: u8 = 16;
}

impl Mark {
    /// Nobody.
    pub(super) const NONE: Mark = Mark { block: u32::MAX, interval: 0, site: 0, warp: 0, bytes: 0, flags: 0 };

    fn same_warp(&self, other: &Mark) -> bool {
        self.block == other.block && self.warp == other.warp
    }

    pub(super) fn writes(&self) -> bool {
        self.flags & flags::WRITES != 0
    }
}

/// The last accesses to a word: of each kind, those of the two warps that came last. With two, whoever comes finds another
/// warp's where there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    writers: [Mark; 2],
    readers: [Mark; 2],
}

impl Word {
    pub(super) const EMPTY: Word = Word { writers: [Mark::NONE; 2], readers: [Mark::NONE; 2] };
    /// Accesses that are remembered.
    pub(super) const MARKS: usize = 4;

    /// Enters an access and gives to `meet` each of the last ones that touched the same bytes from another warp, unless all
    /// only read.
    #[inline]
    pub(super) fn touch(&mut self, mark: Mark, mut meet: impl FnMut(&Mark)) {
        let mut each = |others: &[Mark; 2]| {
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
fn enter(marks: &mut [Mark; 2], mark: Mark) {
    let last = &mut marks[0];
    if last.same_warp(&mark) {
        let bytes = if last.interval == mark.interval { last.bytes } else { 0 };
        *last = Mark { bytes: mark.bytes | bytes, ..mark };
    } else {
        marks.swap(0, 1);
        marks[0] = mark;
    }
}

/// Lines that are made room for at once.
const CHUNK: usize = 64;

/// The words of device memory that a launch touched, in lines of 128 bytes.
#[derive(Default)]
pub(super) struct GlobalShadow {
    chunks: Vec<Box<[[Word; LINE as usize]]>>,
    by_number: FxHashMap<u64, u32>,
    last: Option<(u64, u32)>,
}

impl GlobalShadow {
    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        let chunk = CHUNK * LINE as usize * size_of::<Word>();
        (self.chunks.len() * chunk + self.by_number.capacity() * 24) as u64
    }

    /// Forgets everything but the room for it.
    pub(super) fn clear(&mut self) {
        self.by_number.clear();
        self.last = None;
    }

    /// The word that an address lies in; `None` where nothing is known of its line and `most` lines are in use.
    #[inline]
    pub(super) fn word(&mut self, address: u64, most: usize) -> Option<&mut Word> {
        let (number, word) = (address / WORD / LINE, (address / WORD % LINE) as usize);
        let index = match self.last {
            Some((last, index)) if last == number => index,
            _ => {
                let index = match self.by_number.get(&number) {
                    Some(&index) => index,
                    None if self.by_number.len() >= most => return None,
                    None => self.add(number),
                };
                self.last = Some((number, index));
                index
            }
        };
        Some(&mut self.chunks[index as usize / CHUNK][index as usize % CHUNK][word])
    }

    /// Adds an empty line.
    fn add(&mut self, number: u64) -> u32 {
        let next = self.by_number.len();
        let empty = [Word::EMPTY; LINE as usize];
        match self.chunks.get_mut(next / CHUNK) {
            Some(chunk) => chunk[next % CHUNK] = empty,
            None => self.chunks.push(vec![empty; CHUNK].into_boxed_slice()),
        }
        self.by_number.insert(number, next as u32);
        next as u32
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
            shadow.word(address, 2).unwrap().touch(mark(site), |_| panic!("nobody was there"));
        }
        assert!(shadow.word(0x2000, 2).is_none(), "two lines are all");
        for (site, address) in [(1, 0x1000), (2, 0x1004), (3, 0x1080)] {
            let mut met = Vec::new();
            let other = Mark { warp: 1, ..mark(9) };
            shadow.word(address, 0).unwrap().touch(other, |mark| met.push(mark.site));
            assert_eq!(met, [site]);
        }
        shadow.clear();
        assert!(shadow.word(0x1000, 0).is_none());
    }
}
