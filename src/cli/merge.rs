//! `warpline merge`.

use std::path::PathBuf;

use super::args::MergeArguments;
use super::{Failure, output};
use crate::{exit_code, merge, profile, ranks};

pub(super) fn execute(arguments: &MergeArguments) -> Result<u8, Failure> {
    let files = files(&arguments.files)?;
    let mut profiles = Vec::with_capacity(files.len());
    for file in &files {
        output::refuse_same(file, &arguments.output)?;
        profiles.push(profile::read(file).map_err(|error| Failure::new(exit_code::UNREADABLE, error))?);
    }
    let count = profiles.len();
    let merged = merge::merge(profiles).map_err(|error| Failure::new(exit_code::USAGE, error))?;
    profile::write(&merged, &arguments.output).map_err(|error| Failure::new(exit_code::UNEXPECTED, error))?;
    if count > 1 {
        for note in &merged.run.notes {
            output::say(format_args!("note: {note}"));
        }
    }
    if !merged.run.complete {
        output::say("note: the profile is incomplete, see its notes");
    }
    output::say(format_args!("wrote {}", arguments.output.display()));
    output::say(format_args!("next: warpline report {}", arguments.output.display()));
    Ok(exit_code::OK)
}

/// The files that are meant: of folders, the profiles in them.
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
