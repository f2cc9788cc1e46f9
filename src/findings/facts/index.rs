//! How an access's index comes about, by its address expression.

use warpline_format::expression::{AddressExpression, Binary, Expression, ExpressionId, ExpressionKind, Reason, parts};

use super::super::diagnosis::{Name, Shown};
use super::super::draft::Draft;
use super::access::Access;
use super::profile::{Facts, block_of, has_word, lane_axis, thread_index};
use super::terms::{Term, apart, terms_of, terms_of_launches};
use warpline_simulator::geometry::SECTOR_BYTES;

/// Expressions of a kernel and the address of one of its accesses there.
pub(in super::super) fn address<'a>(access: &Access<'a>) -> Option<(&'a [Expression], ExpressionId)> {
    let addresses = access.kernel.addresses.as_ref()?;
    let site = addresses.sites.iter().find(|one| Some(one.site) == access.site)?;
    Some((&addresses.expressions[..], site.address))
}

/// The terms of an address without its numbers, with their factors, and the sum of the numbers.
pub(in super::super) type Place = (Vec<(ExpressionId, i64)>, i64);

/// An access's address as what elements a fixed distance apart have in common, and its distance from there.
pub(in super::super) fn place(access: &Access<'_>) -> Option<Place> {
    address(access).map(|(expressions, root)| apart(expressions, root))
}

/// Whether the address is the same in each iteration of the innermost loop around the access, as that of a sum which is kept in memory.
pub(in super::super) fn stays_in_loop(access: &Access<'_>) -> bool {
    let Some(addresses) = &access.kernel.addresses else { return false };
    let site = addresses.sites.iter().find(|one| Some(one.site) == access.site);
    site.is_some_and(|site| stays(&addresses.expressions, site))
}

/// The same of one address.
pub(in super::super) fn stays(expressions: &[Expression], address: &AddressExpression) -> bool {
    let Some(&innermost) = address.loops.last() else { return false };
    let changes = |(_, kind)| match kind {
        ExpressionKind::Counter(counter) => counter == innermost,
        kind => matches!(kind, ExpressionKind::Unknown(..)),
    };
    !parts(expressions, [address.address]).any(changes)
}

/// Whether an atomic operation gave the place, as of an entry in a list that threads append to: the order is that in which they come. What only
/// chooses between places, as whether a compare-and-swap got its slot, gives none.
pub(in super::super) fn is_given_by_atomics(access: &Access<'_>) -> bool {
    address(access).is_some_and(|(expressions, root)| is_made_of_atomics(expressions, root))
}

/// Whether what an atomic operation returns is a part of the value, beyond what decides between others.
fn is_made_of_atomics(expressions: &[Expression], root: ExpressionId) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        let Some(one) = expressions.get(id as usize).filter(|_| seen.insert(id)) else { continue };
        match one.kind {
            ExpressionKind::Unknown(Reason::Atomic, _) => return true,
            ExpressionKind::Compare(..) => {}
            ExpressionKind::Choice(_, one, other) => open.extend([one, other]),
            kind => open.extend(kind.operands()),
        }
    }
    false
}

/// Letters of a statement that are shown.
const MOST_LETTERS: usize = 100;

/// Adds the statement that computes the index of neighbouring threads, `int i = blockIdx.x * …`, and its place.
pub(in super::super) fn with_its_line(mut draft: Draft, facts: &Facts<'_>, access: &Access<'_>) -> Draft {
    let Some((line, statement)) = made_at(facts, access) else { return draft };
    let file = access.file.rsplit('/').next().unwrap_or_default();
    draft.diagnosis.figures.set("statement", Name(statement));
    draft.diagnosis.figures.set("statement_place", Shown(format!("{file}:{line}")));
    draft.evidence("index_line", line.into())
}

