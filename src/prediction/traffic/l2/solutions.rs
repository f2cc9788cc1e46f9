//! Finds the index values with which an affine address lies in a line.
//!
//! Indices are processed in descending order of the absolute value of their factors. For each index, the solver tries
//! the values with which the remaining indices can still reach the line. If a block's index continues a thread's index,
//! as in `blockIdx.x * blockDim.x + threadIdx.x`, both are treated as one. Rows and planes of an array leave one value
//! at each step, so the cost is one division per dimension. Accesses whose addresses differ by whole rows, planes and
//! elements, such as a stencil's, are solved together: the values of one access are the shifted values of another.

/// Values for which an address lies in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solution {
    /// First and last value of the direction that corresponds to lanes.
    pub(super) ends: (i64, i64),
    /// Start of the access within the line, given the values of the other directions.
    pub(super) byte: i64,
}

/// All solutions for a line.
#[derive(Debug, Default)]
pub(super) struct Solutions {
    /// Number of directions without the direction that corresponds to lanes.
    pub(super) width: usize,
    /// Indexed by solution and direction.
    pub(super) values: Vec<i64>,
    pub(super) found: Vec<Solution>,
}

impl Solutions {
    /// Returns each solution with the values of all directions except the one that corresponds to lanes.
    pub(super) fn all(&self) -> impl Iterator<Item = (&[i64], &Solution)> {
        self.found.iter().enumerate().map(|(number, one)| (&self.values[number * self.width..][..self.width], one))
    }
}
