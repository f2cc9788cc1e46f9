//! Simulators of the cost of memory requests on a GPU.
//!
//! [`geometry`] defines sectors, lines and banks, and [`metrics`] counts how many of them a request touches.
//! [`hierarchy`] simulates L1, L2 and DRAM, and [`locality`] computes reuse distances. [`models`] reads the GPU models
//! that configure both. This crate does not depend on traces, profiles or CUDA: requests are addresses of lanes.

pub mod geometry;
pub mod hierarchy;
pub mod locality;
pub mod metrics;
pub mod models;
pub mod simd;
