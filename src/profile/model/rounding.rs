//! Allocations whose elements the run rounded to a smaller type (`--what-if-type`).

use serde::{Deserialize, Serialize};

use super::frames::Frame;

/// An element before it was rounded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundedElement {
    /// Index of the element in the allocation.
    pub element: u64,
    /// Value of the element.
    pub value: f64,
    /// Launch that stored it; absent for copies, fills and the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<u64>,
}

/// Errors of rounded elements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundingErrors {
    /// Number of rounded elements.
    pub elements: u64,
    /// Number of these that the type cannot represent exactly.
    pub inexact: u64,
    /// Number of these that exceed the range of the type.
    pub overflows: u64,
    /// Number of values that are not zero and become zero.
    pub zeros: u64,
    /// Number of values that become subnormal.
    pub subnormals: u64,
    /// Largest relative error, without overflows.
    pub largest_error: f64,
    /// Mean relative error, without overflows.
    pub mean_error: f64,
    /// Sum of the relative errors, without overflows.
    pub error_sum: f64,
    /// The first element with the largest relative error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<RoundedElement>,
    /// The first element that exceeds the range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_overflow: Option<RoundedElement>,
    /// The first element that becomes zero or subnormal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_underflow: Option<RoundedElement>,
}

/// Errors of the elements that one writer wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundedWrites {
    /// `store` (also atomic operations), `kernel` (stores without hooks), `copy`, `fill`, or `host` (without a call, or
    /// initial values).
    pub writer: String,
    /// Kernel of a store.
    pub kernel: Option<u32>,
    /// User frame of a store.
    pub frame: Frame,
    /// Host call path of a copy or fill.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Frame>,
    /// Errors.
    pub errors: RoundingErrors,
}

/// An access that does not use the elements of the allocation. What it stores is not rounded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnroundedAccess {
    /// Kernel.
    pub kernel: u32,
    /// User frame.
    pub frame: Frame,
    /// `load`, `store` or `atomic`.
    pub op: String,
    /// Type of its elements; empty if it is unknown.
    pub element: String,
}

/// An allocation whose elements were rounded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundedAllocation {
    /// Allocation.
    pub allocation: u64,
    /// Type of the elements in the program; empty if no access with this type was executed.
    pub from: String,
    /// Type to which they were rounded; empty if none was.
    pub to: String,
    /// Errors of all elements.
    pub errors: RoundingErrors,
    /// Errors by writer: stores by line, then copies, fills and the host.
    pub writes: Vec<RoundedWrites>,
    /// Accesses to other elements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_accesses: Vec<UnroundedAccess>,
}

/// Copies to the host, compared with a run without rounding (`--what-if-results`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparedResult {
    /// Allocation.
    pub allocation: u64,
    /// Host call path of the copies.
    pub path: Vec<Frame>,
    /// Number of copies.
    pub copies: u64,
    /// Type of the compared elements; `int8` also for bytes of unknown type.
    pub element: String,
    /// Number of compared elements.
    pub elements: u64,
    /// Number of these that differ.
    pub different: u64,
    /// Number of these that are infinite or not a number in one of the runs.
    pub not_finite: u64,
    /// Number of these that are zero without rounding; they have no relative difference.
    pub from_zero: u64,
    /// Largest relative difference.
    pub largest_difference: f64,
    /// Mean relative difference.
    pub mean_difference: f64,
    /// Sum of the relative differences.
    pub difference_sum: f64,
    /// The first element with the largest relative difference, with its value without rounding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<RoundedElement>,
}

impl ComparedResult {
    /// Returns whether both rows describe the same copies.
    pub fn is_like(&self, other: &ComparedResult) -> bool {
        (self.allocation, &self.path, &self.element) == (other.allocation, &other.path, &other.element)
    }

