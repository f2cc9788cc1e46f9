//! Origin of an access's index, derived from its address expression.

use super::super::prelude::*;
use super::address::{address, is_multiplied_by, terms_of, terms_of_launches};
use super::source::{has_word, line_of, lines_of, subscripts};
use warpline_format::expression::ExpressionKind as Kind;
use warpline_format::expression::Reason;

/// Maximum number of characters of a statement that are shown.
const MOST_LETTERS: usize = 100;

fn is_unknown(kind: Kind) -> bool {
    matches!(kind, Kind::Unknown(..))
}

fn has(access: &Access<'_>, what: fn(Kind) -> bool) -> bool {
    address(access).is_some_and(|address| address.is_in(address.root, what))
}

/// Returns whether the address is the same in each iteration of the innermost loop around the access, as for a sum that
/// is stored in memory.
pub fn stays_in_loop(access: &Access<'_>) -> bool {
    address(access).is_some_and(|address| {
        let changes =
            |innermost| address.is_in(address.root, |kind| is_unknown(kind) || kind == Kind::Counter(innermost));
        address.loops.last().is_some_and(|&innermost| !changes(innermost))
    })
}

/// Returns whether the result of an atomic operation determines the position, as for a slot in a list to which threads
/// append. A result that only selects between positions, such as the success of a compare-and-swap, does not count.
pub fn is_given_by_atomics(access: &Access<'_>) -> bool {
    let is_atomic = |kind: Kind| matches!(kind, Kind::Unknown(Reason::Atomic, _));
    address(access).is_some_and(|address| address.is_made_of(address.root, is_atomic, |_| false))
}

/// Returns whether the next address depends on another load, as in the traversal of a tree or a linked list.
pub fn is_followed(access: &Access<'_>) -> bool {
    match address(access) {
        None => access.has_loaded_index(),
        Some(_) => has(access, is_unknown) && !has(access, |kind| matches!(kind, Kind::Counter(_))),
    }
}

/// Returns whether loaded data or the thread's control flow determines the address, or the address is unknown.
pub fn is_decided_by_data(access: &Access<'_>) -> bool {
    access.kernel.addresses.is_some() && (address(access).is_none() || has(access, is_unknown))
}

/// Returns whether the address contains loaded data.
pub fn is_made_of_data(access: &Access<'_>) -> bool {
    has(access, |kind| matches!(kind, Kind::Unknown(Reason::Loaded, _)))
}

/// Returns whether the address contains the thread index, as far as the address is known.
pub fn is_made_of_thread(access: &Access<'_>) -> bool {
    has(access, |kind| matches!(kind, Kind::Thread(_)))
}

/// Returns whether a loop computes each address from the data at the previous address.
pub fn is_walked(access: &Access<'_>) -> bool {
    has(access, |kind| matches!(kind, Kind::Unknown(Reason::Recurrence, _)))
}

/// Returns whether each thread appends a number of elements that depends on the data to a separate region.
pub fn is_appended(access: &Access<'_>) -> bool {
    access.op == "store" && is_walked(access)
}

/// Returns whether the thread index is multiplied by a value that a loop changes, as in the iterations of a reduction
/// or scan. In that case the distance between neighbouring threads changes as well.
pub fn step_grows(access: &Access<'_>) -> bool {
    is_multiplied_by(access, |kind| matches!(kind, Kind::Counter(_) | Kind::Unknown(Reason::Recurrence, _)))
}

/// Returns whether the thread index is multiplied by a loaded value.
pub fn step_is_loaded(access: &Access<'_>) -> bool {
    is_multiplied_by(access, |kind| matches!(kind, Kind::Unknown(Reason::Loaded, _)))
}

/// Returns whether a loop or the block index moves the address by less than the bytes of a warp, and by a fraction of a
/// sector. No layout aligns all positions of such a sliding window.
pub fn slides(access: &Access<'_>) -> bool {
    let of_warp = 32 * i64::from(access.bytes);
    terms_of_launches(access).iter().any(|term| {
        (term.counts || term.of_block)
            && !(term.loaded || term.of_thread || term.of_grid || term.times_unknown)
            && term.scale < of_warp
            && term.scale % SECTOR_BYTES as i64 != 0
    })
}

/// Returns the number of bytes from the start of a row, or of the data, to the first accessed element, according to the
/// constants in the index.
pub fn border_bytes(access: &Access<'_>) -> i64 {
    terms_of(access).iter().filter_map(|term| term.constant).fold(0, i64::saturating_add)
}

/// Returns whether a term moves the address by rows that may start within a sector, or the address is unknown.
pub fn has_rows(access: &Access<'_>) -> bool {
    let terms = terms_of(access);
    let is_off = |scale: i64| scale % SECTOR_BYTES as i64 != 0;
    terms.is_empty()
        || terms.iter().any(|term| !term.is_fixed && (term.times_unknown || is_off(term.scale) && !term.of_thread))
}

/// Adds the statement that computes the index of neighbouring threads, such as `int i = blockIdx.x * …`, and its line.
pub fn with_its_line(mut draft: Draft, facts: &Facts<'_>, access: &Access<'_>) -> Draft {
    let Some((line, statement)) = made_at(facts, access) else { return draft };
    let file = access.file.rsplit('/').next().unwrap_or_default();
    draft.diagnosis.figures.set("statement", Name(statement));
    draft.diagnosis.figures.set("statement_place", Shown(format!("{file}:{line}")));
    draft.evidence("index_line", line.into())
}

/// Returns the line and the statement of the kernel that compute, from the thread index, an index which the access's
/// line uses. Returns `None` if that line uses the thread index itself, or is in another function.
fn made_at(facts: &Facts<'_>, access: &Access<'_>) -> Option<(u32, String)> {
    let axis = thread_index(lane_axis(access.kernel));
    let lines = lines_of(facts, access.file).filter(|_| access.file == access.kernel.file)?;
    let used = line_of(facts, access).filter(|text| !text.contains("threadIdx"))?;
    let site = facts.profile.sites.iter().find(|one| one.kernel == access.kernel.id && Some(one.id) == access.site)?;
    let variable = access.variable().filter(|_| !is_given_by_atomics(access))?;
    if !site.inlined_at.is_empty() || access.kernel.line > access.line {
        return None;
    }
    let made = |(&line, text): (&u32, &String)| {
        let statement = text.split("//").next()?.split(';').next()?.trim();
        let name = statement.split_once('=')?.0.trim_end();
        let name = name.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
        let is_used = subscripts(used, variable).any(|subscript| has_word(subscript, name));
        (statement.contains(axis) && is_used).then(|| (line, statement.chars().take(MOST_LETTERS).collect()))
    };
    lines.range(access.kernel.line..access.line).rev().find_map(made)
}
