//! Tensor-core operations: the meaning of their names, and where in a matrix each lane's part of a fragment lies.
//!
//! The layouts of `mma.sync` and `ldmatrix` are those of the PTX ISA (sections 9.7.14.5 and 9.7.14.5.15 of version
//! 8.5). NVIDIA leaves the layout of `wmma` fragments open and lets programs use them element by element only; here a
//! fragment is made of the tiles of `mma.sync` that its product is made of.

mod fragment;
mod operation;

pub use fragment::{Fragment, FragmentAccess, Linear, Role, Steps};
pub use operation::{Multiply, Rows, Transfer};
