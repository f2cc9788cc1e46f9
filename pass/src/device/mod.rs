//! Stages on device code, in the order in which they run: [`note_locations`], [`optimize`], [`prepare`], [`hook`].
//! `docs/design/instrumentation.md` explains their order.

mod accesses;
mod bundle;
mod error;
mod globals;
mod hook;
mod member_note;
mod note;
pub(crate) mod operations;
mod options;
mod rows;
mod shaping;

pub use error::DeviceError;
pub use globals::{join_statics, limit_registers, mark_managed, reference_cycle};
pub use hook::hook;
pub use note::note_locations;
pub use operations::number_operations;
pub use options::HookOptions;
pub use rows::describe::describe;
pub use shaping::inline::inline_headers;
pub use shaping::optimize::optimize;
pub use shaping::prepare::prepare;
pub use shaping::stray::keep_stray_accesses;

pub use crate::ir::machine::{TargetError, architecture, machine};
