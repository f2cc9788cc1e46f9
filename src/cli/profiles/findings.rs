//! Findings on the command line: detects them after a run, and suppresses and checks them in a report.

use crate::cli::Failure;
use crate::cli::args::FindingArguments;
use crate::exit_code;
use warpline_findings::{self as findings, Ignored, Suppression};
use warpline_profile::Profile;
use warpline_profile::model::Severity;
use warpline_simulator::models::Rates;

/// Adds findings to a new profile; `rates` are those of its first model.
pub(in crate::cli) fn add(profile: &mut Profile, rates: Option<&Rates>) {
    profile.findings = findings::find(profile, rates);
}

/// Removes findings that the arguments and comments in the source suppress.
pub(in crate::cli) fn suppress(profile: &mut Profile, arguments: &FindingArguments) -> Result<Ignored, Failure> {
    let parsed: Result<Vec<Suppression>, _> = arguments.ignore.iter().map(|text| text.parse()).collect();
    let suppressions = parsed.map_err(|error| Failure::new(exit_code::USAGE, format!("--ignore {error}")))?;
    Ok(findings::suppress(profile, &suppressions))
}

/// A condition under which a report fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum FailOn {
    /// A finding of at least this severity.
    Severity(Severity),
    /// A finding with this id.
    Id(String),
}

/// Parses `--fail-on`.
pub(in crate::cli) fn fail_on(texts: &[String]) -> Result<Vec<FailOn>, Failure> {
    let one = |text: &str| match text {
        "note" => Ok(FailOn::Severity(Severity::Note)),
        "warning" => Ok(FailOn::Severity(Severity::Warning)),
        "error" => Ok(FailOn::Severity(Severity::Error)),
        id if findings::pages().any(|page| page.id == id) => Ok(FailOn::Id(id.to_owned())),
        other => {
            let message =
                format!("--fail-on takes error, warning, note or the id of a finding: {}", findings::unknown(other));
            Err(Failure::new(exit_code::USAGE, message))
        }
    };
    texts.iter().flat_map(|text| text.split(',')).map(|text| one(text.trim())).collect()
}

/// Returns a message with the first findings for which a report must fail.
pub(in crate::cli) fn breach(profile: &Profile, rules: &[FailOn]) -> Option<String> {
    let broken = |finding: &&warpline_profile::model::Finding| {
        rules.iter().any(|rule| match rule {
            FailOn::Severity(least) => finding.severity >= *least,
            FailOn::Id(id) => *id == finding.id,
        })
    };
    let mut found = profile.findings.iter().filter(broken);
    let first = found.next()?;
    let rest = found.count();
    let more = if rest == 0 { String::new() } else { format!(", and {rest} more") };
    Some(format!("--fail-on: {} at {}:{}{more}", first.id, first.file, first.line))
}
