//! Tests CUDA graphs on a GPU, without a GPU: every launch of a graph produces the records of its kernels, and the
//! program's own graphs do not change.

mod gpu_fake;
mod gpu_producer;
mod support;

use gpu_fake::graphs::{CAPTURE_ERROR, COPY_LAUNCH_ERROR, EXECUTABLES, GRAPHS, LAUNCH_ERROR, WAITS};
use gpu_fake::program::{STUBS, THREADS, driver, launch_blocks, malloc, run, start};
use gpu_fake::{LAST_STREAM, ORIGINALS};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::SeqCst;
use support::{Ran, Trace, run_child_with};
use warpline_format::access::Item;
use warpline_format::event::{Event, Launch, LaunchEnd};
use warpline_format::options::Mode;
use warpline_runtime::api::device::cudaDeviceSynchronize;
use warpline_runtime::api::graphs::capture::{cudaStreamBeginCapture, cudaStreamEndCapture};
use warpline_runtime::api::graphs::nodes::{
    cudaGraphAddKernelNode, cudaGraphCreate, cudaGraphDestroy, cudaGraphGetNodes,
};
use warpline_runtime::api::graphs::runs::{
    cudaGraphExecDestroy, cudaGraphExecKernelNodeSetParams, cudaGraphExecUpdate, cudaGraphInstantiate, cudaGraphLaunch,
    cudaGraphNodeSetEnabled,
};
use warpline_runtime::cuda::error;
use warpline_runtime::cuda::graph_types::KernelParameters;
use warpline_runtime::cuda::types::Dim3;

type Handle = *mut c_void;

const BLOCKS: u32 = 20;
const STREAM: usize = 0x100;
/// The second access of a thread is to an address within 16 KiB.
const BYTES: usize = 16 << 10;

fn launch(kernel: usize, data: Handle, stream: usize) -> i32 {
    launch_blocks(BLOCKS, kernel, data, stream)
}

fn sure(code: i32) {
    assert_eq!(code, error::SUCCESS);
}

/// Returns a captured graph with one kernel for each address.
fn captured(places: &[Handle]) -> Handle {
    let mut graph = null_mut();
    sure(unsafe { cudaStreamBeginCapture(STREAM as Handle, 0) });
    places.iter().for_each(|&place| sure(launch(0, place, STREAM)));
    sure(unsafe { cudaStreamEndCapture(STREAM as Handle, &raw mut graph) });
    graph
}

fn executable(graph: Handle) -> Handle {
    let mut made = null_mut();
    sure(unsafe { cudaGraphInstantiate(&raw mut made, graph, 0) });
    made
}

fn go(executable: Handle) -> i32 {
    unsafe { cudaGraphLaunch(executable, STREAM as Handle) }
}

fn wait() {
    sure(unsafe { cudaDeviceSynchronize() });
}

fn originals() -> usize {
    ORIGINALS.load(SeqCst)
}

/// Destroys a graph and its executable graph, and checks that nothing remains.
fn destroy(graph: Handle, executable: Handle) {
    sure(unsafe { cudaGraphDestroy(graph) });
    sure(unsafe { cudaGraphExecDestroy(executable) });
}

/// Returns, for each launch in the trace, its first and last event, its number of requests, and the address of the
/// first access.
fn launches(ran: &Ran) -> Vec<(Launch, LaunchEnd, u64, u64)> {
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    let trace = Trace::read(&ran.path);
    assert!(trace.is_complete(), "{}", ran.errors);
    let first = |event: &Event| if let Event::Launch(launch) = event { Some(launch.clone()) } else { None };
    let all: Vec<Launch> = trace.events.iter().filter_map(first).collect();
    all.into_iter()
        .enumerate()
        .map(|(number, launch)| {
            assert_eq!(launch.id, number as u64);
            let (mut requests, mut lowest) = (0, u64::MAX);
            trace.for_each_item(launch.id, |item| {
                if let Item::Access(access) = item {
                    requests += 1;
                    if access.site == 0 {
                        access.for_each_lane(|_, address| lowest = lowest.min(address));
                    }
                }
            });
            let mut ends = trace.events.iter().filter_map(|event| match event {
                Event::LaunchEnd(end) if end.id == launch.id => Some(end.clone()),
                _ => None,
            });
            let end = ends.next().expect("the launch has an end");
            assert!(ends.next().is_none());
            (launch, end, requests, lowest)
        })
        .collect()
}

