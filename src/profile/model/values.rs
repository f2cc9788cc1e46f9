//! Values that accesses move (`--values`).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::frames::Frame;

/// Different values that are listed, at most.
const MOST_DISTINCT: usize = 16;

/// Values of elements of one type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValueSet {
    /// `int8` to `int64`, `half`, `bfloat16`, `float` or `double`; empty where elements of several types, or of a type that is not
    /// known, are moved.
    pub element: String,
    /// Bytes of an element; 0 where the type is not known.
    pub element_bytes: u32,
    /// Number of values.
    pub count: u64,
    /// Number of zeros.
    pub zeros: u64,
    /// The different values, in decimal, if there are at most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distinct: Vec<String>,
    /// Narrower types that hold all of them, the narrowest first, as `int8_t` or `__half`.
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

/// What one access moved from or to one allocation.
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
    /// Variable in shared memory, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Allocation.
    pub allocation: Option<u64>,
    /// Launches in which it was executed.
    pub launches: u64,
    /// Stores and atomic operations: launches in which no lane changes a byte.
    pub silent_launches: u64,
    /// Executions by a warp.
    pub requests: u64,
    /// Active lanes, summed over requests.
    pub lanes: u64,
    /// Requests of lanes with different addresses whose values are equal.
    pub uniform_requests: u64,
    /// Stores and atomic operations: requests that change no byte.
    pub silent_requests: u64,
    /// Lanes that change no byte, of bytes that were written before.
    pub silent_lanes: u64,
    /// Values that loads read, and that stores and atomic operations leave.
    pub values: ValueSet,
}

/// What all accesses moved from and to one allocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AllocationValues {
    /// Allocation.
    pub allocation: u64,
    /// Values that accesses read or left there.
    pub values: ValueSet,
    /// Aligned blocks of 32 bytes at the ends of launches 1, 2, 4, 8 and so on that use it.
    pub sectors: u64,
    /// Those that hold zeros only.
    pub zero_sectors: u64,
    /// Aligned blocks of 128 bytes.
    pub lines: u64,
    /// Those that hold zeros only.
    pub zero_lines: u64,
}

impl AccessValues {
    /// Sorts rows by what they are about.
    pub fn sort(rows: &mut [AccessValues]) {
        rows.sort_by(AccessValues::order);
    }

    /// Returns whether both are the same access to the same allocation.
    pub fn is_like(&self, other: &AccessValues) -> bool {
        self.order(other).is_eq()
    }

    /// Adds what a copy of the access did in the same launches.
    pub fn add_copy(&mut self, more: &AccessValues) {
        let launches = self.launches.max(more.launches);
        let silent = self.silent_launches.min(more.silent_launches);
        self.add(more);
        (self.launches, self.silent_launches) = (launches, silent);
    }

    /// Adds what the access did in another run.
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
    /// Adds another run's.
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
