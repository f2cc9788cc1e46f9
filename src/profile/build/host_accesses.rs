//! Accesses of host code to device memory, as rows of the profile.

use super::rows::Paths;
use crate::model::HostAccess;
use warpline_analyzer::analysis::Analysis;

/// One row per allocation, call path and kind of access.
pub(super) fn rows(analysis: &Analysis, paths: &mut Paths<'_>) -> Vec<HostAccess> {
    let row = |(&(allocation, path, is_store), sum): (&_, &warpline_analyzer::analysis::HostAccessSum)| HostAccess {
        allocation,
        op: if is_store { "store" } else { "load" }.to_owned(),
        offset: sum.offset,
        count: sum.count,
        path: paths.host(path),
    };
    let mut rows: Vec<HostAccess> = Vec::new();
    for row in analysis.host_accesses.places.iter().map(row) {
        match rows.iter_mut().find(|known| known.is_like(&row)) {
            Some(known) => known.add(&row),
            None => rows.push(row),
        }
    }
    HostAccess::sort(&mut rows);
    rows
}
