//! Profiles side by side: what is matched with what, and what is reported of it.

#[path = "../comparison/findings.rs"]
mod findings;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::program::{Source, demo_profile, finding, program, renumbered, requests};
use crate::support::schema::check;
use proptest::prelude::*;
use warpline::comparison::document::{Diff, Value};
use warpline::comparison::limits::parse;
use warpline::comparison::{Options, compare};
use warpline::profile::Profile;
use warpline::profile::model::{CopyRow, Estimate, Severity};
use warpline::report::{DiffOptions, diff_json, diff_markdown, diff_text};

fn diff(before: &Profile, after: &Profile) -> Diff {
    compare(before, after, &Options::default(), None)
}

const INDEX: (&str, u64) = ("    int i = blockIdx.x * blockDim.x + threadIdx.x;", 0);
const GUARD: (&str, u64) = ("    if (i >= n) return;", 0);

fn sum(sectors: u64) -> [(&'static str, u64); 4] {
    [INDEX, GUARD, ("    total += data[i * stride];", sectors), ("    out[i] = total;", 32)]
}

fn scale() -> [(&'static str, u64); 3] {
    [INDEX, GUARD, ("    data[i] *= factor;", 64)]
}

/// Pairs of lines that differ, by their text.
fn lines(diff: &Diff) -> BTreeSet<(&str, &str)> {
    let text = |position: &Option<warpline::comparison::document::Position>| match position {
        Some(position) => position.text.clone().leak() as &str,
        None => "",
    };
    diff.lines.iter().map(|row| (text(&row.before), text(&row.after))).collect()
}

fn kernels(diff: &Diff) -> Vec<(Option<&str>, Option<&str>)> {
    diff.kernels.iter().map(|row| (row.name.before.as_deref(), row.name.after.as_deref())).collect()
}

#[test]
fn a_profile_does_not_differ_from_itself() {
    let profile = demo_profile();
    let same = diff(&profile, &profile);
    assert!(same.is_empty() && same.comparable, "{}", diff_json(&same));
    assert_eq!((same.unchanged.kernels, same.unchanged.allocations), (1, 3));
    let mut other = profile.clone();
    other.run.environment.date = Some("2030-01-01T00:00:00Z".into());
    other.run.environment.pid = Some(1);
    other.run.environment.seconds.insert("analysis".into(), 99.0);
    other.run.environment.host = Some("elsewhere".into());
    let same = diff(&profile, &other);
    assert!(same.is_empty() && same.comparable, "{}", diff_json(&same));
}

#[test]
fn only_the_cured_line_is_reported() {
    let (one, other) = (sum(256), sum(32));
    let before =
        program("/a/app.cu", &[Source { name: "sum", code: &one }, Source { name: "scale", code: &scale() }], &[]);
    let after =
        program("/a/app.cu", &[Source { name: "sum", code: &other }, Source { name: "scale", code: &scale() }], &[]);
    let found = diff(&before, &after);
    assert_eq!(kernels(&found), [(Some("sum(float*, int)"), Some("sum(float*, int)"))]);
    assert_eq!(lines(&found), [("total += data[i * stride];", "total += data[i * stride];")].into());
    assert_eq!(found.lines[0].metrics["global.sectors"], [Some(Value::Count(256)), Some(Value::Count(32))]);
    assert!(found.branches.is_empty() && found.allocations.is_empty());
    assert_eq!((found.unchanged.kernels, found.unchanged.lines), (1, 2));
}

#[test]
fn moved_code_in_another_file_is_the_same() {
    let before = program(
        "/a/app.cu",
        &[Source { name: "sum", code: &sum(256) }, Source { name: "scale", code: &scale() }],
        &[("d_in", 4096), ("d_out", 4096)],
    );
    // Another file in another folder, kernels in another order, and the lines below them elsewhere.
    let mut after = program(
        "/b/main.cu",
        &[Source { name: "scale", code: &scale() }, Source { name: "sum", code: &sum(256) }],
        &[("d_in", 4096), ("d_out", 4096)],
    );
    for row in &mut after.allocations {
        row.by_kernel[0].kernel = 1;
    }
    let found = diff(&before, &after);
    assert!(found.is_empty(), "{}", diff_json(&found));
}

#[test]
fn an_added_line_is_new_and_moves_nothing() {
    let before = program("/a/app.cu", &[Source { name: "sum", code: &sum(256) }], &[]);
    let [index, guard, load, store] = sum(256);
    let longer = [index, guard, ("    n = counts[i];", 32), load, store];
    let after = program("/a/app.cu", &[Source { name: "sum", code: &longer }], &[]);
    assert_eq!(lines(&diff(&before, &after)), [("", "n = counts[i];")].into());
    assert_eq!(lines(&diff(&after, &before)), [("n = counts[i];", "")].into());
}

#[test]
fn duplicated_lines_are_matched_in_their_order() {
    let code = |sectors: [u64; 3]| sectors.map(|sectors| ("    total += data[i];", sectors));
    let before = program("/a/app.cu", &[Source { name: "sum", code: &code([32, 64, 96]) }], &[]);
    let after = program("/a/app.cu", &[Source { name: "sum", code: &code([32, 72, 96]) }], &[]);
    let found = diff(&before, &after);
    assert_eq!(found.lines.len(), 1);
    assert_eq!(found.lines[0].metrics["global.sectors"], [Some(Value::Count(64)), Some(Value::Count(72))]);
    assert_eq!(found.lines[0].before.as_ref().unwrap().line, 5);
}

#[test]
fn a_renamed_kernel_is_known_by_what_it_does() {
    let before = program(
        "/a/app.cu",
        &[Source { name: "total", code: &sum(256) }, Source { name: "scale", code: &scale() }],
        &[],
    );
    let after = program(
        "/a/app.cu",
        &[Source { name: "scale", code: &scale() }, Source { name: "reduce", code: &sum(32) }],
        &[],
    );
    let found = diff(&before, &after);
    assert_eq!(kernels(&found), [(Some("total(float*, int)"), Some("reduce(float*, int)"))]);
    assert_eq!(lines(&found).len(), 1);
    // A kernel that does something else is another one.
    let other = [INDEX, ("    histogram[keys[i]]++;", 80), ("    __syncthreads();", 0)];
    let after =
        program("/a/app.cu", &[Source { name: "scale", code: &scale() }, Source { name: "count", code: &other }], &[]);
    let found = diff(&before, &after);
    let names: BTreeSet<_> = kernels(&found).into_iter().collect();
    assert_eq!(names, [(Some("total(float*, int)"), None), (None, Some("count(float*, int)"))].into());
}

#[test]
fn template_kernels_are_distinguished() {
    let with = |names: [&str; 2], sectors: [u64; 2]| {
        let code = sectors.map(sum);
        let mut profile = program(
            "/a/app.cu",
            &[Source { name: "one", code: &code[0] }, Source { name: "two", code: &code[1] }],
            &[],
        );
        for (kernel, name) in profile.kernels.iter_mut().zip(names) {
            kernel.name = format!("void {name}(float*, int)");
            kernel.mangled = format!("_Z{name}");
        }
        profile
    };
    let before = with(["sum<float, 128>", "sum<double, 128>"], [32, 64]);
    let after = with(["sum<double, 256>", "sum<float, 128>"], [72, 32]);
    let found = diff(&before, &after);
    assert_eq!(
        kernels(&found),
        [(Some("void sum<double, 128>(float*, int)"), Some("void sum<double, 256>(float*, int)"))]
    );
}

/// Lambdas have numbers for names: one more before them makes each the next one.
#[test]
fn lambdas_are_known_by_what_they_do() {
    let with = |codes: &[&[(&str, u64)]]| {
        let sources: Vec<Source<'_>> = codes.iter().map(|code| Source { name: "run", code }).collect();
        let mut profile = program("/a/app.cu", &sources, &[]);
        for (number, kernel) in (1..).zip(&mut profile.kernels) {
            kernel.name = format!("void run<main::'lambda{number}'(int)>(main::'lambda{number}'(int), int)");
            kernel.mangled = format!("_Z3runIZ4mainEUliE{number}_EviT_");
        }
        profile
    };
    let (add, scale) =
        ([("    run(n, [=](int i) { a[i] += b[i]; });", 96)], [("    run(n, [=](int i) { a[i] *= b[0]; });", 64)]);
    let found = diff(&with(&[&add, &scale]), &with(&[&[("    run(n, [=](int i) { a[i] = 0; });", 80)], &add, &scale]));
    let names = kernels(&found);
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].0.is_none() && names[0].1.unwrap().contains("lambda1"), "{names:?}");
}

