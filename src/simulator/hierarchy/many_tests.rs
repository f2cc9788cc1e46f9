//! Compares many requests at a time with the references.

use proptest::prelude::*;

use super::array::Replacement;
use super::array::{Index, Shares};
use super::coalesce::{Groups, Piece};
use super::config::{
    Atomics, Copies, DramConfig, HierarchyConfig, L1Config, L2Config, L2Misses, StoreFill, StorePolicy,
};
use super::dense::DenseLines;
use super::l1::{L1Outcome, Level1, Origin, RequestQueue, Route};
use super::l2::{Egress, L2Access, L2Op, L2Outcome, SecondLevel, add};
use super::reference::{SentToL2, SlowL1, SlowL2, flatten};
use super::traffic::{Traffic, TrafficCells};
use crate::geometry::sectors::{Units, bytes_of, sectors_of};

fn piece() -> impl Strategy<Value = Piece> {
    let bytes = prop_oneof![4 => (1u8..16).prop_map(bytes_of), 1 => (0u32..100, 1u32..28).prop_map(|(from, count)| ((1u128 << count) - 1) << from)];
    (prop_oneof![0u64..150, (0u64..8).prop_map(|line| line * 1000)], bytes).prop_map(|(line, bytes)| Piece {
        line,
        sectors: sectors_of(bytes),
        bytes,
    })
}

fn l1(replacement: Replacement, store: StorePolicy, atomics: Atomics) -> L1Config {
    L1Config {
        bytes: 1 << 20,
        reserved_bytes: 0,
        shared_options: vec![],
        default_shared: None,
        line_bytes: 128,
        sector_bytes: 32,
        sets: 1,
        index: Index::Linear,
        replacement,
        tags_per_line: None,
        store,
        caches_global_loads: true,
        opt_in_global_loads: false,
        caches_read_only_loads: true,
        read_only_bytes: None,
        atomics,
    }
}

