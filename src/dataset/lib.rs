//! Datasets: profiles as tables in Apache Parquet files, partitioned by program, commit, rank and model.
//!
//! [`tables`] declares each table once, as the structure of its rows. The documentation, `dataset.json` and the schemas
//! of files are generated from these declarations. [`tables_of`] fills the tables from a profile. Only the code that
//! writes files needs the feature `parquet`.

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
