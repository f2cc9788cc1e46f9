//! Compares the reuse of requests with lists, and tests cases that CUDAAdvisor handles incorrectly.

use proptest::prelude::*;
use warpline_format::access::{Access, Item, Items, Space, push_access};
use warpline_format::site_table::Op;

use super::{Axis, EvictionTime, Reuse, ReuseCells, ReuseCounters, SAMPLED_LINES, Stores, Timeline};
use crate::geometry::Width;
use crate::hierarchy::{Coalescer, Groups};

/// Sizes of two small caches.
const CACHE_BYTES: [u64; 2] = [512, 2048];

/// A reference: lists of keys, the most recent first, each with the cell of the lifetime's first use and a flag for
/// reuse.
#[derive(Default)]
struct Slow {
    elements: Vec<((u64, u32), u32, bool)>,
    sectors: Vec<u64>,
    lines: Vec<u64>,
}

fn use_key(list: &mut Vec<u64>, key: u64) -> Option<u32> {
    let at = list.iter().position(|other| *other == key);
    if let Some(at) = at {
        list.remove(at);
    }
    list.insert(0, key);
    at.map(|at| at as u32)
}

impl Slow {
    fn request(&mut self, access: &Access<'_>, bytes: u32, op: Op, stores: Stores, cell: u32, cells: &mut ReuseCells) {
        let load = op == Op::Load;
        let mut sectors = std::collections::BTreeSet::new();
        access.for_each_lane(|_, address| sectors.extend(address / 32..=(address + u64::from(bytes) - 1) / 32));
        let lines: std::collections::BTreeSet<u64> = sectors.iter().map(|sector| sector / 4).collect();
        if !load && stores == Stores::Restart {
            self.sectors.retain(|sector| !sectors.contains(sector));
            self.lines.retain(|line| !lines.contains(line));
            access.for_each_lane(|_, address| {
                self.elements.retain(|((start, width), ..)| {
                    *start >= address + u64::from(bytes) || start + u64::from(*width) <= address
                });
            });
            return;
        }
        for sector in sectors {
            let distance = use_key(&mut self.sectors, sector);
            count(load, &mut cells[cell as usize].sector, distance, CACHE_BYTES.map(|bytes| bytes as u32 / 32));
        }
        for line in lines {
            let distance = use_key(&mut self.lines, line);
            count(load, &mut cells[cell as usize].line, distance, CACHE_BYTES.map(|bytes| bytes as u32 / 128));
        }
        access.for_each_lane(|_, address| {
            let at = self.elements.iter().position(|(key, ..)| *key == (address, bytes));
            let mut entry = ((address, bytes), cell, !load);
            if let Some(at) = at {
                entry = self.elements.remove(at);
                if !entry.2 {
                    entry.2 = true;
                    let streaming = &mut cells[entry.1 as usize].streaming;
                    *streaming = streaming.wrapping_sub(1);
                }
            } else if load {
                let streaming = &mut cells[cell as usize].streaming;
                *streaming = streaming.wrapping_add(1);
            }
            self.elements.insert(0, entry);
            count(load, &mut cells[cell as usize].element, at.map(|at| at as u32), [u32::MAX; 2]);
        });
    }
}

fn count(load: bool, histogram: &mut super::ReuseHistogram, distance: Option<u32>, limits: [u32; 2]) {
    match distance {
        _ if !load => {}
        Some(distance) => histogram.count(distance, 1, limits),
        None => histogram.infinite += 1,
    }
}

#[expect(clippy::too_many_arguments, reason = "a test's helper")]
fn feed(
    reuse: &mut Reuse<impl Timeline>,
    mask: u32,
    addresses: &[u64],
    bytes: u32,
    op: Op,
    cell: u32,
    cells: &mut ReuseCells,
    slow: Option<(&mut Slow, Stores, &mut ReuseCells)>,
) {
    let mut trace = Vec::new();
    push_access(&mut trace, Space::Global, 0, mask, addresses);
    let Some(Ok(Item::Access(access))) = Items::new(&trace).next() else { panic!("no access") };
    let width = Width { bytes, holes: None };
    let mut coalescer = Coalescer::default();
    let pieces = coalescer.pieces(&access, width, Groups::WARP, op != Op::Load);
    reuse.request(&access, width, op, pieces, cell, cells);
    if let Some((slow, stores, want)) = slow {
        slow.request(&access, bytes, op, stores, cell, want);
    }
}

