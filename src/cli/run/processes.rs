//! `--children`: the further processes of a run. The first process that uses the device writes to the ring. Each other
//! process writes a separate trace to a private folder, which is analysed after the program has ended.

use std::fs::{File, TryLockError};
use std::path::Path;

use tempfile::TempDir;
use warpline_format::options::further_trace;
use warpline_toolchain::interrupt::{self, Removal};

use super::further::{self, free_bytes, sizes};
use super::plan::Plan;
use crate::cli::models::default_model;
use crate::cli::profiles::findings;
use crate::cli::traces::sim;
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_comparison::merge;
use warpline_profile::model::Environment;
use warpline_profile::{self as profile, BuildInput, Profile, RunFacts};

/// The folder in which further processes write their traces.
pub(super) struct Processes {
    folder: Option<(TempDir, Removal)>,
}

impl Processes {
    /// Creates the folder if one is needed, and reports its path.
    ///
    /// # Errors
    /// Returns an error if no folder can be created.
    pub(super) fn new(plan: &Plan) -> Result<Processes, Failure> {
        if !plan.children {
            return Ok(Processes { folder: None });
        }
        let place = std::env::temp_dir();
        let folder = tempfile::Builder::new().prefix("warpline.").tempdir_in(&place).map_err(|error| {
            let message = format!("{}: no temporary folder for traces: {error}", place.display());
            Failure::new(exit_code::RUN_NOT_PROFILED, message)
        })?;
        let free = free_bytes(&place).map_or(String::new(), |free| format!(", where {} are free", sizes(free)));
        output::say(format_args!(
            "note: --children: traces of further processes are kept in {}{free}, until the program is over: 16 to 32 bytes for each \
             regular memory request of a warp, up to 264 for scattered ones; TMPDIR names another folder",
            place.display(),
        ));
        let removal = interrupt::removes(folder.path());
        Ok(Processes { folder: Some((folder, removal)) })
    }

    /// Returns the path of the folder, for the program.
    pub(super) fn folder(&self) -> Option<String> {
        self.folder.as_ref().map(|(folder, _)| folder.path().to_string_lossy().into_owned())
    }

    /// Adds the work of `count` further processes to the profile of the first.
    ///
    /// # Errors
    /// Returns an error if the profiles cannot be merged; those of one run always can.
    pub(super) fn add_to(
        &self,
        first: Profile,
        count: u32,
        plan: &Plan,
        facts: &dyn Fn() -> RunFacts,
    ) -> Result<Profile, Failure> {
        let Some(folder) = self.folder().filter(|_| count > 0) else { return Ok(first) };
        let (mut profiles, mut lost) = (vec![first], Vec::new());
        for number in 0..count {
            let trace = further_trace(&folder, number);
            match of_process(Path::new(&trace), plan, facts()) {
                Ok(profile) => profiles.push(profile),
                Err(failure) => lost.push(format!("the work of one further process is missing: {}", failure.message)),
            }
        }
        together(profiles, lost, &program(plan))
    }
}

/// Returns the profile of a further process.
fn of_process(trace: &Path, plan: &Plan, facts: RunFacts) -> Result<Profile, Failure> {
    let unreadable = |error| Failure::new(exit_code::UNREADABLE, format!("its trace cannot be read: {error}"));
    let mut facts = facts;
    // The writer holds a lock while it runs.
    let file = File::open(trace).map_err(unreadable)?;
    if let Err(TryLockError::WouldBlock) = file.try_lock_shared() {
        facts
            .lost
            .push("a further process still ran when the program was over: the rest of its work is missing".into());
    }
    drop(file);
    let mut analysis = sim::analyze_one(trace, &plan.model, plan.threads)?;
    let cure = "free space there, or name another folder by TMPDIR";
    let (done, problem) = further::simulate(plan, &mut analysis, trace, cure);
    facts.lost.extend(problem);
    facts.models.truncate(1 + done);
    facts.rates.truncate(1 + done);
    let mut profile = profile::build(BuildInput { analysis: &analysis, facts });
    findings::add(&mut profile, Some(&plan.model.rates));
    Ok(profile)
}

/// Returns the requested program and its arguments.
fn program(plan: &Plan) -> Vec<String> {
    let found = default_model::found(&plan.program).and_then(|path| std::fs::canonicalize(path).ok());
    let path = found.map_or(plan.program.to_string_lossy(), |path| path.to_string_lossy().into_owned().into());
    let arguments = plan.arguments.iter().map(|argument| argument.to_string_lossy());
    std::iter::once(path).chain(arguments).map(String::from).collect()
}

/// Merges the profiles of a run's processes. Their order is not significant: the facts of the run are those of the
/// requested program, and the rest follows from the profiles' contents.
fn together(profiles: Vec<Profile>, lost: Vec<String>, program: &[String]) -> Result<Profile, Failure> {
    let mut profiles = profiles;
    let count = profiles.len();
    let Some(first) = profiles.first_mut() else { return Err(Failure::new(exit_code::UNEXPECTED, "no process")) };
    let environment = std::mem::take(&mut first.run.environment);
    for profile in &mut profiles {
        profile.run.program = program.to_vec();
        profile.run.environment = Environment { command: environment.command.clone(), ..Environment::default() };
    }
    let mut whole = merge::merge(profiles).map_err(|error| Failure::new(exit_code::UNEXPECTED, error))?;
    whole.run.environment = environment;
    // The result is the profile of one rank and one run, regardless of the number of processes.
    whole.run.merged = None;
    let merged = format!("merged from {count} profiles");
    whole.run.notes.retain(|note| *note != merged);
    if count > 1 {
        whole.run.notes.insert(0, format!("the work of {count} processes is put together"));
    }
    whole.run.complete &= lost.is_empty();
    whole.run.notes.extend(lost);
    Ok(whole)
}
