//! Tests programs with conflicts, and corrected versions without any.

use std::sync::Arc;

use proptest::prelude::*;
use warpline_format::access::{Kind, Space, head, push_access};
use warpline_format::conflict::{ConflictHint, Update};
use warpline_format::device::Device;
use warpline_format::event::Launch;
use warpline_format::site_table::{CacheOp, File, Frame, Function, Hint, Op, Site, SiteTable, Stored};

use super::{Conflict, RaceCheck, Scope, Verdict, Watch};
use crate::attribution::{AllocationMap, Module};
use crate::requests::LaunchShape;

const LOAD: u32 = 0;
const STORE: u32 = 1;
const OTHER_STORE: u32 = 2;
const CONSTANT: u32 = 3;
const REDUCTION: u32 = 4;
const EXCHANGE: u32 = 5;
const VOLATILE_LOAD: u32 = 6;
const VOLATILE_STORE: u32 = 7;
const BYTE: u32 = 8;
const ARGUMENT: u32 = 9;
const SAME_CONSTANT: u32 = 10;
const INCREMENT: u32 = 11;
const THREAD_INDEX: u32 = 12;
const BLOCK_ATOMIC: u32 = 13;
const SWAP: u32 = 14;

const DATA: u64 = 0x1000_0000_0000;

/// Creates a module. If `fencing`, atomic operations may order other accesses.
fn module(fencing: bool) -> Arc<Module> {
    let site = |op, bytes, cache| Site {
        function: 0,
        op,
        space: Space::Global,
        bytes,
        byte_mask: None,
        align: 1,
        cache,
        chain: vec![0],
        approximate: false,
        in_library: false,
    };
    let plain = |op| site(op, 4, CacheOp::Default);
    let hint = |site, stored, unused| Hint { site, shared: None, stored, unused };
    let table = SiteTable {
        files: vec![File::default()],
        frames: vec![Frame::default(); 2],
        functions: vec![Function { kernel: true, ..Function::default() }],
        sites: vec![
            plain(Op::Load),
            plain(Op::Store),
            Site { chain: vec![1], ..plain(Op::Store) },
            plain(Op::Store),
            plain(Op::Atomic),
            plain(Op::Atomic),
            site(Op::Load, 4, CacheOp::Volatile),
            site(Op::Store, 4, CacheOp::Volatile),
            Site { chain: vec![1], ..site(Op::Store, 1, CacheOp::Default) },
            Site { chain: vec![1], ..plain(Op::Store) },
            plain(Op::Store),
            plain(Op::Store),
            plain(Op::Store),
            plain(Op::Atomic),
            plain(Op::Atomic),
        ],
        conflict_hints: vec![
            ConflictHint { site: INCREMENT, update: Update::Value, ..ConflictHint::default() },
            ConflictHint { site: THREAD_INDEX, differs: 1, ..ConflictHint::default() },
            ConflictHint { site: BLOCK_ATOMIC, block_scope: true, ..ConflictHint::default() },
            ConflictHint { site: SWAP, update: Update::Value, loaded_by: Some(LOAD), ..ConflictHint::default() },
        ],
        fencing: Some(if fencing { vec![0] } else { Vec::new() }),
        hints: vec![
            hint(CONSTANT, Stored::Constant(1), false),
            hint(REDUCTION, Stored::Anything, true),
            hint(ARGUMENT, Stored::Argument, false),
            hint(SAME_CONSTANT, Stored::Constant(1), false),
        ],
        ..SiteTable::default()
    };
    Arc::new(Module::new(&table.to_bytes()).expect("a good table"))
}

/// A step of a warp.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Block, warp, space, site, address, and the distance between lanes in bytes.
    Access(u32, u32, Space, u32, u64, u64),
    /// Block and warp.
    Barrier(u32, u32),
}

const WARPS: u32 = 4;

fn conflicts(check: RaceCheck, steps: &[Step]) -> Vec<Conflict> {
    conflicts_of(check, steps, 8, module(true))
}

