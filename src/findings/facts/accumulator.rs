//! Values that a loop stores at one address in every iteration.

use super::super::prelude::*;
use super::super::thresholds::reuse::*;
use super::index;
use warpline_profile::model::Line;

/// Returns whether the loop around a store stores at the same address in every iteration.
pub fn is_stored_in_place(facts: &Facts<'_>, store: &Access<'_>) -> bool {
    store.op == "store"
        && !store.in_library
        && index::stays_in_loop(store)
        && !has_barrier(facts, store)
        && !stores_once(facts, store)
}

/// Returns whether the innermost loop around an access has a barrier, after which another thread may need the value.
/// The barrier is either on a line of the loop, or it is executed as often as the access and its line is between this
/// loop and the next loop, or in another file. Profiles count barriers by line.
pub fn has_barrier(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let count = |row: &Line| row.instructions.get("barrier").map_or(0, |count| count.warps);
    let of_kernel = |row: &&Line| row.kernel == access.kernel.id && count(row) > 0;
    let mut barriers = facts.profile.lines.iter().filter(of_kernel);
    let Some((first, last, next)) = loop_lines(facts, access) else {
        return barriers.any(|row| count(row) >= access.most_requests);
    };
    barriers.any(|row| {
        let is_here = row.file == access.file;
        let is_as_often = count(row) >= access.most_requests;
        is_here && (first..=last).contains(&row.line)
            || is_as_often && (!is_here || row.line > last && next.is_none_or(|next| row.line < next))
    })
}

/// Returns whether warps arrive at the barriers of a line of the access's kernel at least `times` times.
pub fn has_barriers(facts: &Facts<'_>, access: &Access<'_>, times: u64) -> bool {
    let count = |row: &Line| row.instructions.get("barrier").map_or(0, |count| count.warps);
    facts.profile.lines.iter().any(|row| row.kernel == access.kernel.id && count(row) >= times.max(1))
}

/// Returns the line of the head of the innermost loop around an access, the line of the loop's last access, and the
/// line of the head of the next loop.
pub fn loop_lines(facts: &Facts<'_>, access: &Access<'_>) -> Option<(u32, u32, Option<u32>)> {
    let addresses = access.kernel.addresses.as_ref()?;
    let innermost = *addresses.sites.iter().find(|one| Some(one.site) == access.site)?.loops.last()?;
    let first = addresses.loops.get(innermost as usize).map(|one| one.line).filter(|&line| line != 0)?;
    let is_inside = |id: u32| addresses.sites.iter().any(|one| one.site == id && one.loops.contains(&innermost));
    let sites = facts.profile.sites.iter().filter(|site| site.kernel == access.kernel.id && site.file == access.file);
    let last = sites.filter(|site| is_inside(site.id)).map(|site| site.line).max()?;
    let next = addresses.loops.iter().map(|one| one.line).filter(|&line| line > last).min();
    (first <= last).then_some((first, last, next))
}

/// Returns whether few lanes of each request store, and all requests together store each element about once. This
/// happens if a condition lets each thread store in a different iteration.
fn stores_once(facts: &Facts<'_>, store: &Access<'_>) -> bool {
    let touched = facts.memory(store).map_or(0, |one| one.touched_bytes);
    store.sums.lanes <= FEW_STORING_LANES.saturating_mul(store.sums.requests)
        && store.sums.bytes < LEAST_ITERATIONS.saturating_mul(touched)
}

/// Returns a store, together with the loads of the same element on the store's line.
pub fn with_loads<'b, 'a>(facts: &'b Facts<'a>, store: &'b Access<'a>) -> Vec<&'b Access<'a>> {
    let loads = facts.accesses_of(store.kernel.id, "global").filter(|access| {
        access.is_load()
            && (access.file, access.line) == (store.file, store.line)
            && access.allocation == store.allocation
            && access.variable() == store.variable()
    });
    loads.chain([store]).collect()
}
