//! Lowering of hooked device code to the CPU device: every kernel and device function becomes a *warp function* in
//! 32-wide vector code. `docs/design/cpu-device.md` explains the form and its rules.

mod access;
mod calls;
mod compute;
mod emitter;
mod error;
mod lower;
pub(crate) mod ptx;
mod shapes;
mod target;

pub use error::{LowerError, Refusal};
pub use lower::{Options, lower};
pub use ptx::parse::parse as statements;
pub use shapes::analysis::Version;
pub use target::optimize::{infer_attributes, optimize};
pub use target::unit::Vectors;
