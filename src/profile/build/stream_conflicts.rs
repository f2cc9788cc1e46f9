//! Builds the profile's rows of conflicts between streams.

use super::rows::{Paths, chain_place, op_name};
use crate::model::{Frame, StreamAccess, StreamConflict};
use warpline_analyzer::analysis::Analysis;
use warpline_analyzer::races::{self, StreamParty};
use warpline_format::event::PathId;

/// Returns one row per pair of source lines and allocation, in descending order of the touched bytes.
pub(super) fn rows(analysis: &Analysis, paths: &mut Paths<'_>) -> Vec<StreamConflict> {
    // Several instructions of a line share the bytes of a pair of launches.
    let mut of_paths: Vec<([PathId; 2], StreamConflict)> = Vec::new();
    for conflict in &analysis.stream_conflicts {
        let Some(row) = row(analysis, paths, conflict) else { continue };
        let called = conflict.parties.map(|party| party.path);
        match of_paths.iter_mut().find(|(known, other)| *known == called && other.is_like(&row)) {
            Some((_, known)) => {
                known.pairs = known.pairs.max(row.pairs);
                known.bytes = known.bytes.saturating_add(row.bytes);
                known.offset = known.offset.min(row.offset);
            }
            None => of_paths.push((called, row)),
        }
    }
    let mut rows: Vec<StreamConflict> = Vec::new();
    for (_, row) in of_paths {
        match rows.iter_mut().find(|known| known.is_like(&row)) {
            Some(known) => known.add(&row),
            None => rows.push(row),
        }
    }
    StreamConflict::sort(&mut rows);
    rows
}

fn row(analysis: &Analysis, paths: &mut Paths<'_>, conflict: &races::StreamConflict) -> Option<StreamConflict> {
    let mut party = |party: &StreamParty| access(analysis, paths, party);
    let [first, second] = &conflict.parties;
    Some(StreamConflict {
        accesses: [party(first)?, party(second)?],
        allocation: conflict.allocation,
        offset: conflict.offset,
        bytes: conflict.bytes,
        pairs: conflict.pairs,
    })
}

fn access(analysis: &Analysis, paths: &mut Paths<'_>, party: &StreamParty) -> Option<StreamAccess> {
    let path = paths.host(party.path);
    let of_call = |op: &str| (op.to_owned(), None, Frame::default());
    let (op, kernel, frame) = match party.access {
        races::StreamAccess::Site { kernel, site } => {
            let module = analysis.modules.get(&analysis.kernels.get(kernel as usize)?.module)?;
            let site = module.table.sites.get(site as usize)?;
            (op_name(site.op).to_owned(), Some(kernel), chain_place(module, &site.chain).user)
        }
        races::StreamAccess::CopyTo => of_call("copy_to"),
        races::StreamAccess::CopyFrom => of_call("copy_from"),
        races::StreamAccess::Fill => of_call("fill"),
        races::StreamAccess::HostLoad => of_call("host_load"),
        races::StreamAccess::HostStore => of_call("host_store"),
    };
    Some(StreamAccess { op, kernel, frame, stream: party.stream, path })
}