/// Returns the conflicts of a launch with this many blocks, of which the first eight execute the steps.
fn conflicts_of(check: RaceCheck, steps: &[Step], blocks: u32, module: Arc<Module>) -> Vec<Conflict> {
    let launch = Launch::with_defaults(3, blocks, WARPS * 32);
    let shape = LaunchShape::new(&launch, module, 0, &Device { sms: 8, ..Device::rtx_2080_ti() });
    let shape = shape.expect("a good launch");
    let word = |one: u32, two: u32| u64::from(one) | u64::from(two) << 32;
    let slot = |block: u32| block * shape.slots_per_sm;
    let mut items = Vec::new();
    for block in 0..8 {
        items.extend(word(head(Kind::BlockStart, Space::Generic, slot(block)), WARPS).to_le_bytes());
        items.extend(u64::from(block).to_le_bytes());
    }
    for step in steps {
        let mut turn = Vec::new();
        let (block, warp) = match *step {
            Step::Access(block, warp, space, site, address, stride) => {
                let lanes: Vec<u64> = (0..32).map(|lane| address + stride * lane).collect();
                push_access(&mut turn, space, site, u32::MAX, &lanes);
                (block, warp)
            }
            Step::Barrier(block, warp) => {
                turn.extend(word(head(Kind::Barrier, Space::Generic, 0), 0).to_le_bytes());
                (block, warp)
            }
        };
        items.extend(word(head(Kind::Turn, Space::Generic, slot(block) + warp), turn.len() as u32).to_le_bytes());
        items.extend(turn);
    }
    let mut watch = Watch::new(check);
    watch.batch(&shape, 0, &items, &AllocationMap::default());
    watch.end(3);
    watch.finish(&AllocationMap::default()).0.0
}

fn verdicts(check: RaceCheck, steps: &[Step]) -> Vec<(Scope, Verdict)> {
    conflicts(check, steps).iter().map(|conflict| (conflict.scope, conflict.verdict)).collect()
}

/// Returns the conflicts in a sampled and in a full check. They must agree unless something may be ordered.
fn both(steps: &[Step]) -> Vec<(Scope, Verdict)> {
    let found = verdicts(RaceCheck::Full, steps);
    assert_eq!(verdicts(RaceCheck::Sampled, steps), found);
    found
}

fn shared(warp: u32, site: u32, address: u64) -> Step {
    Step::Access(0, warp, Space::Shared, site, address, 4)
}

fn one(block: u32, warp: u32, site: u32, address: u64) -> Step {
    Step::Access(block, warp, Space::Global, site, DATA + address, 0)
}

#[test]
fn a_missing_barrier_is_found_and_a_barrier_cures_it() {
    let tile = [shared(0, STORE, 0), shared(1, STORE, 128), shared(0, LOAD, 128), shared(1, LOAD, 0)];
    assert_eq!(both(&tile), [(Scope::Block, Verdict::Race)]);
    let found = &conflicts(RaceCheck::Full, &tile)[0];
    assert_eq!(
        (found.count, found.offset, found.parties.map(|party| (party.site, party.warp))),
        (64, 128, [(STORE, 1), (LOAD, 0)])
    );
    let mut cured = tile[..2].to_vec();
    cured.extend((0..WARPS).map(|warp| Step::Barrier(0, warp)));
    cured.extend(&tile[2..]);
    assert_eq!(both(&cured), []);
    // The same offset belongs to another block's memory, or is accessed by the same warp.
    let apart = [shared(0, STORE, 0), Step::Access(1, 1, Space::Shared, LOAD, 0, 4), shared(0, LOAD, 0)];
    assert_eq!(both(&apart), []);
}

