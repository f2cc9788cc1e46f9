//! The changes that optimisers and the NVPTX back end make to memory accesses, performed before hooks are inserted.

mod convergence;
pub(super) mod copies;
pub(super) mod inline;
mod locals;
pub(super) mod memory;
mod null;
pub(super) mod optimize;
pub(super) mod prepare;
mod shuffles;
pub(super) mod split;
pub(super) mod stray;
mod undefined;
