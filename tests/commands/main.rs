//! The command line: what each command prints, writes and returns.

mod brief;
mod cases;
mod ci;
mod cli;
mod comparison;
mod comparison_programs;
#[cfg(feature = "parquet")]
mod dataset;
mod documentation;
mod explore;
mod gate;
#[cfg(feature = "mcp")]
mod mcp;
mod merging;
mod merging_ranks;
mod pages;
mod report;
mod store;
mod top;

#[path = "../support/page.rs"]
mod page;
#[path = "../recordings/mod.rs"]
mod recordings;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support_programs/mod.rs"]
mod support_programs;
