//! A thin safe layer over the LLVM C API: small `Copy` handles that are bound to the context's lifetime. Generic code
//! (visiting every instruction, cloning it, changing its types) is shorter with these handles than with inkwell's typed
//! values. All `unsafe` calls of LLVM are in this module, each with its reason. In these reasons, "live" means that the
//! object and its context exist, which every handle guarantees for the object that it wraps.
//!
//! A handle stays valid until its object is deleted; as in LLVM itself, a deleted instruction must not be used again.

#![deny(clippy::undocumented_unsafe_blocks)]

pub mod builder;
pub mod call;
pub mod clone;
mod described;
pub mod function;
pub mod instruction;
pub mod intrinsics;
pub mod module;
pub mod options;
pub mod part;
pub mod shim;
pub mod source_name;
mod text;
pub mod types;
pub mod value;

pub use builder::Builder;
pub use described::{annotations, debug, metadata};
pub use function::ModuleItems;
pub use module::{Machine, MachineError, version};
pub use types::{Layout, Type, Types};
pub use value::{Block, Value};