#[test]
fn renamed_grown_and_hoisted_allocations_are_reported() {
    let code = sum(32);
    let kernels = || [Source { name: "sum", code: &code }];
    let before = program("/a/app.cu", &kernels(), &[("d_in", 4096), ("d_tmp", 512)]);
    let after = program("/a/app.cu", &kernels(), &[("d_in", 4096), ("d_scratch", 512)]);
    // Renaming changes no figure.
    assert!(diff(&before, &after).is_empty());
    let after = program("/a/app.cu", &kernels(), &[("d_in", 8192), ("d_tmp", 512)]);
    let found = diff(&before, &after);
    assert_eq!(found.allocations.len(), 1);
    assert_eq!(found.allocations[0].metrics["size"], [Some(Value::Count(4096)), Some(Value::Count(8192))]);
    // Ten allocations in a loop are one row, before and after they left it.
    let mut loop_ = before.clone();
    let tmp = loop_.allocations[1].clone();
    loop_.allocations.extend((3..12).map(|id| warpline::profile::model::Allocation { id, ..tmp.clone() }));
    let found = diff(&loop_, &before);
    assert_eq!(found.allocations.len(), 1);
    assert_eq!(found.allocations[0].metrics["allocations"], [Some(Value::Count(10)), Some(Value::Count(1))]);
}

