//! Merges profiles in files with several threads. Each thread keeps only the sum of its share.

use std::path::PathBuf;

use warpline_format::visible;

use super::{MergeError, Merger};
use warpline_profile::ranks;
use warpline_profile::{MergeReader, Profile, ProfileError, ToMerge};

/// The result of merging files.
#[derive(Debug)]
pub struct Files {
    /// The merged profile.
    pub profile: Profile,
    /// Files that could not be read, in order. Their figures are missing in the profile.
    pub unreadable: Vec<ProfileError>,
}

/// Reasons why files cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// A file cannot be read.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The profiles do not belong together.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// Merges the profiles in files. The merged profile reports files that cannot be read. They cause an error if `strict`
/// is true or if no other file is left.
///
/// # Errors
/// Returns a [`FilesError`].
pub fn of_files(files: &[PathBuf], threads: usize, strict: bool) -> Result<Files, FilesError> {
    let threads = threads.clamp(1, files.len().div_ceil(4).max(1));
    let share = files.len().div_ceil(threads).max(1);
    let parts: Vec<Result<MergedShare, FilesError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = files.chunks(share).map(|files| scope.spawn(move || of_share(files, strict))).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut whole = Merger::new();
    let mut unreadable = Vec::new();
    let several = parts.len() > 1;
    for part in parts {
        let MergedShare { merger, taken, unreadable: of_part } = part?;
        if !several {
            whole = merger;
        } else if taken {
            whole.take(merger.finish()?)?;
        }
        unreadable.extend(of_part);
    }
    for error in &unreadable {
        let name = error.path().file_name().unwrap_or_default().to_string_lossy();
        whole.miss(visible::name(&name).into_owned(), ranks::rank_of(error.path()));
    }
    match whole.finish() {
        Err(MergeError::Nothing) if !unreadable.is_empty() => Err(unreadable.remove(0).into()),
        Err(error) => Err(error.into()),
        Ok(profile) => Ok(Files { profile, unreadable }),
    }
}

/// The result of a thread.
struct MergedShare {
    merger: Merger,
    /// Whether it contains any profile.
    taken: bool,
    unreadable: Vec<ProfileError>,
}

fn of_share(files: &[PathBuf], strict: bool) -> Result<MergedShare, FilesError> {
    let mut part = MergedShare { merger: Merger::new(), taken: false, unreadable: Vec::new() };
    let mut reader = MergeReader::default();
    for file in files {
        let read = match reader.read(file) {
            Ok(ToMerge::Section(profile)) => part.merger.take_rank(profile),
            Ok(ToMerge::Document(profile)) => part.merger.take(*profile),
            // A missing file is probably a mistyped name and not a lost rank.
            Err(error) if strict || !file.exists() => return Err(error.into()),
            Err(error) => {
                part.unreadable.push(error);
                continue;
            }
        };
        read?;
        part.taken = true;
    }
    Ok(part)
}
