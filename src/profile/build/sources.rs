//! Copies the source lines that a profile refers to into the profile, so that it can be read on any machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use warpline_format::site_table::Digest;
use warpline_format::visible;

use super::rows::Paths;
use crate::model::{Frame, Profile};
use warpline_analyzer::analysis::Analysis;
use warpline_analyzer::named_files;

/// Maximum size of a source file.
const MAX_SOURCE_BYTES: u64 = 64 << 20;
/// Maximum bytes that are read from files named in a trace that may turn out not to be the expected ones.
const MAX_CHECKED_BYTES: u64 = 1 << 30;
/// Maximum length of a line; longer lines are truncated.
const MAX_LINE_CHARACTERS: usize = 400;
/// Text of a comment that suppresses findings.
pub const IGNORE_COMMENT: &str = "warpline: ignore";
/// Text at which a kernel computes its index; findings name the line that an index comes from.
const INDEX: &str = "threadIdx";
/// Maximum number of such lines that are kept per file.
const MOST_INDEX_LINES: usize = 1024;
/// Maximum number of files without lines that are named.
const MOST_NAMED: usize = 8;

/// Specifies which source files may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sources {
    /// All files that the program names: it was just run on this machine, and could have read them itself.
    #[default]
    All,
    /// Only files that match the checksum in the site table or in the debug information, and files below the given
    /// folders. A trace from elsewhere may name any file.
    Fitting {
        /// Folders whose files may be read regardless of their checksums.
        roots: Vec<PathBuf>,
    },
}

/// Sources of the checksums of source files.
pub(super) struct Evidence<'a, 'b> {
    pub(super) allowed: &'b Sources,
    pub(super) analysis: &'a Analysis,
    pub(super) paths: &'b mut Paths<'a>,
}

/// Reasons why a file's lines are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Missing {
    Unreadable,
    NotVouchedFor,
}

/// Decides whether a file is the one from which the program was built.
struct Judge {
    roots: Vec<PathBuf>,
    /// Checksums of each file in the modules; empty if no module has one.
    digests: BTreeMap<String, BTreeSet<Digest>>,
    /// Files without a checksum that are named in the debug information of an object of the run that belongs to the
    /// reader.
    vouched: BTreeSet<String>,
    checked_bytes: u64,
}

impl Judge {
    fn new(evidence: Evidence<'_, '_>, wanted: &BTreeSet<&str>) -> Option<Judge> {
        let Sources::Fitting { roots } = evidence.allowed else { return None };
        let roots = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
        let mut digests: BTreeMap<String, BTreeSet<Digest>> = BTreeMap::new();
        for module in evidence.analysis.modules.values() {
            for (file, digest) in module.table.files.iter().zip(&module.table.digests) {
                if let Some(digest) = digest
                    && wanted.contains(file.path.as_str())
                {
                    digests.entry(file.path.clone()).or_default().insert(*digest);
                }
            }
        }
        let host = evidence.paths.host_sources(wanted);
        for (file, digest) in host.digests {
            digests.entry(file).or_default().insert(digest);
        }
        Some(Judge { roots, digests, vouched: host.vouched, checked_bytes: 0 })
    }

    /// Returns the file's content if it may be shown.
    fn read(&mut self, file: &str) -> Result<Vec<u8>, Missing> {
        let path = Path::new(file);
        let below_root = || path.canonicalize().is_ok_and(|real| self.roots.iter().any(|root| real.starts_with(root)));
        if below_root() {
            return named_files::read(path, MAX_SOURCE_BYTES).map_err(|_| Missing::Unreadable);
        }
        let digests = self.digests.get(file);
        if digests.is_none() && !self.vouched.contains(file) || self.checked_bytes > MAX_CHECKED_BYTES {
            return Err(Missing::NotVouchedFor);
        }
        let bytes = named_files::read(path, MAX_SOURCE_BYTES).map_err(|_| Missing::Unreadable)?;
        self.checked_bytes += bytes.len() as u64;
        let fits = digests.is_none_or(|digests| digests.contains(&md5::compute(&bytes).0));
        if fits { Ok(bytes) } else { Err(Missing::NotVouchedFor) }
    }
}

/// Reads the lines; returns notes on the user's files that are not shown.
pub(super) fn collect(profile: &mut Profile, evidence: Evidence<'_, '_>) -> Vec<String> {
    let mut wanted = Wanted::default();
    wanted.rows(profile);
    wanted.checks(profile);
    let users: BTreeSet<&str> = profile.lines.iter().map(|line| line.file.as_str()).collect();
    let mut judge = Judge::new(evidence, &wanted.0.keys().map(String::as_str).collect());
    let mut missing = BTreeMap::<Missing, Vec<String>>::new();
    let mut sources = BTreeMap::new();
    for (file, lines) in wanted.0 {
        let read = match &mut judge {
            Some(judge) => judge.read(&file),
            None => named_files::read(Path::new(&file), MAX_SOURCE_BYTES).map_err(|_| Missing::Unreadable),
        };
        let is_users = users.contains(file.as_str());
        match read {
            Ok(bytes) => _ = sources.insert(file, kept_lines(&String::from_utf8_lossy(&bytes), &lines, is_users)),
            Err(why) if is_users => missing.entry(why).or_default().push(file),
            Err(_) => {}
        }
    }
    profile.sources = sources;
    missing.into_iter().flat_map(|(why, files)| notes(why, &files)).collect()
}

