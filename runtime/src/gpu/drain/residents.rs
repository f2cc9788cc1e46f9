//! Determines from the records alone which block occupies which block slot of an SM. A block takes a slot with its
//! first record and leaves it when all its threads have left the kernel. An SM frees a warp's registers when the warp
//! ends, so a block may begin while the last warps of another block still run (measured on an H100: 20 of the 1024
//! blocks of a vector addition). For a moment, there are more blocks than slots, and the new block waits for a slot
//! here.

/// A block in a slot.
#[derive(Clone, Copy, Debug)]
struct Resident {
    block: u64,
    /// The number of threads that have not left the kernel.
    threads: u32,
}

/// The block slots of one SM for one launch.
#[derive(Clone, Debug)]
pub struct Places {
    places: Vec<Option<Resident>>,
    threads: u32,
    last: usize,
    /// The number of blocks that were evicted before they ended; their later records start them again.
    pub evicted: u64,
}

impl Places {
    /// Creates `resident` slots for blocks of `threads` threads.
    pub fn new(resident: u32, threads: u32) -> Places {
        Places { places: vec![None; resident.max(1) as usize], threads, last: 0, evicted: 0 }
    }

    /// Returns the slot of a block, and whether the block has just taken it; returns `None` if other blocks occupy all
    /// slots.
    #[inline]
    pub fn place(&mut self, block: u64) -> Option<(u32, bool)> {
        if self.places[self.last].is_some_and(|resident| resident.block == block) {
            return Some((self.last as u32, false));
        }
        self.search(block)
    }

    fn search(&mut self, block: u64) -> Option<(u32, bool)> {
        let known = self.places.iter().position(|place| place.is_some_and(|resident| resident.block == block));
        if let Some(place) = known {
            self.last = place;
            return Some((place as u32, false));
        }
        let free = self.places.iter().position(Option::is_none)?;
        self.places[free] = Some(Resident { block, threads: self.threads });
        self.last = free;
        Some((free as u32, true))
    }

    /// Records that lanes of a block leave the kernel; returns whether this frees the block's slot.
    pub fn leave(&mut self, place: u32, lanes: u32) -> bool {
        let entry = &mut self.places[place as usize];
        if let Some(resident) = entry {
            resident.threads = resident.threads.saturating_sub(lanes);
            if resident.threads == 0 {
                *entry = None;
            }
        }
        entry.is_none()
    }

    /// Frees the slot of the block with the fewest remaining threads.
    pub fn evict(&mut self) {
        let left = |place: &Option<Resident>| place.map_or(u32::MAX, |resident| resident.threads);
        if let Some(place) = self.places.iter_mut().min_by_key(|place| left(place)) {
            self.evicted += u64::from(place.take().is_some());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_when_all_threads_have_left() {
        let mut places = Places::new(2, 64);
        assert_eq!(places.place(10), Some((0, true)));
        assert_eq!(places.place(11), Some((1, true)));
        assert_eq!(places.place(10), Some((0, false)));
        assert!(!places.leave(0, 32));
        assert_eq!(places.place(10), Some((0, false)));
        assert!(!places.leave(0, 16));
        assert!(places.leave(0, 16));
        assert_eq!(places.place(12), Some((0, true)));
        assert_eq!(places.place(11), Some((1, false)));
        assert_eq!(places.evicted, 0);
    }

    #[test]
    fn a_block_that_finds_no_place_waits_or_pushes_out_the_one_nearest_its_end() {
        let mut places = Places::new(2, 64);
        places.place(1);
        places.place(2);
        places.leave(1, 32);
        assert_eq!(places.place(3), None);
        assert_eq!(places.place(2), Some((1, false)));
        places.evict();
        assert_eq!(places.place(3), Some((1, true)));
        assert_eq!(places.place(1), Some((0, false)));
        assert_eq!(places.evicted, 1);
    }
}
