//! With which values of its indices an affine address lies in a line.
//!
//! Indices are taken by falling size of their factors; of each, the values are tried with which those after it can still reach the line. Where a block's
//! index continues from a thread's, as in `blockIdx.x * blockDim.x + threadIdx.x`, both are one. Rows and planes of an array leave one value at each step, so what
//! it takes is a division for each dimension. Accesses whose addresses differ by whole rows, planes and elements, as a stencil's do, are solved together: the
//! values of one are those of another one, shifted.

/// Values with which an address lies in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solution {
    /// First and last value of the direction whose values are lanes.
    pub(super) ends: (i64, i64),
    /// Where in the line the access begins with the values of the others.
    pub(super) byte: i64,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Solutions {
    /// Directions but for that whose values are lanes.
    pub(super) width: usize,
    /// Indexed by solution and direction.
    pub(super) values: Vec<i64>,
    pub(super) found: Vec<Solution>,
}

impl Solutions {
    /// Values of the directions but for that whose values are lanes, and the rest.
    pub(super) fn all(&self) -> impl Iterator<Item = (&[i64], &Solution)> {
        self.found.iter().enumerate().map(|(number, one)| (&self.values[number * self.width..][..self.width], one))
    }
}
