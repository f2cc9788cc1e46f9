//! The analyzer: reads the trace of an instrumented CUDA program and analyses its memory requests.
//!
//! Data flows in one direction. [`trace`] decodes records, [`requests`] resolves each request to its source line,
//! allocation and call path (with [`attribution`]) and passes it to the tools: [`simulation`] (caches and reuse
//! distances), [`patterns`], [`races`] and the stand-alone [`analyses`]. [`analysis`] drives them over the records of a
//! stream and adds up their results. [`advice`] simulates a trace again to find loads that should bypass L1.

pub mod advice;
pub mod analyses;
pub mod analysis;
pub mod attribution;
pub mod named_files;
pub mod patterns;
pub mod races;
pub mod requests;
pub mod simulation;
pub mod trace;
