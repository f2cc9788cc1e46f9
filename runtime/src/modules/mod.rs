//! Modules of device code, as the program registers or loads them.

pub mod module;
pub(crate) mod names;
pub(crate) mod variables;
