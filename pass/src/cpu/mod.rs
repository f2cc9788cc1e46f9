//! Lowering of hooked device code to the CPU device: every kernel and device function becomes a *warp function* in
//! 32-wide vector code. `docs/design/cpu-device.md` explains the form and its rules.

mod access;
mod calls;
mod compute;
mod emitter;
mod error;
mod generated;
mod lower;
mod options;
mod ptx;
mod shapes;
mod target;

pub use crate::ptx::parse::parse as statements;
pub use error::{LowerError, Refusal};
pub use generated::Generated;
pub use lower::lower;
pub(crate) use options::PART;
pub use options::{LARGE, Options, SERIAL};

pub use shapes::analysis::Version;
pub(crate) use target::hooked::is_hooked;
pub(crate) use target::optimize::optimize_hooked;
pub use target::optimize::{infer_attributes, optimize};
pub use target::vectors::Vectors;
