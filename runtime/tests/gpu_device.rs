//! The whole host side of the GPU back end, without a GPU: registration, launches on several streams, the draining
//! thread, faults, and the choice of the device. Each case is a program of its own: an ignored test that a real test
//! starts as a child, with a driver and a CUDA runtime made for the purpose.

mod gpu_fake;
mod gpu_producer;
mod support;

use gpu_fake::program::{BLOCKS, STUBS, THREADS, driver, launch, malloc, run, start};
use gpu_fake::times::{MILLISECONDS, REGISTERS};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;
use std::ptr::null_mut;
use support::{Trace, run_child_with};
use warpline_format::access::{Item, Space};
use warpline_format::event::{AllocationKind, Direction, Event};
use warpline_format::options::Mode;
use warpline_runtime::api::copies::copy::cudaMemcpy;
use warpline_runtime::api::device::cudaDeviceSynchronize;
use warpline_runtime::api::launch::{cudaLaunchKernel_ptsz, cudaLaunchKernelExC_ptsz};
use warpline_runtime::api::memory::allocations::cudaFree;
use warpline_runtime::cuda::error;
use warpline_runtime::cuda::types::{Dim3, LaunchConfig};
use warpline_runtime::gpu::times::TIMES_VARIABLE;

const LAUNCHES: u32 = 12;
/// The first address of the device window that is allocated; the addresses below it stay closed.
const FIRST: u64 = warpline_format::abi::windows::DEVICE + (2 << 20);

#[test]
#[ignore = "child"]
fn child_streams() {
    start();
    let data: Vec<usize> = (0..2).map(|_| malloc(4 * (BLOCKS * THREADS) as usize, c"d_data") as usize).collect();
    let host = vec![1u8; 4096];
    assert_eq!(unsafe { cudaMemcpy(data[0] as _, host.as_ptr().cast(), 4096, 1) }, error::SUCCESS);
    std::thread::scope(|scope| {
        for (stream, &data) in data.iter().enumerate() {
            scope.spawn(move || {
                for _ in 0..LAUNCHES / 2 {
                    assert_eq!(launch(0, data as *mut c_void, 0x100 + stream), error::SUCCESS);
                }
            });
        }
    });
    for data in data {
        assert_eq!(unsafe { cudaFree(data as *mut c_void) }, error::SUCCESS);
    }
}

#[test]
fn concurrent_launches_lose_nothing() {
    let ran = run("child_streams", &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    let trace = Trace::read(&ran.path);
    assert!(trace.is_complete(), "{}", ran.errors);
    let Some(Event::Program { device, .. }) = trace.events.first() else { panic!("{:?}", trace.events.first()) };
    assert_eq!((device.name.as_str(), device.sms), ("Fake GPU", 4));
    assert_eq!(trace.events[1], Event::OnGpu);

    let allocations: BTreeMap<u64, u64> = trace
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Allocation(allocation) if allocation.kind == AllocationKind::Malloc => {
                assert_eq!(allocation.name.as_deref(), Some("d_data"));
                Some((allocation.address, allocation.bytes))
            }
            _ => None,
        })
        .collect();
    assert_eq!(allocations.len(), 2);
    // As on the CPU device, the first allocation is at the first address of the window.
    assert_eq!(allocations.keys().next(), Some(&FIRST));
    assert!(trace.events.iter().any(|event| matches!(event, Event::Copy(copy)
        if copy.direction == Direction::HostToDevice && copy.destination == Some(FIRST))));

    let warps = u64::from(THREADS.div_ceil(32));
    let requests = u64::from(BLOCKS) * warps;
    for number in 0..u64::from(LAUNCHES) {
        let mut lanes = [0u64; 3];
        let mut count = [0u64; 3];
        let (mut starts, mut barriers) = (0, 0);
        let mut home = None;
        let mut slot = 0;
        let mut resident: BTreeMap<u32, u64> = BTreeMap::new();
        trace.for_each_item(number, |item| match item {
            Item::BlockStart { slot, warps: of_block, block } => {
                assert_eq!(u64::from(of_block), warps);
                assert_eq!(u64::from(slot) / (2 * warps), block % gpu_fake::SMS, "the SM of block {block}");
                resident.insert(slot / of_block, block);
                starts += 1;
            }
            Item::Turn { slot: next, .. } => slot = next,
            Item::Barrier => barriers += 1,
            Item::Access(access) => {
                let site = access.site as usize;
                count[site] += 1;
                lanes[site] += u64::from(access.mask.count_ones());
                let block = resident[&(slot / warps as u32)];
                let first = block * u64::from(THREADS) + 32 * u64::from(slot % warps as u32);
                access.for_each_lane(|lane, address| match site {
                    2 => assert_eq!((access.space, address), (Space::Shared, 4 * u64::from(lane))),
                    _ => {
                        let start = *home.get_or_insert_with(|| *allocations.range(..=address).next_back().unwrap().0);
                        let index =
                            if site == 0 { first + u64::from(lane) } else { (first + u64::from(lane)) * 7919 % 4096 };
                        assert_eq!(address, start + 4 * index, "launch {number} block {block} lane {lane}");
                    }
                });
            }
            other => panic!("{other:?}"),
        });
        assert_eq!((count, starts, barriers), ([requests; 3], BLOCKS, requests), "launch {number}");
        assert_eq!(lanes, [u64::from(BLOCKS * THREADS); 3]);
        let end = trace.events.iter().find_map(|event| match event {
            Event::LaunchEnd(end) if end.id == number => Some(end),
            _ => None,
        });
        let block = end.expect("the launch has an end").blocks[0];
        assert_eq!((block.executions, block.lanes, block.partial), (requests, u64::from(BLOCKS * THREADS), 0));
    }
    // A free follows the records of the earlier launches.
    let last_end = trace.events.iter().rposition(|event| matches!(event, Event::LaunchEnd(_))).unwrap();
    let first_free = trace.events.iter().position(|event| matches!(event, Event::Free { .. })).unwrap();
    assert!(last_end < first_free);
}

