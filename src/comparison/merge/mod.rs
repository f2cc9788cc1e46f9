//! Profiles of one program put together: of its processes, ranks or runs.
//!
//! Rows are known by what they are (kernels by module and mangled name, sites and lines by place, allocations by name,
//! kind, call path and size) and get new numbers. Counts are sums, ratios are taken anew. What cannot be put together
//! without more information than the profiles contain is left out, and a note reports it.
//!
//! Every sum is of whole numbers, and the numbers and the order of rows follow from what they are. So neither the order
//! in which profiles are taken nor the parts in which they are merged matter, and a merged profile can be merged again.

mod error;
mod files;
mod ids;
mod merged;
mod merger;
mod order;
mod over;
mod ranges;
mod run;
mod settle;
mod sums;
mod taking;
mod together;

pub use error::MergeError;
pub use files::{Files, FilesError, of_files};
pub use merger::Merger;
pub use sums::metrics::add_with_means;
pub use together::merge;
