//! Profiles of the ranks of a job: whatever the order and the parts in which they are merged, not a byte differs;
//! figures over ranks are those of a plain reference.

use std::collections::BTreeMap;

use crate::support::program::demo_profile;
use crate::support::schema::check;
use proptest::prelude::*;
use serde_json::Value;
use warpline::merge::{MergeError, merge};
use warpline::profile::file::to_bytes;
use warpline::profile::model::{Frame, Metrics, Rank, RankSpread, Severity, Wide};
use warpline::profile::{Profile, file};

/// The demo as a rank of a job, with work of its own: every count of the document except those of shapes.
fn rank(index: u32, count: u32, seed: u64) -> Profile {
    fn scale(value: &mut Value, key: &str, times: u64) {
        const FIXED: [&str; 14] = [
            "id",
            "kernel",
            "line",
            "column",
            "version",
            "allocation",
            "host",
            "upto",
            "bytes",
            "grid",
            "block",
            "pid",
            "threads",
            "first_launch",
        ];
        let is_fixed =
            FIXED.contains(&key) || key.ends_with("_line") || key.ends_with("shared_bytes") || key == "registers";
        match value {
            Value::Number(number) if number.is_u64() && !is_fixed => {
                *value = (number.as_u64().unwrap() * times).into();
            }
            Value::Number(number) if number.is_f64() && matches!(key, "seconds" | "mean") => {
                *value = serde_json::json!(number.as_f64().unwrap() * times as f64 / 3.0);
            }
            Value::Array(items) => items.iter_mut().for_each(|item| scale(item, key, times)),
            Value::Object(fields) => {
                const LEFT: [&str; 8] = [
                    "operand",
                    "bypass",
                    "lookup_bytes",
                    "cache_bytes",
                    "rate",
                    "over_launches",
                    "over_paths",
                    "ratios_over_launches",
                ];
                let counts = |key: &String| !LEFT.contains(&key.as_str());
                fields.iter_mut().filter(|(key, _)| counts(key)).for_each(|(key, item)| scale(item, key, times));
            }
            _ => {}
        }
    }
    let mut document = serde_json::to_value(demo_profile()).unwrap();
    let times = 1 + seed % 7;
    for (place, table) in ["kernels", "lines", "sites", "allocations", "branches", "blocks"].into_iter().enumerate() {
        for (row, value) in document[table].as_array_mut().unwrap().iter_mut().enumerate() {
            if table == "kernels" {
                for launch in value["launches"].as_array_mut().unwrap() {
                    scale(&mut launch["metrics"], "metrics", times);
                }
            }
            for key in ["metrics", "instructions", "estimates", "by_allocation", "executions", "lanes", "pattern"] {
                if !value[key].is_null() && (table, key) != ("blocks", "lanes") {
                    scale(&mut value[key], key, times + (place + row) as u64 % 2);
                }
            }
        }
    }
    let mut profile: Profile = serde_json::from_value(document).unwrap();
    for (number, launch) in (0..).zip(&mut profile.kernels[0].launches) {
        launch.path =
            vec![Frame { function: "main".into(), file: "/nowhere/columns.cu".into(), line: 30 + number, column: 3 }];
    }
    // Some ranks lack a line, or have things in another order.
    if seed.is_multiple_of(3) {
        profile.lines.truncate(profile.lines.len().saturating_sub(1));
    }
    if seed.is_multiple_of(5) {
        profile.sites.reverse();
        profile.allocations[0].path.clear();
    }
    if seed.is_multiple_of(4) {
        for kernel in &mut profile.kernels {
            for spread in kernel.over_launches.values_mut() {
                *spread = warpline::profile::model::Spread {
                    mean: spread.mean * 1.5 + 0.123_456_789,
                    stddev: spread.stddev + seed as f64 / 7.0,
                    ..*spread
                };
            }
        }
    }
    profile.run.exit_code = Some(if seed == 11 { 139 } else { 0 });
    profile.run.complete = seed != 11;
    profile.run.notes = vec![format!("note {}", seed % 2)];
    profile.run.environment.date = Some(format!("2030-01-{:02}T00:00:00Z", 1 + seed % 20));
    profile.run.environment.seconds = [("program".to_owned(), 0.001 * seed as f64)].into();
    profile.run.environment.rank = Some(Rank {
        index,
        count: Some(count),
        local_index: Some(index % 2),
        node: Some(format!("node{}", index / 2)),
        launcher: "open-mpi".to_owned(),
    });
    profile
}

