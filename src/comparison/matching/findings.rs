//! Findings: by id, kernel, place and what they are about.

use std::collections::{BTreeMap, BTreeSet};

use super::allocations::AllocationGroup;
use super::lines::{Code, Lines, SourceLine};
use super::pairs::{Pairs, in_order};
use warpline_profile::model::Finding;

/// Findings about an allocation in all kernels, which are at the access that takes most of it.
const OF_ALLOCATIONS: [&str; 1] = ["cache-sweep"];

/// Evidence that one variant of a rule's findings has alone: data that one kernel hands on to another is not data that
/// is swept again.
const OF_VARIANTS: [&str; 1] = ["inputs_read_bytes"];

/// Everything a finding is known by, in terms of the profile after.
struct Key<'a> {
    id: &'a str,
    /// Which variant of the rule's findings it is.
    variant: Option<&'static str>,
    /// Kernel, by index.
    kernel: Option<usize>,
    place: Option<SourceLine<'a>>,
    /// Its line is in both profiles.
    is_kept: bool,
    /// All its lines.
    lines: BTreeSet<SourceLine<'a>>,
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
pub fn pair(
    (before, after): (&Code<'_>, &Code<'_>),
    (one, other): (&[AllocationGroup<'_>], &[AllocationGroup<'_>]),
    (kernels, lines, allocations): (&Pairs, &Lines<'_>, &Pairs),
) -> Pairs {
    let (of_one, of_other) = (groups_of(one), groups_of(other));
    let of_before = |finding| key_before(finding, before, &of_one, (kernels, lines, allocations));
    let of_after = |finding| Some(key_after(finding, after, &of_other, (kernels, lines)));
    let mut matching = Matching {
        befores: before.profile.findings.iter().map(of_before).collect(),
        afters: after.profile.findings.iter().map(of_after).collect(),
        pairs: Pairs::default(),
    };
    matching.by(Allowed::Any, |key| Some((key.kernel, Some(key.place?), key.allocation, key.object)));
    matching.by(Allowed::Any, |key| Some((key.kernel, Some(key.place?), None, key.object)));
    matching.by(Allowed::Any, |key| Some((key.kernel, Some(key.place?), None, None)));
    matching.by_further_lines();
    for allowed in [Allowed::WrittenAnewBefore, Allowed::WrittenAnewAfter] {
        matching.by(allowed, |key| Some((key.kernel, None, Some(key.allocation?), key.object)));
        matching.by(allowed, |key| Some((key.kernel, None, Some(key.allocation?), None)));
        matching.by(allowed, |key| Some((key.kernel, None, None, Some(key.object?))));
    }
    // About the kernel or the program as a whole.
    let is_whole = |key: &Key<'_>| key.allocation.is_none() && key.object.is_none();
    matching.by(Allowed::Any, |key| is_whole(key).then_some((key.kernel, None, None, None)));
    // About an allocation, whichever kernel takes most of it now.
    let is_of_allocation = |key: &Key<'_>| OF_ALLOCATIONS.contains(&key.id);
    matching.by(Allowed::Any, |key| Some((None, None, Some(key.allocation.filter(|_| is_of_allocation(key))?), None)));
    matching.pairs
}

/// Kernel, source line, allocation and object of a key, each `None` where it is not compared.
type KeyPart<'k> = (Option<usize>, Option<SourceLine<'k>>, Option<usize>, Option<&'k str>);

/// Which findings may be one. Of two lines that are both in both profiles, one is another place.
#[derive(Clone, Copy, PartialEq)]
enum Allowed {
    Any,
    WrittenAnewBefore,
    WrittenAnewAfter,
}

/// Findings of both sides, and which is which so far.
struct Matching<'a> {
    befores: Vec<Option<Key<'a>>>,
    afters: Vec<Option<Key<'a>>>,
    pairs: Pairs,
}

impl<'a> Matching<'a> {
    /// Pairs those of one id that agree in a part of what they are known by.
    fn by(&mut self, allowed: Allowed, part: impl for<'k> Fn(&'k Key<'a>) -> Option<KeyPart<'k>>) {
        let Matching { befores, afters, pairs } = self;
        let sizes = (befores.len(), afters.len());
        let of_before = |index: usize| {
            let key = befores[index].as_ref().filter(|key| allowed != Allowed::WrittenAnewBefore || !key.is_kept)?;
            Some(((key.id, key.variant), part(key)?))
        };
        let of_after = |index: usize| {
            let key = afters[index].as_ref().filter(|key| allowed != Allowed::WrittenAnewAfter || !key.is_kept)?;
            Some(((key.id, key.variant), part(key)?))
        };
        pairs.by_key(sizes, of_before, of_after, in_order);
    }

    /// Pairs those of which the one has the other's line as a further one, as if the worst line of several was fixed.
    fn by_further_lines(&mut self) {
        let Matching { befores, afters, pairs } = self;
        let (one, other) = pairs.rest(befores.len(), afters.len());
        for before in one {
            let Some(key) = &befores[before] else { continue };
            let is_alike = |after: &&usize| {
                afters[**after].as_ref().is_some_and(|other| {
                    (key.id, key.variant, key.kernel, key.object)
                        == (other.id, other.variant, other.kernel, other.object)
                        && !key.lines.is_disjoint(&other.lines)
                })
            };
            if let Some(&after) = other.iter().filter(|after| pairs.before(**after).is_none()).find(is_alike) {
                pairs.add(before, after);
            }
        }
    }
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
    let place = lines.after(kernel, (&finding.file, finding.line));
    Some(Key {
        id: &finding.id,
        variant: variant(finding),
        kernel: paired,
        place,
        is_kept: place.is_some(),
        lines: lines_of(finding).filter_map(|place| lines.after(kernel, place)).collect(),
        allocation: finding.allocation.and_then(|id| allocations.after(*groups.get(&id)?)),
        object: finding.object.as_deref(),
    })
}

fn key_after<'a>(
    finding: &'a Finding,
    after: &Code<'_>,
    groups: &BTreeMap<u64, usize>,
    (kernels, lines): (&Pairs, &Lines<'_>),
) -> Key<'a> {
    let kernel = finding.kernel.and_then(|id| after.kernel(id));
    let before = kernel.and_then(|kernel| kernels.before(kernel));
    let place = (finding.line != 0).then_some((&finding.file[..], finding.line));
    let is_known = kernel.is_none() || before.is_some();
    Key {
        id: &finding.id,
        variant: variant(finding),
        kernel,
        place,
        is_kept: is_known && place.is_some_and(|place| lines.was_there(before, place)),
        lines: lines_of(finding).collect(),
        allocation: finding.allocation.and_then(|id| groups.get(&id).copied()),
        object: finding.object.as_deref(),
    }
}

fn variant(finding: &Finding) -> Option<&'static str> {
    OF_VARIANTS.into_iter().find(|name| finding.evidence.contains_key(*name))
}

/// Returns a finding's lines, the first and further ones.
fn lines_of(finding: &Finding) -> impl Iterator<Item = SourceLine<'_>> {
    let all = std::iter::once(finding.line).chain(finding.lines.iter().map(|one| one.line));
    all.filter(|line| *line != 0).map(|line| (&finding.file[..], line))
}
