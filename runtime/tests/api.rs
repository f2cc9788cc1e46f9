//! Tests the API's results for wrong arguments and for queries, and the handling of a trace that cannot be written.

mod support;

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use support::{KernelSpec, Trace, register, run_child, table};
use warpline_format::abi::WarpContext;
use warpline_format::event::{AllocationKind, Event};
use warpline_format::options::Output;
use warpline_runtime::api::attributes::*;
use warpline_runtime::api::copies::copy::*;
use warpline_runtime::api::copies::symbols::*;
use warpline_runtime::api::device::*;
use warpline_runtime::api::driver::copy::*;
use warpline_runtime::api::driver::errors::*;
use warpline_runtime::api::driver::memory::*;
use warpline_runtime::api::errors::*;
use warpline_runtime::api::events::*;
use warpline_runtime::api::hooks::{__warpline_host_allocated, __warpline_name, warpline_name};
use warpline_runtime::api::launch::*;
use warpline_runtime::api::memory::allocations::*;
use warpline_runtime::api::streams::*;
use warpline_runtime::cuda::error::{self, Error};
use warpline_runtime::cuda::types::{Dim3, FuncAttributes, MemLocation, PointerAttributes};

const STUBS: usize = 0x5000;
const STUB: *const c_void = STUBS as *const c_void;

unsafe extern "C" fn nothing(_: *mut WarpContext) {}

fn start() {
    let kernels = [KernelSpec {
        name: c"nothing",
        native: nothing,
        hooked: nothing,
        parameters: &[],
        flags: 0,
        static_shared: 1024,
    }];
    register(&kernels, &table(&kernels, Vec::new(), &[]), STUBS, 0x6000);
}

fn malloc(bytes: usize) -> *mut c_void {
    let mut pointer = null_mut();
    assert_eq!(unsafe { cudaMalloc(&raw mut pointer, bytes) }, error::SUCCESS);
    pointer
}

fn launch(stub: *const c_void, grid: [u32; 3], block: [u32; 3], shared: usize) -> Error {
    let dim = |[x, y, z]: [u32; 3]| Dim3 { x, y, z };
    unsafe { cudaLaunchKernel(stub, dim(grid), dim(block), null_mut(), shared, null_mut()) }
}

