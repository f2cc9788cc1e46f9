//! The content of the brief, independent of its format (Markdown or JSON).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::finding_text;
use crate::text::{limiter, verdict};
use crate::words::{cut, label, memory};
use warpline_findings::confidence;
use warpline_profile::Profile;
use warpline_profile::model::{Basis, Finding, Kernel, Severity};
use warpline_profile::trust::{Trust, trust};

/// Value of [`Brief::schema`].
const SCHEMA: &str = "warpline.brief";
/// Value of [`Brief::version`].
const VERSION: u32 = 1;
/// Maximum numbers of findings, kernels, notes, and rows of the `trust` block in a brief.
const MOST_FINDINGS: usize = 12;
const MOST_KERNELS: usize = 5;
const MOST_NOTES: usize = 4;
const MOST_ROWS_OF_TRUST: usize = 6;
/// Maximum number of characters of a text, because names of templates can be arbitrarily long.
const MOST_TEXT: usize = 600;
/// Maximum number of characters of a name or a line of code.
const MOST_NAME: usize = 160;

/// The brief of a profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Brief {
    /// `warpline.brief`.
    pub schema: &'static str,
    /// Version, increased by incompatible changes, but not by additions.
    pub version: u32,
    /// Name of the program's executable.
    pub program: String,
    /// `cpu` or `gpu`.
    pub device: String,
    /// GPU models. The figures are those of the first one.
    pub models: Vec<String>,
    /// Whether the run and its trace are complete.
    pub complete: bool,
    /// Summary of what takes most of the time and of the possible changes.
    pub verdict: String,
    /// Reliability of the figures; its lists are limited to a few rows.
    pub trust: Trust,
    /// The first findings, rank 1 first.
    pub findings: Vec<BriefFinding>,
    /// Number of all findings of the profile.
    pub findings_total: usize,
    /// The kernels that take most of the time.
    pub kernels: Vec<BriefKernel>,
    /// Number of all kernels of the profile.
    pub kernels_total: usize,
    /// The first notes of the run.
    pub notes: Vec<String>,
    /// Number of all notes of the run.
    pub notes_total: usize,
}

/// A figure and its basis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Value {
    /// The figure.
    pub value: f64,
    /// Basis of the figure.
    pub basis: Basis,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BriefKernel {
    /// Name, as reports show it.
    pub name: String,
    /// File of the definition.
    pub file: String,
    /// Line of the definition.
    pub line: u32,
    /// Number of recorded launches.
    pub launches: Value,
    /// Seconds of all launches.
    pub seconds: Option<Value>,
    /// Name of the limiter.
    pub limiter: Option<String>,
    /// Bytes of the sectors that its requests touch.
    pub traffic_bytes: Value,
    /// Ideal sectors divided by sectors.
    pub coalescing_efficiency: Option<Value>,
    /// L1 hit rate of loads.
    pub l1_hit_rate: Option<Value>,
    /// L2 hit rate.
    pub l2_hit_rate: Option<Value>,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BriefFinding {
    /// Rank, counted from 1; the most important finding is first.
    pub rank: u32,
    /// Id; `warpline explain ID` prints its page.
    pub id: String,
    /// `error`, `warning` or `note`.
    pub severity: Severity,
    /// Title of about 60 characters.
    pub title: String,
    /// Id of the cause.
    pub cause: String,
    /// Id of the remedy.
    pub remedy: String,
    /// The basis of the figures that the cause depends on.
    pub confidence: Option<Basis>,
    /// Whether the remedy was applied to the recorded addresses and the result was counted again.
    pub verified: bool,
    /// Name of the kernel.
    pub kernel: Option<String>,
    /// Source file; empty if unknown.
    pub file: String,
    /// Line, counted from 1; 0 if unknown.
    pub line: u32,
    /// Column, counted from 1; 0 if unknown.
    pub column: u32,
    /// Further lines with the same problem.
    pub also_lines: Vec<u32>,
    /// Text of the source line.
    pub code: Option<String>,
    /// Name of the array, allocation or variable.
    pub object: Option<String>,
    /// Description of the problem and its cost.
    pub reason: String,
    /// Suggested change.
    pub change: String,
    /// Estimated gain.
    pub gain: Option<BriefGain>,
    /// The figures that the finding is based on.
    pub numbers: BTreeMap<String, f64>,
}

/// The estimated gain of a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BriefGain {
    /// Time before the change divided by the time after it.
    pub factor: f64,
    /// Seconds saved over all launches.
    pub seconds: f64,
    /// Basis of both figures.
    pub basis: Basis,
    /// Assumption of the estimate.
    pub assumption: String,
    /// The gain as a sentence.
    pub text: String,
}