/// A copy from one allocation to another counts once, and less copying is no worse for a kernel more.
#[test]
fn copies_have_a_number_and_an_assumed_time() {
    let code = sum(32);
    let mut before =
        program("/a/app.cu", &[Source { name: "sum", code: &code }], &[("d_in", 1 << 20), ("d_out", 1 << 20)]);
    let mut after = before.clone();
    let copy = |direction: &str, count: u64, source_count: u64| CopyRow {
        direction: direction.into(),
        bytes: count << 20,
        count,
        unchanged_count: 0,
        source_count,
        source_bytes: source_count << 20,
        first_launch: Some(0),
        last_launch: Some(0),
        host: None,
        path: Vec::new(),
    };
    before.allocations[0].copies = vec![copy("host_to_device", 12, 0)];
    after.allocations[0].copies = vec![copy("host_to_device", 1, 0), copy("device_to_device", 5, 5)];
    after.allocations[1].copies = vec![copy("device_to_device", 5, 0)];
    let time = |profile: &mut Profile, seconds: f64| {
        profile.kernels[0].estimates = vec![Estimate { seconds, ..Estimate::default() }];
    };
    time(&mut before, 20e-6);
    time(&mut after, 90e-6);
    let found = diff(&before, &after);
    let both = |name: &str| found.program[name].map(|value| value.map_or(0.0, Value::number));
    assert_eq!(both("copies.device_to_device.count"), [0.0, 5.0]);
    assert_eq!(both("copies.device_to_device.bytes"), [0.0, 5.0 * 1048576.0]);
    // 12 GB/s and 10 us each over the bus, 3 us each within the device.
    let [one, other] = both("copies.seconds");
    assert!((one - 12.0 * (1048576.0 / 12e9 + 10e-6)).abs() < 1e-9, "{one}");
    assert!((other - (1048576.0 / 12e9 + 10e-6 + 5.0 * 3e-6)).abs() < 1e-9, "{other}");
    let text = diff_text(&found, &before, &after, &DiffOptions { color: false, top: 10, all: false, width: 100 });
    let line = |words: &str| text.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{text}"));
    assert!(!line("estimated time of kernels").contains("worse"), "{text}");
    assert!(line("assumed time of all copies").ends_with("better"), "{text}");
}

/// Objects that exchange their memory with new ones: what a name stands for is another part of as many requests.
#[test]
fn allocations_that_change_hands_are_one_row() {
    let code = sum(32);
    let made = |allocations: &[(&str, u64)], each: &[(u64, u64)]| {
        let mut profile = program("/a/app.cu", &[Source { name: "sum", code: &code }], allocations);
        let path = profile.allocations[0].path.clone();
        for (row, &(count, requested)) in profile.allocations.iter_mut().zip(each) {
            row.path.clone_from(&path);
            (row.count, row.freed_count) = (count, count);
            row.metrics = requests(requested, 4 * requested);
        }
        profile
    };
    let before = made(&[("u", 1 << 20), ("elements", 10 << 20)], &[(1, 8), (10, 80)]);
    let after = made(&[("u", 1 << 20), ("next", 1 << 20)], &[(1, 48), (1, 40)]);
    let found = diff(&before, &after);
    let [row] = &found.allocations[..] else { panic!("{}", diff_json(&found)) };
    assert_eq!((row.name.before.as_deref(), row.name.after.as_deref()), (Some("u, elements"), Some("u, next")));
    assert_eq!(row.metrics["allocations"], [Some(Value::Count(11)), Some(Value::Count(2))]);
    assert!(!row.metrics.contains_key("requests") && !row.metrics.contains_key("sectors"), "{row:#?}");
    // With fewer requests in all they are distinguished.
    let fewer = made(&[("u", 1 << 20), ("next", 1 << 20)], &[(1, 40), (1, 40)]);
    assert!(diff(&before, &fewer).allocations.len() > 1);
}

