//! Counts requests by width: the bytes that each lane moves. Wider loads and stores (`float4`) move the same bytes with
//! fewer instructions and wavefronts.

use warpline_format::access::Space;
use warpline_format::event::LaunchId;
use warpline_format::site_table::Op;

use super::shards::ByLaunch;
use super::{Column, Merged, Sum, Table, Value};
use crate::requests::{AnalysisTool, Cells, Event, LaunchShape};

const ID: &str = "request-widths";
const TITLE: &str = "Global and local requests by width";
const COLUMNS: [Column; 5] = [
    Column { name: "space", unit: "", merged: Merged::Key },
    Column { name: "operation", unit: "", merged: Merged::Key },
    Column { name: "bytes per lane", unit: "bytes", merged: Merged::Key },
    Column { name: "requests", unit: "requests", merged: Merged::Sum },
    Column { name: "lanes", unit: "lanes", merged: Merged::Sum },
];

/// Number of distinguished widths: up to 1, 2, 4, 8 and 16 bytes, and more (merged accesses).
const STEPS: usize = 6;
const SPACES: [(Space, &str); 2] = [(Space::Global, "global"), (Space::Local, "local")];
const OPS: [(Op, &str); 3] = [(Op::Load, "load"), (Op::Store, "store"), (Op::Atomic, "atomic")];

/// Number of requests and lanes by space, operation and width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WidthCounts([[[(u64, u64); STEPS]; OPS.len()]; SPACES.len()]);

impl WidthCounts {
    #[inline]
    fn request(&mut self, space: usize, op: Op, bytes: u32, lanes: u32) {
        let op = match op {
            Op::Load => 0,
            Op::Store => 1,
            Op::Atomic => 2,
        };
        let step = (bytes.max(1).next_power_of_two().trailing_zeros() as usize).min(STEPS - 1);
        let (requests, all_lanes) = &mut self.0[space][op][step];
        *requests += 1;
        *all_lanes += u64::from(lanes);
    }
}

impl Sum for WidthCounts {
    fn add(&mut self, other: &Self) {
        for (sum, more) in
            self.0.as_flattened_mut().as_flattened_mut().iter_mut().zip(other.0.as_flattened().as_flattened())
        {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
    }

    fn table(&self) -> Option<Table> {
        let mut rows = Vec::new();
        for ((_, space), ops) in SPACES.iter().zip(&self.0) {
            for ((_, op), steps) in OPS.iter().zip(ops) {
                for (step, &(requests, lanes)) in (0..).zip(steps).filter(|(_, (requests, _))| *requests > 0) {
                    rows.push((
                        requests,
                        vec![
                            Value::Text(space),
                            Value::Text(op),
                            Value::Count(1 << step),
                            Value::Count(requests),
                            Value::Count(lanes),
                        ],
                    ));
                }
            }
        }
        rows.sort_by_key(|(requests, _)| std::cmp::Reverse(*requests));
        let rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
        (!rows.is_empty()).then_some(Table { id: ID, title: TITLE, columns: &COLUMNS, rows })
    }
}

/// Counts the requests of one worker's SMs.
#[derive(Debug, Default)]
pub struct Widths(ByLaunch<WidthCounts>);

impl AnalysisTool for Widths {
    type Result = WidthCounts;

    fn needs_shared(&self) -> bool {
        false
    }

    fn start(&mut self, launch: &LaunchShape) {
        self.0.start(launch.id, WidthCounts::default());
    }

    fn batch(&mut self, launch: LaunchId) {
        self.0.batch(launch);
    }

    fn batch_end(&mut self) {
        self.0.batch_end();
    }

    #[inline]
    fn event(&mut self, event: Event<'_>) {
        let Event::Request(request) = event else { return };
        let Some(counts) = self.0.current() else { return };
        let space = match request.access.space {
            Space::Global => 0,
            Space::Local => 1,
            _ => return,
        };
        counts.request(space, request.site.op, request.width.bytes, request.access.mask.count_ones());
    }

    fn end(&mut self, launch: &LaunchShape, _cells: &mut Cells) -> WidthCounts {
        self.0.end(launch.id).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn rows_are_what_a_map_counts(requests in prop::collection::vec((0usize..2, 0usize..3, 1u32..=32, 1u32..=32), 0..200), cut in 0usize..200) {
            let cut = cut.min(requests.len());
            let mut sums = [WidthCounts::default(), WidthCounts::default()];
            let mut want: BTreeMap<(&str, &str, u64), (u64, u64)> = BTreeMap::new();
            for (index, &(space, op, bytes, lanes)) in requests.iter().enumerate() {
                sums[usize::from(index >= cut)].request(space, OPS[op].0, bytes, lanes);
                let width = [1, 2, 4, 8, 16].into_iter().find(|width| u64::from(bytes) <= *width).unwrap_or(32);
                let sum = want.entry((SPACES[space].1, OPS[op].1, width)).or_default();
                *sum = (sum.0 + 1, sum.1 + u64::from(lanes));
            }
            let [mut sum, other] = sums;
            Sum::add(&mut sum, &other);
            let rows = Sum::table(&sum).map_or(Vec::new(), |table| table.rows);
            let got: BTreeMap<_, _> = rows.iter().map(|row| match row[..] {
                [Value::Text(space), Value::Text(op), Value::Count(width), Value::Count(requests), Value::Count(lanes)] =>
                    ((space, op, width), (requests, lanes)),
                _ => panic!("a row of another shape"),
            }).collect();
            prop_assert_eq!(got, want);
        }
    }
}
