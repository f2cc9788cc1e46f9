//! Definitions that all parts of Warpline share: the trace stream, the site table, the binary interface between
//! instrumented code and the runtime, the description of a GPU for the runtime, and the scheduler of the CPU device and
//! `warpline sim`.
//!
//! This crate does not depend on LLVM, CUDA's API, caches or reports.

pub mod abi;
pub mod access;
pub mod budget;
pub mod carried;
pub mod carveout;
pub mod chunk;
pub mod cluster;
pub mod condition;
pub mod conflict;
pub mod device;
pub mod device_code;
mod devices;
pub mod event;
pub mod expression;
pub mod gpu;
pub mod hooks;
mod issue;
pub mod matrix;
pub mod member;
pub mod occupancy;
pub mod operation;
pub mod options;
mod pack;
pub mod rendezvous;
pub mod ring;
pub mod rounding;
pub mod run_time;
pub mod schedule;
pub mod site_table;
pub mod stop;
pub mod values;
pub mod visible;
pub mod warp_order;
