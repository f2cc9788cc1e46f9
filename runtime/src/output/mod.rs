//! What reaches the user: messages of ours, and what kernels print.

pub mod message;
pub mod printed;
pub mod printf;
