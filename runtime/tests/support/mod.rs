//! A manually written device module, in the form that the pass produces, and a reader for its trace.

// Each test binary uses its own part.
#![allow(dead_code)]

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::{null, null_mut};
use warpline_format::abi::{
    ABI_VERSION, GlobalDescriptor, KernelDescriptor, MODULE_MAGIC, ModuleDescriptor, Parameter, SiteRange, WarpContext,
    WarpFunction, module_flags,
};
use warpline_format::access::{Item, Items, Kind, MAX_ITEM_BYTES, Space, head};
use warpline_format::chunk::{CHUNK_HEAD_BYTES, ChunkHead, ChunkKind, HEADER_BYTES, check_header};
use warpline_format::event::Event;
use warpline_format::occupancy::Resources;
use warpline_format::options::{ENABLE_VARIABLE, Options, Output, VARIABLE};
use warpline_format::site_table::{Branch, CacheOp, File, Frame, Function, Global, GlobalKind, Op, Site, SiteTable};
use warpline_runtime::api::registration::{
    __cudaRegisterFatBinary, __cudaRegisterFatBinaryEnd, __cudaRegisterFunction, __cudaRegisterVar,
};
use warpline_runtime::device::execution::hooks::__wl_flush;

/// ptxas's figures of each kernel.
static RESOURCES: Resources = Resources { architecture: 75, registers: 32, spill_bytes: 0 };

/// One kernel of the module.
pub struct KernelSpec {
    pub name: &'static CStr,
    pub native: WarpFunction,
    pub hooked: WarpFunction,
    /// Sizes of the parameters, each aligned to 8 bytes.
    pub parameters: &'static [u32],
    pub flags: u32,
    pub static_shared: u32,
}

/// `__fatBinC_Wrapper_t`.
#[repr(C)]
struct Wrapper(u32, u32, *const ModuleDescriptor, *const c_void);

pub fn site(function: u32, op: Op, space: Space, line_frame: u32) -> Site {
    Site {
        function,
        op,
        space,
        bytes: 4,
        byte_mask: None,
        align: 4,
        cache: CacheOp::Default,
        chain: vec![line_frame],
        approximate: false,
        in_library: false,
    }
}

/// Returns a table with a function per kernel and `sites`.
pub fn table(kernels: &[KernelSpec], sites: Vec<Site>, globals: &[(&str, GlobalKind, u64)]) -> SiteTable {
    SiteTable {
        module: "/src/fake.cu".into(),
        hash: "1".into(),
        arch: 75,
        files: vec![File { path: "/src/fake.cu".into(), system: false }],
        frames: (1..20).map(|line| Frame { function: "kernel(float*)".into(), file: 0, line, column: 3 }).collect(),
        functions: kernels
            .iter()
            .map(|kernel| Function {
                mangled: kernel.name.to_str().unwrap().into(),
                name: format!("{}(float*)", kernel.name.to_str().unwrap()),
                frame: 0,
                kernel: true,
                in_library: false,
            })
            .collect(),
        sites,
        branches: vec![Branch { function: 0, chain: vec![], sides: 2 }],
        globals: globals
            .iter()
            .map(|(name, kind, bytes)| Global { name: (*name).into(), kind: *kind, bytes: *bytes, frame: None })
            .collect(),
        ..SiteTable::default()
    }
}

pub struct Module {
    pub ranges: &'static mut [SiteRange],
    pub slots: &'static [u64],
}

/// Registers a module as a constructor of a rebuilt object would; the stubs are `stubs + index`.
pub fn register(kernels: &[KernelSpec], table: &SiteTable, stubs: usize, shadows: usize) -> Module {
    register_with_binary(kernels, table, stubs, shadows, &[])
}