/// Merges in some tree over some order.
fn in_a_tree(profiles: Vec<Profile>, cuts: &[usize]) -> Profile {
    let mut all = profiles;
    for cut in cuts {
        if all.len() < 3 {
            break;
        }
        let first = cut % (all.len() - 1);
        let part = merge(vec![all.remove(first), all.remove(first)]).unwrap();
        // As it comes out of a file.
        let part = file::from_bytes(&to_bytes(&part), std::path::Path::new("part")).unwrap();
        all.insert((cut / 3) % (all.len() + 1), part);
    }
    merge(all).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn neither_order_nor_parts_matter(
        seeds in prop::collection::vec(0u64..12, 2..9),
        cuts in prop::collection::vec(0usize..40, 0..8),
        turn in 0usize..9,
    ) {
        let count = seeds.len() as u32 + 1;
        let mut all: Vec<Profile> = (0..).zip(&seeds).map(|(index, seed)| rank(index, count, *seed)).collect();
        let whole = merge(all.clone()).unwrap();
        all.rotate_left(turn % seeds.len());
        let other = in_a_tree(all, &cuts);
        if to_bytes(&whole) != to_bytes(&other) {
            let (one, two) = (serde_json::to_value(&whole).unwrap(), serde_json::to_value(&other).unwrap());
            prop_assert!(false, "{}", difference(&one, &two, String::new()));
        }
    }
}

/// A profile's file as it was before there were sections for merging.
fn without_section(file: &[u8]) -> Vec<u8> {
    let length = u64::from_le_bytes(file[16..24].try_into().unwrap()) as usize;
    let mut plain = [&file[..32], &file[48..48 + length]].concat();
    plain[8] = 1;
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&plain[..12]);
    checksum.update(&plain[16..]);
    plain[12..16].copy_from_slice(&checksum.finalize().to_le_bytes());
    plain
}

/// Files are merged by their sections, by their documents where they have none or one that this release does not know,
/// and to the same bytes.
#[test]
fn sections_give_what_documents_give() {
    let all: Vec<Profile> = (0..7).map(|index| rank(index, 7, [0, 3, 4, 5, 7, 10, 11][index as usize])).collect();
    let folder = tempfile::tempdir().unwrap();
    let merged = |name: &str, form: &dyn Fn(usize, Vec<u8>) -> Vec<u8>| {
        let files = folder.path().join(name);
        std::fs::create_dir(&files).unwrap();
        for (index, profile) in all.iter().enumerate() {
            let file = form(index, to_bytes(profile));
            let read = |file: &[u8]| file::from_bytes(file, &files).unwrap();
            assert!(read(&file) == read(&to_bytes(profile)));
            std::fs::write(files.join(format!("rank-{index:06}.wlprof")), file).unwrap();
        }
        let whole = folder.path().join(format!("{name}.wlprof"));
        let mut command = assert_cmd::Command::cargo_bin("warpline").unwrap();
        command.args(["merge", "--threads", "2"]).arg(&files).arg("-o").arg(&whole).assert().success();
        std::fs::read(whole).unwrap()
    };
    // Of numbers as they are read: a document's.
    let as_read = all.iter().map(|profile| file::from_bytes(&to_bytes(profile), "x".as_ref()).unwrap()).collect();
    let wanted = to_bytes(&merge(as_read).unwrap());
    assert!(merged("sections", &|_, file| file) == wanted);
    assert!(merged("documents", &|_, file| without_section(&file)) == wanted);
    let mixed = |index: usize, file: Vec<u8>| if index.is_multiple_of(2) { without_section(&file) } else { file };
    assert!(merged("mixed", &mixed) == wanted);
    // That they are read at all shows where a section differs from its document.
    let other = |index: usize, file: Vec<u8>| {
        if index != 1 {
            return file;
        }
        let length = |file: &[u8], at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
        let foreign = to_bytes(&rank(1, 7, 8));
        let section = &foreign[48 + length(&foreign, 16)..];
        let mut forged = [&file[..32], &foreign[32..48], &file[48..48 + length(&file, 16)], section].concat();
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&forged[..12]);
        checksum.update(&forged[16..]);
        forged[12..16].copy_from_slice(&checksum.finalize().to_le_bytes());
        forged
    };
    assert!(merged("other", &other) != wanted);
}