/// Line and statement of the kernel that make an index of the thread's number which the access's line uses; `None` where that line has
/// the thread's number itself, or is in another function.
fn made_at(facts: &Facts<'_>, access: &Access<'_>) -> Option<(u32, String)> {
    let axis = thread_index(lane_axis(access.kernel));
    let lines = facts.profile.sources.get(access.file).filter(|_| access.file == access.kernel.file)?;
    let site = facts.profile.sites.iter().find(|one| one.kernel == access.kernel.id && Some(one.id) == access.site)?;
    let used = lines.get(&access.line).filter(|text| !text.contains("threadIdx"))?;
    if !site.inlined_at.is_empty() || access.kernel.line > access.line {
        return None;
    }
    let variable = access.variable().filter(|_| !is_given_by_atomics(access))?;
    let mut before = lines.range(access.kernel.line..access.line).rev();
    let made = |(&line, text): (&u32, &String)| {
        let statement = statement(text);
        let name =
            statement.split_once('=')?.0.trim_end().rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
        let is_used = subscripts(used, variable).any(|subscript| has_word(subscript, name));
        (statement.contains(axis) && is_used).then(|| (line, statement.to_owned()))
    };
    let (line, statement) = before.find_map(made)?;
    Some((line, statement.chars().take(MOST_LETTERS).collect()))
}

/// The first statement of a line, without its comment.
fn statement(text: &str) -> &str {
    let text = text.split("//").next().unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim()
}

/// Whether the next address is not known before something else is loaded, as on the way through a tree or a linked list, and no loop
/// goes from element to element.
pub(in super::super) fn is_followed(access: &Access<'_>) -> bool {
    let Some((expressions, root)) = address(access) else {
        return access.operand.is_some_and(|operand| operand.loaded_index);
    };
    let has = |what: fn(ExpressionKind) -> bool| parts(expressions, [root]).any(|(_, kind)| what(kind));
    has(|kind| matches!(kind, ExpressionKind::Unknown(..))) && !has(|kind| matches!(kind, ExpressionKind::Counter(_)))
}

/// Whether data that the kernel loads, or the way that a thread took, decides over the address; also where nobody knows.
pub(in super::super) fn is_decided_by_data(access: &Access<'_>) -> bool {
    access.kernel.addresses.is_some() && {
        let is_unknown = |(_, kind)| matches!(kind, ExpressionKind::Unknown(..));
        address(access).is_none_or(|(expressions, root)| parts(expressions, [root]).any(is_unknown))
    }
}

/// Whether loaded data is a part of the address.
pub(in super::super) fn is_made_of_data(access: &Access<'_>) -> bool {
    let is_loaded = |(_, kind)| matches!(kind, ExpressionKind::Unknown(Reason::Loaded, _));
    address(access).is_some_and(|(expressions, root)| parts(expressions, [root]).any(is_loaded))
}

/// What of an address is not known before the kernel runs, in words, and the line that it comes from: of several the one that moves it furthest, as the row.
pub(in super::super) fn unknown_part(access: &Access<'_>) -> Option<(&'static str, u32)> {
    let terms = terms_of(access);
    let unknown = terms.iter().filter_map(|term| Some(((term.times_unknown, term.scale), term.unknown?)));
    // Of equals the first one.
    let furthest = unknown.rev().max_by_key(|(moves, _)| *moves);
    furthest.map(|(_, (reason, line))| (reason.text(), line))
}

/// Whether a remainder of what the thread's number is a part of goes into the address, as where one number counts through several dimensions.
pub(in super::super) fn is_split(access: &Access<'_>) -> bool {
    let Some((expressions, root)) = address(access) else { return false };
    let has_thread = |id| parts(expressions, [id]).any(|(_, kind)| matches!(kind, ExpressionKind::Thread(_)));
    parts(expressions, [root]).any(|(_, kind)| {
        matches!(kind, ExpressionKind::Binary(Binary::SignedRemainder | Binary::UnsignedRemainder, of, _) if has_thread(of))
    })
}

/// Whether the thread's number is a part of the address, as far as that is known.
pub(in super::super) fn is_made_of_thread(access: &Access<'_>) -> bool {
    let is_thread = |(_, kind)| matches!(kind, ExpressionKind::Thread(_));
    address(access).is_some_and(|(expressions, root)| parts(expressions, [root]).any(is_thread))
}

/// Whether each thread appends to a part of its own, as many elements as the data says.
pub(in super::super) fn is_appended(access: &Access<'_>) -> bool {
    access.op == "store" && is_walked(access)
}

