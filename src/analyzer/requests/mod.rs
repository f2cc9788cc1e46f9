//! Processes the memory requests in the batches of a trace.
//!
//! Batches are first validated as a whole ([`check_batch`]) and then passed to [`Worker`]s. Each worker handles the
//! warps of a part of the SMs. Workers resolve each request to a *cell* (site, space, device call context, allocation)
//! and count it there. Analyses implement [`AnalysisTool`] and store their own figures per cell. All results are sums,
//! so they do not depend on the number of workers.

mod alike;
mod batch;
mod cells;
pub mod decode;
mod launches;
mod narrow;
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
pub use narrow::Narrowed;
pub use pool::{Pool, WorkerLost};
pub use request::{OwnerShare, Request};
pub use tool::{AnalysisTool, Event, Execution};
pub use worker::{LaunchWork, Worker};
