//! Machine code of a large lowered module in parts, each optimised and generated in a context of its own, so that
//! several threads can work at it. `docs/design/cpu-device.md`, section 11.

mod generate;
mod plan;
mod split;

pub use generate::{GenerateOptions, Generated, generate};
pub use split::{Split, split};
