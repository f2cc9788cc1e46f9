//! Modules of device code, as the program registers or loads them.

pub mod configuration;
pub mod loaded;
pub mod module;
pub(crate) mod names;
pub mod reported;
pub(crate) mod variables;
