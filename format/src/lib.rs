//! What the parts of Warpline share: the trace stream, the site table, the binary border between
//! instrumented code and the runtime, the description of a GPU that the runtime needs, and the
//! scheduler that both the CPU device and `warpline sim` use.
//!
//! Nothing here depends on LLVM, CUDA's API, caches or reports.

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
mod devices;
pub mod event;
pub mod expression;
pub mod gpu;
pub mod hooks;
mod issue;
pub mod matrix;
pub mod occupancy;
pub mod operation;
pub mod options;
mod pack;
pub mod rendezvous;
pub mod ring;
pub mod run_time;
pub mod schedule;
pub mod site_table;
pub mod stop;
pub mod values;
pub mod visible;
pub mod warp_order;
