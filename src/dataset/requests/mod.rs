//! Requests of a recorded trace as rows.

mod follow;
mod places;
mod write;

pub use write::{Requests, RequestsError};
