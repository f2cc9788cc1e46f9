//! `warpline explore`.

use std::path::Path;

use crate::cli::Failure;
use crate::cli::args::{ExploreArguments, FindingArguments};
use crate::cli::output::{self, Color};
use crate::cli::profiles::findings;
use crate::exit_code;
use warpline_profile::{self as profile, Profile};
use warpline_report::explore::{self, ExploreError, Profiles, Session};

pub(in crate::cli) fn execute(arguments: &ExploreArguments, color: Color) -> Result<u8, Failure> {
    let profile = read(&arguments.file)?;
    let before = arguments.before.as_deref().map(read).transpose()?;
    let mut session = Session::new(Profiles { profile, before });
    match explore::run(&mut session, color.stdout) {
        Ok(()) => Ok(exit_code::OK),
        Err(error @ ExploreError::NoTerminal) => Err(Failure::new(exit_code::USAGE, error)),
        Err(error) => Err(Failure::new(exit_code::UNEXPECTED, error)),
    }
}

/// Returns a profile without the findings that comments in its source suppress.
fn read(path: &Path) -> Result<Profile, Failure> {
    let mut profile = profile::read(path).map_err(|error| Failure::new(exit_code::UNREADABLE, error))?;
    findings::suppress(&mut profile, &FindingArguments::default())?;
    if !profile.run.complete {
        output::say(format_args!("note: {} is incomplete, see its notes", path.display()));
    }
    Ok(profile)
}
