//! Fills the table of figures over ranks.

use super::call_paths::CallPaths;
use super::fill::Names;
use super::row::Rows;
use super::tables::RankStatisticRow;
use warpline_profile::model::OverRanks;

/// The subject of a statistic.
#[derive(Clone, Copy, Default)]
struct RankSubject<'a> {
    place: &'a str,
    kernel: Option<u32>,
    file: Option<&'a str>,
    line: Option<u32>,
    site: Option<u32>,
    path: Option<u64>,
    allocation_name: Option<&'a str>,
    space: Option<&'a str>,
}

/// Statistics over ranks belong to the profile's first model.
pub(super) fn rank_statistics(names: &Names<'_>, paths: &mut CallPaths<'_>) -> Rows {
    let mut rows = Rows::new::<RankStatisticRow<'_>>();
    if !names.run.first {
        return rows;
    }
    let profile = names.run.profile;
    for kernel in &profile.kernels {
        let of_kernel = RankSubject { place: "kernel", kernel: Some(kernel.id), ..RankSubject::default() };
        push(&mut rows, names, of_kernel, &kernel.over_ranks);
        for row in &kernel.paths_over_ranks {
            let path = paths.node(&row.path);
            push(&mut rows, names, RankSubject { place: "path", path, ..of_kernel }, &row.over_ranks);
        }
    }
    for row in &profile.lines {
        let place = RankSubject {
            place: "line",
            kernel: Some(row.kernel),
            file: Some(&row.file),
            line: Some(row.line),
            ..RankSubject::default()
        };
        push(&mut rows, names, place, &row.over_ranks);
    }
    for row in &profile.sites {
        let place = RankSubject {
            place: "site",
            kernel: Some(row.kernel),
            file: Some(&row.file),
            line: Some(row.line),
            site: Some(row.id),
            space: Some(&row.space),
            ..RankSubject::default()
        };
        push(&mut rows, names, place, &row.over_ranks);
    }
    for row in &profile.allocation_names {
        let place = RankSubject { place: "allocation", allocation_name: Some(&row.name), ..RankSubject::default() };
        push(&mut rows, names, place, &row.over_ranks);
    }
    rows
}

fn push(rows: &mut Rows, names: &Names<'_>, of: RankSubject<'_>, over_ranks: &OverRanks) {
    const SPACES: [&str; 4] = ["global", "local", "shared", "constant"];
    for (name, spread) in over_ranks {
        let split = name.split_once('.').filter(|(space, _)| SPACES.contains(space));
        let (space, figure) = match split {
            Some((space, figure)) => (Some(space), figure),
            None => (of.space, name.as_str()),
        };
        rows.push(RankStatisticRow {
            run: &names.run.name,
            place: of.place,
            kernel: of.kernel,
            kernel_name: of.kernel.map(|kernel| names.kernel(kernel)),
            file: of.file,
            line: of.line,
            site: of.site,
            path: of.path,
            allocation_name: of.allocation_name,
            space,
            figure,
            ranks: spread.ranks,
            sum: i64::try_from(spread.sum.0).ok().map(i64::cast_unsigned),
            least: spread.min,
            least_rank: spread.min_rank,
            mean: spread.mean,
            most: spread.max,
            most_rank: spread.max_rank,
            stddev: spread.stddev,
        });
    }
}
