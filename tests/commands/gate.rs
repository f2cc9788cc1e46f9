//! Recordings over commits: in which order they stand, what is a baseline, and what a gate lets through.

use crate::recordings::{StoreFolder, moving, stderr, stdout};
use crate::support::program::finding;
use crate::support::schema::check;
use serde_json::Value;
use warpline::profile::Profile;
use warpline::profile::model::Severity;

fn after(place: &StoreFolder, profile: &Profile) -> String {
    place.profile("after.wlprof", profile).to_str().unwrap().to_owned()
}

fn code(place: &StoreFolder, arguments: &[&str]) -> (Option<i32>, String) {
    let output = place.warpline(arguments);
    (output.status.code(), format!("{}{}", stdout(&output), stderr(&output)))
}

fn json(place: &StoreFolder, arguments: &[&str]) -> Value {
    let output = place.warpline(arguments);
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {}", stderr(&output)));
    if document["schema"] == "warpline.gate" {
        assert_gate(&stdout(&output));
    }
    document
}

#[test]
fn a_commit_holds_against_itself_and_a_worse_one_does_not() {
    let place = StoreFolder::new();
    place.record(&moving(128), "aaaaaaa1", "main");
    let same = after(&place, &moving(128));
    let gate = ["gate", "--baseline", "main", &same, "--commit", "aaaaaaa1", "--branch", "topic"];
    let first = code(&place, &gate);
    assert_eq!(first.0, Some(0), "{}", first.1);
    assert!(first.1.contains("GATE app: held") && first.1.contains("nothing changed"), "{}", first.1);
    assert_eq!(code(&place, &gate), first);
    let worse = after(&place, &moving(160));
    let gate = ["gate", "--baseline", "main", &worse, "--commit", "bbbbbbb2", "--branch", "topic"];
    let (exit, text) = code(&place, &gate);
    assert_eq!(exit, Some(5), "{text}");
    assert!(text.contains("BROKEN") && text.contains("walk") && text.contains("aaaaaaa1 of main"), "{text}");
    // Better is no reason to stop.
    let better = after(&place, &moving(64));
    assert_eq!(code(&place, &["gate", "--baseline", "main", &better, "--commit", "ccccccc3"]).0, Some(0));
}

#[test]
fn without_a_baseline_nothing_passes_unless_that_is_requested() {
    let place = StoreFolder::new();
    let file = after(&place, &moving(128));
    let (exit, text) = code(&place, &["gate", "--baseline", "main", &file]);
    assert_eq!(exit, Some(4), "{text}");
    assert!(text.contains("has no recording yet") && text.contains("--allow-no-baseline"), "{text}");
    let gate = ["gate", "--baseline", "main", "--allow-no-baseline", &file, "--format", "json"];
    assert_eq!(code(&place, &gate).0, Some(0));
    assert_eq!(json(&place, &gate)["programs"][0]["verdict"], "no-baseline");
    // The worst that is allowed needs no baseline.
    std::fs::write(place.path().join("limits.toml"), "[kernels.walk]\n\"global.sectors\" = { soft = 1, hard = 100 }\n")
        .unwrap();
    let gate = ["gate", "--baseline", "main", "--allow-no-baseline", "--limits", "limits.toml", &file];
    let (exit, text) = code(&place, &gate);
    assert_eq!(exit, Some(5), "{text}");
    assert!(!place.store().exists());
}

