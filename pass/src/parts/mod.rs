//! Splits a large lowered module into parts. Each part is optimised and its code is generated in a separate context, so
//! that several threads can work at the same time. See `docs/design/cpu-device.md`, section 11.

mod generate;
mod plan;
mod split;

pub use generate::{GenerateOptions, Generated, generate};
pub use split::{Part, Split, split};
