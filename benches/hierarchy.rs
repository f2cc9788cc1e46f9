//! Speed of the cache simulation and of the locality engines on five generated streams, one core.
//!
//! `cargo bench --bench hierarchy` prints requests per second of processor time; a number as argument sets the requests
//! per stream in thousands, a word selects the measurements whose name contains it. Results of dated runs are kept in
//! `docs/benchmarks/`.

use warpline::geometry::Width;
use warpline::hierarchy::{
    Atomics, Coalescer, Copies, DramConfig, Egress, FirstLevel, Groups, HierarchyConfig, Index, L1Config, L2Config,
    Replacement, SecondLevel, SmRequest, StoreFill, StorePolicy, Traffic, TrafficCells,
};
use warpline::locality::{Axis, Distances, EvictionTime, Reuse, ReuseCells, SAMPLED_LINES, Stores, Timeline};
use warpline::requests::read_request;
use warpline_format::access::{Access, Space, push_access};
use warpline_format::site_table::{CacheOp, Op};

const SMS: u32 = 68;
const WARPS_PER_SM: u32 = 16;

/// Returns the model of the profiner paper.
fn profiner() -> HierarchyConfig {
    HierarchyConfig {
        coalescing: Groups::WARP,
        whole_stores: false,
        wave_lanes: 32,
        l1: L1Config {
            bytes: 456 * 128,
            reserved_bytes: 0,
            shared_options: vec![],
            default_shared: None,
            line_bytes: 128,
            sector_bytes: 32,
            sets: 1,
            index: Index::Linear,
            replacement: Replacement::BlindTreePlru,
            tags_per_line: None,
            store: StorePolicy::Allocate,
            caches_global_loads: true,
            opt_in_global_loads: false,
            caches_read_only_loads: true,
            read_only_bytes: None,
            atomics: Atomics::Miss,
        },
        stages: None,
        l2: L2Config {
            line_bytes: 64,
            sector_bytes: 32,
            fill_bytes: 64,
            misses: Default::default(),
            slices: 1,
            sets: 5632,
            ways: 16,
            index: Index::Linear,
            replacement: Replacement::Lru,
            partitions: 1,
            store_fill: StoreFill::Whole,
            copies: Copies::Cold,
        },
        dram: DramConfig { read_bytes: 32, write_bytes: 32 },
        shared: None,
        tlb: None,
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Requests in the form of the trace. The number of a site is that of its allocation; its lowest bit marks a store.
struct Stream {
    name: &'static str,
    items: Vec<u8>,
    requests: u64,
}

impl Stream {
    fn new(name: &'static str) -> Stream {
        Stream { name, items: Vec::new(), requests: 0 }
    }

    fn push(&mut self, site: u32, addresses: &[u64]) {
        push_access(&mut self.items, Space::Global, site, u32::MAX, addresses);
        self.requests += 1;
    }

    fn for_each(&self, mut f: impl FnMut(u32, &Access<'_>)) {
        let (mut warp, mut at) = (0, 0);
        // This is the same loop as in the analyzer's workers.
        while let Some((access, length)) = read_request(&self.items[at..]) {
            f(warp % SMS, &access);
            warp += 1;
            at += length;
        }
    }
}

const LOAD: u32 = 0;
const STORE: u32 = 1;
const MIB: u64 = 1 << 20;

fn coalesced(requests: u64) -> Stream {
    let mut stream = Stream::new("coalesced");
    let mut index = 0;
    while stream.requests < requests {
        for (array, op) in [(0, LOAD), (1, LOAD), (2, STORE)] {
            // All resident warps take turns, array by array.
            for warp in 0..u64::from(SMS * WARPS_PER_SM) {
                let base = (1 << 44) + array * 1024 * MIB + (index + warp) % (1 << 22) * 128;
                let addresses: [u64; 32] = std::array::from_fn(|lane| base + 4 * lane as u64);
                stream.push((array as u32) << 1 | op, &addresses);
            }
        }
        index += u64::from(SMS * WARPS_PER_SM);
    }
    stream
}

fn strided(requests: u64) -> Stream {
    let mut stream = Stream::new("strided");
    while stream.requests < requests {
        let base = (1 << 44) + stream.requests * 4096 % (256 * MIB);
        let addresses: [u64; 32] = std::array::from_fn(|lane| base + 128 * lane as u64);
        stream.push(LOAD, &addresses);
    }
    stream
}

fn random(requests: u64) -> Stream {
    let mut stream = Stream::new("random");
    let mut numbers = Random(88172645463325252);
    while stream.requests < requests {
        let addresses: [u64; 32] = std::array::from_fn(|_| (1 << 44) + numbers.next() % (16 * MIB) * 4);
        stream.push(LOAD, &addresses);
    }
    stream
}

fn stencil(requests: u64) -> Stream {
    let mut stream = Stream::new("stencil");
    let side = 8192u64;
    let mut warp = 0;
    while stream.requests < requests {
        // There is a block of 32 x 8 threads per SM, and its warps take turns after each access.
        for access in 0..6 {
            for sm in 0..u64::from(SMS) {
                for row in 0..8 {
                    let block = warp + sm;
                    let (x, y) = (block % (side / 32) * 32, block / (side / 32) * 8 + row);
                    let (x, y) = (x.clamp(1, side - 34), y.clamp(1, side - 2) % (side - 1));
                    let at = match access {
                        0 | 5 => (x, y),
                        1 => (x - 1, y),
                        2 => (x + 1, y),
                        3 => (x, y - 1),
                        _ => (x, y + 1),
                    };
                    let array = u64::from(access == 5);
                    let base = (1 << 44) + array * 512 * MIB + (at.1 * side + at.0) * 4;
                    let addresses: [u64; 32] = std::array::from_fn(|lane| base + 4 * lane as u64);
                    // Requests of one block stay on one SM; the order of the SMs is that of the loop.
                    stream.push((array as u32) << 1 | if access == 5 { STORE } else { LOAD }, &addresses);
                }
            }
        }
        warp += u64::from(SMS);
    }
    stream
}

/// Returns numbers with Zipf's distribution and exponent 0.99, by inversion of its continuous form.
fn zipf(numbers: &mut Random, count: f64) -> u64 {
    const REST: f64 = 1.0 - 0.99;
    let top = count.powf(REST);
    let number = ((top - 1.0) * numbers.unit() + 1.0).powf(1.0 / REST);
    (number as u64).min(count as u64 - 1)
}

fn gather(requests: u64) -> Stream {
    let mut stream = Stream::new("Zipf gather");
    let mut numbers = Random(1234567890123);
    let count = 16 * MIB;
    let mut warp = 0;
    while stream.requests < requests {
        for (array, op) in [(0, LOAD), (1, LOAD), (2, STORE)] {
            for lane_warp in 0..u64::from(SMS) {
                let base = (1 << 44) + array * 1024 * MIB;
                let addresses: [u64; 32] = std::array::from_fn(|lane| {
                    if array == 1 {
                        let number = zipf(&mut numbers, count as f64);
                        base + number.wrapping_mul(0x9e37_79b9) % count * 4
                    } else {
                        base + (warp + lane_warp) % (1 << 22) * 128 + 4 * lane as u64
                    }
                });
                stream.push((array as u32) << 1 | op, &addresses);
            }
        }
        warp += u64::from(SMS);
    }
    stream
}

/// Returns the processor time of this thread in seconds. It does not contain the time of other programs.
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one structure, and `time` is valid for it.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Returns whether the command line excludes a measurement. A stream is needed if its name or one of its measurements
/// is named.
fn skipped(what: &str) -> bool {
    std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-') && word.parse::<u64>().is_err())
        .any(|word| !what.contains(&word) && !word.starts_with(what))
}

/// Processor time of one measurement at least: a few milliseconds vary too much.
const LEAST_SECONDS: f64 = 0.1;

/// Runs `f` several times and prints the best and the median rate, in millions per second.
fn time(what: &str, count: u64, mut f: impl FnMut() -> String) {
    if std::env::args()
        .skip(1)
        .any(|word| !word.starts_with('-') && word.parse::<u64>().is_err() && !what.contains(&word))
    {
        return;
    }
    let mut rates = Vec::new();
    let mut note = String::new();
    for _ in 0..5 {
        let before = processor_seconds();
        let (mut calls, mut seconds) = (0, 0.0);
        while seconds < LEAST_SECONDS {
            note = f();
            calls += 1;
            seconds = processor_seconds() - before;
        }
        rates.push((count * calls) as f64 / seconds / 1e6);
    }
    rates.sort_by(f64::total_cmp);
    println!("{what:34} median {:8.2} M/s  best {:8.2} M/s  {note}", rates[2], rates[4]);
}

/// The function is not inlined, so that a profiler can measure it separately.
#[inline(never)]
fn simulate(stream: &Stream, config: &HierarchyConfig) -> Traffic {
    let mut first = FirstLevel::new(config);
    let mut second = SecondLevel::new(config);
    let mut cells = TrafficCells::default();
    let mut left = Egress::default();
    let width = Width { bytes: 4, holes: None };
    let mut place = 0;
    stream.for_each(|sm, access| {
        let op = if access.site & 1 == STORE { Op::Store } else { Op::Load };
        let cell = access.site >> 1;
        place += 1;
        let cache = CacheOp::Default;
        let request = SmRequest { sm, slot: 0, access, width, op, cache, cell, place, pieces: None };
        first.request(request, &mut cells, &mut left);
        if left.share(0).requests().len() >= 4096 {
            second.serve(&[left.share(0)], &mut cells);
            left.clear();
        }
    });
    first.finish(&mut cells, &mut left);
    second.serve(&[left.share(0)], &mut cells);
    let mut sum = Traffic::default();
    cells.as_slice().iter().for_each(|traffic| sum.add(traffic));
    sum
}

fn percent(hits: u64, lookups: u64) -> f64 {
    100.0 * hits as f64 / lookups.max(1) as f64
}

/// Creates a stream with the given number of requests.
type Maker = fn(u64) -> Stream;

fn main() {
    let thousands = std::env::args().filter_map(|argument| argument.parse::<u64>().ok()).next().unwrap_or(2000);
    let width = Width { bytes: 4, holes: None };
    let wide = thousands * 1000;
    let scattered = wide / 8;
    let makers: [(Maker, u64); 5] =
        [(coalesced, wide), (strided, scattered), (random, scattered), (stencil, wide), (gather, scattered)];
    for (make, requests) in makers {
        if skipped(make(1).name) {
            continue;
        }
        let stream = make(requests);
        time(&format!("{}: coalescing", stream.name), stream.requests, || {
            let mut coalescer = Coalescer::default();
            let mut pieces = 0;
            stream.for_each(|_, access| {
                pieces += coalescer.pieces(access, width, Groups::WARP, access.site & 1 == STORE).len();
            });
            format!("{:.2} lines a request", pieces as f64 / stream.requests as f64)
        });
        let config = profiner();
        time(&format!("{}: L1 and L2, profiner", stream.name), stream.requests, || {
            let sum = simulate(&stream, &config);
            format!(
                "L1 {:.2} %  L2 {:.2} %",
                percent(sum.l1.hits, sum.l1.lookups),
                percent(sum.l2.hits, sum.l2.lookups)
            )
        });
        time(&format!("{}: reuse in each SM", stream.name), stream.requests, || reuse::<Axis>(&stream, usize::MAX));
        time(&format!("{}: the same, approximate", stream.name), stream.requests, || {
            reuse::<EvictionTime>(&stream, SAMPLED_LINES)
        });
    }
    distances();
}

fn reuse<T: Timeline>(stream: &Stream, most: usize) -> String {
    let width = Width { bytes: 4, holes: None };
    let mut scopes: Vec<Reuse<T>> = (0..SMS).map(|_| Reuse::of_at_most(most, Stores::Restart)).collect();
    let mut coalescer = Coalescer::default();
    let mut cells = ReuseCells::new();
    stream.for_each(|sm, access| {
        let op = if access.site & 1 == STORE { Op::Store } else { Op::Load };
        let pieces = coalescer.pieces(access, width, Groups::WARP, op == Op::Store);
        scopes[sm as usize].request(access, width, op, pieces, access.site, &mut cells);
    });
    scopes.iter_mut().for_each(|scope| scope.finish(&mut cells));
    let finite: u64 = cells.iter().map(|cell| cell.element.finite()).sum();
    let mean = cells.iter().filter_map(|cell| cell.line.mean()).fold(0.0, f64::max);
    format!("{finite} finite element distances, mean of lines up to {mean:.0}")
}

fn distances() {
    if skipped("distances") {
        return;
    }
    let lines = 2 * MIB;
    let count = 10_000_000;
    let mut numbers = Random(99);
    let uniform: Vec<u32> = (0..count).map(|_| (numbers.next() % lines) as u32).collect();
    let zipf_ids: Vec<u32> =
        (0..count).map(|_| (zipf(&mut numbers, lines as f64).wrapping_mul(0x9e37_79b9) % lines) as u32).collect();
    let cyclic: Vec<u32> = (0..count).map(|step| (step % MIB) as u32).collect();
    for (name, ids) in [("uniform, 2 M lines", uniform), ("Zipf, 2 M lines", zipf_ids), ("cyclic, 1 M lines", cyclic)] {
        time(&format!("distances, exact: {name}"), count, || {
            let mut distances = Distances::default();
            let mut sum = 0u64;
            distances.use_all(&ids, |_, distance| sum += u64::from(distance.unwrap_or(0)));
            format!("sum {sum}")
        });
    }
}