#[test]
fn modelled_figures_differ_by_more_than_a_trifle() {
    let before = demo_profile();
    let mut after = before.clone();
    for metrics in after.kernels[0].metrics.values_mut() {
        if let Some(l1) = &mut metrics.l1 {
            l1.hits -= l1.hits.min(3);
        }
    }
    assert!(diff(&before, &after).is_empty());
    let exact = compare(&before, &after, &Options { tolerance: 0.0 }, None);
    assert!(exact.kernels[0].metrics.contains_key("global.l1.hits"), "{}", diff_json(&exact));
    // What is counted is exact.
    let mut after = before.clone();
    after.lines[0].metrics = [("global".to_owned(), requests(8, 33))].into();
    assert!(!diff(&before, &after).is_empty());
}

#[test]
fn what_differs_in_caches_alone_is_marked() {
    let before = demo_profile();
    let mut after = before.clone();
    let line = after.lines.iter_mut().find(|row| row.metrics.contains_key("global")).unwrap();
    let l1 = line.metrics.get_mut("global").unwrap().l1.as_mut().unwrap();
    (l1.hits, l1.load_hits) = (0, 0);
    let found = diff(&before, &after);
    assert!(found.lines.len() == 1 && found.lines[0].modelled, "{}", diff_json(&found));
    let text = |all| diff_text(&found, &before, &after, &DiffOptions { color: false, top: 10, all, width: 100 });
    assert!(text(false).contains("and 1 of which caches and DRAM alone differ"), "{}", text(false));
    assert!(text(true).contains("global L1 load hit rate"), "{}", text(true));
    let line = &mut after.lines.iter_mut().find(|row| row.metrics.contains_key("global")).unwrap().metrics;
    line.get_mut("global").unwrap().requests += 1;
    assert!(!diff(&before, &after).lines[0].modelled);
}

#[test]
fn what_was_not_made_alike_is_reported_first() {
    let before = demo_profile();
    let described = |change: fn(&mut Profile)| {
        let mut after = before.clone();
        change(&mut after);
        let found = diff(&before, &after);
        assert_eq!(found.comparable, found.differences.is_empty());
        found.differences.into_iter().map(|difference| difference.what).collect::<Vec<_>>()
    };
    assert_eq!(described(|_| ()), Vec::<String>::new());
    assert_eq!(described(|profile| profile.run.models = vec!["h100".into()]), ["model"]);
    assert_eq!(described(|profile| profile.run.architectures = vec![90]), ["architecture"]);
    assert_eq!(described(|profile| profile.run.sampled = true), ["sampled"]);
    assert_eq!(described(|profile| profile.run.complete = false), ["complete"]);
    assert_eq!(described(|profile| profile.run.dropped_records = 3), ["dropped_records"]);
    assert_eq!(described(|profile| profile.run.mode = "counters".into()), ["mode"]);
    assert_eq!(
        described(|profile| _ = profile.run.assumptions.insert("l2_copies".into(), "cold".into())),
        ["l2_copies"]
    );
    assert_eq!(
        described(|profile| _ = profile.run.environment.versions.insert("warpline".into(), "9".into())),
        ["version"]
    );
    // Profiles from before they were kept have neither; two that have them are compared.
    let compiled = |compiler: &str, options: &str| {
        let mut profile = before.clone();
        for (name, text) in [("compiler", compiler), ("compiler_options", options)] {
            profile.run.assumptions.insert(name.into(), text.into());
        }
        profile
    };
    let described = |before: &Profile, after: &Profile| -> Vec<String> {
        diff(before, after).differences.into_iter().map(|difference| difference.what).collect()
    };
    let usual = compiled("LLVM 22.1.0", "-O3");
    assert_eq!(described(&before, &usual), Vec::<String>::new());
    assert_eq!(described(&usual, &compiled("LLVM 22.1.3", "-O3")), ["compiler"]);
    assert_eq!(described(&usual, &compiled("LLVM 22.1.0", "-O3 -ffast-math")), ["compiler_options"]);
    // Both incomplete is no better.
    let mut incomplete = before.clone();
    incomplete.run.complete = false;
    assert!(!diff(&incomplete, &incomplete).comparable);
}

