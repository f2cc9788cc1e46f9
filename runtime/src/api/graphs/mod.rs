//! Graphs: their nodes, their runs, streams that are captured.

pub mod capture;
pub mod nodes;
pub mod runs;
