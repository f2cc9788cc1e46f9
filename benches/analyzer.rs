//! Measures the speed of the analysis on one core: reading, checking, attribution to sites and allocations, counting.
//! Run it with `cargo bench -p warpline --bench analyzer`. Each stream is analysed from memory several times, and the
//! best time counts. It prints requests per second; the design document states the required value.

#[path = "../tests/support/mod.rs"]
mod support;

use support::{Batch, TraceBuilder, demo};
use warpline::analysis::{NoProgress, analyze};
use warpline::trace::TraceReader;
use warpline_format::access::Space;
use warpline_format::event::{Allocation, AllocationKind, Event};

/// The number of requests per stream.
const REQUESTS: u64 = 2_000_000;
/// The number of items per batch.
const BATCH: u64 = 2048;
/// The number of requests per turn.
const TURN: u64 = 4;
/// The number of allocations that the streams use, and the size of each in bytes.
const ARRAYS: u64 = 8;
const ARRAY_BYTES: u64 = 64 << 20;

/// A small generator of random numbers (splitmix64), which returns the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to 1, excluding 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn base(array: u64) -> u64 {
    demo::MATRIX + (1 << 32) + array * ARRAY_BYTES
}

/// Returns a stream; `request` returns the mask and the addresses of its `n`-th request.
fn stream(mut request: impl FnMut(u64, &mut Random) -> (u32, [u64; 32])) -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    for array in 0..ARRAYS {
        trace.event(Event::Allocation(Allocation {
            id: 100 + array,
            kind: AllocationKind::Malloc,
            address: base(array),
            bytes: ARRAY_BYTES,
            name: None,
            path: 0,
            global: None,
        }));
    }
    trace.event(Event::Launch(demo::launch(0)));
    let mut random = Random(1);
    let mut batch = Batch::default();
    for number in 0..REQUESTS {
        if number % TURN == 0 {
            batch.turn((number / TURN % 512) as u32);
        }
        let (mask, addresses) = request(number, &mut random);
        batch.access(Space::Global, (number % 4) as u32, mask, |lane| addresses[lane as usize]);
        if number % BATCH == BATCH - 1 {
            trace.batch(0, &batch);
            batch = Batch::default();
        }
    }
    trace.batch(0, &batch);
    trace.event(demo::end(0, 0)).event(Event::End { launches: 1 });
    trace.finish()
}

/// Returns the processor time of this thread, so that other work on the machine does not count.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one structure, to which the pointer is valid.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn affine(start: u64, stride: u64) -> (u32, [u64; 32]) {
    (u32::MAX, std::array::from_fn(|lane| start + stride * lane as u64))
}

fn main() {
    // `cargo test --benches` runs this program with `--test`; it only has to compile in this case.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let limit = ARRAY_BYTES - 65536;
    let streams: [(&str, Vec<u8>); 6] = [
        ("coalesced", stream(|n, _| affine(base(n % 4) + n / 4 * 128 % limit, 4))),
        ("strided", stream(|n, _| affine(base(n % 4) + n / 4 * 4 % limit, 128))),
        // A 16 x 16 tile of a matrix with rows of 1000 floats: two half warps in neighbouring rows.
        (
            "stencil",
            stream(|n, _| {
                let start = base(n % 4) + n / 4 * 68 % limit;
                (u32::MAX, std::array::from_fn(|lane| start + lane as u64 % 16 * 4 + lane as u64 / 16 * 4000))
            }),
        ),
        (
            "random",
            stream(|n, random| (u32::MAX, std::array::from_fn(|_| base(n % 4) + random.next() % limit / 4 * 4))),
        ),
        // A few frequent addresses and many rare ones, in all arrays at once.
        (
            "zipf",
            stream(|_, random| {
                let place = |random: &mut Random| {
                    let rank = ((limit / 4) as f64).powf(random.unit()) as u64;
                    base(random.next() % ARRAYS) + rank * 4 % limit
                };
                let array = random.next() % ARRAYS;
                (u32::MAX, std::array::from_fn(|_| base(array) + (place(random) - demo::MATRIX) % limit / 4 * 4))
            }),
        ),
        (
            "divergent",
            stream(|n, random| {
                let mask = random.next() as u32 | 1;
                (mask, std::array::from_fn(|lane| base(n % 4) + n / 4 * 128 % limit + 4 * lane as u64))
            }),
        ),
    ];
    println!("{:<12} {:>12} {:>14} {:>12}", "stream", "bytes/rq", "requests/s", "ns/request");
    // `cargo bench … -- random` measures one stream.
    let only: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for (name, bytes) in streams.iter().filter(|(name, _)| only.is_empty() || only.iter().any(|one| one == name)) {
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let started = cpu_seconds();
            let analysis = analyze(TraceReader::new(&bytes[..]).expect("a trace"), 1, &mut NoProgress).expect("no bug");
            assert_eq!(analysis.requests, REQUESTS);
            best = best.min(cpu_seconds() - started);
        }
        println!(
            "{name:<12} {:>12.1} {:>12.2} M {:>12.1}",
            bytes.len() as f64 / REQUESTS as f64,
            REQUESTS as f64 / best / 1e6,
            best / REQUESTS as f64 * 1e9
        );
    }
}