#[test]
fn limits_name_what_breaks_them() {
    let before = program("/a/app.cu", &[Source { name: "sum", code: &sum(100) }], &[("d_in", 4096)]);
    let mut after = program("/a/app.cu", &[Source { name: "sum", code: &sum(110) }], &[("d_in", 4096)]);
    after.findings = vec![finding("bank-conflict", Severity::Warning, 0, "/a/app.cu", 6)];
    let broken = |text: &str| {
        let limits = parse(text, Path::new("limits.toml")).unwrap();
        let found = compare(&before, &after, &Options::default(), Some(&limits)).limits.unwrap();
        let names: Vec<String> = found.broken.iter().map(|row| format!("{} {}", row.kind, row.metric)).collect();
        (found.checked, names.join(", "), found.unmatched.len())
    };
    let of = |checked, names: &str, unmatched| (checked, names.to_owned(), unmatched);
    assert_eq!(broken("[lines.\"total \\\\+=\"]\nglobal.sectors.soft = 9"), of(1, "soft global.sectors", 0));
    assert_eq!(broken("[lines.\"total \\\\+=\"]\nglobal.sectors.soft = 10"), of(1, "", 0));
    assert_eq!(broken("[lines.\"app.cu:6\"]\nglobal.sectors.hard = 109"), of(1, "hard global.sectors", 0));
    assert_eq!(
        broken("[kernels.sum]\nglobal.coalescing_efficiency.soft = 1"),
        of(1, "soft global.coalescing_efficiency", 0)
    );
    assert_eq!(broken("[kernels.sum]\nglobal.coalescing_efficiency.hard = 0.2"), of(1, "", 0));
    assert_eq!(broken("[kernels.gone]\nglobal.sectors.soft = 1"), of(0, "", 1));
    assert_eq!(broken("[program]\nglobal.sectors = { soft = 1, hard = 1000 }"), of(2, "soft global.sectors", 0));
    assert_eq!(broken("[allocations.\"^d_in$\"]\nsize.hard = 4095"), of(1, "hard size", 0));
    assert_eq!(
        broken("[findings]\nbank-conflict.new = 0\nwarning.hard = 1\nerror.hard = 0"),
        of(3, "new new findings", 0)
    );
    // A profile keeps its own soft limits.
    let limits = parse("[kernels.\"\"]\nglobal.sectors.soft = 0", Path::new("x")).unwrap();
    assert!(compare(&after, &after, &Options::default(), Some(&limits)).limits.unwrap().broken.is_empty());
}