/// Whether a loop goes from place to place by what it finds.
pub(in super::super) fn is_walked(access: &Access<'_>) -> bool {
    let moves_on = |(_, kind)| matches!(kind, ExpressionKind::Unknown(Reason::Recurrence, _));
    address(access).is_some_and(|(expressions, root)| parts(expressions, [root]).any(moves_on))
}

/// Whether the thread's number is multiplied by what a loop changes, as in the steps of a reduction or a scan: then what lies between neighbouring
/// threads changes, too.
pub(in super::super) fn step_grows(access: &Access<'_>) -> bool {
    is_multiplied_by(access, |kind| {
        matches!(kind, ExpressionKind::Counter(_) | ExpressionKind::Unknown(Reason::Recurrence, _))
    })
}

/// Whether it is multiplied by what the kernel loads.
pub(in super::super) fn step_is_loaded(access: &Access<'_>) -> bool {
    is_multiplied_by(access, |kind| matches!(kind, ExpressionKind::Unknown(Reason::Loaded, _)))
}

/// Whether the number of the thread is multiplied by such a value, or shifted by it.
fn is_multiplied_by(access: &Access<'_>, what: fn(ExpressionKind) -> bool) -> bool {
    let Some((expressions, root)) = address(access) else { return false };
    let axis = lane_axis(access.kernel) as u8;
    let of_thread = |id| parts(expressions, [id]).any(|(_, kind)| kind == ExpressionKind::Thread(axis));
    let has = |id| parts(expressions, [id]).any(|(_, kind)| what(kind));
    parts(expressions, [root]).any(|(_, kind)| match kind {
        ExpressionKind::Binary(Binary::Product, left, right) => {
            of_thread(left) && has(right) || of_thread(right) && has(left)
        }
        ExpressionKind::Binary(Binary::ShiftLeft, of, by) => of_thread(of) && has(by),
        _ => false,
    })
}

/// Whether blocks take another number of elements than they have threads, as where they share a border: the block's number is
/// multiplied by what is computed. That of another dimension than the threads' counts rows.
pub(in super::super) fn has_shares_of_blocks(access: &Access<'_>) -> bool {
    let Some((expressions, root)) = address(access) else { return false };
    let axis = lane_axis(access.kernel) as u8;
    let kind = |id: ExpressionId| expressions.get(id as usize).map(|one| one.kind);
    let is_block = |id: ExpressionId| kind(id) == Some(ExpressionKind::Block(axis));
    let is_computed = |id: ExpressionId| {
        let of_parameter = |(_, kind)| matches!(kind, ExpressionKind::Parameter { .. });
        matches!(kind(id), Some(ExpressionKind::Binary(Binary::Sum | Binary::Difference, ..)))
            && parts(expressions, [id]).any(of_parameter)
    };
    parts(expressions, [root]).any(|(_, kind)| match kind {
        ExpressionKind::Binary(Binary::Product, left, right) => {
            is_block(left) && is_computed(right) || is_block(right) && is_computed(left)
        }
        _ => false,
    })
}

/// Whether each block begins where the threads of the block before it have ended: its number is multiplied by the block's size, and nothing else
/// moves the address by less than whole sectors.
pub(in super::super) fn blocks_follow_each_other(access: &Access<'_>) -> bool {
    let Some(block) = block_of(access.kernel) else { return false };
    let bytes = i64::from(access.bytes);
    let by_block = |term: &Term| {
        term.of_block && term.scale == if term.times_block_size { bytes } else { bytes * i64::from(block[0]) }
    };
    let is_whole = |term: &Term| !term.times_unknown && term.scale % SECTOR_BYTES as i64 == 0;
    let terms = terms_of(access);
    let (blocks, others): (Vec<&Term>, Vec<&Term>) =
        terms.iter().filter(|term| !term.of_thread && !term.is_fixed).partition(|term| term.of_block);
    matches!(blocks[..], [one] if by_block(one))
        && others.into_iter().all(|term| is_whole(term) || term.counts && term.of_grid)
}

/// Whether a loop moves the address by less than what a warp takes, and not by whole sectors: a window that slides, of which no layout aligns all
/// places.
pub(in super::super) fn slides(access: &Access<'_>) -> bool {
    let of_warp = 32 * i64::from(access.bytes);
    terms_of_launches(access).iter().any(|term| {
        term.counts
            && !(term.loaded || term.of_thread || term.of_grid || term.times_unknown)
            && term.scale < of_warp
            && term.scale % SECTOR_BYTES as i64 != 0
    })
}

