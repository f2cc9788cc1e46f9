//! Output for the user: messages of the runtime, and the output of kernels.

pub mod message;
pub mod printed;
pub mod printf;