/// Returns the addresses of the allocations in the trace.
fn places(ran: &Ran) -> Vec<u64> {
    let place = |event: &Event| if let Event::Allocation(one) = event { Some(one.address) } else { None };
    Trace::read(&ran.path).events.iter().filter_map(place).collect()
}

const REQUESTS: u64 = 3 * BLOCKS as u64 * THREADS.div_ceil(32) as u64;

fn is_whole((launch, end, requests, _): &(Launch, LaunchEnd, u64, u64)) -> bool {
    let block = &end.blocks[0];
    launch.block_share == 1
        && *requests == REQUESTS
        && (end.error, 3 * block.executions, block.lanes) == (0, REQUESTS, u64::from(BLOCKS * THREADS))
}

fn is_empty((launch, end, requests, _): &(Launch, LaunchEnd, u64, u64)) -> bool {
    launch.block_share == 0 && *requests == 0 && end.blocks.is_empty()
}

#[test]
#[ignore = "child"]
fn child_captured() {
    start();
    let data = [malloc(BYTES, c"a"), malloc(BYTES, c"b")];
    let graph = captured(&data);
    let mut count = 0;
    let executable = executable(graph);
    // The program's graph contains the kernels that the program added.
    sure(unsafe { cudaGraphGetNodes(graph, null_mut(), &raw mut count) });
    assert_eq!(count, 2);
    let other = data[0] as usize;
    std::thread::scope(|scope| {
        scope.spawn(move || (0..5).for_each(|_| sure(launch(0, other as Handle, 0x200))));
        (0..3).for_each(|_| sure(go(executable)));
    });
    wait();
    assert_eq!(originals(), 0);
    destroy(graph, executable);
    assert_eq!((EXECUTABLES.load(SeqCst), GRAPHS.load(SeqCst)), (0, 0));
}

#[test]
fn each_launch_of_a_captured_graph_has_records() {
    let ran = run("child_captured", &[]);
    let all = launches(&ran);
    assert_eq!(all.len(), 11);
    assert!(all.iter().all(is_whole), "{all:?}");
    assert!(!ran.errors.contains("graph"), "{}", ran.errors);
    // The kernels of a graph are in the order of their nodes, even if ordinary launches come between.
    let places = places(&ran);
    let (graphs, others): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.0.stream == all_stream(&all, 6));
    let starts: Vec<u64> = graphs.iter().map(|one| one.3).collect();
    assert_eq!(starts, [places[0], places[1], places[0], places[1], places[0], places[1]]);
    assert!(others.len() == 5 && others.iter().all(|one| one.3 == places[0]));
}

/// Returns the stream of this number of launches.
fn all_stream(all: &[(Launch, LaunchEnd, u64, u64)], count: usize) -> u32 {
    let on = |stream| all.iter().filter(|one| one.0.stream == stream).count();
    all.iter().map(|one| one.0.stream).find(|&stream| on(stream) == count).expect("a stream with so many launches")
}

#[test]
fn a_graph_in_counters_mode_counts() {
    let ran = run_child_with("child_captured", &[("LD_LIBRARY_PATH", driver())], |options| {
        options.mode = Mode::Counters;
    });
    let all = launches(&ran);
    let trace = Trace::read(&ran.path);
    assert!(trace.batches.is_empty());
    for (launch, end, _, _) in &all {
        let lanes = trace.events.iter().find_map(|event| match event {
            Event::SiteCounts { launch: id, sites } if *id == launch.id => {
                Some(sites.iter().map(|site| site.lanes).collect::<Vec<_>>())
            }
            _ => None,
        });
        assert_eq!(lanes, Some(vec![u64::from(BLOCKS * THREADS); 3]));
        assert_eq!(end.blocks[0].lanes, u64::from(BLOCKS * THREADS));
    }
    assert_eq!(all.len(), 11);
}