#[test]
#[ignore = "child"]
fn child_mistakes() {
    start();
    let mut pointer = null_mut();
    let mut host = [0u8; 64];
    let host: *mut c_void = host.as_mut_ptr().cast();
    unsafe {
        // Allocation.
        assert_eq!(cudaMalloc(null_mut(), 4), error::INVALID_VALUE);
        assert_eq!(cudaMalloc(&raw mut pointer, 0), error::SUCCESS);
        assert!(pointer.is_null());
        assert_eq!(cudaMalloc(&raw mut pointer, 1 << 40), error::MEMORY_ALLOCATION);
        assert_eq!(cudaMalloc(&raw mut pointer, usize::MAX), error::MEMORY_ALLOCATION);
        assert_eq!(cudaMallocManaged(&raw mut pointer, 64, 9), error::INVALID_VALUE);
        assert_eq!(cudaFree(null_mut()), error::SUCCESS);
        assert_eq!(cudaFree(host), error::INVALID_VALUE);
        let device = malloc(64);
        assert_eq!(cudaFree(device.wrapping_byte_add(8)), error::INVALID_VALUE);
        assert_eq!(cudaFreeHost(device), error::INVALID_VALUE);
        // Copies.
        assert_eq!(cudaMemcpy(device, host, 64, 1), error::SUCCESS);
        assert_eq!(cudaMemcpy(device, host, 65, 1), error::INVALID_VALUE);
        assert_eq!(cudaMemcpy(device, host, 64, 2), error::INVALID_VALUE);
        assert_eq!(cudaMemcpy(host, device, 64, 1), error::INVALID_VALUE);
        assert_eq!(cudaMemcpy(host, device, 64, 7), error::INVALID_MEMCPY_DIRECTION);
        assert_eq!(cudaMemcpy(null_mut(), host, 64, 1), error::INVALID_VALUE);
        assert_eq!(cudaMemcpy(device, host, 0, 1), error::SUCCESS);
        assert_eq!(cudaMemcpy2D(device, 8, host, 8, 16, 2, 1), error::INVALID_PITCH_VALUE);
        assert_eq!(cudaMemcpy2D(device, 16, host, 16, 8, 4, 4), error::SUCCESS);
        assert_eq!(cudaMemset(host, 0, 8), error::INVALID_VALUE);
        assert_eq!(cudaMemset(device, 0, 65), error::INVALID_VALUE);
        assert_eq!(cudaFree(device), error::SUCCESS);
        assert_eq!(cudaMemcpy(device, host, 64, 1), error::INVALID_VALUE);
        // Launches.
        assert_eq!(launch(STUB, [1; 3], [32, 1, 1], 0), error::SUCCESS);
        assert_eq!(launch(STUB, [0, 1, 1], [32, 1, 1], 0), error::INVALID_CONFIGURATION);
        assert_eq!(launch(STUB, [1, 65536, 1], [32, 1, 1], 0), error::INVALID_CONFIGURATION);
        assert_eq!(launch(STUB, [1; 3], [1025, 1, 1], 0), error::INVALID_CONFIGURATION);
        assert_eq!(launch(STUB, [1; 3], [32, 32, 2], 0), error::INVALID_CONFIGURATION);
        assert_eq!(launch(STUB, [1; 3], [1, 1, 65], 0), error::INVALID_CONFIGURATION);
        assert_eq!(launch(null(), [1; 3], [32, 1, 1], 0), error::INVALID_DEVICE_FUNCTION);
        assert_eq!(launch(STUB, [1; 3], [32, 1, 1], 48 << 10), error::INVALID_VALUE);
        assert_eq!(cudaFuncSetAttribute(STUB, 8, 64 << 10), error::INVALID_VALUE);
        assert_eq!(cudaFuncSetAttribute(STUB, 8, 60 << 10), error::SUCCESS);
        assert_eq!(launch(STUB, [1; 3], [32, 1, 1], 48 << 10), error::SUCCESS);
        // Symbols, streams, events, devices.
        assert_eq!(cudaGetSymbolAddress(&raw mut pointer, host), error::INVALID_SYMBOL);
        assert_eq!(cudaStreamSynchronize(host), error::INVALID_RESOURCE_HANDLE);
        assert_eq!(cudaEventRecord(host, null_mut()), error::INVALID_RESOURCE_HANDLE);
        assert_eq!(cudaSetDevice(1), error::INVALID_DEVICE);
        assert_eq!(cudaDeviceGetAttribute(&mut 0, 100_000, 0), error::INVALID_VALUE);
        assert_eq!(cudaDeviceSetLimit(77, 1), error::UNSUPPORTED_LIMIT);
    }
    assert_eq!(cudaPeekAtLastError(), error::UNSUPPORTED_LIMIT);
    assert_eq!(cudaGetLastError(), error::UNSUPPORTED_LIMIT);
    assert_eq!(cudaGetLastError(), error::SUCCESS);
    let text = unsafe { CStr::from_ptr(cudaGetErrorString(error::INVALID_DEVICE_FUNCTION)) };
    assert_eq!(text, c"invalid device function");
}