fn single(loads: impl IntoIterator<Item = (Op, u64)>) -> ReuseCounters {
    let mut reuse: Reuse = Reuse::new(Stores::Restart);
    let mut cells = vec![ReuseCounters::default()];
    for (op, address) in loads {
        feed(&mut reuse, 1, &[address], 4, op, 0, &mut cells, None);
    }
    cells.remove(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn every_granularity_agrees_with_a_list(
        uses in any::<bool>(),
        requests in prop::collection::vec(
            (prop_oneof![Just(u32::MAX), Just(u32::MAX), 1u32..], 0u64..20, prop_oneof![Just(0u64), Just(4), Just(8), Just(16), Just(128), 0u64..64], 0i64..6,
             prop_oneof![Just(4u32), Just(4), Just(8), Just(16), Just(1), Just(2), 1u32..12], prop::bool::weighted(0.25), 0u32..3), 1..60)) {
        let stores = if uses { Stores::Use } else { Stores::Restart };
        let mut reuse: Reuse = Reuse::new(stores);
        reuse.set_cache_bytes(CACHE_BYTES);
        let mut slow = Slow::default();
        let (mut got, mut want) = (vec![ReuseCounters::default(); 3], vec![ReuseCounters::default(); 3]);
        for (mask, line, offset, stride, bytes, store, cell) in requests {
            let stride = match stride { 0 => 0, 1 => 4, 2 => 36, 3 => 128, _ => u64::from(bytes) };
            let addresses: Vec<u64> = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| 4096 + line * 128 + offset + stride * lane).collect();
            let op = if store { Op::Store } else { Op::Load };
            feed(&mut reuse, mask, &addresses, bytes, op, cell, &mut got, Some((&mut slow, stores, &mut want)));
            prop_assert_eq!(&got, &want);
        }
    }
}

#[test]
fn long_streams_survive_compaction() {
    let mut reuse: Reuse = Reuse::new(Stores::Restart);
    let mut cells = ReuseCells::new();
    for round in 0..400u64 {
        for line in 0..16 {
            let addresses: Vec<u64> = (0..32).map(|lane| line * 128 + lane * 4).collect();
            feed(&mut reuse, u32::MAX, &addresses, 4, Op::Load, 0, &mut cells, None);
        }
        if round % 50 == 7 {
            feed(&mut reuse, 1, &[round % 512 * 4], 4, Op::Load, 1, &mut cells, None);
        }
    }
    assert_eq!(cells[0].line.infinite, 16);
    assert_eq!(cells[0].element.infinite, 512);
    assert_eq!(cells[0].element.finite(), 512 * 399);
    assert_eq!(cells[0].line.sum, 16 * 399 * 15 - cells_disturbance(&cells));
}

/// Returns the reduction of distances by single loads. A single load uses a line of the round robin a second time, so
/// the line's next use is closer by the number of lines in between.
fn cells_disturbance(cells: &ReuseCells) -> u64 {
    // The distances of a single load and of the next use of its line add up to 15.
    cells[1].line.sum
}

#[test]
fn eight_cold_loads_have_no_finite_distance() {
    let counters = single((0..8).map(|index| (Op::Load, 4096 + 4 * index)));
    assert_eq!((counters.element.infinite, counters.element.finite(), counters.element.mean()), (8, 0, None));
    assert_eq!(counters.streaming, 8);
}

#[test]
fn stores_are_not_averaged_in() {
    // Loads iterate over five elements; stores to other elements are interleaved.
    let counters =
        single((0..1000u64).flat_map(|step| [(Op::Load, 4096 + step % 5 * 4), (Op::Store, 65536 + step * 4)]));
    assert_eq!(counters.element.mean(), Some(4.0));
    assert_eq!((counters.element.infinite, counters.element.finite()), (5, 995));
}

