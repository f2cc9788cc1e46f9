use std::sync::Arc;

use proptest::prelude::*;
use warpline_format::access::{Kind, Space, bundle_field, bundle_of, head, push_access};
use warpline_format::device::Device;
use warpline_format::event::Launch;
use warpline_format::site_table::{Bundle, CacheOp, CallSite, File, Frame, Function, Member, Op, Site, SiteTable};

use crate::attribution::Module;
use crate::requests::{AnalysisTool, CellKey, Event, LaunchShape, Worker};
use warpline_simulator::geometry::{BankRules, Banks};
use warpline_simulator::metrics::Counters;

/// Site and offset of each member of the bundles.
const BUNDLES: [&[(u32, i32)]; 2] = [&[(0, 0), (1, 8), (0, -12)], &[(1, 0), (1, 256)]];

/// A tool that needs every request, so each is counted separately.
struct Watching;

impl AnalysisTool for Watching {
    type Result = ();

    fn event(&mut self, _event: Event<'_>) {}
}

#[derive(Clone, Debug)]
enum Step {
    Request {
        site: u32,
        shared: bool,
        mask: u32,
        base: u64,
        halves: u64,
        stride: i64,
    },
    Call,
    Return,
    Turn(u32),
    /// The allocations change.
    Epoch,
    /// A batch ends.
    Cut,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let request = (
        prop_oneof![2 => 0u32..2, 3 => (0..2u32).prop_map(|index| bundle_field(index, BUNDLES[index as usize].len() as u32))],
        prop::bool::weighted(0.9),
        prop_oneof![8 => Just(u32::MAX), 1 => 1u32.., 1 => Just(0xffff)],
        prop_oneof![(0u64..3).prop_map(|line| 128 * line), 0u64..600],
        prop_oneof![4 => Just(64u64), 1 => 0u64..300],
        prop_oneof![4 => Just(4i64), 1 => Just(0), 1 => -8i64..40],
    )
        .prop_map(|(site, shared, mask, base, halves, stride)| Step::Request {
            site,
            shared,
            mask,
            base: base + 1024,
            halves,
            stride,
        });
    let other = prop_oneof![
        Just(Step::Call),
        Just(Step::Return),
        (0u32..4).prop_map(Step::Turn),
        Just(Step::Epoch),
        Just(Step::Cut)
    ];
    prop::collection::vec(prop_oneof![12 => request, 1 => other], 0..200)
}

fn members_of(members: &[(u32, i32)]) -> Vec<Member> {
    members.iter().map(|&(site, offset)| Member { site, offset }).collect()
}

/// Splits bundles into their requests.
fn taken_apart(steps: &[Step]) -> Vec<Step> {
    let apart = |step: &Step| match *step {
        Step::Request { site, shared, mask, base, halves, stride } if bundle_of(site).is_some() => {
            let members = bundle_of(site).map_or(&[][..], |index| BUNDLES[index as usize]).iter();
            let moved = |offset: i32| base.wrapping_add(i64::from(offset) as u64);
            members
                .map(|&(site, offset)| Step::Request { site, shared, mask, base: moved(offset), halves, stride })
                .collect()
        }
        _ => vec![step.clone()],
    };
    steps.iter().flat_map(apart).collect()
}

fn module() -> Arc<Module> {
    let site = |bytes| Site {
        function: 0,
        op: Op::Load,
        space: Space::Shared,
        bytes,
        byte_mask: None,
        align: 4,
        cache: CacheOp::Default,
        chain: vec![0],
        approximate: false,
        in_library: false,
    };
    let table = SiteTable {
        files: vec![File::default()],
        frames: vec![Frame::default()],
        functions: vec![Function { kernel: true, ..Function::default() }],
        sites: vec![site(4), site(8)],
        calls: vec![CallSite::default()],
        bundles: BUNDLES.map(|members| Bundle { members: members_of(members) }).to_vec(),
        ..SiteTable::default()
    };
    Arc::new(Module::new(&table.to_bytes()).expect("a good table"))
}

fn counted<T: AnalysisTool>(steps: &[Step], banks: BankRules, tool: T) -> Vec<(CellKey, Counters)> {
    let launch = Launch::with_defaults(3, 1, 128);
    let shape = Arc::new(
        LaunchShape::new(&launch, module(), 0, &Device { sms: 1, ..Device::rtx_2080_ti() }).expect("a good launch"),
    );
    let mut worker = Worker::new(0, 1, banks, tool);
    worker.start(&shape);
    let mut slot = 0;
    let (mut items, mut turn) = (Vec::new(), Vec::new());
    let end_turn = |slot: u32, turn: &mut Vec<u8>, items: &mut Vec<u8>| {
        items.extend(head(Kind::Turn, Space::Generic, slot).to_le_bytes());
        items.extend((turn.len() as u32).to_le_bytes());
        items.append(turn);
    };
    for step in steps {
        match *step {
            Step::Request { site, shared, mask, base, halves, stride } => {
                let address = |lane: u32| {
                    base.wrapping_add(u64::from(lane >> 4) * halves)
                        .wrapping_add((stride * i64::from(lane & 15)) as u64)
                };
                let addresses: Vec<u64> = (0..32).filter(|lane| mask >> lane & 1 == 1).map(address).collect();
                push_access(&mut turn, if shared { Space::Shared } else { Space::Global }, site, mask, &addresses);
            }
            Step::Call => {
                turn.extend(head(Kind::Call, Space::Generic, 0).to_le_bytes());
                turn.extend(u32::MAX.to_le_bytes());
            }
            Step::Return => {
                turn.extend(head(Kind::Return, Space::Generic, 0).to_le_bytes());
                turn.extend([0; 4]);
            }
            Step::Turn(next) => {
                end_turn(slot, &mut turn, &mut items);
                slot = next;
            }
            Step::Epoch | Step::Cut => {
                end_turn(slot, &mut turn, &mut items);
                worker.batch(3, &std::mem::take(&mut items));
                if matches!(step, Step::Epoch) {
                    worker.apply(&[]);
                }
            }
        }
    }
    end_turn(slot, &mut turn, &mut items);
    worker.batch(3, &items);
    let work = worker.end(3);
    let mut cells: Vec<_> = work.cells.iter().map(|(key, counters)| (*key, counters.clone())).collect();
    cells.sort_by_key(|(key, _)| format!("{key:?}"));
    let requests = taken_apart(steps).iter().filter(|step| matches!(step, Step::Request { .. })).count();
    assert_eq!(work.requests, requests as u64);
    cells
}

proptest! {
    #[test]
    fn counting_how_often_agrees_with_counting_each(steps in steps(), wide in any::<bool>()) {
        let shared = if wide { Banks { banks: 32, bank_bytes: 8, word_bytes: 4, merges_pairs: false } } else { Banks::USUAL };
        let banks = BankRules { shared, data: None };
        let apart = taken_apart(&steps);
        prop_assert_eq!(counted(&steps, banks, ()), counted(&apart, banks, Watching));
        prop_assert_eq!(counted(&steps, banks, Watching), counted(&apart, banks, ()));
    }
}
