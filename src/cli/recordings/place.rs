//! The location of the store of recordings.

use std::collections::BTreeSet;
use std::path::Path;

use super::repository::Repository;
use crate::cli::args::StoreArguments;
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_comparison::history::in_order;
use warpline_profile::store::{Listing, Recorded, Store, StoreError};

/// Environment variable that names the store.
const VARIABLE: &str = "WARPLINE_STORE";
/// The default location of the store.
const DEFAULT: &str = ".warpline";

/// Opens the store named in the arguments or the environment.
pub(super) fn open(arguments: &StoreArguments, create: bool) -> Result<Store, Failure> {
    let variable = std::env::var(VARIABLE).ok().filter(|place| !place.is_empty());
    let place = arguments.store.clone().or(variable).unwrap_or_else(|| DEFAULT.to_owned());
    let opened =
        if place.contains("://") { remote(&place, create) } else { Store::in_folder(Path::new(&place), create) };
    opened.map_err(failure)
}

#[cfg(feature = "object-store")]
fn remote(address: &str, create: bool) -> Result<Store, StoreError> {
    Store::open(Box::new(warpline_profile::store::Remote::at(address)?), create)
}

#[cfg(not(feature = "object-store"))]
fn remote(address: &str, _: bool) -> Result<Store, StoreError> {
    Err(StoreError::Unfit(format!(
        "{address}: this build of warpline supports folders only: give --store a folder, or build warpline with \
         --features object-store"
    )))
}

/// Converts a store's error to a failure with an exit code.
pub(super) fn failure(error: StoreError) -> Failure {
    let code = match error {
        StoreError::Unfit(_) | StoreError::NotAStore { .. } => exit_code::USAGE,
        StoreError::Io { what: "write", .. } => exit_code::UNEXPECTED,
        _ => exit_code::UNREADABLE,
    };
    Failure::new(code, error)
}

/// Returns the records of a listing, oldest first, and reports files that cannot be read.
pub(super) fn ordered(listing: Listing, repository: Option<&Repository>) -> Vec<Recorded> {
    for problem in &listing.problems {
        output::say(format_args!("note: {}: {}", problem.place, problem.what));
    }
    let commits: BTreeSet<&str> =
        listing.records.iter().filter_map(|recorded| recorded.record.commit.as_deref()).collect();
    let known = repository.map(|repository| repository.in_order(&commits)).unwrap_or_default();
    in_order(listing.records.clone(), &known)
}