#[test]
fn mistakes_get_cudas_codes() {
    let ran = run_child("child_mistakes", |_| ());
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    let trace = Trace::read(&ran.path);
    assert!(trace.is_complete());
    // The trace contains each failed call with its path, and no query.
    let failed: Vec<_> = trace
        .events
        .iter()
        .filter_map(|event| if let Event::FailedCall(call) = event { Some(call) } else { None })
        .collect();
    for (function, name) in [
        ("cudaFree", "cudaErrorInvalidValue"),
        ("cudaMalloc", "cudaErrorMemoryAllocation"),
        ("cudaLaunchKernel", "cudaErrorInvalidConfiguration"),
        ("cudaSetDevice", "cudaErrorInvalidDevice"),
        ("cudaDeviceSetLimit", "cudaErrorUnsupportedLimit"),
    ] {
        let found = failed.iter().find(|call| (&call.function[..], &call.name[..]) == (function, name));
        assert!(found.is_some_and(|call| call.path != 0 && call.calls > 0), "{function}: {failed:?}");
    }
    assert!(failed.iter().any(|call| call.detail.contains("at most 1024 threads, not 2048")), "{failed:?}");
    assert!(failed.iter().all(|call| !call.function.contains("Get")), "{failed:?}");
    // Without a note, the profile of a program that ignores errors would not contain a kernel, and the reason would not
    // be visible.
    for reason in ["at most 1024 threads, not 2048", "49152 bytes of dynamic shared memory", "refused (CUDA error 9)"] {
        assert!(ran.errors.contains(reason), "{reason}: {}", ran.errors);
    }
}

