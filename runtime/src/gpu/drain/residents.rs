//! Which block sits in which place of an SM, found from the records alone: a block takes a place with its first
//! record and leaves it when all its threads have left the kernel. A GPU starts no block on an SM before another's
//! last warp is gone, and a ring keeps the order of its SM, so the places suffice.

/// A block in a place.
#[derive(Clone, Copy, Debug)]
struct Resident {
    block: u64,
    /// Threads that have not left the kernel.
    threads: u32,
    /// When it last sent a record.
    used: u64,
}

/// The places of one SM for one launch.
#[derive(Clone, Debug)]
pub struct Places {
    places: Vec<Option<Resident>>,
    threads: u32,
    last: usize,
    time: u64,
    /// Blocks that were pushed out although they had not ended: their later records start them anew.
    pub evicted: u64,
}

impl Places {
    /// `resident` places for blocks of `threads` threads.
    pub fn new(resident: u32, threads: u32) -> Places {
        Places { places: vec![None; resident.max(1) as usize], threads, last: 0, time: 0, evicted: 0 }
    }

    /// The place of a block, and whether it has just taken it.
    #[inline]
    pub fn of(&mut self, block: u64) -> (u32, bool) {
        self.time += 1;
        if let Some(resident) = &mut self.places[self.last]
            && resident.block == block
        {
            resident.used = self.time;
            return (self.last as u32, false);
        }
        self.search(block)
    }

    fn search(&mut self, block: u64) -> (u32, bool) {
        let known = self.places.iter().position(|place| place.is_some_and(|resident| resident.block == block));
        if let Some(place) = known {
            if let Some(resident) = &mut self.places[place] {
                resident.used = self.time;
            }
            self.last = place;
            return (place as u32, false);
        }
        let free = self.places.iter().position(Option::is_none).unwrap_or_else(|| {
            self.evicted += 1;
            let oldest = self.places.iter().enumerate().min_by_key(|(_, place)| place.map(|resident| resident.used));
            oldest.map_or(0, |(place, _)| place)
        });
        self.places[free] = Some(Resident { block, threads: self.threads, used: self.time });
        self.last = free;
        (free as u32, true)
    }

    /// Lanes of a block leave the kernel.
    pub fn leave(&mut self, place: u32, lanes: u32) {
        let entry = &mut self.places[place as usize];
        if let Some(resident) = entry {
            resident.threads = resident.threads.saturating_sub(lanes);
            if resident.threads == 0 {
                *entry = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_when_all_threads_have_left() {
        let mut places = Places::new(2, 64);
        assert_eq!(places.of(10), (0, true));
        assert_eq!(places.of(11), (1, true));
        assert_eq!(places.of(10), (0, false));
        places.leave(0, 32);
        assert_eq!(places.of(10), (0, false));
        places.leave(0, 16);
        places.leave(0, 16);
        assert_eq!(places.of(12), (0, true));
        assert_eq!(places.of(11), (1, false));
        assert_eq!(places.evicted, 0);
    }

    #[test]
    fn without_an_end_the_block_silent_for_longest_goes() {
        let mut places = Places::new(2, 32);
        places.of(1);
        places.of(2);
        places.of(1);
        assert_eq!(places.of(3), (1, true));
        assert_eq!(places.of(1), (0, false));
        assert_eq!(places.evicted, 1);
    }
}
