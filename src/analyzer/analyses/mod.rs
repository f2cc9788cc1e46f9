//! Independent analyses of requests, a file or folder each, in one [`list`]. What they find reaches the profile
//! as a [`Table`] of each kernel, which every format shows.
//!
//! [`widths`] is the pattern to follow for a new one.

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
