//! Selection and display of GPU models.

pub(super) mod chosen;
pub(super) mod default_model;
pub(super) mod gpus;
