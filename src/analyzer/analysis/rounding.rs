//! Elements of allocations that the run rounded to a smaller type.

use std::collections::BTreeMap;

use warpline_format::event::{AllocationId, PathId};
use warpline_format::operation::FloatFormat;
use warpline_format::rounding::{ComparedCopy, Differences, RoundedType, RoundingErrors};
use warpline_format::values::Element;

/// Maximum number of kept rows, and of kept sites with other accesses.
const MOST_ROWS: usize = 10_000;

/// What wrote elements that were rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RoundedWriter {
    /// A site of a kernel (index into the site table's sites).
    Site(u32, u32),
    /// A kernel whose stores have no hooks.
    Kernel(u32),
    /// Copies from one call path.
    Copy(PathId),
    /// Fills from one call path.
    Fill(PathId),
    /// The host, without a call.
    Host,
}

/// Copies of one allocation on one call path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComparedSum {
    /// Number of copies.
    pub copies: u64,
    /// Element of the first copy.
    pub element: Element,
    /// Differences of all copies.
    pub differences: Differences,
}

/// All roundings of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roundings {
    /// Format of the elements and type to which they are rounded, by row of allocations.
    pub allocations: BTreeMap<AllocationId, (FloatFormat, RoundedType)>,
    /// Errors by row of allocations and writer.
    pub errors: BTreeMap<(AllocationId, RoundedWriter), RoundingErrors>,
    /// Accesses to other elements of these allocations: row of the allocation, kernel and site.
    pub others: Vec<(AllocationId, u32, u32)>,
    /// Numbers of the rounded allocations in the trace, with the bytes of an element before and after.
    pub sizes: BTreeMap<AllocationId, (u32, u32)>,
    /// Copies to the host that were compared with a run without rounding, by row of allocations and call path.
    pub results: BTreeMap<(AllocationId, PathId), ComparedSum>,
    /// Number of events beyond [`MOST_ROWS`].
    pub more: u64,
}

impl Roundings {
    /// Adds an allocation whose elements are rounded; `row` is its row.
    pub(super) fn add_allocation(&mut self, id: AllocationId, row: AllocationId, from: FloatFormat, to: RoundedType) {
        if self.sizes.len() >= MOST_ROWS {
            self.more = self.more.saturating_add(1);
            return;
        }
        self.sizes.insert(id, (from.bits() / 8, to.bytes()));
        self.allocations.entry(row).or_insert((from, to));
    }

    /// Adds rounded elements of an allocation's row.
    pub(super) fn add(&mut self, row: AllocationId, writer: RoundedWriter, errors: &RoundingErrors) {
        let key = (row, writer);
        if self.errors.len() >= MOST_ROWS && !self.errors.contains_key(&key) {
            self.more = self.more.saturating_add(1);
            return;
        }
        self.errors.entry(key).or_default().add(errors);
    }

    /// Adds a compared copy of an allocation's row.
    pub(super) fn add_result(&mut self, row: AllocationId, copy: &ComparedCopy) {
        let key = (row, copy.path);
        if self.results.len() >= MOST_ROWS && !self.results.contains_key(&key) {
            self.more = self.more.saturating_add(1);
            return;
        }
        let sum = self.results.entry(key).or_insert(ComparedSum { element: copy.element, ..ComparedSum::default() });
        sum.copies += 1;
        sum.differences.add(&copy.differences);
    }

    /// Adds an access to other elements.
    pub(super) fn add_other(&mut self, row: AllocationId, kernel: u32, site: u32) {
        let other = (row, kernel, site);
        if self.others.len() < MOST_ROWS && !self.others.contains(&other) {
            self.others.push(other);
        }
    }
}