    /// Adds the copies of another run.
    pub fn add(&mut self, more: &ComparedResult) {
        for (sum, more) in [
            (&mut self.copies, more.copies),
            (&mut self.elements, more.elements),
            (&mut self.different, more.different),
            (&mut self.not_finite, more.not_finite),
            (&mut self.from_zero, more.from_zero),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.difference_sum += more.difference_sum;
        if more.largest_difference > self.largest_difference {
            (self.largest_difference, self.worst) = (more.largest_difference, more.worst.clone());
        }
        self.set_mean();
    }

    /// Computes the mean from the sum.
    pub fn set_mean(&mut self) {
        let counted = self.elements.saturating_sub(self.not_finite).saturating_sub(self.from_zero);
        self.mean_difference = if counted == 0 { 0.0 } else { self.difference_sum / counted as f64 };
    }

    /// Sorts rows by their subjects.
    pub fn sort(rows: &mut [ComparedResult]) {
        rows.sort_by_cached_key(|row| (row.allocation, row.path.clone(), row.element.clone()));
    }
}

impl RoundingErrors {
    /// Adds the errors of later elements.
    pub fn add(&mut self, more: &RoundingErrors) {
        for (sum, more) in [
            (&mut self.elements, more.elements),
            (&mut self.inexact, more.inexact),
            (&mut self.overflows, more.overflows),
            (&mut self.zeros, more.zeros),
            (&mut self.subnormals, more.subnormals),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.error_sum += more.error_sum;
        if more.largest_error > self.largest_error {
            (self.largest_error, self.worst) = (more.largest_error, more.worst.clone());
        }
        let keep = |first: &mut Option<RoundedElement>, later: &Option<RoundedElement>| {
            if first.is_none() {
                first.clone_from(later);
            }
        };
        keep(&mut self.first_overflow, &more.first_overflow);
        keep(&mut self.first_underflow, &more.first_underflow);
        self.set_mean();
    }

    /// Computes the mean from the sum.
    pub fn set_mean(&mut self) {
        let counted = self.elements.saturating_sub(self.overflows);
        self.mean_error = if counted == 0 { 0.0 } else { self.error_sum / counted as f64 };
    }
}

impl RoundedWrites {
    /// Returns whether both rows describe the same writer.
    pub fn is_like(&self, other: &RoundedWrites) -> bool {
        let place = |row: &RoundedWrites| (row.kernel, row.frame.clone(), row.path.clone());
        self.writer == other.writer && place(self) == place(other)
    }

    fn key(&self) -> (usize, Option<u32>, Frame, Vec<Frame>) {
        let order = ["store", "kernel", "copy", "fill", "host"].iter().position(|known| *known == self.writer);
        (order.unwrap_or(usize::MAX), self.kernel, self.frame.clone(), self.path.clone())
    }
}

impl RoundedAllocation {
    /// Adds the elements of one writer.
    pub fn add_writes(&mut self, more: RoundedWrites) {
        self.errors.add(&more.errors);
        match self.writes.iter_mut().find(|known| known.is_like(&more)) {
            Some(known) => known.errors.add(&more.errors),
            None => self.writes.push(more),
        }
    }

    /// Adds an access to other elements, unless it is known.
    pub fn add_other(&mut self, other: UnroundedAccess) {
        if !self.other_accesses.contains(&other) {
            self.other_accesses.push(other);
        }
    }

    /// Adds the same allocation of another run. Its rows already have the numbers of this profile.
    pub fn add(&mut self, more: RoundedAllocation) {
        if self.from.is_empty() {
            (self.from, self.to) = (more.from, more.to);
        }
        more.writes.into_iter().for_each(|row| self.add_writes(row));
        more.other_accesses.into_iter().for_each(|other| self.add_other(other));
    }

    /// Sorts rows by their subjects.
    pub fn sort(rows: &mut [RoundedAllocation]) {
        rows.sort_by_key(|row| row.allocation);
        for row in rows {
            row.writes.sort_by_cached_key(RoundedWrites::key);
            row.other_accesses.sort_by_cached_key(|other| (other.kernel, other.frame.clone(), other.op.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_runs_are_added() {
        let element = |element| Some(RoundedElement { element, value: 1.5, launch: None });
        let one = RoundingErrors {
            elements: 10,
            overflows: 2,
            largest_error: 0.5,
            error_sum: 0.8,
            worst: element(1),
            ..RoundingErrors::default()
        };
        let other =
            RoundingErrors { largest_error: 0.25, worst: element(2), first_overflow: element(3), ..one.clone() };
        let mut row = RoundedAllocation::default();
        let writes = |writer: &str, errors: &RoundingErrors| RoundedWrites {
            writer: writer.to_owned(),
            errors: errors.clone(),
            ..RoundedWrites::default()
        };
        row.add_writes(writes("copy", &one));
        let mut twice = row.clone();
        twice.add_writes(writes("store", &other));
        row.add(twice);
        assert_eq!((row.errors.elements, row.errors.overflows, row.errors.worst.clone()), (30, 6, element(1)));
        assert_eq!(
            (row.errors.mean_error, row.errors.first_overflow.clone()),
            (row.errors.error_sum / 24.0, element(3))
        );
        RoundedAllocation::sort(std::slice::from_mut(&mut row));
        let counts: Vec<(&str, u64)> =
            row.writes.iter().map(|row| (row.writer.as_str(), row.errors.elements)).collect();
        assert_eq!(counts, [("store", 10), ("copy", 20)]);
    }
}
