//! Findings: by id, kernel, place and what they are about.

use std::collections::BTreeMap;

use super::allocations::AllocationGroup;
use super::lines::{Code, Lines, Place};
use super::pairs::{Pairs, in_order};
use crate::profile::model::Finding;

/// Findings about an allocation in all kernels, which stand at the access that takes most of it.
const OF_ALLOCATIONS: [&str; 1] = ["cache-sweep"];

/// Everything a finding is known by, in terms of the profile after.
struct Key<'a> {
    id: &'a str,
    /// Kernel, by index.
    kernel: Option<usize>,
    place: Option<Place<'a>>,
    /// Group of allocations, by index.
    allocation: Option<usize>,
    object: Option<&'a str>,
}

/// Group of each allocation, by its number.
fn groups_of(groups: &[AllocationGroup<'_>]) -> BTreeMap<u64, usize> {
    let numbered = groups.iter().enumerate();
    numbered.flat_map(|(index, group)| group.rows.iter().map(move |row| (row.id, index))).collect()
}

/// Which finding is which.
pub(crate) fn pair(
    (before, after): (&Code<'_>, &Code<'_>),
    (one, other): (&[AllocationGroup<'_>], &[AllocationGroup<'_>]),
    (kernels, lines, allocations): (&Pairs, &Lines<'_>, &Pairs),
) -> Pairs {
    let (of_one, of_other) = (groups_of(one), groups_of(other));
    let of_before = |finding| key_before(finding, before, &of_one, (kernels, lines, allocations));
    let befores: Vec<Option<Key<'_>>> = before.profile.findings.iter().map(of_before).collect();
    let of_after = |finding| Some(key_after(finding, after, &of_other));
    let afters: Vec<Option<Key<'_>>> = after.profile.findings.iter().map(of_after).collect();
    let sizes = (befores.len(), afters.len());
    let mut pairs = Pairs::default();
    let mut step = |in_kernel: bool, part: for<'k> fn(&Key<'k>) -> Option<Part<'k>>| {
        let of = |keys: &[Option<Key<'_>>], index: usize| {
            let key = keys[index].as_ref()?;
            let (place, allocation, object) = part(key)?;
            let place = place.map(|(file, line)| (file.to_owned(), line));
            let kernel = key.kernel.filter(|_| in_kernel);
            Some((key.id.to_owned(), kernel, place, allocation, object.map(str::to_owned)))
        };
        pairs.by_key(sizes, |index| of(&befores, index), |index| of(&afters, index), in_order);
    };
    step(true, |key| Some((Some(key.place?), key.allocation, key.object)));
    step(true, |key| Some((Some(key.place?), None, key.object)));
    step(true, |key| Some((Some(key.place?), None, None)));
    // The line was written anew.
    step(true, |key| Some((None, Some(key.allocation?), key.object)));
    step(true, |key| Some((None, Some(key.allocation?), None)));
    step(true, |key| Some((None, None, Some(key.object?))));
    // About the kernel or the program as a whole.
    step(true, |key| (key.allocation.is_none() && key.object.is_none()).then_some((None, None, None)));
    // About an allocation, whichever kernel takes most of it now.
    step(false, |key| OF_ALLOCATIONS.contains(&key.id).then_some((None, Some(key.allocation?), None)));
    pairs
}

/// In terms of the profile after; `None` for what was found in a kernel that is gone.
fn key_before<'a>(
    finding: &'a Finding,
    before: &Code<'_>,
    groups: &BTreeMap<u64, usize>,
    (kernels, lines, allocations): (&Pairs, &Lines<'a>, &Pairs),
) -> Option<Key<'a>> {
    let kernel = finding.kernel.and_then(|id| before.kernel(id));
    let paired = match kernel {
        Some(kernel) => Some(kernels.after(kernel)?),
        None => None,
    };
    Some(Key {
        id: &finding.id,
        kernel: paired,
        place: lines.after(kernel, (&finding.file, finding.line)),
        allocation: finding.allocation.and_then(|id| allocations.after(*groups.get(&id)?)),
        object: finding.object.as_deref(),
    })
}

fn key_after<'a>(finding: &'a Finding, after: &Code<'_>, groups: &BTreeMap<u64, usize>) -> Key<'a> {
    Key {
        id: &finding.id,
        kernel: finding.kernel.and_then(|id| after.kernel(id)),
        place: (finding.line != 0).then_some((&finding.file, finding.line)),
        allocation: finding.allocation.and_then(|id| groups.get(&id).copied()),
        object: finding.object.as_deref(),
    }
}

/// Place, allocation and object, as far as they count.
type Part<'k> = (Option<Place<'k>>, Option<usize>, Option<&'k str>);
