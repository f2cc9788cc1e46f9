//! Values that accesses transfer (`--values`).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::frames::Frame;

/// Maximum number of listed distinct values.
const MOST_DISTINCT: usize = 16;

/// Values of elements of one type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValueSet {
    /// `int8` to `int64`, `half`, `bfloat16`, `float` or `double`; empty if elements of several types or of an unknown
    /// type are transferred.
    pub element: String,
    /// Bytes of an element; 0 if the type is unknown.
    pub element_bytes: u32,
    /// Number of values.
    pub count: u64,
    /// Number of zeros.
    pub zeros: u64,
    /// The distinct values as decimal numbers, if there are at most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distinct: Vec<String>,
    /// Narrower types that can represent all values, the narrowest first, for example `int8_t` or `__half`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fits: Vec<String>,
}

impl ValueSet {
    /// Adds the values of another run.
    fn add(&mut self, more: &ValueSet) {
        if self.count == 0 || more.count == 0 {
            if self.count == 0 {
                *self = more.clone();
            }
            return;
        }
        self.count = self.count.saturating_add(more.count);
        self.zeros = self.zeros.saturating_add(more.zeros);
        let comparable = self.element == more.element;
        self.fits.retain(|name| comparable && more.fits.contains(name));
        let known = comparable && !self.distinct.is_empty() && !more.distinct.is_empty();
        let new = more.distinct.iter().filter(|value| !self.distinct.contains(value)).cloned();
        let new: Vec<String> = new.collect();
        self.distinct.extend(new);
        if !known || self.distinct.len() > MOST_DISTINCT {
            self.distinct.clear();
        }
        if !comparable {
            (self.element, self.element_bytes) = (String::new(), 0);
        }
    }
}

/// Values that one access transferred from or to one allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AccessValues {
    /// Kernel.
    pub kernel: u32,
    /// User frame.
    pub frame: Frame,
    /// `load`, `store` or `atomic`.
    pub op: String,
    /// Bytes per lane.
    pub bytes: u32,
    /// `global` or `shared`.
    pub space: String,
    /// Variable in shared memory, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Allocation.
    pub allocation: Option<u64>,
    /// Number of launches in which it was executed.
    pub launches: u64,
    /// For stores and atomic operations: number of launches in which no lane changed a byte.
    pub silent_launches: u64,
    /// Executions by warps.
    pub requests: u64,
    /// Active lanes, summed over requests.
    pub lanes: u64,
    /// Number of requests in which lanes with different addresses have equal values.
    pub uniform_requests: u64,
    /// For stores and atomic operations: number of requests that change no byte.
    pub silent_requests: u64,
    /// Number of lanes that change no byte, among bytes that were written before.
    pub silent_lanes: u64,
    /// Values that loads read, and values in memory after stores and atomic operations.
    pub values: ValueSet,
}

/// Values that all accesses transferred from and to one allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AllocationValues {
    /// Allocation.
    pub allocation: u64,
    /// Values that accesses read or left in memory.
    pub values: ValueSet,
    /// Number of aligned blocks of 32 bytes, counted at the ends of launches 1, 2, 4, 8 and so on that use the
    /// allocation.
    pub sectors: u64,
    /// Number of these that contain only zeros.
    pub zero_sectors: u64,
    /// Number of aligned blocks of 128 bytes.
    pub lines: u64,
    /// Number of these that contain only zeros.
    pub zero_lines: u64,
}

impl AccessValues {
    /// Sorts rows by their subjects.
    pub fn sort(rows: &mut [AccessValues]) {
        rows.sort_by(AccessValues::order);
    }

    /// Returns whether both rows describe the same access to the same allocation.
    pub fn is_like(&self, other: &AccessValues) -> bool {
        self.order(other).is_eq()
    }

    /// Adds the values of a copy of the access in the same launches.
    pub fn add_copy(&mut self, more: &AccessValues) {
        let launches = self.launches.max(more.launches);
        let silent = self.silent_launches.min(more.silent_launches);
        self.add(more);
        (self.launches, self.silent_launches) = (launches, silent);
    }

    /// Adds the values of the access in another run.
    pub fn add(&mut self, more: &AccessValues) {
        for (sum, more) in [
            (&mut self.launches, more.launches),
            (&mut self.silent_launches, more.silent_launches),
            (&mut self.requests, more.requests),
            (&mut self.lanes, more.lanes),
            (&mut self.uniform_requests, more.uniform_requests),
            (&mut self.silent_requests, more.silent_requests),
            (&mut self.silent_lanes, more.silent_lanes),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.values.add(&more.values);
    }

    fn order(&self, other: &AccessValues) -> Ordering {
        let [one, other] = [self, other].map(|row| {
            let place = (row.kernel, &row.frame, &row.op, row.bytes);
            (place, &row.space, &row.variable, row.allocation)
        });
        one.cmp(&other)
    }
}

impl AllocationValues {
    /// Adds the values of another run.
    pub fn add(&mut self, more: &AllocationValues) {
        for (sum, more) in [
            (&mut self.sectors, more.sectors),
            (&mut self.zero_sectors, more.zero_sectors),
            (&mut self.lines, more.lines),
            (&mut self.zero_lines, more.zero_lines),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.values.add(&more.values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(distinct: &[&str], fits: &[&str]) -> ValueSet {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ValueSet {
            element: "int32".to_owned(),
            element_bytes: 4,
            count: 10,
            zeros: 1,
            distinct: owned(distinct),
            fits: owned(fits),
        }
    }

    #[test]
    fn only_what_holds_in_all_runs_remains() {
        let mut sum = ValueSet::default();
        sum.add(&set(&["0", "1"], &["int8_t", "int16_t"]));
        sum.add(&set(&["1", "300"], &["int16_t"]));
        assert_eq!((sum.count, sum.zeros), (20, 2));
        assert_eq!((sum.distinct.join(" "), sum.fits.join(" ")), ("0 1 300".to_owned(), "int16_t".to_owned()));
        sum.add(&set(&[], &["int16_t"]));
        assert!(sum.distinct.is_empty());
        sum.add(&ValueSet { element: "float".to_owned(), ..set(&["1"], &["int16_t"]) });
        assert!(sum.element.is_empty() && sum.fits.is_empty() && sum.distinct.is_empty());
    }
}
