//! The CUDA runtime and driver that the program is linked with, where there is one, and whether kernels run there.

pub mod choice;
pub mod driver;
pub mod driver_functions;
pub mod emulation;
pub mod functions;
pub mod system;

pub use choice::{active, found};
