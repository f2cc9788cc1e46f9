//! A thin safe layer over the LLVM C API: small `Copy` handles bound to the context's lifetime, on which
//! generic code (walk every instruction, clone it, change its types) is shorter than on inkwell's typed values.
//! All `unsafe` calls into LLVM sit in this module, each with its reason. "Live" there means that the object exists and that
//! its context does, which a handle says of what it wraps.
//!
//! Handles stay valid as long as what they name is not deleted; as in LLVM itself, a deleted instruction must
//! not be used again.

#![deny(clippy::undocumented_unsafe_blocks)]

pub mod annotations;
pub mod builder;
pub mod call;
pub mod clone;
pub mod debug;
pub mod function;
pub mod instruction;
pub mod intrinsics;
pub mod metadata;
pub mod module;
pub mod options;
pub mod part;
pub mod shim;
pub mod source_name;
pub mod types;
pub mod value;

pub use builder::Builder;
pub use function::ModuleItems;
pub use module::{Machine, MachineError};
pub use types::{Layout, Type, Types};
pub use value::{Block, Value};

/// Copies and frees a string that LLVM allocated.
///
/// # Safety
/// `message` is null or came from LLVM with the duty to dispose of it.
pub(crate) unsafe fn take_message(message: *mut std::ffi::c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: a zero-terminated string, disposed of once.
    unsafe {
        let text = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
        inkwell::llvm_sys::core::LLVMDisposeMessage(message);
        text
    }
}

/// The bytes behind a pointer and length from LLVM, as text.
///
/// # Safety
/// `bytes` points to `length` readable bytes, or `length` is 0.
pub(crate) unsafe fn copy_text(bytes: *const std::ffi::c_char, length: usize) -> String {
    if bytes.is_null() || length == 0 {
        return String::new();
    }
    // SAFETY: the caller's promise.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) }).into_owned()
}

/// A name for the C API. LLVM names are cut at an interior zero, which none of ours has.
pub(crate) fn c_name(name: &str) -> std::ffi::CString {
    let clean: Vec<u8> = name.bytes().take_while(|&byte| byte != 0).collect();
    std::ffi::CString::new(clean).unwrap_or_default()
}
