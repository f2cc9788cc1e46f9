//! Tests the CPU device with manually lowered kernels: order, records, barriers, waiting, faults, filters. Each case is
//! a separate program: an ignored test that a real test starts as a child process.

mod support;

use std::ffi::c_void;
use std::ptr::null_mut;
use support::{KernelSpec, Trace, record, register, run_child, site, table};
use warpline_format::abi::{SiteRange, WarpContext, barrier, kernel_flags};
use warpline_format::access::{Item, Kind, Space};
use warpline_format::event::{AllocationKind, Direction, Event, FaultKind};
use warpline_format::options::Check;
use warpline_format::site_table::{GlobalKind, Op};
use warpline_runtime::api::copies::copy::{cudaMemcpy, cudaMemset};
use warpline_runtime::api::copies::symbols::{cudaMemcpyFromSymbol, cudaMemcpyToSymbol};
use warpline_runtime::api::device::{cudaDeviceReset, cudaDeviceSynchronize};
use warpline_runtime::api::errors::{cudaGetLastError, cudaPeekAtLastError, cudaProfilerStart, cudaProfilerStop};
use warpline_runtime::api::hooks::__warpline_name;
use warpline_runtime::api::launch::cudaLaunchKernel;
use warpline_runtime::api::memory::allocations::{cudaFree, cudaMalloc};
use warpline_runtime::cuda::error;
use warpline_runtime::cuda::types::Dim3;
use warpline_runtime::device::execution::hooks::{__wl_barrier, __wl_check, __wl_vprintf, __wl_yield};

const STUBS: usize = 0x5000;
const SHADOWS: usize = 0x6000;

fn dim(x: u32) -> Dim3 {
    Dim3 { x, y: 1, z: 1 }
}

/// Computes `data[i] *= 2`, with one float per thread.
unsafe fn double(c: *mut WarpContext, hooked: bool) {
    unsafe {
        let data = *(*c).arguments.cast::<u64>();
        let first = u64::from((*c).block_index[0] * (*c).block_dim[0] + (*c).thread_x.0[0]);
        let base = data + 4 * first;
        let live = (*c).live;
        if hooked {
            *(*c).counts += 1;
            *(*c).counts.add(1) += u64::from(live.count_ones());
            record(c, Kind::Affine, Space::Global, 0, live, &[base, base + 64, 4]);
            record(c, Kind::Affine, Space::Generic, 1, live, &[base, base + 64, 4]);
        }
        for lane in 0..u64::from(live.count_ones()) {
            let value = (base + 4 * lane) as *mut f32;
            *value *= 2.0;
        }
    }
}

unsafe extern "C" fn double_native(c: *mut WarpContext) {
    unsafe { double(c, false) }
}

unsafe extern "C" fn double_hooked(c: *mut WarpContext) {
    unsafe { double(c, true) }
}

/// Every warp writes its number to shared memory, twice around a barrier, and the last block-wide
/// count to `out[block]`; each warp reads its neighbour's number.
unsafe fn neighbours(c: *mut WarpContext, hooked: bool) {
    unsafe {
        let out = *(*c).arguments.cast::<u64>() as *mut u32;
        let shared = (*c).shared.cast::<u32>();
        let warps = (*c).block_dim[0].div_ceil(32);
        let mut sum = 0;
        for round in 0..3u32 {
            *shared.add((*c).warp as usize) = (*c).warp * 10 + round;
            if hooked {
                record(c, Kind::Uniform, Space::Shared, 2, 1, &[u64::from((*c).warp) * 4]);
                record(c, Kind::Barrier, Space::Generic, 0, 0, &[]);
            }
            let count = __wl_barrier(c, (*c).live, barrier::COUNT, if (*c).warp == round { 7 } else { 0 });
            assert_eq!(count, 3, "every round one warp votes with three lanes");
            sum += *shared.add((((*c).warp + 1) % warps) as usize);
            if hooked {
                record(c, Kind::Barrier, Space::Generic, 0, 0, &[]);
            }
            __wl_barrier(c, (*c).live, barrier::SYNC, 0);
        }
        *out.add((*c).block as usize * warps as usize + (*c).warp as usize) = sum;
    }
}

unsafe extern "C" fn neighbours_native(c: *mut WarpContext) {
    unsafe { neighbours(c, false) }
}

unsafe extern "C" fn neighbours_hooked(c: *mut WarpContext) {
    unsafe { neighbours(c, true) }
}

/// Block `b` waits until block `b − 1` has set the flag to `b`.
unsafe extern "C" fn chain(c: *mut WarpContext) {
    unsafe {
        let flag = *(*c).arguments.cast::<u64>() as *mut u64;
        while flag.read_volatile() != (*c).block {
            __wl_yield(c);
        }
        flag.write_volatile((*c).block + 1);
    }
}

