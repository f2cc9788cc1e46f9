//! The text report, whole, as it is shown.

mod support;

use support::{TraceBuilder, demo};
use warpline::analysis::{NoProgress, analyze};
use warpline::profile::{BuildInput, Profile, RunFacts, build};
use warpline::report::{Filter, TextOptions, apply, callgrind, csv, json, text};
use warpline::trace::TraceReader;
use warpline_format::event::Event;

fn profile(bytes: &[u8], facts: RunFacts) -> Profile {
    let analysis = analyze(TraceReader::new(bytes).unwrap(), 1, &mut NoProgress).unwrap();
    build(BuildInput { analysis: &analysis, facts })
}

fn facts() -> RunFacts {
    RunFacts {
        device: "cpu".into(),
        models: vec!["rtx2080ti".into()],
        exit_code: Some(0),
        ended_by_itself: true,
        assumptions: [("model".to_owned(), "NVIDIA GeForce RTX 2080 Ti".to_owned())].into(),
        ..RunFacts::default()
    }
}

/// A folder with the demo's source, and the trace of the demo.
fn demo_profile() -> Profile {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("columns.cu");
    std::fs::write(&source, demo::SOURCE).unwrap();
    profile(&demo::trace(source.to_str().unwrap()), facts())
}

const PLAIN: TextOptions = TextOptions { color: false, top: 10 };

#[test]
fn the_demo_s_report() {
    insta::assert_snapshot!(text(&demo_profile(), &PLAIN));
}

#[test]
fn a_killed_run_with_a_fault() {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    trace.event(Event::Launch(demo::launch(0)));
    trace.batch(0, &demo::batch());
    trace.event(demo::fault(0));
    let facts = RunFacts { exit_code: Some(137), ended_by_itself: false, ..facts() };
    insta::assert_snapshot!(text(&profile(&trace.finish(), facts), &PLAIN));
}

#[test]
fn nothing_is_wider_than_a_terminal() {
    for line in text(&demo_profile(), &PLAIN).lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn colours_add_nothing_but_colours() {
    let profile = demo_profile();
    let colored = text(&profile, &TextOptions { color: true, top: 10 });
    let plain = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap().replace_all(&colored, "").into_owned();
    assert_ne!(colored, plain);
    assert_eq!(plain, text(&profile, &PLAIN));
}

#[test]
fn filters_keep_what_was_asked_for_or_say_so() {
    let profile = demo_profile();
    let filter = |kernel: Option<&str>, source: Option<&str>| Filter {
        kernel: kernel.map(|pattern| regex::Regex::new(pattern).unwrap()),
        source: source.map(str::to_owned),
        top: 3,
    };
    assert_eq!(apply(&profile, &filter(Some("^columns"), Some("columns.cu"))).unwrap(), profile);
    assert!(apply(&profile, &filter(Some("^rows"), None)).is_none());
    assert!(apply(&profile, &filter(None, Some("other.cu"))).is_none());
}

#[test]
fn the_json_document_reads_back() {
    let profile = demo_profile();
    let back: Profile = serde_json::from_str(&json(&profile)).unwrap();
    assert_eq!(back, profile);
    let value: serde_json::Value = serde_json::from_str(&json(&profile)).unwrap();
    assert_eq!(value["schema"], "warpline.profile");
    assert_eq!(value["version"], 1);
}

#[test]
fn the_table_for_spreadsheets() {
    insta::assert_snapshot!(csv(&demo_of("/nowhere/columns.cu")));
}

#[test]
fn the_callgrind_file() {
    let file = callgrind(&demo_of("/nowhere/columns.cu"));
    // Own costs, which do not follow a `calls` line, add up to the summary.
    let mut sum = [0u64; 6];
    let mut after_call = false;
    for line in file.lines() {
        if line.starts_with(|first: char| first.is_ascii_digit()) && !after_call {
            for (sum, value) in sum.iter_mut().zip(line.split(' ').skip(1)) {
                *sum += value.parse::<u64>().unwrap();
            }
        }
        after_call = line.starts_with("calls=");
    }
    let summary = file.lines().find_map(|line| line.strip_prefix("summary: ")).unwrap();
    assert_eq!(summary, sum.iter().map(u64::to_string).collect::<Vec<_>>().join(" "));
    insta::assert_snapshot!(file);
}

/// The demo without its source.
fn demo_of(source: &str) -> Profile {
    profile(&demo::trace(source), facts())
}
