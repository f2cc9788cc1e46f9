//! A program with GPU code for two kernels, which runs with the fake driver.

use crate::support::{KernelSpec, Ran, register_with_binary, run_child_with, site, table};
use std::ffi::c_void;
use std::path::Path;
use std::process::Command;
use std::ptr::null_mut;
use std::sync::OnceLock;
use warpline_format::abi::WarpContext;
use warpline_format::access::Space;
use warpline_format::site_table::{Block, GlobalKind, Op};
use warpline_runtime::api::hooks::__warpline_name;
use warpline_runtime::api::launch::cudaLaunchKernel;
use warpline_runtime::api::memory::allocations::cudaMalloc;
use warpline_runtime::cuda::error;
use warpline_runtime::cuda::types::Dim3;

pub const STUBS: usize = 0x5000;
pub const BLOCKS: u32 = 300;
pub const THREADS: u32 = 200;

unsafe extern "C" fn on_the_cpu(_context: *mut WarpContext) {}

/// The address that represents the first variable.
pub const SHADOWS: usize = 0x7000;

pub fn start() {
    start_with(&[]);
}

/// The variant of the start function with device variables.
pub fn start_with(globals: &[(&str, GlobalKind, u64)]) {
    let kernel = |name| KernelSpec {
        name,
        native: on_the_cpu,
        hooked: on_the_cpu,
        parameters: &[8],
        flags: 0,
        static_shared: 0,
    };
    let kernels = [kernel(c"touch"), kernel(c"faulty")];
    let sites = vec![
        site(0, Op::Load, Space::Global, 0),
        site(0, Op::Load, Space::Global, 1),
        site(0, Op::Store, Space::Shared, 2),
    ];
    let mut table = table(&kernels, sites, globals);
    table.blocks = vec![Block::default()];
    register_with_binary(&kernels, &table, STUBS, SHADOWS, b"\x50\xed\x55\xba fat");
}

pub fn launch(kernel: usize, data: *mut c_void, stream: usize) -> i32 {
    launch_blocks(BLOCKS, kernel, data, stream)
}

pub fn launch_blocks(blocks: u32, kernel: usize, data: *mut c_void, stream: usize) -> i32 {
    let mut data = data;
    let mut arguments = [(&raw mut data).cast::<c_void>()];
    let (grid, block) = (Dim3 { x: blocks, y: 1, z: 1 }, Dim3 { x: THREADS, y: 1, z: 1 });
    unsafe { cudaLaunchKernel((STUBS + kernel) as _, grid, block, arguments.as_mut_ptr(), 0, stream as *mut c_void) }
}

pub fn malloc(bytes: usize, name: &'static std::ffi::CStr) -> *mut c_void {
    let mut pointer = null_mut();
    unsafe {
        __warpline_name(name.as_ptr());
        assert_eq!(cudaMalloc(&raw mut pointer, bytes), error::SUCCESS);
    }
    pointer
}

/// Returns the folder with the fake driver.
pub fn driver() -> &'static str {
    static FOLDER: OnceLock<String> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("driver-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpu_fake/driver.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-Wall", "-Werror"]).arg(source).arg("-o").arg(folder.join("libcuda.so.1"));
        assert!(compiler.status().expect("a C compiler is installed").success());
        folder.to_str().unwrap().to_owned()
    })
}

pub fn run(child: &str, variables: &[(&str, &str)]) -> Ran {
    let all: Vec<(&str, &str)> = [("LD_LIBRARY_PATH", driver())].iter().chain(variables).copied().collect();
    run_child_with(child, &all, |_| ())
}