#[test]
fn a_store_ends_the_life_of_what_it_writes() {
    let counters = single([(Op::Load, 0), (Op::Load, 0), (Op::Store, 0), (Op::Load, 0), (Op::Load, 4), (Op::Load, 0)]);
    assert_eq!((counters.element.infinite, counters.element.finite(), counters.element.sum), (3, 2, 1));
    // Address 4 is used once; both lifetimes of address 0 contain two uses.
    assert_eq!(counters.streaming, 1);
}

#[test]
fn many_elements_in_turn_are_all_as_far_apart() {
    let counters = single((0..160_000u64).map(|step| (Op::Load, 4096 + step % 16_000 * 4)));
    assert_eq!(counters.element.mean(), Some(15_999.0));
    assert_eq!((counters.element.infinite, counters.element.finite()), (16_000, 144_000));
}

/// A request: mask, addresses, width, operation, cell.
type Request = (u32, Vec<u64>, u32, Op, u32);

fn followed<T: Timeline>(requests: &[Request], stores: Stores, most: usize) -> ReuseCells {
    let mut reuse = Reuse::<T>::of_at_most(most, stores);
    reuse.clear(12345);
    reuse.set_cache_bytes([16 << 10, 64 << 10]);
    let mut cells = ReuseCells::new();
    for (mask, addresses, bytes, op, cell) in requests {
        feed(&mut reuse, *mask, addresses, *bytes, *op, *cell, &mut cells, None);
    }
    reuse.finish(&mut cells);
    cells
}

proptest! {
    #[test]
    fn approximate_distances_are_of_the_same_uses(
        uses in any::<bool>(),
        requests in prop::collection::vec((1u32.., 0u64..40, 0u64..3, prop::bool::weighted(0.2), 0u32..3), 1..80)) {
        let stores = if uses { Stores::Use } else { Stores::Restart };
        let requests: Vec<Request> = requests.into_iter().map(|(mask, line, stride, store, cell)| {
            let lanes = (0..32).filter(|lane| mask >> lane & 1 == 1);
            let op = if store { Op::Store } else { Op::Load };
            (mask, lanes.map(|lane| 4096 + line * 64 + stride * 4 * lane).collect(), 4, op, cell)
        }).collect();
        let (exact, approximate) = (followed::<Axis>(&requests, stores, 1000), followed::<EvictionTime>(&requests, stores, 1000));
        prop_assert_eq!(exact.len(), approximate.len());
        for (exact, approximate) in exact.iter().zip(&approximate) {
            for (exact, approximate) in [(&exact.element, &approximate.element), (&exact.sector, &approximate.sector), (&exact.line, &approximate.line)] {
                prop_assert_eq!((exact.infinite, exact.finite()), (approximate.infinite, approximate.finite()));
            }
            prop_assert_eq!(exact.streaming, approximate.streaming);
        }
    }
}

/// Returns the largest relative difference of the means, and the largest difference of the shares that exceed the two
/// caches.
fn difference(requests: &[Request], most: usize) -> (f64, f64) {
    let (exact, approximate) =
        (followed::<Axis>(requests, Stores::Restart, most), followed::<EvictionTime>(requests, Stores::Restart, most));
    let (mut mean, mut beyond) = (0f64, 0f64);
    for (exact, approximate) in exact.iter().zip(&approximate) {
        for (exact, approximate) in [(&exact.sector, &approximate.sector), (&exact.line, &approximate.line)] {
            let (Some(true_mean), Some(found)) = (exact.mean(), approximate.mean()) else { continue };
            mean = mean.max((found - true_mean).abs() / true_mean.max(1.0));
            for (exact_beyond, found) in exact.beyond.iter().zip(approximate.beyond) {
                let shares = [*exact_beyond as f64 / exact.finite() as f64, found as f64 / approximate.finite() as f64];
                beyond = beyond.max((shares[0] - shares[1]).abs());
            }
        }
    }
    (mean, beyond)
}