#[test]
fn order_within_an_interval_does_not_matter() {
    assert_eq!(both(&[shared(3, LOAD, 0), shared(0, STORE, 0)]), [(Scope::Block, Verdict::Race)]);
    // There are two readers; one of them is also the writer.
    let readers = [shared(0, LOAD, 0), shared(1, LOAD, 0), shared(1, STORE, 0)];
    assert_eq!(both(&readers), [(Scope::Block, Verdict::Race)]);
    assert_eq!(both(&[shared(1, LOAD, 0), shared(1, STORE, 0), shared(1, LOAD, 0)]), []);
}

#[test]
fn another_block_is_remembered_behind_two_warps_of_one() {
    let barrier = [Step::Barrier(1, 0), Step::Barrier(1, 1)];
    let before = [one(0, 0, LOAD, 0), one(1, 0, LOAD, 0), one(1, 1, LOAD, 0)];
    let steps: Vec<Step> = before.into_iter().chain(barrier).chain([one(1, 0, STORE, 0)]).collect();
    assert_eq!(both(&steps), [(Scope::Grid, Verdict::Race)]);
}

#[test]
fn bytes_of_a_word_are_distinguished() {
    assert_eq!(both(&[one(0, 0, BYTE, 0), one(0, 1, BYTE, 1)]), []);
    assert_eq!(both(&[one(0, 0, BYTE, 1), one(0, 1, BYTE, 1)]), [(Scope::Block, Verdict::OneStore)]);
    // This access starts in the middle of a word.
    assert_eq!(both(&[one(0, 0, STORE, 2), one(0, 1, BYTE, 5)]), [(Scope::Block, Verdict::Race)]);
    assert_eq!(both(&[one(0, 0, STORE, 2), one(0, 1, BYTE, 6)]), []);
}

#[test]
fn stores_of_one_value_are_no_conflict() {
    assert_eq!(both(&[one(0, 0, CONSTANT, 0), one(1, 0, CONSTANT, 0), one(0, 1, SAME_CONSTANT, 0)]), []);
    assert_eq!(both(&[one(0, 0, ARGUMENT, 0), one(1, 0, ARGUMENT, 0)]), []);
    assert_eq!(both(&[one(0, 0, ARGUMENT, 0), one(1, 0, CONSTANT, 0)]), [(Scope::Grid, Verdict::Race)]);
    assert_eq!(both(&[one(0, 0, STORE, 0), one(1, 0, STORE, 0)]), [(Scope::Grid, Verdict::OneStore)]);
    assert_eq!(both(&[one(0, 0, STORE, 0), one(1, 0, OTHER_STORE, 0)]), [(Scope::Grid, Verdict::Race)]);
}

#[test]
fn blocks_meet_in_device_memory() {
    assert_eq!(
        both(&[one(0, 0, LOAD, 0), one(0, 0, STORE, 0), one(1, 0, LOAD, 0), one(1, 0, STORE, 0)]),
        [(Scope::Grid, Verdict::Race), (Scope::Grid, Verdict::OneStore)]
    );
    assert_eq!(both(&[one(0, 0, CONSTANT, 0), one(1, 0, LOAD, 0)]), [(Scope::Grid, Verdict::Flag)]);
    assert_eq!(both(&[one(0, 0, REDUCTION, 0), one(1, 0, LOAD, 0)]), [(Scope::Grid, Verdict::Race)]);
    // A load precedes a compare-and-swap, in code without a fence.
    let swap = [one(0, 0, SWAP, 0), one(1, 0, LOAD, 0)];
    let found = conflicts_of(RaceCheck::Sampled, &swap, 8, module(false));
    assert_eq!(found.iter().map(|conflict| conflict.verdict).collect::<Vec<_>>(), [Verdict::Flag]);
}