static mut RANGE: SiteRange = SiteRange { low: u64::MAX, high: 0 };

/// Writes one float per thread with the access check, 40 bytes after the correct address.
unsafe extern "C" fn stray(c: *mut WarpContext) {
    unsafe {
        let data = *(*c).arguments.cast::<u64>();
        let mut addresses = [0; 32];
        for (lane, address) in addresses.iter_mut().enumerate() {
            *address = data + 4 * u64::from((*c).thread_x.0[lane]) + 40;
        }
        let mask = __wl_check(c, &raw mut RANGE, 3, Space::Global as u32, (*c).live, &raw const addresses, 4, 4);
        for (lane, address) in addresses.iter().enumerate() {
            if mask >> lane & 1 == 1 {
                *(*address as *mut f32) = 1.0;
            }
        }
    }
}

unsafe extern "C" fn null_write(c: *mut WarpContext) {
    unsafe {
        if (*c).block == 1 {
            std::ptr::null_mut::<u32>().wrapping_byte_add(64).write_volatile(1);
        }
    }
}

unsafe extern "C" fn hello(c: *mut WarpContext) {
    unsafe {
        let arguments = [(*c).block_index[0] as i32, 7];
        let (formats, pointers) = ([c"block %d of %d\n".as_ptr() as u64; 32], [arguments.as_ptr() as u64; 32]);
        __wl_vprintf(c, 1, &raw const formats, &raw const pointers, &mut [0; 32]);
    }
}

fn kernels() -> [KernelSpec; 6] {
    let kernel =
        |name, native, hooked, flags| KernelSpec { name, native, hooked, parameters: &[8], flags, static_shared: 4096 };
    [
        kernel(c"double", double_native, double_hooked, 0),
        kernel(c"neighbours", neighbours_native, neighbours_hooked, kernel_flags::BARRIER),
        kernel(c"chain", chain, chain, kernel_flags::MAY_WAIT),
        kernel(c"stray", stray, stray, 0),
        kernel(c"null_write", null_write, null_write, 0),
        kernel(c"hello", hello, hello, 0),
    ]
}

fn start() -> support::Module {
    let kernels = kernels();
    let sites = vec![
        site(0, Op::Load, Space::Global, 4),
        site(0, Op::Store, Space::Generic, 5),
        site(1, Op::Store, Space::Shared, 6),
        site(3, Op::Store, Space::Global, 7),
    ];
    register(&kernels, &table(&kernels, sites, &[("factor", GlobalKind::Constant, 64)]), STUBS, SHADOWS)
}

fn malloc(bytes: usize, name: &'static std::ffi::CStr) -> *mut c_void {
    let mut pointer = null_mut();
    unsafe {
        __warpline_name(name.as_ptr());
        assert_eq!(cudaMalloc(&raw mut pointer, bytes), error::SUCCESS);
    }
    pointer
}

fn launch(kernel: usize, grid: u32, block: u32, argument: *mut c_void) -> i32 {
    let mut argument = argument;
    let mut arguments = [(&raw mut argument).cast::<c_void>()];
    unsafe {
        cudaLaunchKernel(
            (STUBS + kernel) as *const c_void,
            dim(grid),
            dim(block),
            arguments.as_mut_ptr(),
            0,
            null_mut(),
        )
    }
}

fn download<T: Default + Clone>(from: *mut c_void, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    let bytes = count * size_of::<T>();
    assert_eq!(unsafe { cudaMemcpy(values.as_mut_ptr().cast(), from, bytes, 2) }, error::SUCCESS);
    values
}

#[test]
#[ignore = "child"]
fn child_double() {
    start();
    const COUNT: usize = 100_000;
    let data = malloc(4 * COUNT, c"d_data");
    let input: Vec<f32> = (0..COUNT).map(|value| value as f32).collect();
    assert_eq!(unsafe { cudaMemcpy(data, input.as_ptr().cast(), 4 * COUNT, 1) }, error::SUCCESS);
    // A partial last warp in each block: 200 = 6 · 32 + 8.
    assert_eq!(launch(0, COUNT as u32 / 200, 200, data), error::SUCCESS);
    assert_eq!(cudaGetLastError(), error::SUCCESS);
    assert!(download::<f32>(data, COUNT).iter().zip(&input).all(|(got, sent)| *got == 2.0 * sent));
    let factor = [3u32; 16];
    let symbol = SHADOWS as *const c_void;
    unsafe {
        assert_eq!(cudaMemcpyToSymbol(symbol, factor.as_ptr().cast(), 64, 0, 1), error::SUCCESS);
        assert_eq!(cudaMemcpyToSymbol(symbol, factor.as_ptr().cast(), 64, 4, 1), error::INVALID_VALUE);
        let mut back = [0u32; 8];
        assert_eq!(cudaMemcpyFromSymbol(back.as_mut_ptr().cast(), symbol, 32, 32, 2), error::SUCCESS);
        assert_eq!(back, [3; 8]);
        assert_eq!(cudaFree(data), error::SUCCESS);
        assert_eq!(cudaFree(data), error::INVALID_VALUE);
    }
    assert_eq!(cudaPeekAtLastError(), error::INVALID_VALUE);
    assert_eq!(cudaGetLastError(), error::INVALID_VALUE);
    assert_eq!(cudaGetLastError(), error::SUCCESS);
}