/// The variant of [`register`] with GPU code.
pub fn register_with_binary(
    kernels: &[KernelSpec],
    table: &SiteTable,
    stubs: usize,
    shadows: usize,
    binary: &'static [u8],
) -> Module {
    let bytes = table.to_bytes().leak();
    let descriptors: Vec<KernelDescriptor> = kernels
        .iter()
        .enumerate()
        .map(|(index, kernel)| {
            let parameters: Vec<Parameter> = kernel
                .parameters
                .iter()
                .enumerate()
                .map(|(at, &size)| Parameter { offset: at as u32 * 8, size })
                .collect();
            KernelDescriptor {
                name: kernel.name.as_ptr(),
                function: index as u32,
                flags: kernel.flags,
                native_linear: Some(kernel.native),
                native_half: None,
                native_general: Some(kernel.native),
                native_serial: None,
                hooked_linear: Some(kernel.hooked),
                hooked_half: None,
                hooked_general: Some(kernel.hooked),
                parameter_count: parameters.len() as u32,
                parameter_bytes: parameters.len() as u32 * 8,
                parameters: parameters.leak().as_ptr(),
                static_shared: kernel.static_shared,
                local_bytes: 0,
                resources: &raw const RESOURCES,
                resource_count: 1,
                max_threads: 0,
                min_blocks: 0,
                required_block: [0; 3],
                required_cluster: [0; 3],
                shared_variables: std::ptr::null(),
                shared_variable_count: 0,
                pointers: std::ptr::null(),
                pointer_count: 0,
            }
        })
        .collect();
    let slots: &'static mut [u64] = vec![0u64; table.globals.len()].leak();
    let globals: Vec<GlobalDescriptor> = table
        .globals
        .iter()
        .enumerate()
        .map(|(index, global)| GlobalDescriptor {
            name: format!("{}\0", global.name).leak().as_ptr().cast::<c_char>(),
            image: null(),
            size: global.bytes,
            align: 16,
            kind: global.kind as u32,
            reserved: 0,
            slot: &raw mut slots[index],
            relocations: null(),
            relocation_count: 0,
        })
        .collect();
    let ranges: &'static mut [SiteRange] = vec![SiteRange { low: 0, high: 0 }; table.sites.len()].leak();
    let globals = globals.leak();
    let descriptor = ModuleDescriptor {
        magic: MODULE_MAGIC,
        version: ABI_VERSION,
        flags: module_flags::HOOKED,
        site_table: bytes.as_ptr(),
        site_table_bytes: bytes.len() as u64,
        kernels: descriptors.leak().as_ptr(),
        kernel_count: kernels.len() as u64,
        globals: globals.as_ptr(),
        global_count: globals.len() as u64,
        functions: null(),
        function_count: 0,
        site_ranges: ranges.as_mut_ptr(),
        site_count: ranges.len() as u64,
        count_cells: 3 + 4,
        block_count: 1,
        branch_cells: vec![3u32].leak().as_ptr(),
        branch_count: 1,
        features: c"sse2".as_ptr(),
        fat_binary: if binary.is_empty() { null() } else { binary.as_ptr().cast() },
        fat_binary_bytes: binary.len() as u64,
        carried: null(),
        carried_bytes: 0,
    };
    let wrapper = Box::leak(Box::new(Wrapper(0x4662_43b1, 1, Box::leak(Box::new(descriptor)), null())));
    // SAFETY: everything is leaked, hence valid for good.
    unsafe {
        let handle = __cudaRegisterFatBinary(std::ptr::from_ref(wrapper).cast());
        for (index, kernel) in kernels.iter().enumerate() {
            __cudaRegisterFunction(
                handle,
                (stubs + index) as *const c_char,
                null_mut(),
                kernel.name.as_ptr(),
                -1,
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
            );
        }
        for (index, global) in globals.iter().enumerate() {
            __cudaRegisterVar(handle, (shadows + index) as *mut c_char, null_mut(), global.name, 0, 0, 0, 0);
        }
        __cudaRegisterFatBinaryEnd(handle);
    }
    Module { ranges, slots }
}