#[test]
fn unlike_baselines_are_refused_with_the_reason() {
    let place = StoreFolder::new();
    place.record(&moving(128), "aaaaaaa1", "main");
    type Change = fn(&mut Profile);
    let changes: [(&str, Change); 7] = [
        ("model", |profile| profile.run.models = vec!["h100".into()]),
        ("architecture", |profile| profile.run.architectures = vec![90]),
        ("version", |profile| _ = profile.run.environment.versions.insert("warpline".into(), "9".into())),
        ("mode", |profile| profile.run.mode = "counters".into()),
        ("arguments", |profile| profile.run.program[1] = "128".into()),
        ("complete", |profile| profile.run.complete = false),
        ("exit_code", |profile| profile.run.exit_code = Some(3)),
    ];
    for (what, change) in changes {
        let mut profile = moving(256);
        change(&mut profile);
        let file = after(&place, &profile);
        let gate = ["gate", "--baseline", "main", &file, "--commit", "bbbbbbb2"];
        let (exit, text) = code(&place, &gate);
        assert_eq!(exit, Some(2), "{what}: {text}");
        assert!(text.contains(&format!("they differ in {what}")) && text.contains("UNLIKE"), "{what}: {text}");
        // Whoever takes responsibility for it gets the comparison.
        let (exit, text) = code(&place, &[&gate[..], &["--accept", what]].concat());
        assert_eq!(exit, Some(5), "{what}: {text}");
    }
    let file = after(&place, &moving(128));
    let (exit, text) = code(&place, &["gate", "--baseline", "main", &file, "--compiler", "clang -O1"]);
    assert!(exit == Some(2) && text.contains("compiler: not reported in the baseline, clang -O1 now"), "{text}");
    let mut other = moving(128);
    other.run.program[0] = "/build/another".into();
    let file = after(&place, &other);
    let (exit, text) = code(&place, &["gate", "--baseline", "main", &file, "--name", "app"]);
    assert!(exit == Some(2) && text.contains("program: app in the baseline, another now"), "{text}");
}

#[test]
fn recordings_of_other_models_are_passed_over() {
    let place = StoreFolder::new();
    place.record(&moving(128), "aaaaaaa1", "main");
    let mut other = moving(512);
    other.run.models = vec!["h100".into()];
    place.record(&other, "aaaaaaa1", "main");
    let file = after(&place, &moving(128));
    let document = json(&place, &["gate", "--baseline", "main", &file, "--commit", "bbbbbbb2", "--format", "json"]);
    assert_eq!(document["programs"][0]["verdict"], "held", "{document}");
    let other = after(&place, &other);
    let document = json(&place, &["gate", "--baseline", "main", &other, "--commit", "bbbbbbb2", "--format", "json"]);
    assert_eq!(document["programs"][0]["verdict"], "held", "{document}");
}

/// main: 1 - 2 - 4, topic from 2: 3; the clock of 2 is wrong.
fn forked() -> (StoreFolder, [String; 4]) {
    let place = StoreFolder::new();
    place.repository();
    let one = place.commit(5);
    let two = place.commit(2);
    place.git(&["checkout", "--quiet", "-b", "topic"], 6);
    let three = place.commit(7);
    place.git(&["checkout", "--quiet", "main"], 6);
    let four = place.commit(8);
    for (commit, sectors) in [(&four, 512), (&two, 256), (&one, 128)] {
        place.record(&moving(sectors), commit, "main");
    }
    (place, [one, two, three, four])
}

#[test]
fn the_baseline_is_the_nearest_ancestor() {
    let (place, [_, two, three, four]) = forked();
    let file = after(&place, &moving(256));
    let baseline = |options: &[&str]| {
        let document = json(&place, &[&["gate", &file, "--format", "json"], options].concat());
        document["programs"][0]["baseline"]["commit"].as_str().map(str::to_owned)
    };
    // Not the newest of main: the topic began before it.
    assert_eq!(baseline(&["--commit", &three, "--branch", "topic"]), Some(two.clone()));
    assert_eq!(baseline(&["--commit", "topic", "--branch", "topic"]), Some(two.clone()));
    // On main itself a commit is compared with what was there before it.
    assert_eq!(baseline(&["--commit", &four, "--branch", "main"]), Some(two.clone()));
    assert_eq!(baseline(&["--commit", &four, "--branch", "topic"]), Some(four.clone()));
    // A commit that git does not know: the newest in the order of the repository, not of dates.
    assert_eq!(baseline(&["--commit", "unknown"]), Some(four.clone()));
    // A commit by any of its names.
    assert_eq!(baseline(&["--commit", &four, "--baseline", &two[..8]]), Some(two.clone()));
    assert_eq!(baseline(&["--commit", &four, "--baseline", "HEAD~1"]), Some(two));
}

