//! Reads and copies of bytes that nothing has written, by source position and allocation.

use std::collections::BTreeMap;

use warpline_format::event::{AllocationId, PathId, UninitialisedCopy, UninitialisedRead};

/// Maximum number of kept rows of each kind; further reads and copies are only counted.
const MOST_PLACES: usize = 10_000;

/// Identifies a row of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadKey {
    /// Number of the kernel.
    pub kernel: u32,
    /// Index into the site table's sites.
    pub site: u32,
    /// Row of the allocation; `None` for shared memory.
    pub allocation: Option<AllocationId>,
    /// Whether each lane also reads written bytes.
    pub partial: bool,
}

/// The reads of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadSum {
    /// The first read, with the counts of all launches.
    pub first: UninitialisedRead,
    /// Host call path of the first read's launch.
    pub path: PathId,
    /// Row of the allocation that previously occupied the memory.
    pub earlier: Option<AllocationId>,
}

/// Copies of one allocation by calls from one call path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedSum {
    /// The first copy, with the bytes of all.
    pub first: UninitialisedCopy,
    /// Row of the allocation that previously occupied the memory.
    pub earlier: Option<AllocationId>,
    /// Number of copies.
    pub copies: u64,
}

/// All results of the initialisation check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initialisation {
    /// Whether the run included the check.
    pub checked: bool,
    /// Reads.
    pub reads: BTreeMap<ReadKey, ReadSum>,
    /// Copies to the host, by row of the allocation and call path.
    pub copies: BTreeMap<(AllocationId, PathId), CopiedSum>,
    /// Number of rows beyond [`MOST_PLACES`].
    pub more: u64,
}

impl Initialisation {
    /// Adds the reads of a launch.
    pub(super) fn add_read(
        &mut self,
        key: ReadKey,
        read: UninitialisedRead,
        path: PathId,
        earlier: Option<AllocationId>,
    ) {
        if self.reads.len() >= MOST_PLACES && !self.reads.contains_key(&key) {
            self.more = self.more.saturating_add(1);
            return;
        }
        let fresh = ReadSum { first: UninitialisedRead { requests: 0, lanes: 0, ..read }, path, earlier };
        let sum = &mut self.reads.entry(key).or_insert(fresh).first;
        sum.requests = sum.requests.saturating_add(read.requests);
        sum.lanes = sum.lanes.saturating_add(read.lanes);
    }

    /// Adds a copy of an allocation, given by its row.
    pub(super) fn add_copy(&mut self, row: AllocationId, copy: UninitialisedCopy, earlier: Option<AllocationId>) {
        let key = (row, copy.path);
        if self.copies.len() >= MOST_PLACES && !self.copies.contains_key(&key) {
            self.more = self.more.saturating_add(1);
            return;
        }
        let first = UninitialisedCopy { bytes: 0, in_long_runs: 0, copied: 0, ..copy };
        let sum = self.copies.entry(key).or_insert(CopiedSum { first, earlier, copies: 0 });
        sum.copies += 1;
        sum.first.bytes = sum.first.bytes.saturating_add(copy.bytes);
        sum.first.in_long_runs = sum.first.in_long_runs.saturating_add(copy.in_long_runs);
        sum.first.copied = sum.first.copied.saturating_add(copy.copied);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_the_first_and_sum_the_rest() {
        let read = UninitialisedRead {
            launch: 3,
            site: 7,
            allocation: Some(1),
            earlier: None,
            partial: false,
            requests: 2,
            lanes: 40,
            block: 5,
            thread: 9,
            offset: 16,
            written: 64,
        };
        let key = ReadKey { kernel: 0, site: 7, allocation: Some(1), partial: false };
        let mut all = Initialisation::default();
        all.add_read(key, read, 4, None);
        all.add_read(key, UninitialisedRead { launch: 4, block: 0, lanes: u64::MAX, ..read }, 5, None);
        let sum = &all.reads[&key];
        assert_eq!((sum.first.launch, sum.first.block, sum.path), (3, 5, 4));
        assert_eq!((sum.first.requests, sum.first.lanes), (4, u64::MAX));
    }

    #[test]
    fn a_hostile_number_of_places_is_bounded() {
        let copy = UninitialisedCopy {
            allocation: 1,
            earlier: None,
            bytes: 8,
            in_long_runs: 8,
            copied: 16,
            offset: 0,
            path: 0,
        };
        let mut all = Initialisation::default();
        for path in 0..MOST_PLACES as u32 + 5 {
            all.add_copy(1, UninitialisedCopy { path, ..copy }, None);
        }
        assert_eq!((all.copies.len(), all.more), (MOST_PLACES, 5));
    }
}