#[test]
#[ignore = "child"]
fn child_questions() {
    start();
    unsafe {
        let mut properties = MaybeUninit::uninit();
        assert_eq!(cudaGetDeviceProperties(properties.as_mut_ptr(), 0), error::SUCCESS);
        let properties = properties.assume_init();
        assert_eq!(CStr::from_ptr(properties.name.as_ptr()), c"NVIDIA GeForce RTX 2080 Ti");
        assert_eq!((properties.major, properties.minor, properties.multi_processor_count), (7, 5, 68));
        let mut attributes = MaybeUninit::<FuncAttributes>::uninit();
        assert_eq!(cudaFuncGetAttributes(attributes.as_mut_ptr(), STUB), error::SUCCESS);
        let attributes = attributes.assume_init();
        assert_eq!((attributes.shared_size_bytes, attributes.num_regs), (1024, 32));
        let mut blocks = 0;
        assert_eq!(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, STUB, 256, 0), error::SUCCESS);
        assert_eq!(blocks, 4);

        let (mut free, mut total) = (0, 0);
        assert_eq!(cudaMemGetInfo(&raw mut free, &raw mut total), error::SUCCESS);
        let device = malloc(3 << 20);
        let mut left = 0;
        assert_eq!(cudaMemGetInfo(&raw mut left, &raw mut total), error::SUCCESS);
        assert_eq!((free - left, total), (4 << 20, 11 << 30));

        let mut pinned = null_mut();
        assert_eq!(cudaMallocHost(&raw mut pinned, 4096), error::SUCCESS);
        let mut managed = null_mut();
        assert_eq!(cudaMallocManaged(&raw mut managed, 4096, 1), error::SUCCESS);
        let kind = |pointer| {
            let mut attributes = MaybeUninit::<PointerAttributes>::uninit();
            assert_eq!(cudaPointerGetAttributes(attributes.as_mut_ptr(), pointer), error::SUCCESS);
            attributes.assume_init().kind
        };
        assert_eq!([kind(device), kind(pinned), kind(managed), kind(null())], [2, 1, 3, 0]);
        let host = MemLocation { kind: 2, id: 0 };
        assert_eq!(cudaMemPrefetchAsync(managed, 4096, host, 0, null_mut()), error::SUCCESS);
        assert_eq!(cudaMemPrefetchAsync(device, 4096, host, 0, null_mut()), error::INVALID_VALUE);

        // Reserves a part of L2 for persisting data, but marks no data as persisting.
        assert_eq!(cudaDeviceSetLimit(6, 1 << 20), error::SUCCESS);
        let mut window = [0u64; 8];
        assert_eq!(cudaStreamSetAttribute(null_mut(), 1, window.as_ptr().cast()), error::SUCCESS);
        assert_eq!(cudaDeviceSetLimit(6, 1 << 20), error::SUCCESS);
        window[1] = 4096;
        assert_eq!(cudaStreamSetAttribute(null_mut(), 3, window.as_ptr().cast()), error::SUCCESS);

        let mut pitch = 0;
        let mut rows = null_mut();
        assert_eq!(cudaMallocPitch(&raw mut rows, &raw mut pitch, 100, 10), error::SUCCESS);
        assert_eq!(pitch, 512);
        let lines: Vec<u8> = (0..200).collect();
        assert_eq!(cudaMemcpy2D(rows, pitch, lines.as_ptr().cast(), 20, 20, 10, 1), error::SUCCESS);
        let mut back = [0u8; 200];
        assert_eq!(cudaMemcpy2D(back.as_mut_ptr().cast(), 20, rows, pitch, 20, 10, 2), error::SUCCESS);
        assert_eq!(back, lines[..]);

        let (mut start, mut end, mut stream) = (null_mut(), null_mut(), null_mut());
        assert_eq!(cudaStreamCreate(&raw mut stream), error::SUCCESS);
        assert_eq!(cudaEventCreate(&raw mut start), error::SUCCESS);
        assert_eq!(cudaEventCreate(&raw mut end), error::SUCCESS);
        assert_eq!(cudaEventRecord(start, stream), error::SUCCESS);
        assert_eq!(launch(STUB, [1000, 1, 1], [256, 1, 1], 0), error::SUCCESS);
        assert_eq!(cudaEventRecord(end, stream), error::SUCCESS);
        assert_eq!(cudaStreamWaitEvent(stream, end, 0), error::SUCCESS);
        let mut milliseconds = -1.0;
        assert_eq!(cudaEventElapsedTime(&raw mut milliseconds, start, end), error::SUCCESS);
        assert!(milliseconds > 0.0);

        // Ordinary memory is recorded, named, registered, and used as the source of a copy.
        let memory = vec![7u8; 5000].leak().as_mut_ptr().cast::<c_void>();
        __warpline_host_allocated(memory, 5000, c"malloc".as_ptr(), c"input".as_ptr());
        assert_eq!(cudaHostRegister(memory, 5000, 0), error::SUCCESS);
        assert_eq!(cudaHostRegister(memory, 5000, 0), error::HOST_MEMORY_ALREADY_REGISTERED);
        assert_eq!(cudaMemcpy(device, memory, 5000, 4), error::SUCCESS);
        warpline_name(device.wrapping_byte_add(1024), 256, c"d_part".as_ptr());
        assert_eq!(cudaHostUnregister(memory), error::SUCCESS);
        assert_eq!(cudaHostUnregister(memory), error::HOST_MEMORY_NOT_REGISTERED);
    }
    assert_eq!(cudaGetLastError(), error::HOST_MEMORY_NOT_REGISTERED);
}

#[test]
fn questions_get_the_models_figures_and_the_trace_names_things() {
    let ran = run_child("child_questions", |_| ());
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    let trace = Trace::read(&ran.path);
    let allocation = |kind| {
        trace.events.iter().find_map(|event| match event {
            Event::Allocation(allocation) if allocation.kind == kind => Some(allocation),
            _ => None,
        })
    };
    // An empty window and an unknown attribute have no effect.
    let without_effect: Vec<&str> = (trace.events.iter())
        .filter_map(|event| match event {
            Event::WithoutEffect { function, what } if what.contains("L2 persistence") => Some(&function[..]),
            _ => None,
        })
        .collect();
    assert_eq!(without_effect, ["cudaDeviceSetLimit"]);
    let registered = allocation(AllocationKind::Registered).unwrap();
    assert_eq!((registered.name.as_deref(), registered.bytes), (Some("input"), 5000));
    let device = allocation(AllocationKind::Malloc).unwrap();
    let part = allocation(AllocationKind::Named).unwrap();
    assert_eq!((part.name.as_deref(), part.address - device.address), (Some("d_part"), 1024));
    let host = trace.events.iter().find_map(|event| match event {
        Event::HostAllocation { name, bytes, path, .. } => Some((name.as_deref(), *bytes, *path != 0)),
        _ => None,
    });
    assert_eq!(host, Some((Some("input"), 5000, true)));
}

