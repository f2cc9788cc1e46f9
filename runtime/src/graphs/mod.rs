//! Graphs of work that are built explicitly or captured from streams, and that the CPU device executes node by node.

pub mod capture;
pub mod graph;
pub mod work;

pub use capture::Captures;
pub use graph::{Graph, Graphs, Node};
pub use work::{CopyWork, FillWork, HostWork, KernelWork, Work};
