//! `warpline merge`.

use std::path::PathBuf;

use crate::cli::args::MergeArguments;
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_comparison::merge::{self, Files, FilesError};
use warpline_profile::{self as profile, ranks};

/// Maximum number of notes that are printed on the terminal; the report contains all of them.
const MOST_NOTES: usize = 20;

pub(in crate::cli) fn execute(arguments: &MergeArguments) -> Result<u8, Failure> {
    let files = files(&arguments.files)?;
    for file in &files {
        output::refuse_same(file, &arguments.output)?;
    }
    let threads = arguments.threads.map_or_else(all_cores, |threads| threads as usize);
    let merged = merge::of_files(&files, threads, arguments.strict);
    let Files { profile, unreadable } = merged.map_err(|error| match error {
        FilesError::Profile(error) => Failure::new(exit_code::UNREADABLE, error),
        FilesError::Merge(error) => Failure::new(exit_code::USAGE, error),
    })?;
    for error in &unreadable {
        output::say(error);
    }
    if arguments.strict && !profile.run.complete {
        let notes = profile.run.notes.iter().skip(1).take(MOST_NOTES).map(String::as_str).collect::<Vec<_>>();
        let message = format!("the merged profile would be incomplete: {}; nothing was written", notes.join("; "));
        return Err(Failure::new(exit_code::UNREADABLE, message));
    }
    profile::write(&profile, &arguments.output).map_err(|error| Failure::new(exit_code::UNEXPECTED, error))?;
    if profile.run.merged.is_some() {
        for note in profile.run.notes.iter().take(MOST_NOTES) {
            output::say(format_args!("note: {note}"));
        }
        if profile.run.notes.len() > MOST_NOTES {
            output::say(format_args!("note: {} more notes are in the profile", profile.run.notes.len() - MOST_NOTES));
        }
    }
    if !profile.run.complete {
        output::say("note: the profile is incomplete, see its notes");
    }
    output::say(format_args!("wrote {}", arguments.output.display()));
    output::say(format_args!("next: warpline report {}", arguments.output.display()));
    Ok(if unreadable.is_empty() { exit_code::OK } else { exit_code::PARTIAL })
}

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(16)
}

/// Returns the given files, and the profiles in the given folders.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let found = ranks::profiles_in(path).map_err(|error| {
            Failure::new(exit_code::UNREADABLE, format!("{}: cannot read the folder: {error}", path.display()))
        })?;
        if found.is_empty() {
            let message = format!("{}: the folder has no profile (*.wlprof)", path.display());
            return Err(Failure::new(exit_code::NOTHING_MATCHED, message));
        }
        files.extend(found);
    }
    Ok(files)
}