/// Elements that a block's number is multiplied by, where nothing else moves the address by parts of sectors.
pub(in super::super) fn share_of_blocks(access: &Access<'_>) -> Option<u64> {
    let terms = terms_of_launches(access);
    let off: Vec<&Term> = terms
        .iter()
        .filter(|term| {
            !(term.is_fixed || term.of_thread)
                && (term.times_unknown || term.loaded || term.scale % SECTOR_BYTES as i64 != 0)
        })
        .collect();
    let [share] = off[..] else { return None };
    let is_known = share.of_block && !(share.times_unknown || share.loaded || share.counts || share.of_grid);
    is_known.then_some(share.scale.unsigned_abs() / u64::from(access.bytes.max(1)))
}

/// Bytes from the begin of a row, or of the data, to the first element that the threads take, by the numbers in the index.
pub(in super::super) fn border_bytes(access: &Access<'_>) -> i64 {
    terms_of(access).iter().filter_map(|term| term.constant).fold(0, i64::saturating_add)
}

/// Whether something moves the address by rows that may begin within a sector; also where nobody knows how it is made.
pub(in super::super) fn has_rows(access: &Access<'_>) -> bool {
    let terms = terms_of(access);
    let row = |term: &Term| {
        !term.is_fixed && (term.times_unknown || term.scale % SECTOR_BYTES as i64 != 0 && !term.of_thread)
    };
    terms.is_empty() || terms.iter().any(row)
}

/// What stands in the brackets behind a variable's name, wherever a line has it.
pub(in super::super) fn subscripts<'a>(text: &'a str, variable: &'a str) -> impl Iterator<Item = &'a str> {
    let behind = text.match_indices(variable).map(move |(at, _)| &text[at + variable.len()..]);
    behind.filter_map(|rest| {
        let mut open = 0i32;
        let end = rest.char_indices().find(|&(_, letter)| {
            open += i32::from(letter == '[') - i32::from(letter == ']');
            open == 0
        });
        end.filter(|&(at, _)| at > 0).map(|(at, _)| &rest[..at])
    })
}

#[cfg(test)]
mod tests {
    use warpline_format::expression::Comparison;
    use warpline_format::expression::ExpressionKind::{Choice, Compare, Constant, Thread};

    use super::*;

    fn of(operation: Binary, left: ExpressionId, right: ExpressionId) -> ExpressionKind {
        ExpressionKind::Binary(operation, left, right)
    }

    #[test]
    fn subscripts_are_those_of_the_variable() {
        let all = |text, variable| subscripts(text, variable).collect::<Vec<_>>();
        assert_eq!(all("list[place] = values[i] + values[next[i] + 1];", "values"), ["[i", "[next[i] + 1"]);
        assert_eq!(all("*values = list[i]; values[", "values"), <[&str; 0]>::default());
    }

    #[test]
    fn what_an_atomic_operation_decides_is_no_place_that_it_gives() {
        let made = |kinds: &[ExpressionKind]| {
            let all: Vec<Expression> = kinds.iter().map(|&kind| Expression { bits: 32, exact: true, kind }).collect();
            is_made_of_atomics(&all, kinds.len() as u32 - 1)
        };
        let old = ExpressionKind::Unknown(Reason::Atomic, 7);
        // 4 * (old + threadIdx.x)
        assert!(made(&[old, Thread(0), of(Binary::Sum, 0, 1), Constant(4), of(Binary::Product, 2, 3)]));
        // swapped ? threadIdx.x : 4, and the same with a comparison.
        assert!(!made(&[old, Thread(0), Constant(4), Choice(0, 1, 2)]));
        assert!(!made(&[old, Thread(0), Constant(4), Compare(Comparison::Equal, 0, 2), Choice(3, 1, 2)]));
        // threadIdx.x == 4 ? old : 4
        assert!(made(&[old, Thread(0), Constant(4), Compare(Comparison::Equal, 1, 2), Choice(3, 0, 2)]));
    }
}
