//! What an access belongs to: the allocation it touches, the device calls it runs under, the user's
//! source line, and the host call path of its launch.

mod allocations;
mod contexts;
mod debug_files;
mod host_sources;
mod modules;
mod symbols;

pub use allocations::{AllocationError, AllocationMap, MapChange, Segment};
pub use contexts::{ContextId, ContextTree, MAX_DEPTH, ROOT, WarpContext};
pub use host_sources::HostSources;
pub use modules::{Module, ModuleError};
pub use symbols::{HostFrame, Symbolizer, demangle};
