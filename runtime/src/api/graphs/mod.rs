//! Graphs: their nodes, their execution, and the capture of streams.

pub mod capture;
pub mod nodes;
pub mod runs;
