//! Conflicts between threads as rows of the profile.

use std::collections::BTreeMap;

use super::rows::{Paths, chain_place, op_name};
use crate::model::{Conflict, ConflictParty, ConflictUpdate, Fault};
use warpline_analyzer::analysis::{Analysis, space_name};
use warpline_analyzer::races::{self, Scope, Verdict};
use warpline_format::conflict::Update;

/// Returns the extent of the check for conflicts.
pub(super) fn extent(analysis: &Analysis) -> Option<String> {
    let name = match analysis.conflicts.as_ref()?.1 {
        races::RaceCheck::Sampled => "sampled",
        races::RaceCheck::Full => "full",
    };
    Some(name.to_owned())
}

/// Returns one row per pair of source lines and memory: the most severe conflict, with the total count.
pub(super) fn rows(analysis: &Analysis, paths: &mut Paths<'_>) -> Vec<Conflict> {
    let Some((conflicts, _)) = &analysis.conflicts else { return Vec::new() };
    let mut ordered: Vec<&races::Conflict> = conflicts.iter().collect();
    ordered.sort_by_key(|conflict| conflict.verdict);
    let mut places = BTreeMap::new();
    let mut rows: Vec<Conflict> = Vec::new();
    for conflict in ordered {
        let Some(row) = row(analysis, paths, conflict) else { continue };
        let mut lines = row.accesses.each_ref().map(|access| (access.frame.file.clone(), access.frame.line));
        lines.sort();
        let key = (row.kernel, lines, row.scope.clone(), row.allocation, row.variable.clone());
        match places.get(&key) {
            Some(&known) => {
                let known: &mut Conflict = &mut rows[known];
                known.count = known.count.saturating_add(row.count);
            }
            None => {
                places.insert(key, rows.len());
                rows.push(row);
            }
        }
    }
    rows
}

/// Returns whether one of the accesses reached the memory only through an out-of-bounds address of another allocation.
/// Such an access is reported as a fault.
pub(super) fn is_by_fault(conflict: &Conflict, faults: &[Fault]) -> bool {
    conflict.accesses.iter().any(|party| {
        faults.iter().any(|fault| {
            (fault.kernel, &fault.frame, &fault.op) == (Some(conflict.kernel), &party.frame, &party.op)
                && fault.allocation != conflict.allocation
        })
    })
}

fn row(analysis: &Analysis, paths: &mut Paths<'_>, conflict: &races::Conflict) -> Option<Conflict> {
    let kernel = analysis.kernels.get(conflict.kernel as usize)?;
    let module = analysis.modules.get(&kernel.module)?;
    let party = |party: &races::Party| {
        let site = module.table.sites.get(party.site as usize)?;
        let hint = module.table.conflict_hint(party.site);
        let line_of = |site: Option<u32>| {
            let site = site.and_then(|site| module.table.sites.get(site as usize));
            site.map_or(0, |site| chain_place(module, &site.chain).user.line)
        };
        Some(ConflictParty {
            op: op_name(site.op).to_owned(),
            frame: chain_place(module, &site.chain).user,
            site: party.site,
            block: party.block,
            warp: party.warp,
            update: update_name(hint.update)
                .map(|by| ConflictUpdate { by: by.to_owned(), line: line_of(hint.loaded_by) }),
            block_scope: hint.block_scope,
        })
    };
    let [first, second] = &conflict.parties;
    let named = |party: &races::Party| module.table.hint(party.site).shared;
    let variable = named(first).or_else(|| named(second)).and_then(|name| module.table.shared.get(name as usize));
    let verdict = match conflict.verdict {
        Verdict::Race => "race",
        Verdict::OneStore => "one_store",
        Verdict::Flag => "flag",
        Verdict::MaybeOrdered => "maybe_ordered",
    };
    Some(Conflict {
        severity: if conflict.verdict == Verdict::Race { "warning" } else { "note" }.to_owned(),
        verdict: verdict.to_owned(),
        scope: scope_name(conflict.scope).to_owned(),
        space: space_name(conflict.space).to_owned(),
        kernel: conflict.kernel,
        launch: conflict.launch,
        accesses: [party(first)?, party(second)?],
        allocation: conflict.allocation,
        variable: variable.cloned(),
        offset: conflict.offset,
        count: conflict.count,
        path: paths.host(conflict.path),
    })
}

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Warp => "warp",
        Scope::Block => "block",
        Scope::Grid => "grid",
    }
}

fn update_name(update: Update) -> Option<&'static str> {
    match update {
        Update::No => None,
        Update::Value => Some("value"),
        Update::Condition => Some("condition"),
    }
}
