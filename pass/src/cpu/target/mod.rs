//! The lowered module: variables and functions, tables that the runtime reads, helpers, optimisation.

pub(super) mod checked;
pub(super) mod descriptor;
pub(super) mod helpers;
pub(crate) mod hooked;
pub(super) mod movers;
pub(super) mod optimize;
pub(super) mod prepare;
pub(super) mod reach;
pub(super) mod runtime;
pub(super) mod shared;
pub(super) mod types;
pub(super) mod unit;
pub(super) mod vectors;
