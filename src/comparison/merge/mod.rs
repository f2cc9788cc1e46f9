//! Merges profiles of one program: of its processes, ranks or runs.
//!
//! Rows are identified by keys (kernels by module and mangled name, sites and lines by source position, allocations by
//! name, kind, call path and size) and get new numbers. Counts are added, and ratios are computed again. Data that
//! cannot be merged without further information is omitted, and a note reports it.
//!
//! All sums are sums of integers, and the numbers and the order of rows follow from their keys. The result therefore
//! does not depend on the order of profiles or on the parts in which they are merged, and a merged profile can be
//! merged again.

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