#[test]
fn atomics_do_not_meet_each_other_but_what_is_plain() {
    assert_eq!(both(&[shared(0, REDUCTION, 0), shared(1, REDUCTION, 0), shared(2, EXCHANGE, 0)]), []);
    assert_eq!(both(&[shared(0, REDUCTION, 0), shared(1, LOAD, 0)]), [(Scope::Block, Verdict::Race)]);
    // The same applies if the reader's own operation came last.
    let own_last = [shared(0, REDUCTION, 0), shared(1, REDUCTION, 0), shared(1, LOAD, 0)];
    assert_eq!(both(&own_last), [(Scope::Block, Verdict::Race)]);
    assert_eq!(both(&[one(0, 0, VOLATILE_STORE, 0), one(1, 0, VOLATILE_LOAD, 0)]), []);
}

#[test]
fn what_flags_may_order_is_reported_in_full_only_and_as_such() {
    // The last block reads the results of the others, after an atomic operation whose result it used.
    let last = [
        one(0, 0, STORE, 0),
        one(0, 0, EXCHANGE, 64),
        one(1, 0, STORE, 4),
        one(1, 0, EXCHANGE, 64),
        Step::Barrier(1, 0),
        Step::Barrier(1, 1),
        one(1, 1, LOAD, 0),
    ];
    assert_eq!(verdicts(RaceCheck::Sampled, &last), []);
    assert_eq!(verdicts(RaceCheck::Full, &last), [(Scope::Grid, Verdict::MaybeOrdered)]);
    // If it does not use the result, the order is unknown.
    let blind = last.map(|step| match step {
        Step::Access(block, warp, space, EXCHANGE, address, stride) => {
            Step::Access(block, warp, space, REDUCTION, address, stride)
        }
        other => other,
    });
    assert_eq!(both(&blind), [(Scope::Grid, Verdict::Race)]);
    // A warp waits for another warp's flag.
    let flag = [shared(0, STORE, 0), shared(0, VOLATILE_STORE, 512), shared(1, VOLATILE_LOAD, 512), shared(1, LOAD, 0)];
    assert_eq!(verdicts(RaceCheck::Sampled, &flag), []);
    assert_eq!(verdicts(RaceCheck::Full, &flag), [(Scope::Block, Verdict::MaybeOrdered)]);
}

#[test]
fn lanes_of_a_warp_lose_updates_and_store_different_values() {
    let race = [(Scope::Warp, Verdict::Race)];
    assert_eq!(both(&[one(0, 0, INCREMENT, 0)]), race);
    assert_eq!(both(&[one(0, 0, THREAD_INDEX, 0)]), race);
    // Pairs of lanes share an element, or each lane has its own.
    let apart = |stride| Step::Access(0, 0, Space::Global, INCREMENT, DATA, stride);
    assert_eq!(both(&[apart(4)]), []);
    let found = &conflicts(RaceCheck::Full, &[one(0, 0, INCREMENT, 64)])[0];
    assert_eq!((found.count, found.parties.map(|party| party.site)), (1, [INCREMENT; 2]));
    // A store of an unknown value may store the same value in all lanes.
    assert_eq!(both(&[one(0, 0, STORE, 0)]), []);
}

#[test]
fn warps_that_store_their_indices_store_different_values() {
    let stores = |block| [shared(0, THREAD_INDEX, 0), Step::Access(block, 1, Space::Shared, THREAD_INDEX, 0, 4)];
    assert_eq!(both(&stores(0)), [(Scope::Block, Verdict::Race)]);
    assert_eq!(both(&stores(1)), []);
}

#[test]
fn atomics_of_block_scope_are_not_atomic_for_other_blocks() {
    assert_eq!(both(&[one(0, 0, BLOCK_ATOMIC, 0), one(0, 1, BLOCK_ATOMIC, 0)]), []);
    assert_eq!(both(&[one(0, 0, BLOCK_ATOMIC, 0), one(1, 0, REDUCTION, 0)]), [(Scope::Grid, Verdict::Race)]);
}

