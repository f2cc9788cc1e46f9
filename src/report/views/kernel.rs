//! View of a kernel: position, limiter, lines, allocations, branches and launches.

use std::collections::BTreeMap;

use super::figures::{Figures, columns, figure, words};
use super::links::{all_sectors, allocation_name, findings, line_target, path_target, place, rows, table};
use super::model::{Block, Cell, Fact, Row, Table, Target, View};
use crate::rows::branch_rows;
use crate::text::{limit_name, limiter};
use crate::words::{at, count, host_path, label, memory, percent, plain_name, ratio, seconds, sizes};
use warpline_profile::Profile;
use warpline_profile::model::{Frame, Kernel};

/// Returns the view of a kernel by number; `None` if the profile has no kernel with this number.
pub fn kernel(profile: &Profile, id: u32) -> Option<View> {
    let kernel = profile.kernels.iter().find(|kernel| kernel.id == id)?;
    let name = label(profile, kernel);
    let known = !kernel.file.is_empty() && kernel.line > 0;
    let mut blocks = vec![Block::Facts(facts(profile, kernel, &name))];
    blocks.extend(findings(profile, |finding| finding.kernel == Some(id)));
    blocks.extend(limits(kernel));
    blocks.extend(lines(profile, id));
    blocks.extend(allocations(profile, id));
    blocks.extend(branches(profile, Some(id), |_, _| true));
    blocks.extend(launches(kernel));
    Some(View { title: format!("KERNEL {name}"), place: known.then(|| (kernel.file.clone(), kernel.line)), blocks })
}

fn facts(profile: &Profile, kernel: &Kernel, name: &str) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |label, text: String, target| facts.push(Fact { label, text, target });
    if plain_name(&kernel.name) != name {
        fact("name", kernel.name.clone(), None);
    }
    fact("defined", at(&kernel.file, kernel.line), line_target(&kernel.file, kernel.line));
    let (all, recorded) = (kernel.launch_count(), kernel.recorded_launches());
    let launches = if all == recorded { count(all) } else { format!("{} of {} recorded", count(recorded), count(all)) };
    fact("launches", launches, None);
    for missing in profile.run.missing.iter().filter(|row| row.kernel == Some(kernel.id)) {
        fact("missing", missing.reason.clone(), None);
    }
    if let Some(estimate) = kernel.estimates.first() {
        let text = format!(
            "{} at least on {}, limited by {} (modelled)",
            seconds(estimate.seconds),
            estimate.model,
            limiter(estimate)
        );
        fact("time", text, None);
    }
    let slots = &kernel.lane_slots;
    if slots.issued > 0 {
        let text = format!(
            "{} of the lane slots of issued instructions; divergence leaves at most {} of them idle",
            percent(ratio(slots.active, slots.issued)),
            percent(ratio(slots.lost_partial, slots.issued))
        );
        fact("active", text, None);
    }
    facts
}

fn limits(kernel: &Kernel) -> Option<Block> {
    let estimate = kernel.estimates.first()?;
    let rows = estimate.limits.iter().map(|limit| Row {
        cells: vec![
            Cell::Seconds(limit.seconds),
            Cell::Share(if estimate.seconds > 0.0 { limit.seconds / estimate.seconds } else { 0.0 }),
            Cell::Text(format!("{} {}", count(limit.amount), limit.unit)),
            Cell::Text(limit_name(&limit.name).to_owned()),
        ],
        target: None,
    });
    let columns = vec![
        figure("at least", 1, "The kernel's work on this part, over the part's rate; modelled"),
        figure("of time", 1, "Of the estimated time, which is that of the slowest part in each launch"),
        words("work"),
        words("part"),
    ];
    table(format!("LIMITS on {}", estimate.model), columns, rows.collect())
}

fn lines(profile: &Profile, id: u32) -> Option<Block> {
    let mut sums: BTreeMap<(&str, u32), Figures> = BTreeMap::new();
    for row in profile.lines.iter().filter(|row| row.kernel == id) {
        sums.entry((&row.file, row.line)).or_default().add(&Figures::from_spaces(&row.metrics));
    }
    sums.retain(|_, figures| figures.requests() > 0);
    let name = |(file, line): &(&str, u32)| vec![place(file, *line), source_cell(profile, file, *line)];
    let rows = rows(sums, all_sectors(profile), name, |(file, line)| line_target(file, *line));
    table("LINES that access memory", columns(&[words("line"), words("source")]), rows)
}