#[test]
fn every_access_is_recorded_and_the_trace_repeats() {
    let first = run_child("child_double", |_| ());
    assert_eq!(first.code, Some(0), "{}{}", first.output, first.errors);
    let trace = Trace::read(&first.path);
    assert!(trace.is_complete());
    let mut lanes = [0u64; 2];
    let mut starts = 0;
    let mut lowest = u64::MAX;
    trace.for_each_item(0, |item| match item {
        Item::Access(access) => {
            assert_eq!(access.space, Space::Global);
            lanes[access.site as usize] += u64::from(access.mask.count_ones());
            access.for_each_lane(|_, address| lowest = lowest.min(address));
        }
        Item::BlockStart { warps, .. } => {
            assert_eq!(warps, 7);
            starts += 1;
        }
        Item::Turn { .. } => (),
        other => panic!("{other:?}"),
    });
    assert_eq!((lanes, starts), ([100_000; 2], 500));
    let allocation = trace.events.iter().find_map(|event| match event {
        Event::Allocation(allocation) if allocation.kind == AllocationKind::Malloc => Some(allocation.clone()),
        _ => None,
    });
    let allocation = allocation.unwrap();
    assert_eq!((allocation.name.as_deref(), allocation.address), (Some("d_data"), lowest));
    assert_ne!(allocation.path, 0);
    let copies: Vec<Direction> = trace
        .events
        .iter()
        .filter_map(|event| if let Event::Copy(copy) = event { Some(copy.direction) } else { None })
        .collect();
    use Direction::{DeviceToHost, HostToDevice};
    assert_eq!(copies, [HostToDevice, DeviceToHost, HostToDevice, DeviceToHost]);
    let end = trace.events.iter().find_map(|event| if let Event::LaunchEnd(end) = event { Some(end) } else { None });
    assert_eq!(end.unwrap().blocks[0].lanes, 100_000);

    let second = run_child("child_double", |_| ());
    assert!(std::fs::read(&first.path).unwrap() == std::fs::read(&second.path).unwrap(), "the traces differ");
}

#[test]
fn filters_leave_the_launch_and_take_the_records() {
    let ran = run_child("child_double", |options| options.kernels = Some("^other".into()));
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    let trace = Trace::read(&ran.path);
    assert!(trace.batches.is_empty());
    assert!(trace.events.iter().any(|event| matches!(event, Event::Launch(launch) if launch.block_share == 0)));

    let ran = run_child("child_double", |options| options.block_share = 10);
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    let mut blocks = Vec::new();
    Trace::read(&ran.path).for_each_item(0, |item| {
        if let Item::BlockStart { block, .. } = item {
            blocks.push(block);
        }
    });
    assert_eq!(blocks.len(), 50);
    assert!(blocks.iter().all(|block| block % 10 == 0));
}

#[test]
#[ignore = "child"]
fn child_barriers() {
    start();
    const BLOCKS: usize = 700;
    let out = malloc(4 * 8 * BLOCKS, c"out");
    let expected: Vec<u32> = (0..8 * BLOCKS).map(|warp| 3 * (((warp as u32) % 8 + 1) % 8 * 10) + 3).collect();
    assert_eq!(launch(1, BLOCKS as u32, 256, out), error::SUCCESS);
    assert_eq!(download::<u32>(out, 8 * BLOCKS), expected);
    unsafe {
        assert_eq!(cudaMemset(out, 0, 4 * 8 * BLOCKS), error::SUCCESS);
        // The original kernel.
        assert_eq!(cudaProfilerStop(), error::SUCCESS);
        assert_eq!(launch(1, BLOCKS as u32, 256, out), error::SUCCESS);
        assert_eq!(cudaProfilerStart(), error::SUCCESS);
    }
    assert_eq!(download::<u32>(out, 8 * BLOCKS), expected);
    let flag = malloc(8, c"flag");
    unsafe { cudaMemset(flag, 0, 8) };
    assert_eq!(launch(2, 300, 32, flag), error::SUCCESS);
    assert_eq!(download::<u64>(flag, 1), [300]);
}