#[test]
fn once_used_elements_of_a_sample_are_estimated() {
    let whole = |line: u64, cell| (u32::MAX, (0..32).map(|lane| line * 128 + 4 * lane).collect(), 4, Op::Load, cell);
    // 8000 lines are used once and 6000 of them a second time. The sample is halved between the two uses of an element.
    let first: Vec<Request> = (0..8000).map(|line| whole(line, 0)).collect();
    let again: Vec<Request> = (0..6000).map(|line| whole(line, 1)).collect();
    let streaming = |requests: &[Request]| -> Vec<u64> {
        followed::<EvictionTime>(requests, Stores::Restart, 512).iter().map(|cell| cell.streaming).collect()
    };
    let near = |found: u64, want: f64| (found as f64 / want - 1.0).abs() < 0.25;
    assert!(near(streaming(&first)[0], 8000.0 * 32.0), "{:?}", streaming(&first));
    let both = streaming(&[first, again].concat());
    assert!(near(both[0], 2000.0 * 32.0), "{both:?}");
    assert_eq!(both[1], 0);
    // Each line is used again at once while the sample shrinks, so no single use remains.
    let pairs: Vec<Request> = (0..8000).flat_map(|line| [whole(line, 0), whole(line, 1)]).collect();
    assert_eq!(streaming(&pairs), [0, 0]);
}

#[test]
fn approximate_distances_of_steady_streams_are_close() {
    let whole = |line: u64, cell| (u32::MAX, (0..32).map(|lane| line * 128 + 4 * lane).collect(), 4, Op::Load, cell);
    // The lines are used cyclically, so all gaps are equal and the result is exact.
    let cyclic: Vec<Request> = (0..6000).map(|step| whole(step % 700, 0)).collect();
    assert_eq!(difference(&cyclic, usize::MAX), (0.0, 0.0));
    let mut state = 1u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let uniform: Vec<Request> = (0..20_000).map(|_| whole(random(600), 0)).collect();
    let (mean, beyond) = difference(&uniform, usize::MAX);
    assert!(mean < 0.03 && beyond < 0.05, "{mean} {beyond}");
    // One site accesses few lines often. Another accesses its lines a second time only at the end.
    let mixed: Vec<Request> = (0..20_000)
        .map(|step| if step % 4 == 0 { whole(1000 + random(3000), 1) } else { whole(random(90), 0) })
        .collect();
    let (mean, beyond) = difference(&mixed, usize::MAX);
    assert!(mean < 0.08 && beyond < 0.05, "{mean} {beyond}");
}

#[test]
fn a_sample_of_the_lines_is_enough() {
    let mut state = 5u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let whole = |line: u64| (u32::MAX, (0..32).map(|lane| line * 128 + 4 * lane).collect(), 4, Op::Load, 0);
    let scattered = |lines: [u64; 32]| (u32::MAX, lines.iter().map(|line| line * 128 + 64).collect(), 4, Op::Load, 0);
    let requests: Vec<Request> = (0..30_000)
        .map(|step| if step % 8 == 0 { scattered(std::array::from_fn(|_| random(5000))) } else { whole(random(5000)) })
        .collect();
    let (mean, beyond) = difference(&requests, SAMPLED_LINES);
    assert!(mean < 0.07 && beyond < 0.03, "{mean} {beyond}");
    let exact = followed::<Axis>(&requests, Stores::Restart, usize::MAX);
    let sampled = followed::<EvictionTime>(&requests, Stores::Restart, SAMPLED_LINES);
    for (exact, sampled) in [(&exact[0].line, &sampled[0].line), (&exact[0].element, &sampled[0].element)] {
        let off = |exact: u64, sampled: u64| (sampled as f64 / exact as f64 - 1.0).abs();
        assert!(off(exact.finite(), sampled.finite()) < 0.1, "{} {}", exact.finite(), sampled.finite());
        assert!(off(exact.infinite, sampled.infinite) < 0.15, "{} {}", exact.infinite, sampled.infinite);
    }
}
