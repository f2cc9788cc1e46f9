//! `warpline merge`.

use super::args::MergeArguments;
use super::{Failure, output};
use crate::{exit_code, merge, profile};

pub(super) fn execute(arguments: &MergeArguments) -> Result<u8, Failure> {
    let mut profiles = Vec::with_capacity(arguments.files.len());
    for file in &arguments.files {
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
