//! Rows of differences between ranks, which the text, Markdown, page and session formats show.

use serde::Serialize;

use crate::words::{at, bytes, count, host_path, label, seconds};
use warpline_profile::Profile;
use warpline_profile::model::{OverRanks, RankSpread};

/// The unit of a row's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RankUnit {
    Seconds,
    Bytes,
    Count,
}

/// A figure of a subject over the ranks that have the subject.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RankRow {
    /// Name of the subject in every format.
    pub(crate) name: String,
    /// The subject's kernel, if it is a kernel or belongs to one.
    pub(crate) kernel: Option<u32>,
    /// Source file; empty for kernels, call paths and allocations.
    pub(crate) file: String,
    pub(crate) line: u32,
    /// Name of the figure.
    pub(crate) figure: String,
    pub(crate) unit: RankUnit,
    pub(crate) ranks: u64,
    pub(crate) min: f64,
    pub(crate) min_rank: u32,
    pub(crate) mean: f64,
    pub(crate) max: f64,
    pub(crate) max_rank: u32,
    pub(crate) stddev: f64,
    /// Maximum divided by mean.
    pub(crate) factor: f64,
}

/// Subjects whose work differs between ranks, by kind, in descending order of the ratio of maximum to mean.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct RankRows {
    /// Number of ranks whose profiles are included.
    pub(crate) present: u64,
    pub(crate) kernels: Vec<RankRow>,
    pub(crate) paths: Vec<RankRow>,
    pub(crate) lines: Vec<RankRow>,
    pub(crate) allocations: Vec<RankRow>,
}

impl RankRow {
    /// Formats a value of the row.
    pub(crate) fn text(&self, value: f64) -> String {
        match self.unit {
            RankUnit::Seconds => seconds(value),
            RankUnit::Bytes => bytes(value.round() as u64),
            RankUnit::Count if value < 100.0 && value.fract() != 0.0 => format!("{value:.1}"),
            RankUnit::Count => count(value.round() as u64),
        }
    }
}

impl RankRows {
    /// Returns each kind of subject with its title.
    pub(crate) fn kinds(&self) -> [(&'static str, &[RankRow]); 4] {
        [
            ("kernels", &self.kernels),
            ("call paths", &self.paths),
            ("lines", &self.lines),
            ("names of allocations", &self.allocations),
        ]
    }
}

/// The subject of a row.
#[derive(Clone, Default)]
struct RankPlace<'a> {
    name: String,
    kernel: Option<u32>,
    file: &'a str,
    line: u32,
}

/// The figures that measure work in a space.
const WORK: [(&str, &str); 4] = [
    ("global.sectors", "sectors of global memory"),
    ("local.sectors", "sectors of local memory"),
    ("shared.wavefronts", "passes of shared memory"),
    ("constant.wavefronts", "passes of constant memory"),
];

/// Returns the rows; `None` if the profile has no ranks.
pub(crate) fn over_ranks(profile: &Profile) -> Option<RankRows> {
    let ranks = profile.run.merged.as_ref()?.ranks.as_ref()?;
    let ranges = ranks.present.iter().filter(|[first, last]| first <= last);
    let present = ranges.map(|[first, last]| u64::from(last - first) + 1).sum();
    let mut rows = RankRows { present, ..RankRows::default() };
    let kernel_label = |id: u32| {
        let kernel = profile.kernels.iter().find(|kernel| kernel.id == id);
        kernel.map_or_else(|| "?".to_owned(), |kernel| label(profile, kernel))
    };
    for kernel in &profile.kernels {
        let place = RankPlace { name: label(profile, kernel), kernel: Some(kernel.id), ..RankPlace::default() };
        match kernel.over_ranks.get("estimate.picoseconds") {
            Some(time) => rows.kernels.push(row(&place, "estimated time", RankUnit::Seconds, time, 1e-12)),
            None => add_work(&mut rows.kernels, &place, &kernel.over_ranks),
        }
        for path in &kernel.paths_over_ranks {
            let name = format!("{} > {}", host_path(&path.path).join(" > "), place.name);
            add_work(&mut rows.paths, &RankPlace { name, ..place.clone() }, &path.over_ranks);
        }
    }
    for line in &profile.lines {
        let name = format!("{} in {}", at(&line.file, line.line), kernel_label(line.kernel));
        let place = RankPlace { name, kernel: Some(line.kernel), file: &line.file, line: line.line };
        add_work(&mut rows.lines, &place, &line.over_ranks);
    }
    for named in &profile.allocation_names {
        let place = RankPlace { name: named.name.clone(), ..RankPlace::default() };
        for (name, figure, unit) in
            [("size", "size", RankUnit::Bytes), ("sectors", "sectors of its traffic", RankUnit::Count)]
        {
            let over = named.over_ranks.get(name);
            rows.allocations.extend(over.map(|over| row(&place, figure, unit, over, 1.0)));
        }
    }
    for kind in [&mut rows.kernels, &mut rows.paths, &mut rows.lines, &mut rows.allocations] {
        kind.retain(|row| row.min < row.max || row.ranks < present);
        let above = |row: &RankRow| row.max - row.mean;
        kind.sort_by(|one, other| {
            let (bytes, counts) = (one.unit == RankUnit::Bytes, other.unit == RankUnit::Bytes);
            // Rows are sorted within their unit.
            bytes
                .cmp(&counts)
                .then_with(|| above(other).total_cmp(&above(one)))
                .then_with(|| (&one.name, &one.figure).cmp(&(&other.name, &other.figure)))
        });
    }
    Some(rows)
}

fn add_work(rows: &mut Vec<RankRow>, place: &RankPlace<'_>, over: &OverRanks) {
    for (name, figure) in WORK {
        rows.extend(over.get(name).map(|over| row(place, figure, RankUnit::Count, over, 1.0)));
    }
}

fn row(place: &RankPlace<'_>, figure: &str, unit: RankUnit, over: &RankSpread, scale: f64) -> RankRow {
    RankRow {
        name: place.name.clone(),
        kernel: place.kernel,
        file: place.file.to_owned(),
        line: place.line,
        figure: figure.to_owned(),
        unit,
        ranks: over.ranks,
        min: over.min as f64 * scale,
        min_rank: over.min_rank,
        mean: over.mean * scale,
        max: over.max as f64 * scale,
        max_rank: over.max_rank,
        stddev: over.stddev * scale,
        factor: if over.mean > 0.0 { over.max as f64 / over.mean } else { 1.0 },
    }
}
