//! Independent analyses of requests, one file or folder each, registered in [`list`]. Their results are stored in the
//! profile as a [`Table`] per kernel, which every output format shows.
//!
//! Use [`widths`] as the template for a new analysis.

mod list;
mod operations;
pub mod pages;
mod shards;
mod sum;
mod table;
mod widths;

pub use list::all;
pub use shards::{ByLaunch, Listed, Tools};
pub use sum::{Sum, Sums};
pub use table::{Column, Merged, Table, Value};
