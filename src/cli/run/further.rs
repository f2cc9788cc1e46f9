//! Simulates further models of a run. They need the trace again in their own order, so it is kept during the run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempPath;
use warpline_toolchain::interrupt::{self, Removal};

use super::plan::Plan;
use crate::cli::models::chosen::Chosen;
use crate::cli::traces::sim;
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_analyzer::analysis::{Analysis, Finish};
use warpline_analyzer::requests::Narrowed;
use warpline_analyzer::trace::first_of;

/// The trace that is kept for further models or at the user's request.
pub(super) struct KeptTrace {
    temporary: Option<(TempPath, Removal)>,
    wanted: Option<PathBuf>,
}

impl KeptTrace {
    /// Creates a file if one is needed, and reports its path and its possible size.
    ///
    /// # Errors
    /// Returns an error if no file can be created.
    pub(super) fn new(plan: &Plan) -> Result<KeptTrace, Failure> {
        if plan.others.is_empty() || plan.trace.is_some() {
            return Ok(KeptTrace { temporary: None, wanted: plan.trace.clone() });
        }
        let folder = std::env::temp_dir();
        let file = tempfile::Builder::new().prefix("warpline.").suffix(".wltrace").tempfile_in(&folder);
        let file = file.map_err(|error| {
            let message = format!("{}: no temporary file for the trace: {error}", folder.display());
            Failure::new(exit_code::RUN_NOT_PROFILED, message)
        })?;
        let free = free_bytes(&folder).map_or(String::new(), |free| format!(", where {} are free", sizes(free)));
        output::say(format_args!(
            "note: the trace is kept in {}{free}, until {} been simulated: 16 to 32 bytes for each regular memory request of a \
             warp, up to 264 for scattered ones; TMPDIR names another folder, --trace a file that stays",
            folder.display(),
            match (plan.rounded().is_empty(), plan.others.len()) {
                (false, 1) => "smaller elements have",
                (_, 1) => "the second model has",
                _ => "all models have",
            },
        ));
        let removal = interrupt::removes(file.path());
        Ok(KeptTrace { temporary: Some((file.into_temp_path(), removal)), wanted: None })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> Option<&Path> {
        self.wanted.as_deref().or(self.temporary.as_ref().map(|(path, _)| &**path))
    }

    /// Simulates the further models. Returns the number of simulated models, and the reason why the others could not be
    /// simulated; the results of the first model are kept in any case. `problem` is an error that occurred while the
    /// file was written.
    pub(super) fn simulate(
        &self,
        plan: &Plan,
        analysis: &mut Analysis,
        problem: Option<&str>,
    ) -> (usize, Option<String>) {
        let Some(trace) = self.path().filter(|_| !plan.others.is_empty()) else { return (0, None) };
        let cure = match self.temporary {
            Some(_) => "free space there, or name another folder by TMPDIR or a file by --trace",
            None => "name a file on a disk with more space by --trace",
        };
        if let Some(problem) = problem {
            return (0, lost(plan, 0, problem, cure));
        }
        let first = plan.packing.and_then(|packing| packing.rotate).map(|_| first_of(trace));
        simulate(plan, analysis, first.as_deref().unwrap_or(trace), cure)
    }
}

/// Returns a message about the further models without figures, starting with number `from`.
fn lost(plan: &Plan, from: usize, why: &str, cure: &str) -> Option<String> {
    let names: Vec<&str> = plan.others[from..].iter().map(|model| model.key.as_str()).collect();
    Some(format!("no figures for {}: {why}; {cure}", names.join(", ")))
}

/// Simulates the further models from a kept trace; see [`KeptTrace::simulate`].
pub(super) fn simulate(plan: &Plan, analysis: &mut Analysis, trace: &Path, cure: &str) -> (usize, Option<String>) {
    let sizes = &analysis.roundings.allocations;
    let sizes = sizes.iter().map(|(&row, &(from, to))| (row, (from.bits() / 8, to.bytes())));
    let narrowed = Arc::new(Narrowed::new(sizes));
    let mut others: Vec<Chosen> = plan.others.iter().map(sim::for_traffic).collect();
    for other in others.iter_mut().filter(|other| other.simulation.narrowed.is_some()) {
        other.simulation.narrowed = Some(Arc::clone(&narrowed));
    }
    let analysed = sim::analyze_each(trace, &others.iter().collect::<Vec<_>>(), plan.threads);
    for (done, other) in analysed.into_iter().enumerate() {
        let other = match other {
            Ok(other) => other,
            Err(failure) => return (done, lost(plan, done, &failure.message, cure)),
        };
        // The same stream was read completely before, so the file must be damaged.
        if let (Finish::Complete, Finish::Damaged(_) | Finish::Unfinished | Finish::Nothing | Finish::OutOfMemory) =
            (&analysis.finish, &other.finish)
        {
            let why = format!("{}: the kept trace cannot be read to its end", trace.display());
            return (done, lost(plan, done, &why, cure));
        }
        analysis.add_model(done + 1, &other);
    }
    (plan.others.len(), None)
}

/// Returns the free space of a folder's file system for unprivileged users.
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    let path = std::ffi::CString::new(folder.as_os_str().as_encoded_bytes()).ok()?;
    // SAFETY: the structure contains only numbers, for which zero is valid.
    let mut there: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path is zero-terminated, and the structure receives the result.
    let answered = unsafe { libc::statvfs(path.as_ptr(), &mut there) } == 0;
    answered.then(|| there.f_bavail.saturating_mul(there.f_frsize))
}

pub(super) fn sizes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}
