//! Damaged and hostile input: refused with a message, without a panic.
#![allow(clippy::duplicate_mod, clippy::module_inception, reason = "fuzz targets and tests share their entries")]

mod documents;
mod files;
mod names;
mod random;
mod trace;

#[path = "../support/mod.rs"]
mod support;
#[path = "../support_programs/mod.rs"]
mod support_programs;
