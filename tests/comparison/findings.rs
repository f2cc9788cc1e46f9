//! Which findings of two versions are the same.

use super::{diff, scale, sum};
use crate::support::program::{Source, finding, program};
use warpline::profile::Profile;
use warpline::profile::model::{Finding, FindingLine, Severity};
use warpline::report::{DiffOptions, diff_json, diff_text};

#[test]
fn findings_come_go_and_change_with_their_lines() {
    let before_code = sum(256);
    let [index, guard, load, store] = sum(256);
    let after_code = [index, guard, ("    n = counts[i];", 32), load, store];
    let mut before = program("/a/app.cu", &[Source { name: "sum", code: &before_code }], &[]);
    let mut after = program("/a/app.cu", &[Source { name: "sum", code: &after_code }], &[]);
    // The load is in line 6, then in line 7.
    before.findings = vec![
        finding("strided-access", Severity::Warning, 0, "/a/app.cu", 6),
        finding("divergent-branch", Severity::Note, 0, "/a/app.cu", 5),
    ];
    after.findings = vec![
        finding("strided-access", Severity::Warning, 0, "/a/app.cu", 8),
        finding("strided-access", Severity::Warning, 0, "/a/app.cu", 7),
        finding("divergent-branch", Severity::Note, 0, "/a/app.cu", 5),
    ];
    let found = diff(&before, &after).findings;
    assert_eq!((found.new.len(), found.gone.len(), found.changed.len()), (1, 0, 0));
    assert_eq!(found.new[0].line, 8);
    after.findings.truncate(1);
    after.findings[0].line = 7;
    after.findings[0].evidence.insert("sectors_per_request".into(), 8.0);
    let found = diff(&before, &after).findings;
    assert_eq!((found.new.len(), found.gone.len(), found.changed.len()), (0, 1, 1));
    assert_eq!(found.gone[0].id, "divergent-branch");
}

/// Of two lines of one array that both versions have, one is another place: what is found there is not the other
/// finding, changed.
#[test]
fn findings_on_lines_that_both_versions_have_are_distinguished() {
    let mut before = program("/a/app.cu", &[Source { name: "sum", code: &sum(256) }], &[]);
    let mut after = program("/a/app.cu", &[Source { name: "sum", code: &sum(64) }], &[]);
    let about = |line| Finding {
        object: Some("data".to_owned()),
        ..finding("bank-conflict", Severity::Warning, 0, "/a/app.cu", line)
    };
    before.findings = vec![about(6)];
    after.findings = vec![about(7)];
    let found = diff(&before, &after).findings;
    assert_eq!((found.new.len(), found.gone.len(), found.changed.len()), (1, 1, 0));
    // Where the worst of several lines was fixed, the others' finding stays.
    before.findings[0].lines = vec![FindingLine { line: 7, column: 5 }];
    after.findings[0].evidence.insert("sectors_per_request".into(), 8.0);
    let found = diff(&before, &after).findings;
    assert_eq!((found.new.len(), found.gone.len(), found.changed.len()), (0, 0, 1));
}

/// A sweep is reported where most of the data comes from DRAM, which may be another kernel afterwards.
#[test]
fn a_sweep_stays_the_same_in_another_kernel() {
    let kernels = |sectors| {
        let code = sum(sectors);
        let sources = [Source { name: "sum", code: &code }, Source { name: "scale", code: &scale() }];
        program("/a/app.cu", &sources, &[("d_field", 1 << 20)])
    };
    let (mut before, mut after) = (kernels(256), kernels(32));
    let sweep = |profile: &Profile, kernel, line| {
        let mut sweep = finding("cache-sweep", Severity::Note, kernel, "/a/app.cu", line);
        sweep.allocation = Some(profile.allocations[0].id);
        sweep
    };
    before.findings = vec![sweep(&before, 0, 6)];
    after.findings = vec![sweep(&after, 1, 13)];
    let found = diff(&before, &after);
    assert_eq!((found.findings.gone.len(), found.findings.new.len()), (0, 0), "{}", diff_json(&found));
    // A finding of one kernel's requests is another thing in another kernel.
    before.findings[0].id = "strided-access".to_owned();
    after.findings[0].id = "strided-access".to_owned();
    assert_eq!(diff(&before, &after).findings.gone.len(), 1);
}

/// What one kernel hands on to another is no data that is swept again.
#[test]
fn variants_of_a_rule_are_findings_of_their_own() {
    let kernel =
        |sectors| program("/a/app.cu", &[Source { name: "sum", code: &sum(sectors) }], &[("d_field", 1 << 20)]);
    let (mut before, mut after) = (kernel(256), kernel(32));
    let mut sweep = finding("cache-sweep", Severity::Warning, 0, "/a/app.cu", 6);
    sweep.allocation = Some(before.allocations[0].id);
    before.findings = vec![sweep.clone()];
    after.findings = vec![sweep];
    assert_eq!(diff(&before, &after).findings.gone.len(), 0);
    after.findings[0].evidence.insert("inputs_read_bytes".into(), 0.0);
    let found = diff(&before, &after).findings;
    assert_eq!((found.gone.len(), found.new.len(), found.changed.len()), (1, 1, 0));
}

/// A fix elsewhere makes the rest weigh more. That is no change of the rest, but for its severity.
#[test]
fn findings_of_kernels_that_stayed_are_no_change() {
    let kernels = |sectors| {
        let code = sum(sectors);
        program("/a/app.cu", &[Source { name: "sum", code: &code }, Source { name: "scale", code: &scale() }], &[])
    };
    let (mut before, mut after) = (kernels(256), kernels(32));
    // The line of `scale` that does the work.
    let line = 3 + 4 + 3 + 3;
    let mut rest = finding("strided-access", Severity::Note, 1, "/a/app.cu", line);
    rest.evidence.insert("wasted_share".into(), 0.01);
    before.findings = vec![finding("strided-access", Severity::Warning, 0, "/a/app.cu", 6), rest.clone()];
    rest.evidence.insert("wasted_share".into(), 0.04);
    after.findings = vec![rest, finding("partial-write", Severity::Note, 1, "/a/app.cu", line)];
    let found = diff(&before, &after);
    assert_eq!((found.findings.gone.len(), found.findings.new.len(), found.findings.changed.len()), (1, 0, 0));
    assert_eq!(found.unchanged.findings, 2);
    let described = |before: &Profile, after: &Profile| {
        let found = diff(before, after);
        assert_eq!((found.findings.changed.len(), found.unchanged.findings), (1, 1));
        diff_text(&found, before, after, &DiffOptions { color: false, top: 10, all: false, width: 100 })
    };
    after.findings[0].severity = Severity::Warning;
    let text = described(&before, &after);
    assert!(text.contains("note before, warning now (another part of the program's time)"), "{text}");
    after.findings[0].evidence.insert("sectors_per_request".into(), 33.0);
    assert!(described(&before, &after).contains("note before, warning now (worse)"));
    assert!(described(&after, &before).contains("warning before, note now (better)"));
    // An error is always reported.
    after.findings[1].severity = Severity::Error;
    assert_eq!(diff(&before, &after).findings.new.len(), 1);
}
