//! Profiles of the artificial program.

use super::demo;
use warpline::analysis::{NoProgress, analyze};
use warpline::profile::model::{Finding, Gain, Severity};
use warpline::profile::{BuildInput, Profile, RunFacts, build};
use warpline::trace::TraceReader;

/// Returns the profile of a trace.
pub fn profile(bytes: &[u8], facts: RunFacts) -> Profile {
    let analysis = analyze(TraceReader::new(bytes).unwrap(), 1, &mut NoProgress).unwrap();
    let mut profile = build(BuildInput { analysis: &analysis, facts });
    profile.findings = warpline::findings::find(&profile, None);
    profile
}

/// Returns the facts of a run that ended successfully.
pub fn facts() -> RunFacts {
    RunFacts {
        device: "cpu".into(),
        models: vec!["rtx2080ti".into()],
        exit_code: Some(0),
        ended_by_itself: true,
        assumptions: [("model".to_owned(), "NVIDIA GeForce RTX 2080 Ti".to_owned())].into(),
        ..RunFacts::default()
    }
}

/// Returns the demo's profile, with its source.
pub fn demo_profile() -> Profile {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("columns.cu");
    std::fs::write(&source, demo::SOURCE).unwrap();
    profile(&demo::trace(source.to_str().unwrap()), facts())
}

/// Returns the demo's profile, with a finding at its line.
pub fn profile_with_a_finding() -> Profile {
    let mut profile = demo_profile();
    let line = profile.lines.iter().find(|row| !row.metrics.is_empty()).unwrap();
    profile.findings.push(Finding {
        id: "strided-access".to_owned(),
        rank: 1,
        severity: Severity::Warning,
        cause: "rows-per-thread".to_owned(),
        remedy: "transpose-through-shared".to_owned(),
        verified: false,
        confidence: None,
        title: "Consecutive threads read `matrix` a row apart".to_owned(),
        kernel: Some(line.kernel),
        file: line.file.clone(),
        line: line.line,
        column: 9,
        lines: Vec::new(),
        other_kernels: Vec::new(),
        inside_library: None,
        allocation: Some(profile.allocations[0].id),
        object: Some("matrix".to_owned()),
        evidence: [("requests".to_owned(), 768.0), ("wasted_share".to_owned(), 0.875)].into(),
        reason: "neighbouring threads read `matrix` 256 bytes apart".to_owned(),
        cure: "let threadIdx.x count what lies side by side".to_owned(),
        gain: Some(Gain { factor: 8.0, seconds: 1e-4, assumption: "only the sectors that bytes fill".to_owned() }),
    });
    profile
}
