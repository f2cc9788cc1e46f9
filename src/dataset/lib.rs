//! Datasets: profiles as tables, in the files of Apache Parquet, by program, commit, rank and model.
//!
//! [`tables`] declares each table once, as the structure of its rows; documentation, `dataset.json` and the files' schemas are made
//! of that. [`tables_of`] fills them from a profile. Only what writes files needs the feature `parquet`.

mod call_paths;
pub mod column;
#[cfg(feature = "parquet")]
mod encode;
mod fill;
mod fill_ranks;
pub mod manifest;
pub mod page;
#[cfg(feature = "parquet")]
mod requests;
pub mod row;
mod run;
pub mod tables;
#[cfg(feature = "parquet")]
mod write;

pub use fill::tables_of;
#[cfg(feature = "parquet")]
pub use requests::{Requests, RequestsError};
pub use run::{Partition, Run, runs_of};
#[cfg(feature = "parquet")]
pub use write::{ExportError, Exported, Folder};