#[test]
fn an_atomic_operation_orders_nothing_without_a_fence() {
    let ticket = [one(0, 0, EXCHANGE, 64), one(0, 0, STORE, 0), one(1, 0, EXCHANGE, 64), one(1, 0, LOAD, 0)];
    let found = |fencing| {
        let found = conflicts_of(RaceCheck::Full, &ticket, 8, module(fencing));
        found.iter().map(|conflict| conflict.verdict).collect::<Vec<_>>()
    };
    assert_eq!((found(true), found(false)), (vec![Verdict::MaybeOrdered], vec![Verdict::Race]));
}

#[test]
fn a_sample_leaves_out_blocks_and_comes_back_to_new_code() {
    let far = [one(6, 0, STORE, 0), one(7, 0, LOAD, 0)];
    let sampled = |steps: &[Step], blocks| {
        let found = conflicts_of(RaceCheck::Sampled, steps, blocks, module(true));
        found.iter().map(|conflict| (conflict.scope, conflict.verdict)).collect::<Vec<_>>()
    };
    let found = [2000, 200, 8].map(|blocks| sampled(&far, blocks).len());
    assert_eq!(found, [0, 1, 1]);
    // A long stretch uses up its share of checks. A stretch that starts at another site after the next barrier is
    // checked again.
    let mut steps: Vec<Step> = (0..200_000).map(|_| shared(0, LOAD, 0)).collect();
    steps.push(shared(1, STORE, 0));
    assert_eq!(verdicts(RaceCheck::Sampled, &steps), []);
    steps.extend((0..WARPS).map(|warp| Step::Barrier(0, warp)));
    steps.extend([shared(0, STORE, 0), shared(1, LOAD, 0)]);
    assert_eq!(verdicts(RaceCheck::Sampled, &steps), [(Scope::Block, Verdict::Race)]);
}

#[test]
fn a_sample_sees_a_late_phase_of_a_kernel_that_has_touched_much_before() {
    // Each phase has its own 32 lines of device memory and ends at a barrier, except for the last one.
    let mut steps = Vec::new();
    for phase in 0..40u64 {
        steps.push(Step::Access(0, 0, Space::Global, STORE, phase << 20, 128));
        steps.extend((0..WARPS).map(|warp| Step::Barrier(0, warp)));
    }
    assert_eq!(both(&steps), []);
    steps.extend([one(0, 0, STORE, 50 << 20), one(0, 1, LOAD, 50 << 20)]);
    assert_eq!(both(&steps), [(Scope::Block, Verdict::Race)]);
}

/// Compares all pairs of accesses: the first conflict of each pair of sites and scope.
fn reference(steps: &[Step]) -> bool {
    let mut intervals = [[0; WARPS as usize]; 8];
    let mut known: Vec<(u32, u32, u32, bool, u64)> = Vec::new();
    for step in steps {
        match *step {
            Step::Barrier(block, warp) => intervals[block as usize][warp as usize] += 1,
            Step::Access(block, warp, _, site, address, _) => {
                let interval = intervals[block as usize][warp as usize];
                let writes = site != LOAD;
                let meets = |other: &(u32, u32, u32, bool, u64)| {
                    other.4 == address
                        && (other.3 || writes)
                        && (other.0 != block || (other.1 != warp && other.2 == interval))
                };
                if known.iter().any(meets) {
                    return true;
                }
                known.push((block, warp, interval, writes, address));
            }
        }
    }
    false
}

proptest! {
    #[test]
    fn there_is_a_conflict_where_any_pair_has_one(
        choices in prop::collection::vec((0u32..2, 0..WARPS, 0u32..2, 0u64..3, 0u32..8), 0..40),
    ) {
        let steps: Vec<Step> = choices
            .into_iter()
            .flat_map(|(block, warp, site, address, barrier)| match barrier {
                0 => (0..WARPS).map(|warp| Step::Barrier(block, warp)).collect(),
                _ => vec![one(block, warp, if site == 0 { LOAD } else { STORE }, 4 * address)],
            })
            .collect();
        prop_assert_eq!(!conflicts(RaceCheck::Full, &steps).is_empty(), reference(&steps));
    }
}
