//! Tensor-core operations: the meaning of their names, and the position of each lane's part of a fragment in the
//! matrix.
//!
//! The layouts of `mma.sync` and `ldmatrix` are those of the PTX ISA (sections 9.7.14.5 and 9.7.14.5.15 of version
//! 8.5). NVIDIA does not define the layout of `wmma` fragments and only lets programs use them element by element. Here
//! a fragment consists of the `mma.sync` tiles of which its product consists.

mod fragment;
mod operation;

pub use fragment::{Fragment, FragmentAccess, Linear, Role, Steps};
pub use operation::{Multiply, Rows, Transfer};
