//! Attributes an access to the allocation that it touches, to device calls, to the user's source line, and to the host
//! call path of its launch.

mod allocations;
mod contexts;
mod debug_files;
mod host_sources;
mod modules;
mod site_facts;
mod symbolizer;

pub use allocations::{AllocationError, AllocationMap, MapChange, Segment};
pub use contexts::{ContextId, ContextTree, MAX_DEPTH, ROOT, WarpContext};
pub use host_sources::HostSources;
pub use modules::{Module, ModuleError};
pub use site_facts::SiteFacts;
pub use symbolizer::{HostFrame, Symbolizer, demangle};
