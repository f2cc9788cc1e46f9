//! Offers the profiles in the server's folders as resources.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

use crate::error::Refusal;
use crate::tools::Shared;
use crate::uri;
use warpline_report as report;

/// Maximum depth of folders that are searched below each root.
const MOST_DEPTH: usize = 4;
/// Maximum number of folder entries that are inspected.
const MOST_ENTRIES: usize = 20_000;
/// Number of resources per page.
const PAGE: usize = 50;

/// Returns a page of the profiles, the latest first, and the cursor of the next page.
pub(crate) fn list(shared: &Shared, cursor: Option<&str>) -> Result<(Vec<Resource>, Option<String>), Refusal> {
    let start = cursor.map(|cursor| cursor.parse::<usize>().map_err(|_| Refusal::Cursor)).transpose()?.unwrap_or(0);
    let found = found(shared);
    let page = found.iter().skip(start).take(PAGE).map(|file| {
        let shown = shared.roots.shown(&file.path);
        let resource = Resource::new(uri::of_path(&shown), shown);
        resource.with_description("Brief of a Warpline profile").with_mime_type("application/json")
    });
    let next = start.saturating_add(PAGE);
    Ok((page.collect(), (next < found.len()).then(|| next.to_string())))
}

/// Returns the template of the URIs.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{}{{+path}}", uri::PREFIX), "profile")
        .with_description("Brief of the Warpline profile at a path inside the folders of the server")
        .with_mime_type("application/json")
}

/// Returns the brief of a profile, as `warpline report --format brief-json` prints it.
pub(crate) fn read(shared: &Shared, uri: &str) -> Result<ResourceContents, Refusal> {
    if !uri.starts_with(uri::PREFIX) {
        return Err(Refusal::argument("uri", uri, format!("URIs of profiles start with {}", uri::PREFIX)));
    }
    let profile = shared.profiles.read(&shared.roots, uri)?;
    Ok(ResourceContents::text(report::brief_json(&profile), uri).with_mime_type("application/json"))
}

/// A profile in a folder.
struct ProfileFile {
    path: PathBuf,
    modified: Option<SystemTime>,
}

/// Returns the profiles in the folders. Symbolic links are not followed.
fn found(shared: &Shared) -> Vec<ProfileFile> {
    let (mut all, mut left) = (Vec::new(), MOST_ENTRIES);
    for root in shared.roots.all() {
        search(root, MOST_DEPTH, &mut left, &mut all);
    }
    all.sort_by(|one, other| (other.modified, &one.path).cmp(&(one.modified, &other.path)));
    all.dedup_by(|one, other| one.path == other.path);
    all
}

fn search(folder: &Path, depth: usize, left: &mut usize, all: &mut Vec<ProfileFile>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && depth > 0 {
            search(&path, depth - 1, left, all);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "wlprof") {
            let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
            all.push(ProfileFile { path, modified });
        }
    }
}