#[test]
fn only_the_launches_requested_have_records() {
    let ran = run_child_with("child_filtered", &[("LD_LIBRARY_PATH", driver())], |options| {
        options.launches = vec![(1, 2)];
    });
    let all = launches(&ran);
    assert_eq!(all.len(), 6);
    for (number, one) in all.iter().enumerate() {
        assert!(if (1..=2).contains(&number) { is_whole(one) } else { is_empty(one) }, "launch {number}: {one:?}");
    }
    let ran = run_child_with("child_filtered", &[("LD_LIBRARY_PATH", driver())], |options| {
        options.kernels = Some("faulty".into());
    });
    let all = launches(&ran);
    assert!(all.len() == 6 && all.iter().all(is_empty), "{all:?}");
}

#[test]
#[ignore = "child"]
fn child_filtered() {
    start();
    let data = [malloc(BYTES, c"a"), malloc(BYTES, c"b")];
    let graph = captured(&data);
    let executable = executable(graph);
    (0..3).for_each(|_| sure(go(executable)));
    wait();
    destroy(graph, executable);
}

#[test]
#[ignore = "child"]
fn child_many() {
    start();
    let data = malloc(BYTES, c"a");
    for _ in 0..30 {
        let graph = captured(&[data, data, data]);
        let executable = executable(graph);
        sure(go(executable));
        // The graph may still be running.
        destroy(graph, executable);
        sure(launch(0, data, STREAM));
    }
    wait();
    assert_eq!(originals(), 0);
}

#[test]
fn a_destroyed_graph_gives_its_slots_back() {
    let ran = run("child_many", &[]);
    let all = launches(&ran);
    assert_eq!(all.len(), 120);
    assert!(all.iter().all(is_whole) && !ran.errors.contains("graph"), "{}", ran.errors);
}

#[test]
#[ignore = "child"]
fn child_large() {
    start();
    let data = malloc(BYTES, c"a");
    let graph = captured(&[data; 45]);
    let executable = executable(graph);
    sure(go(executable));
    for _ in 0..30 {
        sure(launch(0, data, 0x200));
    }
    wait();
    assert_eq!(originals(), 5);
    destroy(graph, executable);
}

#[test]
fn kernels_beyond_the_slots_run_as_they_are() {
    let ran = run("child_large", &[]);
    let all = launches(&ran);
    assert_eq!(all.len(), 75);
    assert!(all[..40].iter().all(is_whole) && all[40..45].iter().all(is_empty) && all[45..].iter().all(is_whole));
    assert!(ran.errors.contains("5 kernels of a CUDA graph run without hooks"), "{}", ran.errors);
}

#[test]
#[ignore = "child"]
fn child_aborted() {
    start();
    let data = malloc(BYTES, c"a");
    for _ in 0..50 {
        let mut graph = null_mut();
        CAPTURE_ERROR.store(901, SeqCst);
        sure(unsafe { cudaStreamBeginCapture(STREAM as Handle, 0) });
        sure(launch(0, data, STREAM));
        assert_eq!(unsafe { cudaStreamEndCapture(STREAM as Handle, &raw mut graph) }, 901);
        CAPTURE_ERROR.store(0, SeqCst);
    }
    let graph = captured(&[data; 40]);
    let executable = executable(graph);
    sure(go(executable));
    wait();
    assert_eq!(originals(), 0);
}

#[test]
fn an_aborted_capture_holds_nothing() {
    let all = launches(&run("child_aborted", &[]));
    assert!(all.len() == 40 && all.iter().all(is_whole));
}

#[test]
#[ignore = "child"]
fn child_failing() {
    start();
    let data = malloc(BYTES, c"a");
    let graph = captured(&[data, data]);
    let executable = executable(graph);
    LAUNCH_ERROR.store(1, SeqCst);
    assert_eq!(go(executable), 1);
    LAUNCH_ERROR.store(0, SeqCst);
    sure(go(executable));
    wait();
    assert_eq!(originals(), 0);
    // Only the copy with hooks cannot be launched; from now on, the program's own graph runs.
    COPY_LAUNCH_ERROR.store(701, SeqCst);
    sure(go(executable));
    COPY_LAUNCH_ERROR.store(0, SeqCst);
    sure(go(executable));
    wait();
    assert_eq!(originals(), 4);
    // Each launch of the program's own graph comes after the copy's last launch.
    assert_eq!(WAITS.load(SeqCst), 3);
    sure(launch(0, data, 0));
    wait();
    destroy(graph, executable);
    assert_eq!((EXECUTABLES.load(SeqCst), GRAPHS.load(SeqCst)), (0, 0));
}

