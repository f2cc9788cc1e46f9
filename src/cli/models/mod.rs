//! GPU models: which one, and what they are.

pub(super) mod chosen;
pub(super) mod default_model;
pub(super) mod gpus;
