//! Graphs of work, made by hand or captured from streams, and run on the CPU device node by node.

pub mod capture;
pub mod graph;
pub mod work;

pub use capture::Captures;
pub use graph::{Graph, Graphs, Node};
pub use work::{CopyWork, FillWork, HostWork, KernelWork, Work};
