//! Conflicts between warps as rows of the profile.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::frames::Frame;
use super::names;
use super::paths::{Paths, chain_place};
use crate::analysis::{Analysis, space_name};
use crate::races::{self, Scope, Verdict};

/// Two accesses of the same bytes by different warps, at least one of them writing, that nothing orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// `warning`, or `note` for what may be meant or harmless.
    pub severity: String,
    /// `race`; `one_store`: all stores are of one place and may store the same value; `flag`: a constant or a
    /// counter that other blocks read; `maybe_ordered`: atomics or volatile accesses in between may order them.
    pub verdict: String,
    /// `block`: warps of one block between the same barriers; `grid`: warps of different blocks.
    pub scope: String,
    /// `global` or `shared`.
    pub space: String,
    /// Kernel.
    pub kernel: u32,
    /// Launch of the example.
    pub launch: u64,
    /// The example: first the access that writes.
    pub accesses: [ConflictParty; 2],
    /// Allocation that the bytes belong to.
    pub allocation: Option<u64>,
    /// Variable in shared memory, where it is known.
    pub variable: Option<String>,
    /// Bytes from the start of the allocation, or of the block's shared memory.
    pub offset: u64,
    /// Words of four bytes, each as often as it was met.
    pub count: u64,
    /// Host call path of the launch.
    pub path: Vec<Frame>,
}

/// One of the two accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConflictParty {
    /// `load`, `store` or `atomic`.
    pub op: String,
    /// User frame.
    pub frame: Frame,
    /// Number of the site in its module.
    pub site: u32,
    /// Linear block.
    pub block: u64,
    /// Warp in the block.
    pub warp: u32,
}

/// How much was looked at.
pub(super) fn extent(analysis: &Analysis) -> Option<String> {
    let name = match analysis.conflicts.as_ref()?.1 {
        races::RaceCheck::Sampled => "sampled",
        races::RaceCheck::Full => "full",
    };
    Some(name.to_owned())
}

/// One row per pair of lines and memory: the gravest conflict there, with the count of all.
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

fn row(analysis: &Analysis, paths: &mut Paths<'_>, conflict: &races::Conflict) -> Option<Conflict> {
    let kernel = analysis.kernels.get(conflict.kernel as usize)?;
    let module = analysis.modules.get(&kernel.module)?;
    let party = |party: &races::Party| {
        let site = module.table.sites.get(party.site as usize)?;
        Some(ConflictParty {
            op: names::op_name(site.op).to_owned(),
            frame: chain_place(module, &site.chain).user,
            site: party.site,
            block: party.block,
            warp: party.warp,
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
        scope: if conflict.scope == Scope::Block { "block" } else { "grid" }.to_owned(),
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
