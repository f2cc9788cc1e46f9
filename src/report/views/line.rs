//! View of a source line, over all kernels that execute it.

use std::collections::BTreeMap;

use super::figures::{Figures, columns, figure, words};
use super::kernel::branches;
use super::links::{access_name, all_sectors, allocation_name, findings, kernel_name, rows, table};
use super::model::{Block, Cell, Row, Target, View};
use super::source::source;
use crate::words::{at, frame, ratio};
use warpline_profile::Profile;

/// Number of source lines shown before and after the line.
const AROUND: u32 = 5;

/// Returns the view of a line; `None` if the profile has no data about it.
pub fn line(profile: &Profile, file: &str, number: u32) -> Option<View> {
    let here = |path: &str, line: u32| path == file && line == number;
    let mut blocks: Vec<Block> = source(profile, file, number, AROUND).map(Block::Source).into_iter().collect();
    blocks.extend(findings(profile, |finding| here(&finding.file, finding.line)));
    blocks.extend(by_kernel(profile, here));
    blocks.extend(accesses(profile, here));
    blocks.extend(by_allocation(profile, here));
    blocks.extend(contexts(profile, here));
    blocks.extend(branches(profile, None, here));
    (!blocks.is_empty()).then(|| View {
        title: format!("LINE {}", at(file, number)),
        place: Some((file.to_owned(), number)),
        blocks,
    })
}

/// Returns the requests and issued instructions of the line in each kernel.
fn by_kernel(profile: &Profile, here: impl Fn(&str, u32) -> bool) -> Option<Block> {
    let rows = profile.lines.iter().filter(|row| here(&row.file, row.line)).map(|row| {
        let mut cells = super::figures::cells(&Figures::from_spaces(&row.metrics), all_sectors(profile));
        let (warps, lanes) = row.instructions.values().fold((0u64, 0u64), |(warps, lanes), more| {
            (warps.saturating_add(more.warps), lanes.saturating_add(more.lanes))
        });
        cells.push(Cell::Count(warps));
        cells.push(if warps == 0 { Cell::Nothing } else { Cell::Mean(ratio(lanes, warps)) });
        cells.push(Cell::Text(kernel_name(profile, row.kernel)));
        Row { cells, target: Some(Target::Kernel(row.kernel)) }
    });
    let issued = figure("issued", 1, "Warp instructions issued for this line");
    let active = figure("active", 1, "Lanes that ran an issued instruction, of 32");
    table("KERNELS that run it", columns(&[issued, active, words("kernel")]), rows.collect())
}

/// Returns the accesses. Sites that unrolling created from one access form one row.
fn accesses(profile: &Profile, here: impl Fn(&str, u32) -> bool) -> Option<Block> {
    let mut sums: BTreeMap<(u32, String, u32), Figures> = BTreeMap::new();
    for site in profile.sites.iter().filter(|site| here(&site.file, site.line)) {
        let key = (site.column, access_name(site), site.kernel);
        sums.entry(key).or_default().add(&Figures::of_space(&site.space, &site.metrics));
    }
    let name = |(column, access, kernel): &(u32, String, u32)| {
        vec![
            Cell::Text(if *column == 0 { "-".to_owned() } else { column.to_string() }),
            Cell::Text(access.clone()),
            Cell::Text(kernel_name(profile, *kernel)),
        ]
    };
    let rows = rows(sums, all_sectors(profile), name, |(_, _, kernel)| Some(Target::Kernel(*kernel)));
    table("ACCESSES on it", columns(&[words("column"), words("access"), words("kernel")]), rows)
}

fn by_allocation(profile: &Profile, here: impl Fn(&str, u32) -> bool) -> Option<Block> {
    let mut sums: BTreeMap<Option<u64>, Figures> = BTreeMap::new();
    for site in profile.sites.iter().filter(|site| here(&site.file, site.line)) {
        for row in &site.by_allocation {
            sums.entry(row.allocation).or_default().add(&Figures::of_space(&site.space, &row.metrics));
        }
    }
    let name = |id: &Option<u64>| vec![Cell::Text(allocation_name(profile, *id))];
    let rows = rows(sums, all_sectors(profile), name, |id| id.map(Target::Allocation));
    table("ALLOCATIONS that it accesses", columns(&[words("allocation")]), rows)
}

/// Returns device call paths, if there are calls that were not inlined.
fn contexts(profile: &Profile, here: impl Fn(&str, u32) -> bool) -> Option<Block> {
    let mut sums: BTreeMap<String, Figures> = BTreeMap::new();
    for site in profile.sites.iter().filter(|site| here(&site.file, site.line)) {
        for context in site.contexts.iter().filter(|context| !context.calls.is_empty()) {
            let path: Vec<String> = context.calls.iter().map(frame).collect();
            let key = format!("{} > {}", path.join(" > "), crate::words::plain_name(&site.function));
            sums.entry(key).or_default().add(&Figures::of_space(&site.space, &context.metrics));
        }
    }
    let rows = rows(sums, all_sectors(profile), |path: &String| vec![Cell::Text(path.clone())], |_| None);
    table("DEVICE CALL PATHS", columns(&[words("calls")]), rows)
}