/// The lines that the profile names, by file.
#[derive(Default)]
struct Wanted(BTreeMap<String, BTreeSet<u32>>);

impl Wanted {
    fn line(&mut self, file: &str, line: u32) {
        if line != 0 && !file.is_empty() {
            self.0.entry(file.to_owned()).or_default().insert(line);
        }
    }

    fn path(&mut self, frames: &[Frame]) {
        for frame in frames {
            self.line(&frame.file, frame.line);
        }
    }

    /// Adds the lines of kernels, accesses, allocations and branches.
    fn rows(&mut self, profile: &Profile) {
        for kernel in &profile.kernels {
            self.line(&kernel.file, kernel.line);
            for launch in &kernel.launches {
                self.path(&launch.path);
            }
            for group in &kernel.launch_groups {
                self.path(&group.path);
            }
        }
        for line in &profile.lines {
            self.line(&line.file, line.line);
        }
        for site in &profile.sites {
            self.line(&site.file, site.line);
            self.line(&site.leaf.file, site.leaf.line);
            self.path(&site.inlined_at);
            for context in &site.contexts {
                self.path(&context.calls);
            }
        }
        for allocation in &profile.allocations {
            self.path(&allocation.path);
            for copy in &allocation.copies {
                self.path(&copy.path);
            }
        }
        for allocation in &profile.host_allocations {
            self.path(&allocation.path);
        }
        for branch in &profile.branches {
            self.line(&branch.file, branch.line);
        }
    }

    /// Adds the lines of what the checks found.
    fn checks(&mut self, profile: &Profile) {
        for fault in &profile.faults {
            self.line(&fault.frame.file, fault.frame.line);
            self.path(&fault.path);
        }
        for row in &profile.access_values {
            self.line(&row.frame.file, row.frame.line);
        }
        profile.compared_results.iter().for_each(|row| self.path(&row.path));
        for row in profile.rounded_allocations.iter().flat_map(|row| &row.writes) {
            self.line(&row.frame.file, row.frame.line);
            self.path(&row.path);
        }
        for row in &profile.float_exceptions {
            self.line(&row.frame.file, row.frame.line);
            self.path(&row.path);
        }
        for origin in &profile.float_origins {
            origin.steps.iter().for_each(|step| self.line(&step.frame.file, step.frame.line));
            self.path(&origin.path);
        }
        for row in &profile.uninitialised {
            self.line(&row.frame.file, row.frame.line);
            self.path(&row.path);
        }
        for conflict in &profile.conflicts {
            conflict.accesses.iter().for_each(|access| self.line(&access.frame.file, access.frame.line));
            self.path(&conflict.path);
        }
        for access in profile.stream_conflicts.iter().flat_map(|conflict| &conflict.accesses) {
            self.line(&access.frame.file, access.frame.line);
            self.path(&access.path);
        }
        for access in &profile.host_accesses {
            self.path(&access.path);
        }
        for call in &profile.failed_calls {
            self.path(&call.path);
        }
        for entry in &profile.not_seen {
            self.line(&entry.file, entry.line);
        }
    }
}

/// Returns the lines of a file that are kept: the wanted ones, comments before them that suppress findings, and, in the
/// user's files, lines that compute indices.
fn kept_lines(text: &str, wanted: &BTreeSet<u32>, is_users: bool) -> BTreeMap<u32, String> {
    let mut kept = BTreeMap::new();
    let mut index_lines = 0;
    for (number, line) in (1u32..).zip(text.lines()) {
        // A comment on its own line may suppress findings of the next line.
        let about_next = || wanted.contains(&(number + 1)) && line.contains(IGNORE_COMMENT);
        let makes_index = is_users && index_lines < MOST_INDEX_LINES && line.contains(INDEX);
        index_lines += usize::from(makes_index);
        if wanted.contains(&number) || makes_index || about_next() {
            let line: String = line.trim_end().chars().take(MAX_LINE_CHARACTERS).collect();
            kept.insert(number, visible::source_line(&line).into_owned());
        }
    }
    kept
}

fn notes(why: Missing, files: &[String]) -> Vec<String> {
    let what = match why {
        Missing::Unreadable => "cannot be read: its lines are not shown",
        Missing::NotVouchedFor => {
            "is not known to be the file that the program was built from: its lines are not shown \
             (--source-root FOLDER shows the files below FOLDER)"
        }
    };
    let mut notes: Vec<String> =
        files.iter().take(MOST_NAMED).map(|file| format!("source file {file} {what}")).collect();
    if files.len() > MOST_NAMED {
        notes.push(format!("the same is true of {} more source files", files.len() - MOST_NAMED));
    }
    notes
}
