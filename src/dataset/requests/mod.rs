//! Requests of a kept trace, one by one, as rows.

mod follow;
mod places;
mod write;

pub use write::{Requests, RequestsError};