/// The first place where documents differ.
fn difference(one: &Value, other: &Value, path: String) -> String {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            let differs = a.iter().find(|(key, value)| b[*key] != **value);
            differs.map_or(path.clone(), |(key, value)| difference(value, &b[key], format!("{path}.{key}")))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let differs = (0..a.len()).find(|index| a[*index] != b[*index]);
            differs.map_or(path.clone(), |index| difference(&a[index], &b[index], format!("{path}[{index}]")))
        }
        _ => format!("{path}: {one} and {other}"),
    }
}

/// As one would write it down.
fn reference(values: &BTreeMap<u32, u64>) -> RankSpread {
    let ranks = values.len() as u64;
    let sum: u128 = values.values().map(|&value| u128::from(value)).sum();
    let mean = sum as f64 / ranks as f64;
    let least = *values.values().min().unwrap();
    let most = *values.values().max().unwrap();
    let first = |wanted| *values.iter().find(|(_, value)| **value == wanted).unwrap().0;
    RankSpread {
        ranks,
        sum: Wide(sum),
        squares: Wide(values.values().map(|&value| u128::from(value) * u128::from(value)).sum()),
        min: least,
        min_rank: first(least),
        mean,
        max: most,
        max_rank: first(most),
        stddev: (values.values().map(|&value| (value as f64 - mean).powi(2)).sum::<f64>() / ranks as f64).sqrt(),
    }
}

fn assert_like(found: &RankSpread, wanted: &RankSpread, what: &str) {
    let close = |one: f64, other: f64| (one - other).abs() <= 1e-8 * one.abs().max(other.abs()).max(1e-3);
    assert!(close(found.mean, wanted.mean) && close(found.stddev, wanted.stddev), "{what}: {found:?} {wanted:?}");
    assert_eq!(
        RankSpread { mean: 0.0, stddev: 0.0, ..*found },
        RankSpread { mean: 0.0, stddev: 0.0, ..*wanted },
        "{what}"
    );
}