#[test]
fn barriers_hold_in_both_kernels_and_waiting_warps_make_progress() {
    let ran = run_child("child_barriers", |_| ());
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    let trace = Trace::read(&ran.path);
    let mut barriers = 0;
    trace.for_each_item(0, |item| barriers += u32::from(item == Item::Barrier));
    assert_eq!(barriers, 700 * 8 * 6);
    assert!(trace.batches.iter().all(|(launch, _)| *launch != 1), "the second launch was not to be traced");
}

#[test]
#[ignore = "child"]
fn child_stray() {
    start();
    let data = malloc(4 * 64, c"d_x");
    assert_eq!(launch(3, 1, 64, data), error::SUCCESS);
    let code = unsafe { cudaDeviceSynchronize() };
    println!("code {code}");
    if code != 0 {
        assert_eq!(cudaGetLastError(), code);
        assert_eq!(cudaGetLastError(), code, "the error stays");
        let mut pointer = null_mut();
        assert_eq!(unsafe { cudaMalloc(&raw mut pointer, 4) }, code);
        assert_eq!(cudaDeviceReset(), error::SUCCESS);
        assert_eq!(cudaGetLastError(), error::SUCCESS);
        malloc(4, c"after");
    } else {
        assert_eq!(download::<f32>(data, 64)[10..], [1.0; 54]);
    }
}

#[test]
fn a_stray_access_stops_the_kernel_and_says_where() {
    let ran = run_child("child_stray", |_| ());
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    assert!(ran.output.contains("code 700"), "{}", ran.output);
    for part in [
        "Invalid write of 4 bytes",
        "in stray(float*), block (0,0,0), thread (54,0,0), launch 0",
        "at /src/fake.cu:8:3",
        "is 0 bytes past the end of d_x (256 bytes)",
        "A GPU would not notice: it pads the allocation to 512 bytes",
        "--check report",
    ] {
        assert!(ran.errors.contains(part), "{part:?} is not in\n{}", ran.errors);
    }
    let faults = faults(&Trace::read(&ran.path));
    assert_eq!(faults, [(FaultKind::OutOfBounds, 3, 54, true)]);
}

#[test]
fn a_stray_access_can_be_reported_only() {
    let ran = run_child("child_stray", |options| options.check = Check::Report);
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    assert!(ran.output.contains("code 0"), "{}", ran.output);
    assert_eq!(ran.errors.matches("Invalid write").count(), 1);
    assert_eq!(faults(&Trace::read(&ran.path)), [(FaultKind::OutOfBounds, 3, 54, false)]);
}

fn faults(trace: &Trace) -> Vec<(FaultKind, u32, u32, bool)> {
    let fault = |event: &Event| match event {
        Event::Fault(fault) => Some((fault.kind, fault.site, fault.thread, fault.stopped)),
        _ => None,
    };
    trace.events.iter().filter_map(fault).collect()
}

#[test]
#[ignore = "child"]
fn child_null_write() {
    start();
    let data = malloc(256, c"data");
    assert_eq!(launch(4, 3, 64, data), error::SUCCESS);
    assert_eq!(unsafe { cudaDeviceSynchronize() }, error::ILLEGAL_ADDRESS);
    assert_eq!(cudaDeviceReset(), error::SUCCESS);
    // The device works again, and the program's own faults are handled by the program.
    let data = malloc(4 * 64, c"data");
    assert_eq!(launch(0, 1, 64, data), error::SUCCESS);
    assert_eq!(unsafe { cudaDeviceSynchronize() }, error::SUCCESS);
}

#[test]
fn a_fault_of_the_processor_ends_the_kernel_alone() {
    for share in [1, 2] {
        let ran = run_child("child_null_write", |options| options.block_share = share);
        assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
        assert!(ran.errors.contains("in null_write(float*), block (1,0,0)"), "{}", ran.errors);
        assert!(ran.errors.contains("a null pointer"), "{}", ran.errors);
        let trace = Trace::read(&ran.path);
        assert_eq!(faults(&trace)[0].0, FaultKind::Hardware);
        assert!(trace.is_complete());
    }
}

#[test]
#[ignore = "child"]
fn child_hello() {
    start();
    assert_eq!(launch(5, 3, 32, null_mut()), error::SUCCESS);
    unsafe { libc::printf(c"launched\n".as_ptr()) };
    assert_eq!(unsafe { cudaDeviceSynchronize() }, error::SUCCESS);
    unsafe { libc::printf(c"synchronised\n".as_ptr()) };
}

#[test]
fn device_output_appears_when_the_host_waits() {
    let ran = run_child("child_hello", |_| ());
    let expected = "launched\nblock 0 of 7\nblock 1 of 7\nblock 2 of 7\nsynchronised\n";
    assert!(ran.output.contains(expected), "{}", ran.output);
}
