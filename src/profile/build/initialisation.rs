//! Builds the profile's rows of uninitialised reads and copies.

use super::rows::{Paths, chain_place, op_name};
use crate::model::Uninitialised;
use warpline_analyzer::analysis::{Analysis, CopiedSum, ReadKey, ReadSum};

/// Returns all rows, by source position and memory.
pub(super) fn rows(analysis: &Analysis, paths: &mut Paths<'_>) -> Vec<Uninitialised> {
    let all = &analysis.initialisation;
    let mut rows: Vec<Uninitialised> = Vec::new();
    for row in all.reads.iter().filter_map(|(key, sum)| read(analysis, paths, key, sum)) {
        // Several accesses at one source position, such as those of an unrolled loop, are combined.
        match rows.iter_mut().find(|known| known.is_like(&row)) {
            Some(known) => known.add(&row),
            None => rows.push(row),
        }
    }
    rows.extend(all.copies.iter().map(|(&(allocation, _), sum)| copy(paths, allocation, sum)));
    Uninitialised::sort(&mut rows);
    rows
}

fn read(analysis: &Analysis, paths: &mut Paths<'_>, key: &ReadKey, sum: &ReadSum) -> Option<Uninitialised> {
    let kernel = analysis.kernels.get(key.kernel as usize)?;
    let module = analysis.modules.get(&kernel.module)?;
    let site = module.table.sites.get(key.site as usize)?;
    let variable = module.table.hint(key.site).shared.filter(|_| key.allocation.is_none());
    let ReadSum { first, path, earlier } = sum;
    Some(Uninitialised {
        kind: "read".to_owned(),
        partial: key.partial,
        kernel: Some(key.kernel),
        launch: Some(first.launch),
        frame: chain_place(module, &site.chain).user,
        op: op_name(site.op).to_owned(),
        bytes: site.bytes,
        space: if key.allocation.is_some() { "global" } else { "shared" }.to_owned(),
        variable: variable.and_then(|name| module.table.shared.get(name as usize)).cloned(),
        allocation: key.allocation,
        earlier: *earlier,
        offset: first.offset,
        written: first.written,
        count: first.requests,
        lanes: first.lanes,
        block: first.block,
        thread: first.thread,
        path: paths.host(*path),
        ..Uninitialised::default()
    })
}

fn copy(paths: &mut Paths<'_>, allocation: u64, sum: &CopiedSum) -> Uninitialised {
    let first = &sum.first;
    Uninitialised {
        kind: "copy".to_owned(),
        partial: first.in_long_runs == 0,
        space: "global".to_owned(),
        allocation: Some(allocation),
        earlier: sum.earlier,
        offset: first.offset,
        count: sum.copies,
        copied_uninitialised: first.bytes,
        copied: first.copied,
        path: paths.host(first.path),
        ..Uninitialised::default()
    }
}
