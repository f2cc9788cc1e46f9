//! Finds profiles by path or URI, and caches them while their files do not change.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::error::Refusal;
use crate::roots::Roots;
use crate::uri;
use warpline_profile::{self as profile, Profile, file};

/// Maximum number of cached profiles.
const MOST_KEPT: usize = 4;
/// A document takes several times its file size in memory, so a file may have one part in this number of the memory.
const SHARE_OF_MEMORY: u64 = 8;

/// Identifies the version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    path: PathBuf,
    modified: Option<SystemTime>,
    bytes: u64,
}

impl Version {
    fn read(path: &Path) -> Version {
        let metadata = std::fs::metadata(path).ok();
        Version {
            path: path.to_owned(),
            modified: metadata.as_ref().and_then(|metadata| metadata.modified().ok()),
            bytes: metadata.map_or(0, |metadata| metadata.len()),
        }
    }
}

/// The profiles that were read last.
#[derive(Debug)]
pub(crate) struct Profiles {
    kept: Mutex<VecDeque<(Version, Arc<Profile>)>>,
    most_bytes: u64,
}

impl Profiles {
    /// Creates a cache in which each profile may use a part of the memory.
    pub(crate) fn new(memory: u64) -> Profiles {
        Profiles { kept: Mutex::default(), most_bytes: memory / SHARE_OF_MEMORY }
    }

    /// Returns the canonical path of a profile, given by a path or a URI.
    pub(crate) fn path(&self, roots: &Roots, name: &str) -> Result<PathBuf, Refusal> {
        match name.starts_with(uri::PREFIX) {
            false => roots.file(name),
            true => {
                let path = uri::to_path(name);
                let path = path.ok_or_else(|| Refusal::argument("profile", name, "this is not a URI of a profile"))?;
                roots.file(&path)
            }
        }
    }

    /// Reads a profile.
    pub(crate) fn read(&self, roots: &Roots, name: &str) -> Result<Arc<Profile>, Refusal> {
        let path = self.path(roots, name)?;
        let version = Version::read(&path);
        if let Some(found) = self.found(&version) {
            return Ok(found);
        }
        if let Some(bytes) = file::unpacked_bytes(&path)?.filter(|bytes| *bytes > self.most_bytes) {
            return Err(Refusal::TooLarge { path: roots.shown(&path), bytes, most: self.most_bytes });
        }
        let read = Arc::new(profile::read(&path)?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(MOST_KEPT - 1);
        kept.push_front((version, Arc::clone(&read)));
        Ok(read)
    }

    fn found(&self, version: &Version) -> Option<Arc<Profile>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == version).map(|(_, profile)| Arc::clone(profile))
    }
}