#[test]
fn a_trace_that_cannot_be_written_is_reported_once_and_stops_nothing() {
    for (path, printed) in
        [("/dev/full", "cannot write the trace /dev/full"), ("/no/folder/x", "cannot create the trace")]
    {
        let ran = run_child("child_questions", |options| options.output = Output::File(path.into()));
        assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
        assert_eq!(ran.errors.matches("warpline:").count(), 1, "{}", ran.errors);
        assert!(ran.errors.contains(printed), "{}", ran.errors);
    }
}

#[test]
fn a_bad_ring_is_reported_and_stops_nothing() {
    let ran = run_child("child_questions", |options| options.output = Output::Ring { descriptor: 99, further: None });
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    assert!(ran.errors.contains("the ring of `warpline run` cannot be used"), "{}", ran.errors);
}

#[test]
#[ignore = "child"]
fn child_driver() {
    start();
    let (mut pointer, mut other) = (null_mut(), null_mut());
    let mut host = [0u8; 64];
    let host: *mut c_void = host.as_mut_ptr().cast();
    unsafe {
        assert_eq!(cuMemAlloc_v2(&raw mut pointer, 64), error::INITIALIZATION_ERROR);
        assert_eq!(cuInit(1), error::INVALID_VALUE);
        assert_eq!(cuInit(0), error::SUCCESS);
        assert_eq!(cuMemAlloc_v2(&raw mut pointer, 64), error::DEVICE_UNINITIALIZED);
        assert_eq!(cudaFree(null_mut()), error::SUCCESS);
        __warpline_name(c"d_part".as_ptr());
        assert_eq!(cuMemAlloc_v2(&raw mut pointer, 64), error::SUCCESS);
        assert_eq!(cuMemAlloc_v2(null_mut(), 64), error::INVALID_VALUE);
        assert_eq!(cuMemAlloc_v2(&raw mut other, 0), error::INVALID_VALUE);
        assert_eq!(cuMemcpyHtoD_v2(pointer, host, 64), error::SUCCESS);
        assert_eq!(cuMemcpyHtoD_v2(host, pointer, 64), error::INVALID_VALUE);
        assert_eq!(cuMemcpyDtoH_v2(host, pointer, 65), error::INVALID_VALUE);
        assert_eq!(cuMemsetD32_v2(pointer, 7, 16), error::SUCCESS);
        assert_eq!(cuMemsetD32_v2(pointer.wrapping_byte_add(1), 7, 1), error::INVALID_VALUE);
        assert_eq!(cuMemFree_v2(host), error::INVALID_VALUE);
        assert_eq!(cuMemFree_v2(pointer), error::SUCCESS);
    }
    // None of these errors is an error of the runtime.
    assert_eq!(cudaGetLastError(), error::SUCCESS);
}

#[test]
fn the_driver_api_is_recorded_as_the_runtimes() {
    let ran = run_child("child_driver", |_| ());
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    let trace = Trace::read(&ran.path);
    let described: Vec<String> = trace
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Allocation(row) if row.kind == AllocationKind::Malloc => {
                Some(format!("{:?} {}", row.name, row.bytes))
            }
            Event::Copy(copy) => Some(format!("{:?} {} {}", copy.direction, copy.width, copy.path != 0)),
            Event::Free { path, .. } => Some(format!("free {}", *path != 0)),
            _ => None,
        })
        .collect();
    assert_eq!(described, ["Some(\"d_part\") 64", "HostToDevice 64 true", "Set 64 true", "free true"]);
}
