//! Counts loads that a warp repeats: requests for the same addresses as the warp's previous request of the same instruction.
//! The compiler could not move such a load out of its loop.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use warpline_analyzer::analyses::{ByLaunch, Column, Merged, Sum, Table, Value};
use warpline_analyzer::requests::{AnalysisTool, Cells, Event, LaunchShape, Request};
use warpline_format::access::Space;
use warpline_format::event::LaunchId;
use warpline_format::site_table::Op;

const COLUMNS: [Column; 3] = [
    Column { name: "line", unit: "", merged: Merged::Key },
    Column { name: "loads", unit: "requests", merged: Merged::Sum },
    Column { name: "repeated", unit: "requests", merged: Merged::Sum },
];

/// Requests and repeated requests of each load instruction, by site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatedLoads(pub BTreeMap<u32, (u64, u64)>);

impl Sum for RepeatedLoads {
    fn add(&mut self, other: &Self) {
        for (site, (loads, repeated)) in &other.0 {
            let sum = self.0.entry(*site).or_default();
            *sum = (sum.0 + loads, sum.1 + repeated);
        }
    }

    fn table(&self) -> Option<Table> {
        let rows = self.0.iter().filter(|(_, (_, repeated))| *repeated > 0);
        let row = |(&site, &(loads, repeated))| vec![Value::Site(site), Value::Count(loads), Value::Count(repeated)];
        let rows: Vec<_> = rows.map(row).collect();
        let title = "Loads of the same addresses as the warp's previous one";
        (!rows.is_empty()).then_some(Table { id: "repeated-loads", title, columns: &COLUMNS, rows })
    }
}

/// One launch in one shard.
#[derive(Debug, Default)]
struct Running {
    /// Hash of the last addresses, by site and warp slot.
    last: FxHashMap<(u32, u32), u64>,
    found: RepeatedLoads,
}

/// The tool: the state of one shard.
#[derive(Debug, Default)]
pub struct RepeatedLoadsTool(ByLaunch<Running>);

impl Running {
    fn request(&mut self, request: &Request<'_>) {
        if request.access.space != Space::Global || request.site.op != Op::Load {
            return;
        }
        let mut hasher = FxHasher::default();
        request.access.for_each_lane(|lane, address| (lane, address).hash(&mut hasher));
        let hash = hasher.finish();
        let previous = self.last.insert((request.access.site, request.slot), hash);
        let (loads, repeated) = self.found.0.entry(request.access.site).or_default();
        *loads += 1;
        *repeated += u64::from(previous == Some(hash));
    }
}

impl AnalysisTool for RepeatedLoadsTool {
    type Result = RepeatedLoads;

    fn needs_shared(&self) -> bool {
        false
    }

    fn start(&mut self, launch: &LaunchShape) {
        self.0.start(launch.id, Running::default());
    }

    fn batch(&mut self, launch: LaunchId) {
        self.0.batch(launch);
    }

    fn batch_end(&mut self) {
        self.0.batch_end();
    }

    fn event(&mut self, event: Event<'_>) {
        let Some(running) = self.0.current() else { return };
        match event {
            // Other warps use the slots now.
            Event::Block { slot, warps, .. } => {
                running.last.retain(|(_, warp), _| !(slot..slot + warps).contains(warp));
            }
            Event::Request(request) => running.request(request),
            _ => {}
        }
    }

    fn end(&mut self, launch: &LaunchShape, _cells: &mut Cells) -> RepeatedLoads {
        self.0.end(launch.id).map(|running| running.found).unwrap_or_default()
    }
}
