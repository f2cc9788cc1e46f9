//! Modules of device code, as the program registers or loads them.

pub mod configuration;
pub mod loaded;
pub mod module;
pub(crate) mod names;
pub mod told;
pub(crate) mod variables;
