//! Compares rows of allocations.

use std::collections::BTreeMap;

use super::compare::{Options, Side, by_weight, sides};
use super::document::{AllocationChange, Both, Unchanged, Value};
use super::figures::{self, Figures};
use super::matching::{AllocationGroup, Lines, Pairs};
use warpline_profile::model::Allocation;

/// Allocation groups of either side, by index, that form one row.
#[derive(Default)]
struct Together {
    befores: Vec<usize>,
    afters: Vec<usize>,
}

pub(super) fn rows(
    one: &Side<'_>,
    other: &Side<'_>,
    pairs: &Pairs,
    lines: &Lines<'_>,
    options: &Options,
    unchanged: &mut Unchanged,
) -> Vec<AllocationChange> {
    let mut rows = Vec::new();
    for together in together((one, other), pairs, lines) {
        let (was, is) = (figures_of(one, &together.befores), figures_of(other, &together.afters));
        let metrics = figures::changes(was.as_ref(), is.as_ref(), options.tolerance);
        if metrics.is_empty() && was.is_some() && is.is_some() {
            unchanged.allocations += together.afters.len() as u64;
            continue;
        }
        let first = |side: &'_ Side<'_>, indices: &[usize]| indices.first().map(|&index| side.groups[index].first().id);
        let kind = |side: &Side<'_>, indices: &[usize]| Some(side.groups[*indices.first()?].first().kind.clone());
        let position =
            |side: &Side<'_>, indices: &[usize]| Some(side.position(side.groups[*indices.first()?].place()?));
        rows.push(AllocationChange {
            before: first(one, &together.befores),
            after: first(other, &together.afters),
            name: Both { before: names(one, &together.befores), after: names(other, &together.afters) },
            kind: Both { before: kind(one, &together.befores), after: kind(other, &together.afters) },
            position: Both { before: position(one, &together.befores), after: position(other, &together.afters) },
            modelled: was.is_some() && is.is_some() && figures::only_modelled(&metrics),
            metrics,
        });
    }
    by_weight(rows, |row| figures::weight(&row.metrics))
}

/// Groups allocations into rows: each pair, and each group without a pair. Allocations that exchange their roles form a
/// single row.
fn together((one, other): (&Side<'_>, &Side<'_>), pairs: &Pairs, lines: &Lines<'_>) -> Vec<Together> {
    let mut alone: Vec<Option<Together>> = sides(pairs, one.groups.len(), other.groups.len())
        .map(|(before, after)| {
            Some(Together { befores: before.into_iter().collect(), afters: after.into_iter().collect() })
        })
        .collect();
    let mut places: BTreeMap<(&str, u32, &str), Vec<usize>> = BTreeMap::new();
    for (index, row) in alone.iter().enumerate() {
        let Some(Together { befores, afters }) = row else { continue };
        let before = befores.first().and_then(|&index| {
            let group = &one.groups[index];
            Some((lines.after(None, group.place()?)?, group.kind()))
        });
        let after = afters.first().and_then(|&index| Some((other.groups[index].place()?, other.groups[index].kind())));
        if let Some(((file, line), kind)) = after.or(before) {
            places.entry((file, line, kind)).or_default().push(index);
        }
    }
    let mut found = Vec::new();
    for indices in places.into_values().filter(|indices| indices.len() > 1) {
        let rows: Vec<&Together> = indices.iter().filter_map(|&index| alone[index].as_ref()).collect();
        if change_hands((one, other), &rows) {
            let mut whole = Together::default();
            for row in indices.into_iter().filter_map(|index| alone[index].take()) {
                whole.befores.extend(row.befores);
                whole.afters.extend(row.afters);
            }
            found.push(whole);
        }
    }
    alone.into_iter().flatten().chain(found).collect()
}

/// Returns whether one source position makes a different number of allocations, but the total number of requests to
/// them is unchanged. A name then refers to other parts of the allocations, as when objects exchange their memory with
/// new objects.
fn change_hands((one, other): (&Side<'_>, &Side<'_>), rows: &[&Together]) -> bool {
    let of = |side: &Side<'_>, indices: &[usize], name: &str| -> u64 {
        let each = indices.iter().map(|&index| side.allocations[index].get(name));
        each.map(|value| if let Some(Value::Count(count)) = value { count } else { 0 }).fold(0, u64::saturating_add)
    };
    let both = |row: &&Together, name: &str| [of(one, &row.befores, name), of(other, &row.afters, name)];
    let sum = |name: &str| {
        rows.iter()
            .map(|row| both(row, name))
            .fold([0u64; 2], |[one, other], [before, after]| [one.saturating_add(before), other.saturating_add(after)])
    };
    let ([before, after], [made, makes]) = (sum("requests"), sum("allocations"));
    let moved = |is_meant: fn(u64, u64) -> bool| {
        rows.iter().any(|row| {
            let [before, after] = both(row, "requests");
            !row.befores.is_empty() && !row.afters.is_empty() && is_meant(before, after)
        })
    };
    before == after
        && before > 0
        && made != makes
        && (moved(|before, after| before > after) || moved(|before, after| before < after))
}

/// Returns the sum of the figures of these groups; `None` if there are none.
fn figures_of(side: &Side<'_>, indices: &[usize]) -> Option<Figures> {
    match indices {
        [] => None,
        [index] => Some(side.allocations[*index].clone()),
        several => {
            let rows: Vec<&Allocation> =
                several.iter().flat_map(|&index| side.groups[index].rows.iter().copied()).collect();
            Some(figures::of_allocations(&rows))
        }
    }
}

/// Returns the distinct names of the groups.
fn names(side: &Side<'_>, indices: &[usize]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for group in indices.iter().map(|&index| &side.groups[index]) {
        if let Some(name) = name(group).filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}

fn name<'a>(group: &AllocationGroup<'a>) -> Option<&'a str> {
    group.first().name.as_deref()
}
