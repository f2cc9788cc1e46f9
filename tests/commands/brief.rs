//! The brief: bounded, complete for what it shows, and described by its schema.

use crate::support::demo_profile::{demo_profile, profile_with_a_finding};
use crate::support::schema::check;
use crate::support_programs::root;
use serde_json::Value;
use warpline::profile::Profile;
use warpline::profile::model::{Finding, Severity};
use warpline::report::{brief_json, brief_markdown, json};
use warpline::{findings, models, profile};

/// Lines of a brief, in either form.
const MOST_LINES: usize = 60;

fn checked(profile: &Profile, what: &str) -> (String, Value) {
    let (text, document) = (brief_markdown(profile), brief_json(profile));
    for (form, shown) in [("Markdown", &text), ("JSON", &document)] {
        assert!(shown.lines().count() <= MOST_LINES, "{what}, {form}:\n{shown}");
    }
    let schema: Value = serde_json::from_str(include_str!("../../docs/brief-v1.schema.json")).expect("a schema");
    let document: Value = serde_json::from_str(&document).unwrap_or_else(|error| panic!("{what}: {error}"));
    check(&schema, &schema, &document, what);
    (text, document)
}

#[test]
fn the_brief_of_a_finding() {
    let mut profile = profile_with_a_finding();
    profile.findings[0].confidence = findings::confidence(&profile.findings[0]);
    let (text, document) = checked(&profile, "demo");
    let folder = profile.sites[0].file.trim_end_matches("/columns.cu").to_owned();
    insta::assert_snapshot!(text.replace(&folder, "/folder"));
    let finding = &document["findings"][0];
    assert_eq!((finding["id"].as_str(), finding["confidence"].as_str()), (Some("strided-access"), Some("counted")));
    assert!(finding["code"].as_str().is_some_and(|code| code.contains("scale")), "{finding}");
    assert_eq!(finding["numbers"]["requests"], 768.0);
}

/// Findings of all the judged programs: what the brief shows of each is what the profile has.
#[test]
fn briefs_of_recorded_programs_are_bounded() {
    let recordings = std::fs::read_dir(root().join("tests/findings/recordings")).expect("recordings");
    let mut found = 0;
    for file in recordings.map(|entry| entry.expect("an entry").path()) {
        let name = file.display().to_string();
        let mut profile = profile::read(&file).unwrap_or_else(|error| panic!("{error}"));
        let model = profile.run.models.first().and_then(|name| models::find(name).ok());
        profile.findings = findings::find(&profile, model.map(|model| model.rates()).as_ref());
        let (text, document) = checked(&profile, &name);
        let total = profile.findings.len();
        assert_eq!(document["findings_total"], total, "{name}");
        for (shown, finding) in document["findings"].as_array().expect("a list").iter().zip(&profile.findings) {
            assert_eq!(
                (&shown["cause"], &shown["remedy"]),
                (&finding.cause.clone().into(), &finding.remedy.clone().into())
            );
            assert_ne!(shown["confidence"], Value::Null, "{name}: {}", finding.id);
            found += 1;
        }
        if let Some(first) = profile.findings.first() {
            assert!(text.contains(&format!("1. **{}** `{}`", first.severity.name(), first.id)), "{name}:\n{text}");
        }
    }
    assert!(found > 100, "{found} findings");
}

/// Names and sentences without end, and many of them.
#[test]
fn long_texts_are_cut() {
    let mut profile = demo_profile();
    let long = "one word of many that say why ".repeat(200);
    profile.findings = (1..=40)
        .map(|rank| Finding {
            id: "strided-access".to_owned(),
            rank,
            severity: Severity::Warning,
            kernel: Some(0),
            file: "/a/columns.cu".to_owned(),
            line: rank,
            title: long.clone(),
            reason: long.clone(),
            cure: long.clone(),
            ..Finding::default()
        })
        .collect();
    profile.kernels[0].name = format!("void columns<{}>(float*)", "std::integral_constant<int, 4>, ".repeat(100));
    profile.run.notes = vec![long; 30];
    let (text, document) = checked(&profile, "long");
    assert!(text.len() < 20_000, "{} bytes", text.len());
    assert_eq!((document["findings_total"].as_u64(), document["notes_total"].as_u64()), (Some(40), Some(30)));
    assert!(text.contains("more: `warpline report --all`") && text.contains("26 more notes"), "{text}");
}

/// The JSON document has the block, and each reader of documents ignores it.
#[test]
fn documents_have_the_block_trust() {
    let profile = demo_profile();
    let document: Value = serde_json::from_str(&json(&profile)).expect("JSON");
    let figures = &document["trust"]["figures"];
    assert_eq!(figures["accesses"]["basis"], "counted");
    // Inline assembly that the demo executes has no record.
    assert_eq!(figures["accesses"]["exact"], false);
    assert_eq!(document["trust"]["not_counted"][0]["affects"], "counts");
    let again: Profile = serde_json::from_str(&json(&profile)).expect("a profile");
    assert_eq!(again, profile);
}
