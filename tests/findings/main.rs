//! Findings: planted problems and their fixed twins, what reports do with findings, and cases of public programs that
//! were judged.

mod judged;
#[path = "../support/page.rs"]
mod page;
mod planted;
mod planted_program;
mod recorded;
mod reports;
#[path = "../support_programs/mod.rs"]
mod support_programs;
