//! The folder of a dataset.

use std::fs::Permissions;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use tempfile::NamedTempFile;
use warpline_toolchain::interrupt::{self, Removal};

use super::manifest::{self, Head};
use super::run::{Partition, Run};
use super::{encode, tables_of};

/// Reasons why a dataset cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The folder or a file in it cannot be written.
    #[error("{path}: cannot write: {error}")]
    Write {
        /// File or folder.
        path: PathBuf,
        /// Cause.
        error: std::io::Error,
    },
    /// The encoder failed.
    #[error("{path}: cannot write: {error}")]
    Encode {
        /// File.
        path: PathBuf,
        /// Cause.
        error: ParquetError,
    },
    /// The folder contains other files.
    #[error("{0}: the folder is not empty and holds no dataset; give the name of a new folder")]
    Foreign(PathBuf),
    /// The dataset has another version.
    #[error(
        "{path}: the dataset has version {version}, and this warpline writes {}; export to a new folder",
        manifest::VERSION
    )]
    Version {
        /// The dataset's `dataset.json`.
        path: PathBuf,
        /// Version of the dataset.
        version: u32,
    },
    /// `dataset.json` is invalid.
    #[error("{path}: this is not the description of a dataset: {error}; export to a new folder")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Cause.
        error: String,
    },
}

/// The result of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of files.
    pub files: u64,
    /// Number of rows.
    pub rows: u64,
}

/// The folder of a dataset. Several processes may write to it at the same time: each file appears atomically, under a
/// name derived from its contents.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Opens a dataset, or creates one in a new or empty folder.
    ///
    /// # Errors
    /// [`ExportError`]
    pub fn open(root: &Path) -> Result<Folder, ExportError> {
        let failed = |error| ExportError::Write { path: root.to_owned(), error };
        std::fs::create_dir_all(root).map_err(failed)?;
        let path = root.join(manifest::FILE);
        match std::fs::read(&path) {
            Ok(text) => {
                let damaged = |error: String| ExportError::Damaged { path: path.clone(), error };
                let head: Head = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
                if head.schema != manifest::SCHEMA {
                    return Err(damaged("it names another schema".to_owned()));
                }
                if head.version != manifest::VERSION {
                    return Err(ExportError::Version { path, version: head.version });
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // Another process may be creating the same dataset.
                let others = std::fs::read_dir(root).map_err(failed)?.filter_map(Result::ok);
                if others.into_iter().any(|entry| !entry.file_name().as_encoded_bytes().starts_with(b".warpline."))
                    && !path.exists()
                {
                    return Err(ExportError::Foreign(root.to_owned()));
                }
            }
            Err(error) => return Err(ExportError::Write { path, error }),
        }
        // Tables may have new columns since the dataset was created.
        warpline_profile::file::write_bytes(manifest::manifest().as_bytes(), &path)
            .map_err(|error| ExportError::Write { path, error })?;
        Ok(Folder { root: root.to_owned() })
    }

    /// Writes those tables of a run that have rows.
    ///
    /// # Errors
    /// [`ExportError`]
    pub fn add(&self, run: &Run<'_>) -> Result<Exported, ExportError> {
        let mut done = Exported::default();
        for rows in tables_of(run) {
            if rows.count == 0 {
                continue;
            }
            let count = rows.count as u64;
            let mut file = self.begin(rows.table.name, &run.partition())?;
            encode::write(rows, &mut file.out).map_err(|error| file.encode(error))?;
            file.finish(&run.name)?;
            done.files += 1;
            done.rows += count;
        }
        Ok(done)
    }

    /// Starts a file of a table under a temporary name that readers ignore.
    pub(super) fn begin(&self, table: &str, partition: &Partition) -> Result<NewFile, ExportError> {
        let mut folder = self.root.join(table);
        folder.extend(partition.folders());
        let failed = |error| ExportError::Write { path: folder.clone(), error };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let ordinary = Permissions::from_mode(0o666);
        let file =
            tempfile::Builder::new().prefix(".warpline.").suffix(".tmp").permissions(ordinary).tempfile_in(&folder);
        let file = file.map_err(failed)?;
        let removal = interrupt::removes(file.path());
        Ok(NewFile { out: BufWriter::with_capacity(1 << 18, file), _removal: removal, folder })
    }
}

/// A file that is being written. It is deleted unless it is finished.
pub(super) struct NewFile {
    pub(super) out: BufWriter<NamedTempFile>,
    _removal: Removal,
    pub(super) folder: PathBuf,
}

impl NewFile {
    pub(super) fn encode(&self, error: ParquetError) -> ExportError {
        ExportError::Encode { path: self.folder.clone(), error }
    }

    /// Renames the file to its final name, and replaces an existing file with the same contents.
    pub(super) fn finish(mut self, name: &str) -> Result<(), ExportError> {
        let path = self.folder.join(format!("{name}.parquet"));
        let failed = |error| ExportError::Write { path: path.clone(), error };
        self.out.flush().map_err(failed)?;
        let file = self.out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.persist(&path).map_err(|error| failed(error.error)).map(drop)
    }
}
