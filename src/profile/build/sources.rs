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
    let mut wanted: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let mut want = |file: &str, line: u32| {
        if line != 0 && !file.is_empty() {
            wanted.entry(file.to_owned()).or_default().insert(line);
        }
    };
    let each = |frames: &[Frame], want: &mut dyn FnMut(&str, u32)| {
        for frame in frames {
            want(&frame.file, frame.line);
        }
    };
    for kernel in &profile.kernels {
        want(&kernel.file, kernel.line);
        for launch in &kernel.launches {
            each(&launch.path, &mut want);
        }
        for group in &kernel.launch_groups {
            each(&group.path, &mut want);
        }
    }
    for line in &profile.lines {
        want(&line.file, line.line);
    }
    for site in &profile.sites {
        want(&site.file, site.line);
        want(&site.leaf.file, site.leaf.line);
        each(&site.inlined_at, &mut want);
        for context in &site.contexts {
            each(&context.calls, &mut want);
        }
    }
    for allocation in &profile.allocations {
        each(&allocation.path, &mut want);
        for copy in &allocation.copies {
            each(&copy.path, &mut want);
        }
    }
    for allocation in &profile.host_allocations {
        each(&allocation.path, &mut want);
    }
    for branch in &profile.branches {
        want(&branch.file, branch.line);
    }
    for fault in &profile.faults {
        want(&fault.frame.file, fault.frame.line);
        each(&fault.path, &mut want);
    }
    for row in &profile.access_values {
        want(&row.frame.file, row.frame.line);
    }
    profile.compared_results.iter().for_each(|row| each(&row.path, &mut want));
    for row in profile.rounded_allocations.iter().flat_map(|row| &row.writes) {
        want(&row.frame.file, row.frame.line);
        each(&row.path, &mut want);
    }
    for row in &profile.float_exceptions {
        want(&row.frame.file, row.frame.line);
        each(&row.path, &mut want);
    }
    for origin in &profile.float_origins {
        origin.steps.iter().for_each(|step| want(&step.frame.file, step.frame.line));
        each(&origin.path, &mut want);
    }
    for row in &profile.uninitialised {
        want(&row.frame.file, row.frame.line);
        each(&row.path, &mut want);
    }
    for conflict in &profile.conflicts {
        conflict.accesses.iter().for_each(|access| want(&access.frame.file, access.frame.line));
        each(&conflict.path, &mut want);
    }
    for access in profile.stream_conflicts.iter().flat_map(|conflict| &conflict.accesses) {
        want(&access.frame.file, access.frame.line);
        each(&access.path, &mut want);
    }
    for access in &profile.host_accesses {
        each(&access.path, &mut want);
    }
    for call in &profile.failed_calls {
        each(&call.path, &mut want);
    }
    for entry in &profile.not_seen {
        want(&entry.file, entry.line);
    }

    let users: BTreeSet<&str> = profile.lines.iter().map(|line| line.file.as_str()).collect();
    let mut judge = Judge::new(evidence, &wanted.keys().map(String::as_str).collect());
    let mut missing = BTreeMap::<Missing, Vec<String>>::new();
    let mut sources = BTreeMap::new();
    for (file, lines) in wanted {
        let read = match &mut judge {
            Some(judge) => judge.read(&file),
            None => named_files::read(Path::new(&file), MAX_SOURCE_BYTES).map_err(|_| Missing::Unreadable),
        };
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(why) => {
                if users.contains(file.as_str()) {
                    missing.entry(why).or_default().push(file);
                }
                continue;
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut kept = BTreeMap::new();
        let mut index_lines = 0;
        for (number, line) in (1u32..).zip(text.lines()) {
            // A comment on its own line may suppress findings of the next line.
            let about_next = || lines.contains(&(number + 1)) && line.contains(IGNORE_COMMENT);
            let makes_index = users.contains(file.as_str()) && index_lines < MOST_INDEX_LINES && line.contains(INDEX);
            index_lines += usize::from(makes_index);
            if lines.contains(&number) || makes_index || about_next() {
                let line: String = line.trim_end().chars().take(MAX_LINE_CHARACTERS).collect();
                kept.insert(number, visible::source_line(&line).into_owned());
            }
        }
        sources.insert(file, kept);
    }
    profile.sources = sources;
    missing.into_iter().flat_map(|(why, files)| notes(why, &files)).collect()
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