/// Returns a line's text in a cell.
pub(super) fn source_cell(profile: &Profile, file: &str, line: u32) -> Cell {
    let text = profile.sources.get(file).and_then(|lines| lines.get(&line));
    text.map_or(Cell::Nothing, |text| Cell::Text(text.trim().to_owned()))
}

fn allocations(profile: &Profile, id: u32) -> Option<Block> {
    let mut sums: BTreeMap<u64, Figures> = BTreeMap::new();
    for allocation in &profile.allocations {
        for row in allocation.by_kernel.iter().filter(|row| row.kernel == id) {
            sums.entry(allocation.id).or_default().add(&Figures::of_space("global", &row.metrics));
        }
    }
    let name = |id: &u64| vec![Cell::Text(allocation_name(profile, Some(*id)))];
    let rows = rows(sums, all_sectors(profile), name, |id| Some(Target::Allocation(*id)));
    table("ALLOCATIONS that it uses", columns(&[words("allocation")]), rows)
}

/// Returns divergent branches of one kernel or of all, at the requested positions.
pub(super) fn branches(profile: &Profile, kernel: Option<u32>, at_place: impl Fn(&str, u32) -> bool) -> Option<Block> {
    let rows: Vec<Row> = branch_rows(profile)
        .iter()
        .filter(|row| kernel.is_none_or(|id| row.kernel == id) && at_place(row.file, row.line))
        .map(|row| Row {
            cells: vec![
                Cell::Count(row.divergent),
                Cell::Count(row.executions),
                Cell::Share(row.share()),
                Cell::Text(row.sides()),
                Cell::Text(format!("{}:{}", at(row.file, row.line), row.column)),
            ],
            target: line_target(row.file, row.line),
        })
        .collect();
    let columns = vec![
        figure("divergent", 1, "Executions whose lanes leave by two or more sides"),
        figure("reached", 1, "Times a warp with an active lane reached the branch"),
        figure("share", 1, "Divergent ones of all executions"),
        words("sides"),
        words("branch"),
    ];
    table("DIVERGENT BRANCHES", columns, rows)
}

fn launches(kernel: &Kernel) -> Option<Block> {
    let one = kernel.launches.iter().map(|launch| Row {
        cells: vec![
            Cell::Bytes(memory(&launch.metrics).sectors.saturating_mul(warpline_simulator::geometry::SECTOR_BYTES)),
            Cell::Text(format!("#{}", launch.id)),
            Cell::Text(format!("<<<{}, {}>>>", sizes(launch.grid), sizes(launch.block))),
            Cell::Text(path_text(&launch.path)),
        ],
        target: path_target(&launch.path),
    });
    let shape = |shape: Option<[u32; 3]>| shape.map_or_else(|| "several".to_owned(), sizes);
    let groups = kernel.launch_groups.iter().map(|group| Row {
        cells: vec![
            Cell::Bytes(memory(&group.metrics).sectors.saturating_mul(warpline_simulator::geometry::SECTOR_BYTES)),
            Cell::Text(format!("{} from #{} on", count(group.launches), group.first)),
            Cell::Text(format!("<<<{}, {}>>>", shape(group.grid), shape(group.block))),
            Cell::Text(path_text(&group.path)),
        ],
        target: path_target(&group.path),
    });
    let columns = vec![
        figure("traffic", 1, "Bytes of the 32-byte sectors that requests touch, before any cache"),
        words("launch"),
        words("shape"),
        words("from"),
    ];
    let table = Table { heading: "LAUNCHES".to_owned(), columns, rows: one.chain(groups).collect(), sorted: None };
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

fn path_text(path: &[Frame]) -> String {
    let parts = host_path(path);
    if parts.is_empty() { "several paths".to_owned() } else { parts.join(" > ") }
}
