//! A store in a folder.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Blobs, StoreError};
use crate::file::write_bytes;
use warpline_analyzer::named_files;

/// Maximum depth of folders below a prefix. Deeper folders do not belong to the store.
const MAX_DEPTH: usize = 3;

/// Storage in a folder; its files are the keys.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Returns the storage in `root`, which need not exist yet.
    pub fn new(root: &Path) -> Folder {
        Folder { root: root.to_owned() }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.root.join(key)
    }

    fn failed(&self, what: &'static str, path: &Path) -> impl Fn(std::io::Error) -> StoreError {
        let place = path.display().to_string();
        move |error| StoreError::Io { place: place.clone(), what, error }
    }

    fn add(&self, folder: &Path, prefix: &str, depth: usize, keys: &mut Vec<String>) -> Result<(), StoreError> {
        let failed = self.failed("list", folder);
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(&failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(&failed)?;
            // Files with other names do not belong to the store.
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            if name.starts_with('.') {
                continue;
            }
            let key = format!("{prefix}/{name}");
            match entry.file_type().map_err(&failed)? {
                kind if kind.is_dir() && depth < MAX_DEPTH => self.add(&entry.path(), &key, depth + 1, keys)?,
                kind if kind.is_file() => keys.push(key),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Blobs for Folder {
    fn read(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(key);
        match named_files::read(&path, most) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("read", &path)(error)),
        }
    }

    fn write(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path(key);
        let failed = self.failed("write", &path);
        let folder = path.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(folder).map_err(&failed)?;
        write_bytes(bytes, &path).map_err(&failed)?;
        // A record must not survive a crash of the machine without its profile, so the folder is synchronised.
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(&failed)
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let mut keys = Vec::new();
        self.add(&self.path(prefix), prefix, 1, &mut keys)?;
        keys.sort_unstable();
        Ok(keys)
    }

    fn is_empty(&self) -> Result<bool, StoreError> {
        match std::fs::read_dir(&self.root) {
            // Another writer may be creating its first file.
            Ok(mut entries) => Ok(entries.all(|entry| {
                let name = entry.map(|entry| entry.file_name()).unwrap_or_default();
                name.to_string_lossy().starts_with(".warpline.")
            })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
            Err(error) => Err(self.failed("list", &self.root)(error)),
        }
    }

    fn place(&self, key: &str) -> String {
        self.path(key).display().to_string()
    }
}
