//! Who touched a word of memory last.

use rustc_hash::FxHashMap;

/// Bytes of a word.
pub(super) const WORD: u64 = 4;
/// Words of a page.
const PAGE: u64 = 256;

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

/// The words of device memory that a launch touched.
#[derive(Default)]
pub(super) struct GlobalShadow {
    pages: Vec<Box<[Word; PAGE as usize]>>,
    by_number: FxHashMap<u64, u32>,
    last: Option<(u64, u32)>,
}

impl GlobalShadow {
    /// Pages in use.
    pub(super) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// The word that an address lies in.
    #[inline]
    pub(super) fn word(&mut self, address: u64) -> &mut Word {
        let (page, word) = (address / WORD / PAGE, (address / WORD % PAGE) as usize);
        let index = match self.last {
            Some((number, index)) if number == page => index,
            _ => {
                let pages = &mut self.pages;
                let index = *self.by_number.entry(page).or_insert_with(|| {
                    pages.push(Box::new([Word::EMPTY; PAGE as usize]));
                    pages.len() as u32 - 1
                });
                self.last = Some((page, index));
                index
            }
        };
        &mut self.pages[index as usize][word]
    }
}