/// Writes an item of up to four words, as lowered code does.
///
/// # Safety
/// `c` is the running warp's context.
pub unsafe fn record(c: *mut WarpContext, kind: Kind, space: Space, site: u32, mask: u32, words: &[u64]) {
    unsafe {
        if ((*c).record_end as usize) - ((*c).record_cursor as usize) < MAX_ITEM_BYTES {
            __wl_flush(c);
        }
        let cursor = (*c).record_cursor.cast::<u64>();
        cursor.write(u64::from(head(kind, space, site)) | u64::from(mask) << 32);
        for (index, word) in words.iter().enumerate() {
            cursor.add(1 + index).write(*word);
        }
        (*c).record_cursor = cursor.add(1 + words.len()).cast();
    }
}

/// A trace, split into its parts.
#[derive(Default)]
pub struct Trace {
    pub events: Vec<Event>,
    /// The launch and the items of each batch.
    pub batches: Vec<(u64, Vec<u8>)>,
}

impl Trace {
    pub fn read(path: &Path) -> Trace {
        let bytes = std::fs::read(path).unwrap();
        check_header(bytes[..HEADER_BYTES].try_into().unwrap()).unwrap();
        let mut rest = &bytes[HEADER_BYTES..];
        let mut trace = Trace::default();
        let mut sequence = 0;
        while !rest.is_empty() {
            let head = ChunkHead::from_bytes(rest[..CHUNK_HEAD_BYTES].try_into().unwrap(), sequence).unwrap();
            let payload = &rest[CHUNK_HEAD_BYTES..][..head.length as usize];
            head.check(payload).unwrap();
            match head.kind {
                ChunkKind::Event => trace.events.push(Event::from_bytes(payload).unwrap()),
                ChunkKind::Access => {
                    let launch = u64::from_le_bytes(payload[..8].try_into().unwrap());
                    trace.batches.push((launch, payload[8..].to_vec()));
                }
            }
            rest = &rest[CHUNK_HEAD_BYTES + head.length as usize..];
            sequence += 1;
        }
        trace
    }

    /// Calls `f` with every item of a launch, in order.
    pub fn for_each_item(&self, launch: u64, mut f: impl FnMut(Item)) {
        for (_, items) in self.batches.iter().filter(|(number, _)| *number == launch) {
            for item in Items::new(items) {
                f(item.unwrap());
            }
        }
    }

    pub fn is_complete(&self) -> bool {
        matches!(self.events.last(), Some(Event::End { .. }))
    }
}

/// The result of a child process.
pub struct Ran {
    pub code: Option<i32>,
    pub output: String,
    pub errors: String,
    pub path: PathBuf,
    _folder: Folder,
}

/// The folder of one child process, removed together with its owner.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the ignored test `child` of this binary as a separate program, with a trace file.
pub fn run_child(child: &str, change: impl FnOnce(&mut Options)) -> Ran {
    run_child_with(child, &[], change)
}

/// The variant of [`run_child`] with environment variables.
pub fn run_child_with(child: &str, variables: &[(&str, &str)], change: impl FnOnce(&mut Options)) -> Ran {
    let folder = std::env::temp_dir().join(format!("warpline-runtime-{}-{child}-{}", std::process::id(), unique()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("trace.wltrace");
    let mut options = Options { output: Output::File(path.to_str().unwrap().into()), ..Options::default() };
    change(&mut options);
    let ran = Command::new(std::env::current_exe().unwrap())
        .args([child, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(VARIABLE, options.encode())
        .env_remove(ENABLE_VARIABLE)
        .envs(variables.iter().copied())
        .current_dir(&folder)
        .output()
        .unwrap();
    Ran {
        code: ran.status.code(),
        output: String::from_utf8_lossy(&ran.stdout).into_owned(),
        errors: String::from_utf8_lossy(&ran.stderr).into_owned(),
        path,
        _folder: Folder(folder),
    }
}

fn unique() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
