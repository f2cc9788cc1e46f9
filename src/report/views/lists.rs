//! Lists of all things of a kind.

use std::collections::BTreeMap;

use super::figures::{Figures, columns, figure, words};
use super::kernel::source_cell;
use super::links::{all_sectors, line_target, place, rows};
use super::model::{Cell, Row, Table, Target};
use crate::finding_text;
use crate::text::{limiter, name_of};
use crate::words::label;
use warpline_profile::Profile;
use warpline_profile::model::user_frame;

/// Returns findings, the most important first.
pub fn findings(profile: &Profile) -> Table {
    let rows = profile.findings.iter().map(|finding| Row {
        cells: vec![
            Cell::Count(u64::from(finding.rank)),
            Cell::Text(finding.severity.name().to_owned()),
            finding.gain.as_ref().map_or(Cell::Nothing, |gain| Cell::Factor(gain.factor)),
            Cell::Text(finding.id.clone()),
            Cell::Text(finding_text::place(finding)),
            Cell::Text(finding_text::object(profile, finding).unwrap_or_default()),
            Cell::Text(finding_text::kernel(profile, finding).unwrap_or_default()),
        ],
        target: Some(Target::Finding(finding.rank)),
    });
    let columns = vec![
        figure("rank", 1, "What matters most has rank 1"),
        words("severity"),
        figure(
            "gain",
            1,
            "Estimated time before the cure over after it: of the kernel, or of the program outside of kernels; modelled",
        ),
        words("finding"),
        words("line"),
        words("object"),
        words("kernel"),
    ];
    Table { heading: "FINDINGS".to_owned(), columns, rows: rows.collect(), sorted: None }
}

/// Returns kernels in descending order of time.
pub fn kernels(profile: &Profile) -> Table {
    let all = all_sectors(profile);
    let rows = profile.kernels.iter().map(|kernel| {
        let estimate = kernel.estimates.first();
        let mut cells = vec![
            estimate.map_or(Cell::Nothing, |estimate| Cell::Seconds(estimate.seconds)),
            Cell::Text(estimate.map_or_else(|| "-".to_owned(), limiter)),
            Cell::Count(kernel.recorded_launches()),
        ];
        cells.extend(super::figures::cells(&Figures::from_spaces(&kernel.metrics), all));
        cells.push(Cell::Text(label(profile, kernel)));
        Row { cells, target: Some(Target::Kernel(kernel.id)) }
    });
    let time = figure("time", 1, "Time of the slowest part in each launch, summed: a lower bound, modelled");
    let launches = figure("launches", 1, "Recorded launches");
    let before = [time, words("limited by"), launches];
    let columns = before.into_iter().chain(columns(&[words("kernel")])).collect();
    let mut table = Table { heading: "KERNELS".to_owned(), columns, rows: rows.collect(), sorted: None };
    table.sort(0, true);
    table
}

/// Returns lines that access memory or issue instructions, in descending order of traffic.
pub fn lines(profile: &Profile) -> Table {
    let mut sums: BTreeMap<(&str, u32), Figures> = BTreeMap::new();
    for row in &profile.lines {
        sums.entry((&row.file, row.line)).or_default().add(&Figures::from_spaces(&row.metrics));
    }
    let name = |(file, line): &(&str, u32)| vec![place(file, *line), source_cell(profile, file, *line)];
    let rows = rows(sums, all_sectors(profile), name, |(file, line)| line_target(file, *line));
    let columns = columns(&[words("line"), words("source")]);
    Table { heading: "LINES".to_owned(), columns, rows, sorted: Some(0) }
}

/// Returns allocations in descending order of traffic.
pub fn allocations(profile: &Profile) -> Table {
    let all = all_sectors(profile);
    let rows = profile.allocations.iter().map(|row| {
        let copied = row.copies.iter().fold(0u64, |sum, copy| sum.saturating_add(copy.bytes));
        let mut cells = vec![Cell::Bytes(row.bytes), Cell::Bytes(copied)];
        cells.extend(super::figures::cells(&Figures::of_space("global", &row.metrics), all));
        cells.push(Cell::Text(row.kind.clone()));
        cells.push(user_frame(&row.path).map_or(Cell::Nothing, |frame| place(&frame.file, frame.line)));
        cells.push(Cell::Text(name_of(row)));
        Row { cells, target: Some(Target::Allocation(row.id)) }
    });
    let size = figure("size", 1, "Bytes, of all allocations of the row together");
    let copied = figure("copied", 1, "Bytes copied to and from it, and set");
    let after = [words("kind"), words("made at"), words("allocation")];
    let columns = [size, copied].into_iter().chain(columns(&after)).collect();
    let mut table = Table { heading: "ALLOCATIONS".to_owned(), columns, rows: rows.collect(), sorted: None };
    table.sort(2, true);
    table
}