#[test]
fn figures_over_ranks_are_the_reference_s() {
    let all: Vec<Profile> = (0..8).map(|index| rank(index, 8, u64::from(index * 5 % 7))).collect();
    let whole = in_a_tree(all.clone(), &[3, 1, 4, 1, 5]);
    let of = |figure: fn(&Metrics) -> u64, of: &dyn Fn(&Profile) -> Option<Metrics>| -> BTreeMap<u32, u64> {
        let index = |profile: &Profile| profile.run.environment.rank.as_ref().unwrap().index;
        all.iter().filter_map(|profile| Some((index(profile), figure(&of(profile)?)))).collect()
    };
    type Figure = (&'static str, fn(&Metrics) -> u64);
    let figures: [Figure; 4] = [
        ("requests", |metrics| metrics.requests),
        ("sectors", |metrics| metrics.sectors),
        ("l1.hits", |metrics| metrics.l1.unwrap().hits),
        ("dram.read_sectors", |metrics| metrics.dram.unwrap().read_sectors),
    ];
    let mut seen = 0;
    for (name, figure) in figures {
        let kernel = &whole.kernels[0];
        let wanted = of(figure, &|profile| profile.kernels[0].metrics.get("global").cloned());
        assert_like(&kernel.over_ranks[&format!("global.{name}")], &reference(&wanted), name);
        for line in whole.lines.iter().filter(|line| line.metrics.contains_key("global")) {
            let same = |row: &&warpline::profile::model::Line| (&row.file, row.line) == (&line.file, line.line);
            let wanted = of(figure, &|profile| profile.lines.iter().find(same)?.metrics.get("global").cloned());
            assert_like(&line.over_ranks[&format!("global.{name}")], &reference(&wanted), name);
            seen += 1;
        }
        for site in whole.sites.iter().filter(|site| site.space == "global") {
            let same = |row: &&warpline::profile::model::Site| (row.id, &row.space) == (site.id, &site.space);
            let wanted = of(figure, &|profile| Some(profile.sites.iter().find(same)?.metrics.clone()));
            assert_like(&site.over_ranks[name], &reference(&wanted), name);
            seen += 1;
        }
    }
    assert!(seen > 8, "{seen}");
    // The row of another path is one of the same name.
    let named = whole.allocation_names.iter().find(|row| row.name == "d_matrix").unwrap();
    assert_eq!(named.over_ranks["allocations"].sum, Wide(8));
    assert_eq!(named.over_ranks["size"].ranks, 8);
    assert!(whole.allocations.iter().filter(|row| row.name.as_deref() == Some("d_matrix")).count() >= 1);
    let paths = &whole.kernels[0].paths_over_ranks;
    let launches: u128 = paths.iter().map(|row| row.over_ranks["launches"].sum.0).sum();
    assert_eq!(launches, all.iter().map(|profile| u128::from(profile.kernels[0].launch_count())).sum::<u128>());
    let schema: Value = serde_json::from_str(include_str!("../../docs/profile-v1.schema.json")).unwrap();
    check(&schema, &schema, &serde_json::to_value(&whole).unwrap(), "merged");
}

#[test]
fn ranks_that_are_missing_or_failed_are_named() {
    let all: Vec<Profile> =
        [0, 1, 2, 4, 6, 7].into_iter().map(|index| rank(index, 8, if index == 4 { 11 } else { 1 })).collect();
    let whole = merge(all.clone()).unwrap();
    assert!(!whole.run.complete);
    let notes = whole.run.notes.join("\n");
    for wanted in [
        "ranks 3 and 5 of 8 have no profile",
        "rank 4 is incomplete",
        "rank 4 ended by signal 11, or exit code 139",
        "merged from 6 profiles",
    ] {
        assert!(notes.contains(wanted), "{wanted}: {notes}");
    }
    let ranks = whole.run.merged.as_ref().unwrap().ranks.as_ref().unwrap();
    assert_eq!((ranks.count, &ranks.present), (Some(8), &vec![[0, 2], [4, 4], [6, 7]]));
    assert_eq!(whole.run.environment.nodes["node1"], vec![[2, 2]]);
    // What a part lacks is no lack of the whole.
    let (one, other) = (merge(all[..3].to_vec()).unwrap(), merge(all[3..].to_vec()).unwrap());
    assert!(one.run.notes.iter().any(|note| note.contains("ranks 3-7 of 8")), "{:?}", one.run.notes);
    let again = merge(vec![other, one.clone()]).unwrap();
    assert_eq!(to_bytes(&again), to_bytes(&whole));
    // A rank that is there twice.
    let twice = merge(vec![one.clone(), one]).unwrap();
    assert!(
        twice.run.notes.iter().any(|note| note.contains("ranks 0-2 were given more than once")),
        "{:?}",
        twice.run.notes
    );
    // One rank alone lacks the others.
    let alone = merge(vec![all[0].clone()]).unwrap();
    assert!(!alone.run.complete && alone.run.notes.iter().any(|note| note.contains("ranks 1-7 of 8")));
    assert!(alone.kernels[0].over_ranks["launches"].ranks == 1);
}

#[test]
fn ranks_of_several_jobs_are_refused() {
    let refused = |one: Profile, other: Profile| merge(vec![one, other]).unwrap_err();
    assert_eq!(refused(rank(0, 8, 1), rank(1, 4, 1)), MergeError::Jobs { one: 8, other: 4 });
    assert_eq!(refused(rank(0, 8, 1), demo_profile()), MergeError::NotAllRanks);
    assert_eq!(refused(demo_profile(), rank(0, 8, 1)), MergeError::NotAllRanks);
}

/// Launches of thousands of ranks are groups, and it does not matter when they become that.
#[test]
fn many_launches_are_in_groups() {
    let launches = demo_profile().kernels[0].launches.len();
    let count = 4096 / launches as u32 + 2;
    let all: Vec<Profile> = (0..count).map(|index| rank(index, count, 1)).collect();
    let whole = merge(all.clone()).unwrap();
    let kernel = &whole.kernels[0];
    assert!(kernel.launches.is_empty() && whole.run.merged.as_ref().unwrap().launches_in_groups);
    let grouped: u64 = kernel.launch_groups.iter().map(|group| group.launches).sum();
    assert_eq!(
        (grouped, kernel.launch_count()),
        (u64::from(count) * launches as u64, u64::from(count) * launches as u64)
    );
    assert!(kernel.launch_groups.len() <= launches);
    let (one, other) = (merge(all[..9].to_vec()).unwrap(), merge(all[9..].to_vec()).unwrap());
    assert!(!one.kernels[0].launches.is_empty());
    assert_eq!(to_bytes(&merge(vec![one, other]).unwrap()), to_bytes(&whole));
}

#[test]
fn a_rank_that_works_longer_is_a_finding() {
    let mut all: Vec<Profile> = (0..4).map(|index| rank(index, 4, 1)).collect();
    let found = |profiles: &[Profile]| {
        let whole = merge(profiles.to_vec()).unwrap();
        whole.findings.into_iter().find(|finding| finding.id == "rank-imbalance")
    };
    assert!(found(&all).is_none());
    for estimate in &mut all[2].kernels[0].estimates {
        estimate.seconds *= 5.0;
    }
    let finding = found(&all).unwrap();
    assert_eq!(
        (finding.evidence["max_rank"], finding.evidence["factor"], finding.severity),
        (2.0, 2.5, Severity::Warning)
    );
    assert_eq!((&finding.cause[..], &finding.remedy[..]), ("rank-above-mean", "balance-work"));
    assert!(finding.reason.contains("node1"), "{}", finding.reason);
}

/// Rows of text, Markdown, the page and a session are one list; CSV has the document's figures of each memory
/// instruction.
#[test]
fn sessions_and_csv_show_the_ranks() {
    let all: Vec<Profile> = (0..4).map(|index| rank(index, 4, u64::from(index) + 1)).collect();
    let whole = merge(all.clone()).unwrap();
    let view = warpline::report::views::ranks(&whole).expect("a profile of ranks");
    let markdown = warpline::report::markdown(&whole, usize::MAX);
    let mut rows = 0;
    for block in &view.blocks {
        let warpline::report::views::Block::Table(table) = block else { panic!("all ranks did the same") };
        for row in &table.rows {
            let [.., figure, place] = &row.cells[..] else { panic!("a row has a figure and a place") };
            let (greatest, of_rank) = (row.cells[1].text(), row.cells[2].text());
            let described = format!("| {} | ", figure.text());
            let same = |line: &&str| {
                line.contains(&place.text())
                    && line.contains(&described)
                    && line.contains(&format!("{greatest} ({of_rank})"))
            };
            assert!(markdown.lines().any(|line| same(&line)), "{greatest} ({of_rank}) {described} {}", place.text());
            rows += 1;
        }
    }
    assert!(rows > 0);
    let csv = warpline::report::csv(&whole);
    let mut lines = csv.lines();
    let columns = lines.next().unwrap().split(',').count();
    let first = columns - 8;
    for (site, line) in whole.sites.iter().zip(lines) {
        // Names with commas come before.
        let cells: Vec<&str> = line.rsplitn(9, ',').collect();
        let figure = cells[7];
        let over = &site.over_ranks[figure];
        let described =
            [over.ranks.to_string(), over.min.to_string(), over.min_rank.to_string(), over.mean.to_string()];
        assert_eq!(
            [cells[6], cells[5], cells[4], cells[3]],
            [&described[0][..], &described[1], &described[2], &described[3]],
            "{line}"
        );
        assert_eq!((cells[2], cells[1]), (&over.max.to_string()[..], &over.max_rank.to_string()[..]), "{line}");
    }
    assert!(first > 30);
    // A run of one process has nothing of the kind.
    assert!(warpline::report::views::ranks(&all[0]).is_none());
    assert!(warpline::report::csv(&all[0]).lines().nth(1).unwrap().ends_with(",,,,,,,,"));
}
