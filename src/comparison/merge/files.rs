//! Profiles in files, read by several threads, each of which keeps the sum of its share only.

use std::path::PathBuf;

use warpline_format::visible;

use super::{MergeError, Merger};
use warpline_profile::ranks;
use warpline_profile::{MergeReader, Profile, ProfileError, ToMerge};

/// What came of files.
#[derive(Debug)]
pub struct Files {
    /// The whole.
    pub profile: Profile,
    /// Files that could not be read, in order; their figures are missing in it.
    pub unreadable: Vec<ProfileError>,
}

/// Why there is no whole.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// A file cannot be read.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// They do not belong together.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// Puts the profiles of files together. A file that cannot be read is reported in the whole; it is an error where
/// `strict`, or where no other is left.
///
/// # Errors
/// [`FilesError`].
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

/// What a thread has.
struct MergedShare {
    merger: Merger,
    /// There is anything in it.
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
            // A name that was mistyped is not a lost rank.
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