/// Programs of some kernels, each with lines of a small vocabulary, so that many lines are the same.
fn programs() -> impl Strategy<Value = Profile> {
    let line = (0usize..8, 0u64..40);
    let kernel = prop::collection::vec(line, 0..8);
    let allocations = prop::collection::vec((0usize..4, 1u64..5), 0..6);
    (prop::collection::vec((0usize..5, kernel), 0..5), allocations).prop_map(|(kernels, allocations)| {
        const LINES: [&str; 8] = [
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;",
            "    if (i < n) data[i] = 0;",
            "    sum += data[i];",
            "    sum += data[i * n + j];",
            "    __syncthreads();",
            "    }",
            "    tile[threadIdx.y][threadIdx.x] = data[j];",
            "",
        ];
        let names = ["sum", "scale", "copy", "transpose", "reduce"];
        let codes: Vec<Vec<(&str, u64)>> = kernels
            .iter()
            .map(|(_, lines)| lines.iter().map(|(line, sectors)| (LINES[*line], *sectors)).collect())
            .collect();
        let sources: Vec<Source<'_>> =
            kernels.iter().zip(&codes).map(|((name, _), code)| Source { name: names[*name], code }).collect();
        let allocations: Vec<(&str, u64)> =
            allocations.iter().map(|(name, size)| (["d_in", "d_out", "d_tmp", "d_a"][*name], 1024 * size)).collect();
        let mut profile = program("/a/app.cu", &sources, &allocations);
        let lines: Vec<(u32, u32)> = profile.lines.iter().map(|row| (row.kernel, row.line)).collect();
        for (kernel, line) in lines.into_iter().step_by(3) {
            profile.findings.push(finding("strided-access", Severity::Warning, kernel, "/a/app.cu", line));
        }
        profile
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Numbers and the order of rows mean nothing. Kernels that nothing distinguishes may be exchanged, so names are
    /// distinct.
    #[test]
    fn a_shuffled_copy_is_the_same(profile in programs(), seed in any::<u64>()) {
        let mut profile = profile;
        for (number, kernel) in profile.kernels.iter_mut().enumerate() {
            kernel.name = format!("k{number}_{}", kernel.name);
            kernel.mangled = format!("k{number}_{}", kernel.mangled);
        }
        let found = diff(&profile, &renumbered(&profile, seed));
        prop_assert!(found.is_empty(), "{}", diff_json(&found));
    }

    /// Exchanged profiles give the same comparison, exchanged.
    #[test]
    fn the_other_way_round_is_the_mirror_image(before in programs(), after in programs()) {
        let (one, other) = (diff(&before, &after), diff(&after, &before));
        prop_assert_eq!(one.kernels.len(), other.kernels.len());
        for (row, mirrored) in one.kernels.iter().zip(&other.kernels) {
            prop_assert_eq!((row.before, row.after), (mirrored.after, mirrored.before));
            for (name, [was, is]) in &row.metrics {
                prop_assert_eq!(mirrored.metrics[name], [*is, *was]);
            }
        }
        for (row, mirrored) in one.lines.iter().zip(&other.lines) {
            prop_assert_eq!((&row.before, &row.after), (&mirrored.after, &mirrored.before));
        }
        for (row, mirrored) in one.allocations.iter().zip(&other.allocations) {
            prop_assert_eq!((row.before, row.after), (mirrored.after, mirrored.before));
        }
        prop_assert_eq!(one.lines.len(), other.lines.len());
        prop_assert_eq!(one.findings.new, other.findings.gone);
        prop_assert_eq!(one.findings.gone, other.findings.new);
        prop_assert_eq!(one.unchanged, other.unchanged);
    }

    /// Every form can be made of every comparison.
    #[test]
    fn all_forms_take_everything(before in programs(), after in programs(), width in 0usize..300) {
        let found = diff(&before, &after);
        let options = DiffOptions { color: false, top: 3, all: width % 2 == 0, width };
        let text = diff_text(&found, &before, &after, &options);
        for line in text.lines() {
            prop_assert!(line.chars().count() <= width.clamp(60, 140), "{}", line);
        }
        prop_assert!(!diff_markdown(&found, &before, &after, &options).is_empty());
        let back: Diff = serde_json::from_str(&diff_json(&found)).unwrap();
        prop_assert_eq!(back, found);
    }
}

/// A program of many kernels, each of whose lines was edited.
#[test]
fn large_programs_take_seconds() {
    let version = |word: &str| {
        let lines: Vec<String> =
            (0..100).map(|line| format!("    {word}[{line}] += data[i + {line}] * {word};")).collect();
        let code: Vec<(&str, u64)> = lines.iter().map(|line| (line.as_str(), 32 + line.len() as u64)).collect();
        let names: Vec<String> = (0..200).map(|kernel| format!("{word}{kernel}")).collect();
        let sources: Vec<Source<'_>> = names.iter().map(|name| Source { name, code: &code }).collect();
        let allocations: Vec<(&str, u64)> =
            (0..2000).map(|number| (if number % 2 == 0 { "d_a" } else { "d_b" }, number)).collect();
        program("/a/app.cu", &sources, &allocations)
    };
    let (before, after) = (version("one"), version("other"));
    let begun = std::time::Instant::now();
    let found = diff(&before, &after);
    let options = DiffOptions { color: false, top: usize::MAX, all: true, width: 100 };
    let text = diff_text(&found, &before, &after, &options);
    assert!(found.lines.len() >= 20_000 && text.lines().count() > 20_000);
    // Generous: tests are slow code, on machines that may be busy.
    assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{:?}", begun.elapsed());
}

/// Two versions of a program with all kinds of changes.
fn versions() -> (Profile, Profile) {
    let before_code = sum(25_600);
    let [index, guard, _, store] = sum(3200);
    let after_code =
        [index, guard, ("    __shared__ float tile[33];", 0), ("    total += tile[i] + data[i];", 3200), store];
    let mut before = program(
        "/a/app.cu",
        &[
            Source { name: "sum", code: &before_code },
            Source { name: "scale", code: &scale() },
            Source { name: "old", code: &scale() },
        ],
        &[("d_in", 4096), ("d_tmp", 512)],
    );
    let copies: [(&str, u64); 2] = [INDEX, ("    out[n - i] = keys[i];", 96)];
    let mut after = program(
        "/b/app.cu",
        &[
            Source { name: "flip", code: &copies },
            Source { name: "sum", code: &after_code },
            Source { name: "scale", code: &scale() },
        ],
        &[("d_in", 8192)],
    );
    before.run.program = vec!["/a/app".into(), "1024".into()];
    after.run.program = vec!["/b/app".into(), "1024".into()];
    before.findings = vec![finding("strided-access", Severity::Warning, 0, "/a/app.cu", 6)];
    after.findings = vec![finding("bank-conflict", Severity::Note, 1, "/b/app.cu", 11)];
    (before, after)
}

#[test]
fn the_text_of_a_comparison() {
    let (before, after) = versions();
    let found = diff(&before, &after);
    let text = |width| diff_text(&found, &before, &after, &DiffOptions { color: false, top: 10, all: false, width });
    insta::assert_snapshot!("comparison_80_columns", text(80));
    insta::assert_snapshot!("comparison_wide", text(200));
    let same = diff(&before, &before);
    insta::assert_snapshot!(
        "comparison_of_the_same",
        diff_text(&same, &before, &before, &DiffOptions { color: false, top: 10, all: false, width: 80 })
    );
}

#[test]
fn the_text_of_what_is_not_comparable_and_of_limits() {
    let (before, mut after) = versions();
    after.run.models = vec!["h100".into()];
    after.run.complete = false;
    let limits = "[program]\n\"global.sectors\" = { soft = 0 }\n[kernels.sum]\n\"global.sectors\" = { hard = 100 }\n[lines.none]\n\
                  \"global.sectors\" = { soft = 1 }\n[findings]\nnote = { new = 0 }\n";
    let limits = parse(limits, Path::new("limits.toml")).unwrap();
    let found = compare(&before, &after, &Options::default(), Some(&limits));
    let options = DiffOptions { color: false, top: 1, all: false, width: 80 };
    insta::assert_snapshot!("comparison_with_limits", diff_text(&found, &before, &after, &options));
}

#[test]
fn the_page_for_reviews() {
    let (before, after) = versions();
    let options = DiffOptions { color: false, top: 10, all: false, width: 80 };
    insta::assert_snapshot!("comparison_markdown", diff_markdown(&diff(&before, &after), &before, &after, &options));
}

#[test]
fn colours_add_nothing_but_colours() {
    let (before, after) = versions();
    let found = diff(&before, &after);
    let text = |color| diff_text(&found, &before, &after, &DiffOptions { color, top: 10, all: false, width: 80 });
    let plain = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap().replace_all(&text(true), "").into_owned();
    assert_ne!(text(true), text(false));
    assert_eq!(plain, text(false));
}

fn warpline(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpline")).current_dir(folder).args(arguments).output().unwrap()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with two versions of a program as profiles.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = versions();
    for (profile, name) in [(&before, "before.wlprof"), (&after, "after.wlprof")] {
        warpline::profile::write(profile, &folder.path().join(name)).unwrap();
    }
    folder
}

#[test]
fn the_command_compares_and_exits_as_documented() {
    let folder = folder();
    let run = |arguments: &[&str]| warpline(folder.path(), &[&["diff"], arguments].concat());
    let same = run(&["before.wlprof", "before.wlprof"]);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    assert!(String::from_utf8_lossy(&same.stdout).contains("Nothing changed: 3 kernels"), "{same:?}");
    let text = run(&["before.wlprof", "after.wlprof", "--strict"]);
    assert_eq!(text.status.code(), Some(0), "{text:?}");
    assert!(String::from_utf8_lossy(&text.stdout).contains("total += data[i * stride];"), "{text:?}");
    let markdown = run(&["before.wlprof", "after.wlprof", "--format", "markdown", "-o", "out.md"]);
    assert!(markdown.status.success() && markdown.stdout.is_empty(), "{markdown:?}");
    assert!(std::fs::read_to_string(folder.path().join("out.md")).unwrap().starts_with("## Warpline"));
    assert_eq!(run(&["before.wlprof", "nowhere.wlprof"]).status.code(), Some(3));
    assert_eq!(run(&["before.wlprof"]).status.code(), Some(2));
    assert_eq!(run(&["before.wlprof", "after.wlprof", "--tolerance", "101"]).status.code(), Some(2));
    let over = run(&["before.wlprof", "after.wlprof", "-o", "after.wlprof"]);
    assert!(over.status.code() == Some(2) && printed(&over).contains("written over"), "{over:?}");
}

#[test]
fn strict_refuses_what_was_not_made_alike() {
    let folder = folder();
    let mut other = warpline::profile::read(&folder.path().join("after.wlprof")).unwrap();
    other.run.models = vec!["h100".into()];
    other.run.complete = false;
    warpline::profile::write(&other, &folder.path().join("other.wlprof")).unwrap();
    let loose = warpline(folder.path(), &["diff", "before.wlprof", "other.wlprof"]);
    assert_eq!(loose.status.code(), Some(0), "{loose:?}");
    let text = String::from_utf8_lossy(&loose.stdout);
    assert!(text.find("NOT COMPARABLE").unwrap() < text.find("PROGRAM").unwrap(), "{text}");
    assert!(printed(&loose).contains("other.wlprof is incomplete"), "{loose:?}");
    let strict = warpline(folder.path(), &["diff", "before.wlprof", "other.wlprof", "--strict"]);
    assert_eq!(strict.status.code(), Some(2), "{strict:?}");
    assert!(strict.stdout.is_empty() && printed(&strict).contains("model: a100 before, h100 after"), "{strict:?}");
}

#[test]
fn limits_decide_the_exit_code() {
    let folder = folder();
    let run = |limits: &str| {
        std::fs::write(folder.path().join("limits.toml"), limits).unwrap();
        warpline(folder.path(), &["diff", "before.wlprof", "after.wlprof", "--limits", "limits.toml"])
    };
    let kept = run("[program]\n\"global.sectors\" = { soft = 0 }\n");
    assert_eq!(kept.status.code(), Some(0), "{kept:?}");
    assert!(String::from_utf8_lossy(&kept.stdout).contains("LIMITS: all hold (1 checked)"), "{kept:?}");
    let broken = run("[kernels.sum]\n\"global.sectors\" = { hard = 3231 }\n");
    assert_eq!(broken.status.code(), Some(5), "{broken:?}");
    assert!(String::from_utf8_lossy(&broken.stdout).contains("25 632 ->"), "{broken:?}");
    let wrong = run("[kernels.sum]\n\"global.sector\" = { hard = 3231 }\n");
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    for wanted in ["limits.toml", "no such figure", "`global.sectors`"] {
        assert!(printed(&wrong).contains(wanted), "{wanted}: {wrong:?}");
    }
    let absent = warpline(folder.path(), &["diff", "before.wlprof", "after.wlprof", "--limits", "none.toml"]);
    assert_eq!(absent.status.code(), Some(3), "{absent:?}");
}

#[test]
fn the_document_is_what_the_schema_says() {
    let folder = folder();
    std::fs::write(
        folder.path().join("limits.toml"),
        "[kernels.sum]\nglobal.sectors = { hard = 1 }\n[lines.x]\nglobal.sectors.soft = 1",
    )
    .unwrap();
    let arguments = ["diff", "before.wlprof", "after.wlprof", "--format", "json", "--limits", "limits.toml"];
    let output = warpline(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for table in ["kernels", "lines", "branches", "allocations"] {
        assert!(!document[table].as_array().unwrap().is_empty(), "no {table}");
    }
    let schema: serde_json::Value = serde_json::from_str(include_str!("../../docs/diff-v1.schema.json")).unwrap();
    check(&schema, &schema, &document, "diff");
    assert_eq!((&document["schema"], &document["version"]), (&"warpline.diff".into(), &1.into()));
}

/// The limits that the page shows can be read, and each of their tables is of a kind that it names.
#[test]
fn the_limits_of_the_page_are_limits() {
    let page = include_str!("../../docs/comparison.md");
    let mut found = 0;
    for block in page.split("```toml\n").skip(1) {
        let text = block.split("```").next().unwrap();
        parse(text, Path::new("docs/comparison.md")).unwrap_or_else(|error| panic!("{error}\n{text}"));
        found += 1;
    }
    assert!(found > 0);
}

#[test]
fn merged_profiles_can_be_reported() {
    let folder = folder();
    let run = |arguments: &[&str]| warpline(folder.path(), arguments);
    let merged = run(&["merge", "before.wlprof", "before.wlprof", "-o", "both.wlprof"]);
    assert_eq!(merged.status.code(), Some(0), "{merged:?}");
    assert!(printed(&merged).contains("merged from 2 profiles"), "{merged:?}");
    let report = run(&["report", "both.wlprof"]);
    assert!(report.status.success() && String::from_utf8_lossy(&report.stdout).contains("sum"), "{report:?}");
    let alone = run(&["merge", "before.wlprof", "-o", "one.wlprof"]);
    assert!(alone.status.success(), "{alone:?}");
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("one.wlprof"), bytes("before.wlprof"));
    assert_eq!(run(&["merge", "before.wlprof", "-o", "before.wlprof"]).status.code(), Some(2));
    assert_eq!(run(&["merge", "before.wlprof"]).status.code(), Some(2));
    let mut other = warpline::profile::read(&folder.path().join("before.wlprof")).unwrap();
    other.run.models = vec!["h100".into()];
    warpline::profile::write(&other, &folder.path().join("other.wlprof")).unwrap();
    let refused = run(&["merge", "before.wlprof", "other.wlprof", "-o", "both.wlprof"]);
    assert!(refused.status.code() == Some(2) && printed(&refused).contains("a100 and h100"), "{refused:?}");
}
