//! Modules of device code that the program registers or loads.

mod completion;
pub mod configuration;
pub mod loaded;
pub mod module;
pub(crate) mod names;
pub mod reported;
pub(crate) mod variables;