/// Collects the brief of a profile.
pub fn brief(profile: &Profile) -> Brief {
    let run = &profile.run;
    let program = run.program.first().map_or("", |path| path.rsplit('/').next().unwrap_or(path));
    let mut trust = trust(profile);
    trust.not_counted.truncate(MOST_ROWS_OF_TRUST);
    trust.missing.truncate(MOST_ROWS_OF_TRUST);
    let mut kernels: Vec<&Kernel> = profile.kernels.iter().collect();
    let key = |kernel: &Kernel| (seconds(kernel).unwrap_or(0.0), memory(&kernel.metrics).sectors);
    kernels.sort_by(|one, other| {
        let (one_key, other_key) = (key(one), key(other));
        other_key.0.total_cmp(&one_key.0).then(other_key.1.cmp(&one_key.1)).then(one.id.cmp(&other.id))
    });
    let findings = profile.findings.iter().take(MOST_FINDINGS).map(|finding| brief_finding(profile, finding));
    Brief {
        schema: SCHEMA,
        version: VERSION,
        program: cut(program, MOST_NAME),
        device: run.device.clone(),
        models: run.models.clone(),
        complete: run.complete,
        verdict: cut(&verdict(profile), MOST_TEXT),
        trust,
        findings: findings.collect(),
        findings_total: profile.findings.len(),
        kernels: kernels.iter().take(MOST_KERNELS).map(|kernel| brief_kernel(profile, kernel)).collect(),
        kernels_total: profile.kernels.len(),
        notes: run.notes.iter().take(MOST_NOTES).map(|note| cut(note, MOST_TEXT)).collect(),
        notes_total: run.notes.len(),
    }
}

/// Returns all findings of a profile in the form of the brief, rank 1 first.
pub fn brief_findings(profile: &Profile) -> impl Iterator<Item = BriefFinding> + '_ {
    profile.findings.iter().map(|finding| brief_finding(profile, finding))
}

fn seconds(kernel: &Kernel) -> Option<f64> {
    kernel.estimates.first().map(|estimate| estimate.seconds)
}

fn brief_kernel(profile: &Profile, kernel: &Kernel) -> BriefKernel {
    let sum = memory(&kernel.metrics);
    let counted = |value: f64| Value { value, basis: Basis::Counted };
    let modelled = |value: f64| Value { value, basis: Basis::Modelled };
    let bytes = sum.sectors.saturating_mul(warpline_simulator::geometry::SECTOR_BYTES);
    let efficiency = (sum.sectors > 0).then(|| counted(sum.ideal_sectors as f64 / sum.sectors as f64));
    BriefKernel {
        name: cut(&label(profile, kernel), MOST_NAME),
        file: kernel.file.clone(),
        line: kernel.line,
        launches: counted(kernel.recorded_launches() as f64),
        seconds: seconds(kernel).map(|value| Value { value, basis: Basis::Estimated }),
        limiter: kernel.estimates.first().map(limiter),
        traffic_bytes: counted(bytes as f64),
        coalescing_efficiency: efficiency,
        l1_hit_rate: sum.l1_hit_rate().share().map(modelled),
        l2_hit_rate: sum.l2_hit_rate().share().map(modelled),
    }
}

fn brief_finding(profile: &Profile, finding: &Finding) -> BriefFinding {
    let name = |text: String| cut(&text, MOST_NAME);
    BriefFinding {
        rank: finding.rank,
        id: finding.id.clone(),
        severity: finding.severity,
        title: name(finding.title.clone()),
        cause: finding.cause.clone(),
        remedy: finding.remedy.clone(),
        confidence: confidence(finding),
        verified: finding.verified,
        kernel: finding_text::kernel(profile, finding).map(name),
        file: finding.file.clone(),
        line: finding.line,
        column: finding.column,
        also_lines: finding.lines.iter().map(|place| place.line).collect(),
        code: finding_text::source(profile, finding).map(|code| cut(&code.replace('\t', " "), MOST_NAME)),
        object: finding_text::object(profile, finding).map(name),
        reason: cut(&finding.reason, MOST_TEXT),
        change: cut(&finding.cure, MOST_TEXT),
        gain: finding.gain.as_ref().map(|gain| BriefGain {
            factor: gain.factor,
            seconds: gain.seconds,
            basis: Basis::Estimated,
            assumption: cut(&gain.assumption, MOST_TEXT),
            text: cut(&finding_text::gain(finding, gain), MOST_TEXT),
        }),
        numbers: finding.evidence.clone(),
    }
}
