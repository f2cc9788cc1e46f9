//! The programs and files that the driver uses, and how it runs the programs.

pub mod embedded;
pub(crate) mod libraries;
pub mod linker;
pub mod toolkit;
pub mod tools;
