//! What optimisers and the NVPTX back end make of memory accesses, done before hooks are put in.

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
