//! `warpline record`.

use std::path::Path;

use super::origin;
use super::place::{failure, open};
use super::repository::Repository;
use crate::cli::args::RecordArguments;
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_profile::store::Store;
use warpline_profile::{self as profile, Profile};

pub(in crate::cli) fn execute(arguments: &RecordArguments) -> Result<u8, Failure> {
    if arguments.verify {
        return verify(&open(&arguments.store, false)?);
    }
    let repository = Repository::here();
    // All profiles are read before any is stored.
    let mut profiles = Vec::with_capacity(arguments.files.len());
    for path in &arguments.files {
        let profile = profile::read(path).map_err(|error| Failure::new(exit_code::UNREADABLE, error))?;
        profiles.push((path, profile));
    }
    let store = open(&arguments.store, true)?;
    let mut warned = false;
    for (path, profile) in &profiles {
        let labels = &profile.run.environment.labels;
        let origin = origin::resolve(&arguments.origin, labels, repository.as_ref(), |name| std::env::var(name).ok())?;
        if origin.edited && !warned {
            warned = true;
            output::say(
                "note: files were edited since the commit that is checked out; give --commit another name if they count",
            );
        }
        let name = arguments.name.clone().unwrap_or_else(|| name_of(profile, path));
        let recorded = store
            .add(&name, profile, |record| {
                record.commit = origin.commit;
                record.parents = origin.facts.parents;
                record.commit_date = origin.facts.date;
                record.branch = origin.branch;
                record.compiler = origin.compiler;
            })
            .map_err(failure)?;
        let record = &recorded.record;
        if !record.complete {
            output::say(format_args!(
                "note: {} is incomplete: `warpline gate` compares nothing with it",
                path.display()
            ));
        }
        let branch = record.branch.as_ref().map_or(String::new(), |branch| format!(" of {branch}"));
        output::print(format!("{} {} at {}{branch}\n", recorded.id, record.name, record.short()).as_bytes())?;
    }
    Ok(exit_code::OK)
}

/// Returns the default name of a recording, which is that of its program.
pub(super) fn name_of(profile: &Profile, path: &Path) -> String {
    let program = profile.run.program.first().map(String::as_str).unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    if !name.is_empty() {
        return name.to_owned();
    }
    path.file_stem().map_or_else(|| "program".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn verify(store: &Store) -> Result<u8, Failure> {
    let (listing, unnamed) = store.verify().map_err(failure)?;
    for problem in &listing.problems {
        output::print(format!("{}: {}\n", problem.place, problem.what).as_bytes())?;
    }
    let text = format!(
        "{} records, {} problems, {unnamed} profiles that no record names\n",
        listing.records.len(),
        listing.problems.len()
    );
    output::print(text.as_bytes())?;
    Ok(if listing.problems.is_empty() { exit_code::OK } else { exit_code::UNREADABLE })
}
