//! The producer's side of the GPU protocol as a library: the device's own source, compiled for the host.

#![allow(dead_code, reason = "each test uses a part")]

use std::ffi::{CString, c_void};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use warpline_runtime::gpu::drain::wire::RingControl;

/// `Target` of `wire.h`.
#[repr(C)]
pub struct Target {
    pub rings: *mut RingControl,
    pub data: *mut u8,
    pub counts: *mut u64,
    pub flags: u64,
}

pub type Layout = unsafe extern "C" fn(*mut u64);
pub type Access = unsafe extern "C" fn(*const Target, u32, u64, u32, u32, *const u64);
pub type Hinted = unsafe extern "C" fn(*const Target, u32, u64, u32, u32, *const u64, u32);
pub type Operation = unsafe extern "C" fn(*const Target, u32, u64, u32, u64, u32, u32, *const u32);
pub type Count = unsafe extern "C" fn(*mut u64, u32, u32, u32, *const u64);
pub type Together = unsafe extern "C" fn() -> u32;
pub type Mark = unsafe extern "C" fn(*const Target, u32, u64, u32, u32, u32);

/// The functions of the library.
pub struct Producer {
    pub layout: Layout,
    pub access: Access,
    pub hinted: Hinted,
    pub operation: Operation,
    pub mark: Mark,
    pub count: Count,
    /// The lanes that the calling thread's last hook left converged. They must be the lanes that entered the hook;
    /// otherwise, the code after the hook would run differently than without the hook.
    pub together: Together,
}

/// Builds and loads the producer's side once.
pub fn producer() -> &'static Producer {
    static PRODUCER: OnceLock<Producer> = OnceLock::new();
    PRODUCER.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/gpu/ring_producer.cpp");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ring_producer.{}.so", std::process::id()));
        let output = Command::new("c++")
            .args(["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread"])
            .arg(&source)
            .arg("-o")
            .arg(&library)
            .output()
            .expect("a C++ compiler is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let path = CString::new(library.to_str().expect("a plain path")).expect("no zero inside");
        // SAFETY: the library was just built from this repository; the names have the types given here.
        unsafe {
            let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
            assert!(!handle.is_null(), "the library does not load");
            let symbol = |name: &std::ffi::CStr| -> *mut c_void {
                let found = libc::dlsym(handle, name.as_ptr());
                assert!(!found.is_null(), "{name:?} is missing");
                found
            };
            let loaded = Producer {
                layout: std::mem::transmute::<*mut c_void, Layout>(symbol(c"wl_layout")),
                access: std::mem::transmute::<*mut c_void, Access>(symbol(c"wl_access")),
                hinted: std::mem::transmute::<*mut c_void, Hinted>(symbol(c"wl_hinted")),
                operation: std::mem::transmute::<*mut c_void, Operation>(symbol(c"wl_operation")),
                mark: std::mem::transmute::<*mut c_void, Mark>(symbol(c"wl_mark")),
                count: std::mem::transmute::<*mut c_void, Count>(symbol(c"wl_count")),
                together: std::mem::transmute::<*mut c_void, Together>(symbol(c"wl_together")),
            };
            std::fs::remove_file(&library).expect("the file is ours");
            loaded
        }
    })
}