#[test]
fn history_stands_in_the_order_of_the_repository() {
    let (place, [one, two, _, four]) = forked();
    let order = |place: &StoreFolder| {
        let document = json(place, &["history", "walk", "global.sectors", "--format", "json"]);
        let points = document["series"][0]["points"].as_array().unwrap().clone();
        points.iter().map(|point| point["commit"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(order(&place), [one.clone(), two.clone(), four.clone()]);
    // Without the repository by the parents in the records.
    std::fs::remove_dir_all(place.path().join(".git")).unwrap();
    assert_eq!(order(&place), [one, two, four]);
    let text = place.done(&["history", "walk", "global.sectors"]);
    assert!(text.contains("+100.0 % worse") && text.contains("3 recordings, 2 changes"), "{text}");
    let csv = place.done(&["history", "walk", "global.sectors", "--format", "csv"]);
    assert_eq!(csv.lines().filter(|line| line.ends_with(",yes")).count(), 2, "{csv}");
    let svg = place.done(&["history", ".", "global.sectors", "--format", "svg"]);
    assert!(svg.starts_with("<svg") && svg.matches("<circle").count() == 4, "{svg}");
    let (exit, text) = code(&place, &["history", "walk", "global.sector"]);
    assert!(exit == Some(2) && text.contains("there are global.sectors"), "{text}");
    let (exit, _) = code(&place, &["history", "nothing", "global.sectors"]);
    assert_eq!(exit, Some(4));
    let program = place.done(&["history", "@program", "global.sectors", "--all"]);
    assert!(program.contains("of the program in app"), "{program}");
}

#[test]
fn a_history_without_a_figure_lists_what_is_recorded_and_gives_it_back() {
    let (place, [one, two, _, four]) = forked();
    let document = json(&place, &["history", "--profiles", "old", "--format", "json"]);
    assert_eq!(document["schema"], "warpline.recordings");
    let recordings = document["recordings"].as_array().unwrap();
    let commits: Vec<&str> = recordings.iter().map(|one| one["commit"].as_str().unwrap()).collect();
    assert_eq!(commits, [&one, &two, &four]);
    // The files are those that were recorded: the first commit's was the last.
    let first = place.path().join(recordings[0]["file"].as_str().unwrap());
    let recorded = std::fs::read(place.path().join("recorded.wlprof")).unwrap();
    assert!(std::fs::read(&first).unwrap() == recorded, "{}", first.display());
    let text = place.done(&["history", "--branch", "main"]);
    assert!(text.starts_with("date") && text.contains(&one[..10]), "{text}");
    let csv = place.done(&["history", "--format", "csv", "--name", "app"]);
    assert_eq!(csv.lines().count(), 4, "{csv}");
    // What is there is left alone, what was damaged is written anew, and what the store has lost is reported.
    let written = || std::fs::metadata(&first).unwrap().modified().unwrap();
    let before = written();
    place.done(&["history", "--profiles", "old"]);
    assert_eq!(written(), before);
    std::fs::write(&first, "").unwrap();
    place.done(&["history", "--profiles", "old"]);
    assert!(std::fs::read(&first).unwrap() == recorded);
    std::fs::remove_dir_all(place.store().join("objects")).unwrap();
    let (exit, text) = code(&place, &["history", "--profiles", "old"]);
    assert!(exit == Some(7) && text.matches("note:").count() == 3, "{text}");
    assert_eq!(code(&place, &["history", "--format", "svg"]).0, Some(2));
    assert_eq!(code(&place, &["history", "walk"]).0, Some(2));
    assert_eq!(code(&place, &["history", "--name", "another"]).0, Some(4));
}

#[test]
fn the_recordings_of_a_commit_are_judged_without_files() {
    let place = StoreFolder::new();
    place.repository();
    let one = place.commit(1);
    place.record(&moving(128), &one, "main");
    let two = place.commit(2);
    let (exit, text) = code(&place, &["gate", "--baseline", "main"]);
    assert!(exit == Some(4) && text.contains("nothing is recorded of"), "{text}");
    place.record(&moving(200), &two, "main");
    let (exit, text) = code(&place, &["gate", "--baseline", "main"]);
    assert!(exit == Some(5) && text.contains(&one[..10]), "{text}");
    // Where the commit comes from a CI service.
    let output = place
        .command(&["gate", "--baseline", "main", "--format", "json"])
        .env("GITHUB_SHA", &one)
        .env("GITHUB_REF_NAME", "12/merge")
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["programs"][0]["commit"], one.as_str());
}

/// The document matches its schema, and the comparisons in it theirs.
fn assert_gate(text: &str) -> Value {
    let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let gate = schema(include_str!("../../docs/gate-v1.schema.json"));
    let diff = schema(include_str!("../../docs/diff-v1.schema.json"));
    let whole: Value = serde_json::from_str(text).unwrap();
    let mut rest = whole.clone();
    for program in rest["programs"].as_array_mut().unwrap() {
        let comparison = program["comparison"].take();
        if !comparison.is_null() {
            check(&diff, &diff, &comparison, "comparison");
        }
    }
    check(&gate, &gate, &rest, "gate");
    whole
}

#[test]
fn every_form_in_one_run() {
    let place = StoreFolder::new();
    let mut before = moving(128);
    before.findings = vec![finding("random-gather", Severity::Warning, 0, "/src/app.cu", 5)];
    place.record(&before, "aaaaaaa1", "main");
    let mut profile = moving(128);
    let mut new = finding("strided-access", Severity::Error, 1, &format!("{}/app.cu", place.path().display()), 9);
    new.reason = "\u{202e}<script>|".into();
    profile.findings = vec![finding("random-gather", Severity::Warning, 0, "/src/app.cu", 5), new];
    let file = after(&place, &profile);
    place.repository();
    let forms = ["markdown", "json", "sarif", "benchmark", "text"];
    let writes: Vec<String> = forms.iter().map(|form| format!("{form}=out.{form}")).collect();
    let mut gate = vec!["gate", "--baseline", "main", &*file, "--commit", "bbbbbbb2"];
    writes.iter().for_each(|write| gate.extend(["--write", write]));
    let (exit, text) = code(&place, &gate);
    assert_eq!(exit, Some(5), "{text}");
    let read = |form: &str| std::fs::read_to_string(place.path().join(format!("out.{form}"))).unwrap();
    let sarif: Value = serde_json::from_str(&read("sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!((results.len(), &results[0]["ruleId"]), (1, &Value::from("strided-access")), "new ones alone");
    let location = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(location, "app.cu", "as the repository calls it");
    let benchmark: Value = serde_json::from_str(&read("benchmark")).unwrap();
    for row in benchmark.as_array().unwrap() {
        assert!(row["name"].is_string() && row["unit"].is_string() && row["value"].as_f64().unwrap() > 0.0, "{row}");
    }
    let row =
        benchmark.as_array().unwrap().iter().find(|row| row["name"] == "app (a100): walk: global sectors").unwrap();
    assert_eq!((row["value"].as_f64(), &row["unit"]), (Some(128.0), &Value::from("sectors")));
    let markdown = read("markdown");
    assert!(markdown.contains("limits are broken") && markdown.contains("new findings"), "{markdown}");
    assert!(!markdown.contains("<script>") && !markdown.contains('\u{202e}'), "{markdown}");
    assert_gate(&read("json"));
    assert!(read("text").contains("BROKEN"));
    let (exit, text) = code(&place, &["gate", &file, "--write", "pdf=x"]);
    assert!(exit == Some(2) && text.contains("FORMAT=FILE"), "{text}");
}

#[test]
#[cfg(not(feature = "object-store"))]
fn a_service_whose_code_is_not_built_in_is_refused_with_the_cure() {
    let place = StoreFolder::new();
    let (exit, text) = code(&place, &["history", ".", "global.sectors", "--store", "s3://bucket/recordings"]);
    assert!(exit == Some(2) && text.contains("--features object-store"), "{text}");
}
