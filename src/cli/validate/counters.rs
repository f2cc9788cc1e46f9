//! Compares profiles with the counters of Nsight Compute.

use std::path::Path;

use serde::Serialize;

use super::write;
use crate::cli::Failure;
use crate::cli::args::ValidateArguments;
use crate::exit_code;
use crate::validate::{Comparison, Summary, compare, comparison_text, read_counters, summarize};
use warpline_profile as profile;

/// The document.
#[derive(Serialize)]
struct Document<'a> {
    programs: Vec<Program<'a>>,
    summary: Vec<Summary>,
}

#[derive(Serialize)]
struct Program<'a> {
    profile: &'a str,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

pub(super) fn execute(arguments: &ValidateArguments) -> Result<u8, Failure> {
    if arguments.profiles.len() != arguments.counters.len() {
        let message = format!(
            "{} profiles and {} --counters: each profile needs the counters of its program",
            arguments.profiles.len(),
            arguments.counters.len()
        );
        return Err(Failure::new(exit_code::USAGE, message));
    }
    let mut programs: Vec<(String, Comparison)> = Vec::new();
    for (path, counters) in arguments.profiles.iter().zip(&arguments.counters) {
        programs.push((path.display().to_string(), one(path, counters)?));
    }
    if programs.iter().all(|(_, comparison)| comparison.kernels.is_empty()) {
        let notes: Vec<String> = programs.into_iter().flat_map(|(_, comparison)| comparison.notes).collect();
        let message = format!("no kernel is in both the profile and the counters: {}", notes.join("; "));
        return Err(Failure::new(exit_code::NOTHING_MATCHED, message));
    }
    let comparisons: Vec<Comparison> = programs.iter().map(|(_, comparison)| comparison.clone()).collect();
    let document = Document {
        programs: programs.iter().map(|(profile, comparison)| Program { profile, comparison }).collect(),
        summary: summarize(&comparisons),
    };
    write(arguments, &document, || comparison_text(&programs))?;
    Ok(exit_code::OK)
}

fn one(path: &Path, counters: &Path) -> Result<Comparison, Failure> {
    let unreadable = |what: String| Failure::new(exit_code::UNREADABLE, what);
    let profile = profile::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text = std::fs::read(counters).map_err(|error| unreadable(format!("{}: {error}", counters.display())))?;
    let counters = read_counters(&String::from_utf8_lossy(&text))
        .map_err(|error| unreadable(format!("{}: {error}", counters.display())))?;
    Ok(compare(&profile, &counters))
}
