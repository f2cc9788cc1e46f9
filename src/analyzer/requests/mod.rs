//! Requests of memory, taken from the batches of a trace.
//!
//! Batches are checked whole ([`check_batch`]) and handed to [`Worker`]s, each of which takes the warps of its share of the SMs.
//! Workers resolve each request to a *cell* (site, space, device call context, allocation) and count there; analyses that follow
//! requests implement [`AnalysisTool`] and keep their own figures per cell. All results are sums, so any number of workers gives
//! the same ones.

mod alike;
mod batch;
mod cells;
pub mod decode;
mod launches;
mod pool;
mod request;
mod resolve;
mod tool;
mod waves;
mod worker;

pub use batch::{BatchError, check_batch};
pub use cells::{CellId, CellKey, Cells, Owner};
pub use decode::request as read_request;
pub use launches::{LaunchShape, ShapeError};
pub use pool::{Pool, WorkerLost};
pub use request::{OwnerShare, Request};
pub use tool::{AnalysisTool, Event, Execution};
pub use worker::{LaunchWork, Worker};