#[test]
fn times_of_kernels_are_reported_where_they_are_wanted() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("times-{}", std::process::id()));
    let file = path.to_str().unwrap();
    for (variables, form) in
        [(&[(TIMES_VARIABLE, file)][..], "traced"), (&[(TIMES_VARIABLE, file), ("WARPLINE", "0")], "original")]
    {
        _ = std::fs::remove_file(&path);
        let ran = run("child_streams", variables);
        assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(lines.len(), LAUNCHES as usize, "{text}");
        for line in lines {
            assert_eq!(line[1..], [form, &format!("{MILLISECONDS:.6}"), &REGISTERS.to_string(), "0", "2"], "{line:?}");
        }
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn counters_mode_counts_on_the_device_and_keeps_no_trace() {
    let all: Vec<(&str, &str)> = vec![("LD_LIBRARY_PATH", driver())];
    let ran = run_child_with("child_streams", &all, |options| options.mode = Mode::Counters);
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    let trace = Trace::read(&ran.path);
    assert!(trace.is_complete() && trace.batches.is_empty(), "{}", ran.errors);
    let whole = u64::from(BLOCKS * (THREADS / 32));
    let rest = u64::from(BLOCKS);
    // The lines of the second site's requests, by warp.
    let mut scattered: BTreeMap<u32, u64> = BTreeMap::new();
    for first in (0..BLOCKS).flat_map(|block| (0..THREADS.div_ceil(32)).map(move |warp| (block, 32 * warp))) {
        let lanes = first.1..(first.1 + 32).min(THREADS);
        let lines = lanes.map(|thread| 4 * ((first.0 * THREADS + thread) * 7919 % 4096) / 128);
        *scattered.entry(lines.collect::<std::collections::BTreeSet<_>>().len() as u32).or_default() += 1;
    }
    for number in 0..u64::from(LAUNCHES) {
        let counts = trace.events.iter().find_map(|event| match event {
            Event::SiteCounts { launch, sites } if *launch == number => Some(sites),
            _ => None,
        });
        let counts = counts.expect("the launch has counts");
        let lanes: Vec<u64> = counts.iter().map(|count| count.lanes).collect();
        assert_eq!(lanes, [u64::from(BLOCKS * THREADS); 3], "launch {number}");
        // 32 neighbouring floats, and 8 in the last warp of each block, which starts at a sector's edge.
        assert_eq!(counts[0].by_sectors, [(1, rest), (4, whole)]);
        assert_eq!(counts[0].ideal_sectors, 4 * whole + rest);
        assert_eq!(counts[1].by_lines, scattered.clone().into_iter().collect::<Vec<_>>());
        assert_eq!((counts[2].space, &counts[2].by_lines), (Space::Shared, &vec![(1, whole + rest)]));
        let end = trace.events.iter().find_map(|event| match event {
            Event::LaunchEnd(end) if end.id == number => Some(end),
            _ => None,
        });
        let block = end.expect("the launch has an end").blocks[0];
        assert_eq!((block.executions, block.lanes), (whole + rest, u64::from(BLOCKS * THREADS)));
    }
}

#[test]
#[ignore = "child"]
fn child_fault() {
    start();
    let data = malloc(4 * (BLOCKS * THREADS) as usize, c"d_data");
    assert_eq!(launch(1, data, 0), error::SUCCESS);
    assert_eq!(unsafe { cudaDeviceSynchronize() }, 700);
    assert_eq!(launch(0, data, 0), 700);
}

#[test]
fn a_faulting_kernel_leaves_its_records() {
    let ran = run("child_fault", &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    let trace = Trace::read(&ran.path);
    assert!(trace.is_complete(), "{}", ran.errors);
    let mut requests = 0;
    trace.for_each_item(0, |item| requests += u32::from(matches!(item, Item::Access(_))));
    assert!(requests >= BLOCKS / 2 * 3, "{requests} requests");
    assert!(trace.events.iter().any(|event| matches!(event, Event::LaunchEnd(end) if end.id == 0 && end.error == 700)));
    assert!(trace.events.iter().any(|event| matches!(event, Event::LaunchEnd(end) if end.id == 1 && end.error == 700)));
}

#[test]
#[ignore = "child"]
fn child_default_streams() {
    start();
    let data = malloc(4 * (BLOCKS * THREADS) as usize, c"d_data");
    let last = || gpu_fake::LAST_STREAM.load(std::sync::atomic::Ordering::SeqCst);
    let (grid, block) = (Dim3 { x: BLOCKS, y: 1, z: 1 }, Dim3 { x: THREADS, y: 1, z: 1 });
    let mut pointer = data;
    let mut arguments = [(&raw mut pointer).cast::<c_void>()];
    assert_eq!(launch(0, data, 0), error::SUCCESS);
    assert_eq!(last(), 0);
    // This is `cudaStreamPerThread`; a stream that the program names does not change.
    let config =
        LaunchConfig { grid, block, shared: 0, stream: null_mut(), attributes: std::ptr::null(), attribute_count: 0 };
    for (stream, expected) in [(0usize, 2), (0x100, 0x100)] {
        let (stub, stream) = (STUBS as *const c_void, stream as *mut c_void);
        let code = unsafe { cudaLaunchKernel_ptsz(stub, grid, block, arguments.as_mut_ptr(), 0, stream) };
        assert_eq!((code, last()), (error::SUCCESS, expected));
        let config = LaunchConfig { stream, ..config };
        let code = unsafe { cudaLaunchKernelExC_ptsz(&raw const config, stub, arguments.as_mut_ptr()) };
        assert_eq!((code, last()), (error::SUCCESS, expected));
    }
    assert_eq!(unsafe { cudaDeviceSynchronize() }, error::SUCCESS);
}

#[test]
fn a_default_stream_per_thread_is_the_threads_own() {
    let ran = run("child_default_streams", &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    assert!(Trace::read(&ran.path).is_complete(), "{}", ran.errors);
}

#[test]
#[ignore = "child"]
fn child_choice() {
    start();
    let data = malloc(4096, c"d_data");
    assert_eq!(launch(0, data, 0), error::SUCCESS);
    assert_eq!(unsafe { cudaDeviceSynchronize() }, error::SUCCESS);
}

#[test]
fn without_a_gpu_the_program_says_so() {
    let requested = run("child_choice", &[("FAKE_CUDA", "none"), ("WARPLINE_DEVICE", "gpu")]);
    assert_eq!(requested.code, Some(125), "{}{}", requested.output, requested.errors);
    assert!(requested.errors.contains("WARPLINE_DEVICE=gpu: the NVIDIA driver finds no GPU"), "{}", requested.errors);

    let fallen_back = run("child_choice", &[("FAKE_CUDA", "none")]);
    assert_eq!(fallen_back.code, Some(0), "{}{}", fallen_back.output, fallen_back.errors);
    assert!(fallen_back.errors.contains("kernels run on the CPU device"), "{}", fallen_back.errors);

    let chosen = run("child_choice", &[("WARPLINE_DEVICE", "cpu")]);
    assert_eq!(chosen.code, Some(0));
    assert!(!chosen.errors.contains("warpline:"), "{}", chosen.errors);
    let trace = Trace::read(&chosen.path);
    assert!(matches!(&trace.events[0], Event::Program { device, .. } if device.name.contains("2080")));
}
