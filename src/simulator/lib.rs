//! The simulators: what a memory request costs on a GPU.
//!
//! [`geometry`] names sectors, lines and banks, [`metrics`] counts what one request touches of them. [`hierarchy`] simulates
//! L1, L2 and DRAM, [`locality`] computes reuse distances. [`models`] reads the GPU models that configure both. Nothing
//! here depends on traces, profiles or CUDA: requests are addresses of lanes.

pub mod geometry;
pub mod hierarchy;
pub mod locality;
pub mod metrics;
pub mod models;
pub mod simd;
