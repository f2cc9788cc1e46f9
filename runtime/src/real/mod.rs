//! The CUDA runtime and driver with which the program is linked, if there are any, and the decision whether kernels run
//! there.

pub mod choice;
pub mod driver;
pub mod driver_functions;
pub mod emulation;
pub mod functions;
pub mod system;

pub use choice::{active, found};
