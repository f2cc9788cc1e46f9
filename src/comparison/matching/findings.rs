//! Pairs findings by id, kernel, position and subject.

use std::collections::{BTreeMap, BTreeSet};

use super::allocations::AllocationGroup;
use super::lines::{Code, Lines, SourceLine};
use super::pairs::{Pairs, in_order};
use warpline_profile::model::Finding;

/// Findings about an allocation over all kernels. They are reported at the access with the largest share.
const OF_ALLOCATIONS: [&str; 1] = ["cache-sweep"];

/// Evidence that only one variant of a rule's findings has. For example, data that one kernel passes to another is not
/// data that is swept again.
const OF_VARIANTS: [&str; 1] = ["inputs_read_bytes"];

/// The identity of a finding, in terms of the profile after.
struct Key<'a> {
    id: &'a str,
    /// Variant of the rule's findings.
    variant: Option<&'static str>,
    /// Index of the kernel.
    kernel: Option<usize>,
    place: Option<SourceLine<'a>>,
    /// Whether its line exists in both profiles.
    is_kept: bool,
    /// All its lines.
    lines: BTreeSet<SourceLine<'a>>,
    /// Index of the allocation group.
    allocation: Option<usize>,
    object: Option<&'a str>,
}

/// Returns the group of each allocation, by its number.
fn groups_of(groups: &[AllocationGroup<'_>]) -> BTreeMap<u64, usize> {
    let numbered = groups.iter().enumerate();
    numbered.flat_map(|(index, group)| group.rows.iter().map(move |row| (row.id, index))).collect()
}

/// Pairs the findings of two profiles.
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
    // These findings concern the kernel or the program as a whole.
    let is_whole = |key: &Key<'_>| key.allocation.is_none() && key.object.is_none();
    matching.by(Allowed::Any, |key| is_whole(key).then_some((key.kernel, None, None, None)));
    // These findings concern an allocation, regardless of the kernel with the largest share.
    let is_of_allocation = |key: &Key<'_>| OF_ALLOCATIONS.contains(&key.id);
    matching.by(Allowed::Any, |key| Some((None, None, Some(key.allocation.filter(|_| is_of_allocation(key))?), None)));
    matching.pairs
}

/// Kernel, source line, allocation and object of a key; each is `None` if it is not compared.
type KeyPart<'k> = (Option<usize>, Option<SourceLine<'k>>, Option<usize>, Option<&'k str>);

/// Specifies which findings may be paired. Two different lines that both exist in both profiles are different
/// positions.
#[derive(Clone, Copy, PartialEq)]
enum Allowed {
    Any,
    WrittenAnewBefore,
    WrittenAnewAfter,
}

/// Findings of both sides, and the pairs found so far.
struct Matching<'a> {
    befores: Vec<Option<Key<'a>>>,
    afters: Vec<Option<Key<'a>>>,
    pairs: Pairs,
}

impl<'a> Matching<'a> {
    /// Pairs findings with the same id that agree in a part of their keys.
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

    /// Pairs findings if one contains the other's line as a further line, as when the worst of several lines was fixed.
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

/// Converts a finding of the profile before to a key in terms of the profile after; `None` if its kernel is gone.
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
