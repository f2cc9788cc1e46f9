//! Passes text to and from LLVM.

/// Copies and frees a string that LLVM allocated.
///
/// # Safety
/// `message` is null, or a string from LLVM that the caller must free.
pub(super) unsafe fn take_message(message: *mut std::ffi::c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: the string is zero-terminated, and it is freed once.
    unsafe {
        let text = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
        inkwell::llvm_sys::core::LLVMDisposeMessage(message);
        text
    }
}

/// Returns the bytes at a pointer and length from LLVM as text.
///
/// # Safety
/// `bytes` points to `length` readable bytes, or `length` is 0.
pub(super) unsafe fn copy_text(bytes: *const std::ffi::c_char, length: usize) -> String {
    if bytes.is_null() || length == 0 {
        return String::new();
    }
    // SAFETY: the caller fulfils the contract.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) }).into_owned()
}

/// Returns a name for the C API. An LLVM name is cut at an inner zero; no name of this crate contains one.
pub(super) fn c_name(name: &str) -> std::ffi::CString {
    let clean: Vec<u8> = name.bytes().take_while(|&byte| byte != 0).collect();
    std::ffi::CString::new(clean).unwrap_or_default()
}
