//! A thin safe layer over the LLVM C API: small `Copy` handles bound to the context's lifetime, on which
//! generic code (walk every instruction, clone it, change its types) is shorter than on inkwell's typed values.
//! All `unsafe` calls into LLVM sit in this module, each with its reason. "Live" there means that the object exists and
//! that its context does, which every handle guarantees for the object that it wraps.
//!
//! Handles stay valid as long as what they name is not deleted; as in LLVM itself, a deleted instruction must
//! not be used again.

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