/// Position in the trace, SM, and the request to L2: operation, sector, bytes and cell.
type Served = (u32, u16, (L2Op, u64, u32, u32));

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn level_1_serves_many(ways in prop_oneof![1u32..6, 30u32..70], policy in 0usize..3, store in 0usize..4, miss in any::<bool>(),
                           sms in 1usize..4, rare in 0u32..40,
                           requests in prop::collection::vec((any::<usize>(), 0u32..1000, 0u32..3, piece()), 1..600)) {
        let store = [StorePolicy::Evict, StorePolicy::Update, StorePolicy::Allocate, StorePolicy::AllocateBytes][store];
        let replacement = [Replacement::BlindTreePlru, Replacement::TreePlru, Replacement::Lru][policy].clone();
        let config = l1(replacement, store, if miss { Atomics::Miss } else { Atomics::Bypass });
        let mut fast = Level1::new(&config, ways);
        fast.resize(sms as u32);
        let mut slow: Vec<_> = (0..sms).map(|_| SlowL1::new(&config, ways)).collect();
        let (mut dense, mut queue) = (DenseLines::default(), RequestQueue::default());
        let (mut cells, mut want_cells) = (TrafficCells::default(), TrafficCells::default());
        let (mut left, mut want) = (Egress::default(), Vec::new());
        for (place, (sm, which, cell, piece)) in (0..).zip(requests) {
            let sm = sm % sms;
            // Most requests are loads and stores; the others are rare or absent.
            let route = match which {
                which if which < rare => [Route::LoadPast, Route::ReadOnly, Route::LocalStore, Route::Atomic][which as usize % 4],
                which if which % 3 == 0 => Route::Store,
                _ => Route::Load,
            };
            let piece = if route.is_load() { Piece { bytes: bytes_of(piece.sectors), ..piece } } else { piece };
            // A line of local memory belongs to one SM, so it identifies the writer.
            let cell = if route == Route::LocalStore { (piece.line % 3) as u32 } else { cell };
            queue.push(Origin { sm: sm as u16, cell, place, route, plain: fast.plain(route) }, &[piece], |line| dense.number(line));
            let mut asked = SentToL2::new();
            let L1Outcome { lookups, hits } = slow[sm].serve(route, &piece, cell, &mut asked);
            want_cells.cell(cell).l1.count(route.is_load(), lookups, hits);
            asked.sort_unstable_by_key(|asked| (asked.1, asked.2));
            want.extend(asked.into_iter().map(|asked| (place, sm as u16, asked)));
        }
        fast.serve_all(&mut queue, &dense, &mut cells, &mut left);
        let mut got = Vec::new();
        for request in left.share(0).requests() {
            let mut asked = SentToL2::new();
            let bytes = left.share(0).bytes(request);
            flatten(&L2Access { op: request.op, number: 0, sectors: request.sectors, bytes }, request.line, request.cell, &mut asked);
            got.extend(asked.into_iter().map(|asked| (request.place, request.sm, asked)));
        }
        // The requests of one piece may be in any order.
        let sort = |list: &mut Vec<Served>| list.sort_by_key(|one| (one.0, one.2.1, one.2.2));
        prop_assert!(got.is_sorted_by_key(|one| one.0));
        sort(&mut got);
        sort(&mut want);
        prop_assert_eq!(got, want);
        for cell in 0..3 {
            prop_assert_eq!(cells.cell(cell), want_cells.cell(cell));
        }
    }

    #[test]
    fn level_2_serves_many(line_log in 5u32..8, sector_log in 0u32..3, slices in 1u32..4, sets in 1u32..7, ways in prop_oneof![1u32..6, Just(16u32), 17u32..20],
                           hashed in any::<bool>(), whole in any::<bool>(), wide_fill in any::<bool>(), by_lookup in any::<bool>(), rare in 0u32..40,
                           requests in prop::collection::vec((0u32..1000, 0u32..3, piece()), 1..400)) {
        let line_bytes = 1 << line_log;
        let sector_bytes = line_bytes.min(32 << sector_log);
        let l2 = L2Config {
            line_bytes, sector_bytes, fill_bytes: if wide_fill { line_bytes } else { sector_bytes },
            misses: if by_lookup { L2Misses::Lookup } else { L2Misses::Fetch }, slices, sets, ways,
            index: if hashed { Index::Hashed } else { Index::Linear },
            replacement: Replacement::Lru, partitions: 1,
            store_fill: if whole { StoreFill::Whole } else { StoreFill::Bytes }, copies: Copies::Cold,
        };
        let config = HierarchyConfig {
            coalescing: Groups::WARP,
        whole_stores: false,
            wave_lanes: 32,
            l1: l1(Replacement::Lru, StorePolicy::Evict, Atomics::Bypass),
            stages: None,
            l2: l2.clone(),
            dram: DramConfig { read_bytes: 32, write_bytes: 32 },
            shared: None,
            tlb: None,
        };
        let (mut fast, mut slow) = (SecondLevel::new(&config), SlowL2::new(&l2, config.dram));
        let (mut cells, mut want, mut left) = (TrafficCells::default(), TrafficCells::default(), Egress::default());
        for (which, cell, piece) in requests {
            let op = match which {
                which if which < rare => [L2Op::Atomic, L2Op::AtomicMiss][which as usize % 2],
                which if which % 3 == 0 => L2Op::Store,
                _ => L2Op::Load,
            };
            let bytes = if op == L2Op::Store { piece.bytes } else { bytes_of(piece.sectors) };
            left.push(0, cell, piece.line, piece.sectors, op, bytes);
            left.place += 1;
            let outcome = slow.serve(piece.line, &L2Access { op, number: 0, sectors: piece.sectors, bytes });
            add(want.cell(cell), op, &outcome);
        }
        fast.serve(&[left.share(0)], &mut cells);
        for cell in 0..3 {
            prop_assert_eq!(cells.cell(cell), want.cell(cell), "cell {}", cell);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    /// Tests both levels together. A cell that only reads writes nothing to DRAM. Other cells write at most the lookup
    /// units that they wrote to, although lines of local memory leave L1 when other lines replace them. The total does
    /// not exceed the writes if each request is charged with the writes that it causes.
    #[test]
    fn writes_belong_to_the_data_written(ways in 1u32..6, policy in 0usize..3, allocate in any::<bool>(), sector_log in 0u32..3, grain_log in 0u32..2,
                                         rare in 0u32..40, requests in prop::collection::vec((0u32..1000, 0u32..2, piece()), 1..600)) {
        let store = if allocate { StorePolicy::Allocate } else { StorePolicy::AllocateBytes };
        let replacement = [Replacement::BlindTreePlru, Replacement::TreePlru, Replacement::Lru][policy].clone();
        let first = l1(replacement, store, Atomics::Bypass);
        let sector_bytes = 32 << sector_log;
        let l2 = L2Config {
            line_bytes: 128, sector_bytes, fill_bytes: sector_bytes, misses: Default::default(), slices: 1, sets: 2, ways: 4, index: Index::Linear,
            replacement: Replacement::Lru, partitions: 1, store_fill: StoreFill::Bytes, copies: Copies::Cold,
        };
        let dram = DramConfig { read_bytes: 32, write_bytes: 32 << grain_log };
        let config = HierarchyConfig {
            coalescing: Groups::WARP, whole_stores: false, wave_lanes: 32, l1: first.clone(), stages: None, l2: l2.clone(),
            dram, shared: None, tlb: None,
        };
        let mut fast = Level1::new(&first, ways);
        fast.resize(1);
        let (mut slow, mut slow_l2) = (SlowL1::new(&first, ways), SlowL2::new(&l2, dram));
        let (mut dense, mut queue, mut cells) = (DenseLines::default(), RequestQueue::default(), TrafficCells::default());
        let mut left = Egress::new(&l2, Shares::new(1, 2, 1));
        let (mut written, mut total) = ([0u64; 6], L2Outcome::default());
        for (place, (which, number, piece)) in (0..).zip(requests) {
            // Cells 0 and 1 load, cells 2 and 3 store to global memory, and cells 4 and 5 store to local memory.
            let (route, cell) = match which {
                which if which < rare => (Route::Store, 2 + number),
                which if which % 3 == 0 => (Route::LocalStore, 4 + number),
                _ => (Route::Load, number),
            };
            let piece = if route.is_load() { Piece { bytes: bytes_of(piece.sectors), ..piece } } else { piece };
            if !route.is_load() {
                let grain = Units::new(dram.write_bytes.max(sector_bytes));
                written[cell as usize] += u64::from(grain.widen(piece.sectors).count_ones());
            }
            queue.push(Origin { sm: 0, cell, place, route, plain: fast.plain(route) }, &[piece], |line| dense.number(line));
            let mut asked = SentToL2::new();
            slow.serve(route, &piece, cell, &mut asked);
            // Sectors of one line with the same operation form one request.
            let mut rest = &asked[..];
            while let Some(&(op, sector, ..)) = rest.first() {
                let like = |one: &&(L2Op, u64, u32, u32)| (one.0, one.1 / 4) == (op, sector / 4);
                let (here, later) = rest.split_at(rest.iter().take_while(like).count());
                rest = later;
                let mut request = L2Access { op, number: 0, sectors: 0, bytes: 0 };
                for (_, sector, bytes, _) in here {
                    request.sectors |= 1 << (sector % 4);
                    request.bytes |= u128::from(*bytes) << (32 * (sector % 4));
                }
                let outcome = slow_l2.serve(sector / 4, &request);
                total.lookups += outcome.lookups;
                total.hits += outcome.hits;
                total.dram_reads += outcome.dram_reads;
                total.dram_writes += outcome.dram_writes;
            }
        }
        fast.serve_all(&mut queue, &dense, &mut cells, &mut left);
        SecondLevel::new(&config).serve(&[left.share(0)], &mut cells);
        let sums: Vec<Traffic> = (0..6).map(|cell| *cells.cell(cell)).collect();
        for (cell, (sum, written)) in sums.iter().zip(written).enumerate() {
            prop_assert!(sum.dram_writes <= written, "cell {}: {:?} for {}", cell, sum, written);
            prop_assert!(cell > 1 || sum.l2.lookups == sum.l2.load_lookups, "cell {}: {:?}", cell, sum);
        }
        let sum = |of: fn(&Traffic) -> u64| sums.iter().map(of).sum::<u64>();
        prop_assert_eq!(sum(|sum| sum.dram_writes), u64::from(total.dram_writes));
        prop_assert_eq!(sum(|sum| sum.dram_reads), u64::from(total.dram_reads));
        prop_assert_eq!(sum(|sum| sum.l2.lookups), u64::from(total.lookups));
        prop_assert_eq!(sum(|sum| sum.l2.hits), u64::from(total.hits));
    }
}

/// Tests two stores to a new line. Each writes half of a different sector. The second one finds the line, although its
/// sector is not valid. If sectors count as stored, it finds nothing.
#[test]
fn a_store_hits_where_the_line_is() {
    let stores = [Piece { line: 7, sectors: 1, bytes: 0xffff }, Piece { line: 7, sectors: 4, bytes: 0xffff << 64 }];
    for (policy, hits) in [(StorePolicy::AllocateBytes, 1), (StorePolicy::Allocate, 0), (StorePolicy::Update, 0)] {
        let config = l1(Replacement::Lru, policy, Atomics::Bypass);
        let (mut cache, mut dense) = (Level1::new(&config, 4), DenseLines::default());
        cache.resize(1);
        let mut outcome = L1Outcome::default();
        for piece in &stores {
            let number = dense.number(piece.line).expect("few lines");
            let L1Outcome { lookups, hits } = cache.serve(0, Route::Store, piece, number, |_| ());
            outcome = L1Outcome { lookups: outcome.lookups + lookups, hits: outcome.hits + hits };
        }
        assert_eq!(outcome, L1Outcome { lookups: 2, hits }, "{policy:?}");
    }
}
