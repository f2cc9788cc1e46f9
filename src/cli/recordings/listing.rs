//! `warpline history` without a figure: lists recordings, and writes their profiles to files.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cli::args::{HistoryArguments, HistoryFormat};
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_comparison::history::listing;
use warpline_profile::file;
use warpline_profile::store::{Digest, Recorded, Store, StoreError};
use warpline_report as report;

/// Lists recordings, which must be sorted.
pub(super) fn execute(arguments: &HistoryArguments, store: &Store, records: &[Recorded]) -> Result<u8, Failure> {
    let mut files = BTreeMap::new();
    if let Some(folder) = &arguments.profiles {
        files = write(store, records, folder)?;
    }
    let listing = listing(records, |recorded| files.get(&recorded.id).cloned());
    let text = match arguments.format {
        HistoryFormat::Text => report::listing_text(&listing),
        HistoryFormat::Csv => report::listing_csv(&listing),
        HistoryFormat::Json => report::listing_json(&listing),
        HistoryFormat::Svg | HistoryFormat::Html => {
            let message =
                "a picture needs a KERNEL (or @program) and a METRIC; a list has the format text, csv or json";
            return Err(Failure::new(exit_code::USAGE, message.to_owned()));
        }
    };
    output::write(text.as_bytes(), arguments.output.as_deref())?;
    let unreadable = arguments.profiles.is_some() && files.len() < records.len();
    Ok(if unreadable { exit_code::PARTIAL } else { exit_code::OK })
}

/// Writes the profiles, each under the name of its record; returns the file names by record. Existing files are not
/// changed, because other processes may be reading them.
fn write(store: &Store, records: &[Recorded], folder: &Path) -> Result<BTreeMap<Digest, String>, Failure> {
    let unwritable = |path: &Path, error: std::io::Error| {
        Failure::new(exit_code::UNEXPECTED, format!("{}: cannot write: {error}", path.display()))
    };
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
    let mut files = BTreeMap::new();
    for recorded in records {
        let profile = match store.profile(&recorded.record) {
            Ok(profile) => profile,
            Err(error @ (StoreError::Damaged { .. } | StoreError::Missing { .. })) => {
                output::say(format_args!("note: {error}"));
                continue;
            }
            Err(error) => return Err(super::place::failure(error)),
        };
        let path = folder.join(format!("{}.wlprof", recorded.id));
        let bytes = file::to_bytes(&profile);
        if std::fs::read(&path).ok().as_ref() != Some(&bytes) {
            file::write_bytes(&bytes, &path).map_err(|error| unwritable(&path, error))?;
        }
        files.insert(recorded.id, path.to_string_lossy().into_owned());
    }
    Ok(files)
}
