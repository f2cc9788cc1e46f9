//! Tests programs that use several GPUs, with the fake CUDA runtime, which has two.

mod gpu_fake;
mod gpu_producer;
mod support;

use gpu_fake::devices::{DEVICES, VARIABLE_BYTES};
use gpu_fake::program::{BLOCKS, SHADOWS, THREADS, launch, malloc, run, start, start_with};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::null_mut;
use support::Trace;
use warpline_format::access::Item;
use warpline_format::event::{Allocation, AllocationKind, Event, LaunchEnd};
use warpline_format::site_table::GlobalKind;
use warpline_runtime::api::copies::symbols::cudaGetSymbolAddress;
use warpline_runtime::api::device::{cudaDeviceSynchronize, cudaSetDevice};
use warpline_runtime::cuda::error;

const BYTES: usize = 4 * (BLOCKS * THREADS) as usize;
const LAUNCHES: u64 = 8;
/// The number of requests of a launch at each of its three sites.
const REQUESTS: u64 = BLOCKS as u64 * THREADS.div_ceil(32) as u64;

fn ends<'t>(trace: &'t Trace) -> BTreeMap<u64, &'t LaunchEnd> {
    let end = |event: &'t Event| if let Event::LaunchEnd(end) = event { Some((end.id, end)) } else { None };
    trace.events.iter().filter_map(end).collect()
}

/// Returns the requests by site, and the allocation that contains the addresses of the first site.
fn read(trace: &Trace, launch: u64, allocations: &[&Allocation]) -> ([u64; 3], Option<u64>) {
    let (mut counts, mut home) = ([0; 3], None);
    trace.for_each_item(launch, |item| {
        let Item::Access(access) = item else { return };
        counts[access.site as usize] += 1;
        if access.site == 0 {
            access.for_each_lane(|_, address| {
                let holder = allocations.iter().find(|it| (it.address..it.address + it.bytes).contains(&address));
                let holder = holder.expect("an allocation").id;
                assert_eq!(*home.get_or_insert(holder), holder, "launch {launch}");
            });
        }
    });
    (counts, home)
}

#[test]
#[ignore = "child"]
fn child_two() {
    const { assert!(BYTES <= VARIABLE_BYTES) };
    start_with(&[("d_table", GlobalKind::Device, VARIABLE_BYTES as u64)]);
    std::thread::scope(|scope| {
        for device in 0..DEVICES {
            scope.spawn(move || {
                assert_eq!(unsafe { cudaSetDevice(device as i32) }, error::SUCCESS);
                let data = malloc(BYTES, if device == 0 { c"d_first" } else { c"d_second" });
                let mut table = null_mut();
                let code = unsafe { cudaGetSymbolAddress(&raw mut table, SHADOWS as *const c_void) };
                assert_eq!(code, error::SUCCESS);
                for _ in 0..LAUNCHES / 4 {
                    assert_eq!(launch(0, data, 0), error::SUCCESS);
                    assert_eq!(launch(0, table, 0), error::SUCCESS);
                }
            });
        }
    });
    // The program waits for neither device: the exit handler does, while the first one is selected.
}

#[test]
fn each_gpu_has_its_rings_and_copies_of_variables() {
    let ran = run("child_two", &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    assert!(ran.errors.contains("several GPUs"), "{}", ran.errors);
    let trace = Trace::read(&ran.path);
    assert!(trace.is_complete(), "{}", ran.errors);
    let allocations: Vec<&Allocation> = trace
        .events
        .iter()
        .filter_map(|event| if let Event::Allocation(allocation) = event { Some(allocation) } else { None })
        .collect();
    let names: BTreeMap<u64, &str> =
        allocations.iter().map(|it| (it.id, it.name.as_deref().unwrap_or_default())).collect();
    let variables = allocations.iter().filter(|it| it.kind == AllocationKind::DeviceGlobal).count();
    assert_eq!((variables, allocations.len()), (1, 3), "a variable is one allocation, whatever device: {names:?}");

    let mut homes: BTreeMap<&str, u64> = BTreeMap::new();
    for number in 0..LAUNCHES {
        let (counts, home) = read(&trace, number, &allocations);
        assert_eq!(counts, [REQUESTS; 3], "launch {number}");
        *homes.entry(names[&home.expect("accesses")]).or_default() += 1;
    }
    assert_eq!(
        homes,
        BTreeMap::from([("d_first", LAUNCHES / 4), ("d_second", LAUNCHES / 4), ("d_table", LAUNCHES / 2)])
    );
    for end in ends(&trace).values() {
        assert_eq!((end.error, end.blocks[0].executions), (0, REQUESTS), "launch {}", end.id);
    }
}

#[test]
#[ignore = "child"]
fn child_one_faults() {
    start();
    let data = malloc(BYTES, c"d_first");
    // The rings cannot store all records, so the kernels need the thread that reads.
    for _ in 0..4 {
        assert_eq!(launch(0, data, 0), error::SUCCESS);
    }
    let second = std::thread::spawn(|| {
        assert_eq!(unsafe { cudaSetDevice(1) }, error::SUCCESS);
        let data = malloc(BYTES, c"d_second");
        assert_eq!(launch(1, data, 0), error::SUCCESS);
        assert_eq!(unsafe { cudaDeviceSynchronize() }, 700);
        assert_eq!(launch(0, data, 0), 700);
    });
    second.join().unwrap();
    for _ in 0..2 {
        assert_eq!(launch(0, data, 0), error::SUCCESS);
    }
    assert_eq!(unsafe { cudaDeviceSynchronize() }, error::SUCCESS);
}

#[test]
fn a_fault_of_one_gpu_leaves_the_other_alone() {
    let ran = run("child_one_faults", &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    let trace = Trace::read(&ran.path);
    assert!(trace.is_complete(), "{}", ran.errors);
    let ends = ends(&trace);
    let codes: Vec<i32> = ends.values().map(|end| end.error).collect();
    assert_eq!(codes, [0, 0, 0, 0, 700, 700, 0, 0]);
    for (&number, end) in ends.iter().filter(|(_, end)| end.error == 0) {
        let mut requests = 0;
        trace.for_each_item(number, |item| requests += u64::from(matches!(item, Item::Access(_))));
        assert_eq!((requests, end.blocks[0].executions), (3 * REQUESTS, REQUESTS), "launch {number}");
    }
    let mut rescued = 0;
    trace.for_each_item(4, |item| rescued += u64::from(matches!(item, Item::Access(_))));
    assert!(rescued >= u64::from(BLOCKS) / 2 * 3, "{rescued} requests of the kernel that faulted");
}