#[test]
fn a_failing_graph_launch_ends_its_launches() {
    let ran = run("child_failing", &[]);
    let all = launches(&ran);
    assert_eq!(all.len(), 7, "{all:?}");
    assert!(all[..2].iter().all(|one| one.1.error == 1 && one.2 == 0));
    assert!(all[2..4].iter().all(is_whole));
    assert!(all[4..6].iter().all(|one| one.1.error == 0 && one.2 == 0));
    assert!(is_whole(&all[6]));
    assert!(ran.errors.contains("with hooks it cannot be launched (CUDA error 701)"), "{}", ran.errors);
}

#[test]
#[ignore = "child"]
fn child_changed() {
    start();
    let mut data = [malloc(BYTES, c"a"), malloc(BYTES, c"b")];
    // The nodes are added explicitly.
    let (mut graph, mut nodes) = (null_mut(), [null_mut(); 2]);
    sure(unsafe { cudaGraphCreate(&raw mut graph, 0) });
    let [first, second] = &mut data;
    let mut arguments = [std::ptr::from_mut(first).cast::<c_void>()];
    let mut parameters = KernelParameters {
        stub: STUBS as Handle,
        grid: Dim3 { x: BLOCKS, y: 1, z: 1 },
        block: Dim3 { x: THREADS, y: 1, z: 1 },
        shared: 0,
        arguments: arguments.as_mut_ptr(),
        extra: null_mut(),
    };
    for node in &mut nodes {
        let no_one = std::ptr::null();
        sure(unsafe { cudaGraphAddKernelNode(&raw mut *node, graph, no_one, 0, &raw const parameters) });
    }
    let executable = executable(graph);
    sure(go(executable));
    // The second node accesses another address; then the first is disabled, and enabled again.
    let mut arguments = [std::ptr::from_mut(second).cast::<c_void>()];
    parameters.arguments = arguments.as_mut_ptr();
    sure(unsafe { cudaGraphExecKernelNodeSetParams(executable, nodes[1], &raw const parameters) });
    sure(go(executable));
    sure(unsafe { cudaGraphNodeSetEnabled(executable, nodes[0], 0) });
    sure(go(executable));
    sure(unsafe { cudaGraphNodeSetEnabled(executable, nodes[0], 1) });
    // The work of a captured graph.
    let other = captured(&[*second, *second]);
    sure(unsafe { cudaGraphExecUpdate(executable, other, null_mut()) });
    sure(unsafe { cudaGraphDestroy(other) });
    sure(go(executable));
    wait();
    assert_eq!(originals(), 0);
    // Nodes are now paired with those of another graph. The runtime does not support this, so the program's own graph
    // runs.
    parameters.stub = (STUBS + 1) as Handle;
    sure(unsafe { cudaGraphExecKernelNodeSetParams(executable, nodes[1], &raw const parameters) });
    sure(go(executable));
    wait();
    assert_eq!((originals(), LAST_STREAM.load(SeqCst)), (2, STREAM));
    destroy(graph, executable);
    assert_eq!((EXECUTABLES.load(SeqCst), GRAPHS.load(SeqCst)), (0, 0));
}

#[test]
fn changes_of_an_executable_graph_are_followed() {
    let ran = run("child_changed", &[]);
    let all = launches(&ran);
    assert!(all.len() == 7 && all.iter().all(is_whole), "{all:?}\n{}", ran.errors);
    let place = places(&ran);
    let starts: Vec<usize> =
        all.iter().map(|one| place.iter().position(|&one_place| one_place == one.3).unwrap()).collect();
    assert_eq!(starts, [0, 0, 0, 1, 1, 1, 1]);
    let note = "a kernel of it was given parameters that its hooked copy could not take";
    assert_eq!(ran.errors.matches(note).count(), 1, "{}", ran.errors);
}

#[test]
#[ignore = "child"]
fn child_unknown() {
    start();
    for _ in 0..3 {
        assert_eq!(go(0x1000 as Handle), 1);
    }
}

#[test]
fn a_graph_of_a_library_is_reported_once() {
    let ran = run("child_unknown", &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.output, ran.errors);
    assert_eq!(ran.errors.matches("the kernels of CUDA graphs that a library made").count(), 1, "{}", ran.errors);
}
