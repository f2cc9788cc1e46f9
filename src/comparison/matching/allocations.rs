//! Pairs allocations. Allocations with the same name, kind and call path form one group, even if the call path is
//! executed repeatedly.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::{Code, Lines, SourceLine};
use super::pairs::{Pairs, in_order};
use warpline_profile::model::{Allocation, Frame};

/// Allocations of one name, kind and call path.
#[derive(Clone, Debug)]
pub struct AllocationGroup<'a> {
    /// Allocations in the order of the profile; at least one.
    pub rows: Vec<&'a Allocation>,
}

impl<'a> AllocationGroup<'a> {
    pub fn first(&self) -> &'a Allocation {
        self.rows[0]
    }

    fn name(&self) -> Option<&'a str> {
        self.first().name.as_deref().filter(|name| !name.is_empty())
    }

    pub fn kind(&self) -> &'a str {
        &self.first().kind
    }

    fn path(&self) -> &'a [Frame] {
        &self.first().path
    }

    /// Returns the total bytes.
    pub fn bytes(&self) -> u64 {
        self.rows.iter().fold(0, |sum, row| sum.saturating_add(row.bytes))
    }

    /// Returns the line in the user's code that allocates.
    pub fn place(&self) -> Option<SourceLine<'a>> {
        let frame = self.path().iter().rev().find(|frame| frame.line != 0 && !is_header(&frame.file))?;
        Some((&frame.file, frame.line))
    }

    /// Returns the indices of the kernels that use them.
    fn users(&self, code: &Code<'_>) -> BTreeSet<usize> {
        self.rows.iter().flat_map(|row| &row.by_kernel).filter_map(|row| code.kernel(row.kernel)).collect()
    }
}

/// Returns whether a file is a header with templates that call CUDA functions.
fn is_header(file: &str) -> bool {
    file.is_empty() || file.starts_with("/usr/") || file.contains("/include/")
}

/// Returns all groups in the order of their first rows. Memory of the compiler is included only if it is used.
pub fn groups<'a>(code: &Code<'a>) -> Vec<AllocationGroup<'a>> {
    let mut known: BTreeMap<(&str, Option<&str>, &[Frame]), usize> = BTreeMap::new();
    let mut groups: Vec<AllocationGroup<'a>> = Vec::new();
    for row in code.profile.allocations.iter().filter(|row| row.kind != "compiler" || row.metrics.requests > 0) {
        let index = *known.entry((&row.kind, row.name.as_deref(), &row.path)).or_insert(groups.len());
        match groups.get_mut(index) {
            Some(group) => group.rows.push(row),
            None => groups.push(AllocationGroup { rows: vec![row] }),
        }
    }
    groups
}

/// Pairs the groups of two profiles.
pub fn pair(
    (before, after): (&Code<'_>, &Code<'_>),
    (one, other): (&[AllocationGroup<'_>], &[AllocationGroup<'_>]),
    kernels: &Pairs,
    lines: &Lines<'_>,
) -> Pairs {
    let mut pairs = Pairs::default();
    let sizes = (one.len(), other.len());
    let signature = |group: &AllocationGroup<'_>, code: &Code<'_>| -> Vec<(String, String)> {
        let frames = group.path().iter().map(|frame| code.signature(frame));
        frames.map(|(function, text)| (function.to_owned(), text)).collect()
    };
    let same = |group: &AllocationGroup<'_>, code: &Code<'_>| {
        Some((group.kind().to_owned(), group.name().map(str::to_owned), signature(group, code)))
    };
    pairs.by_key(sizes, |at| same(&one[at], before), |to| same(&other[to], after), in_order);
    // The remaining call path may differ.
    let named = |group: &AllocationGroup<'_>| Some((group.name()?.to_owned(), group.kind().to_owned()));
    let made_at = |group: &AllocationGroup<'_>| lines.after(None, group.place()?);
    let key_before = |at: usize| Some((named(&one[at])?, made_at(&one[at])?));
    let key_after = |to: usize| Some((named(&other[to])?, other[to].place()?));
    pairs.by_key(sizes, key_before, key_after, in_order);
    pairs.by_key(sizes, |at| named(&one[at]), |to| named(&other[to]), in_order);
    // The allocating CUDA function may differ.
    let name = |group: &AllocationGroup<'_>| group.name().map(str::to_owned);
    pairs.by_key(sizes, |at| name(&one[at]), |to| name(&other[to]), in_order);
    // The name of the variable may differ.
    let key_before = |at: usize| Some((one[at].kind().to_owned(), made_at(&one[at])?));
    let key_after = |to: usize| Some((other[to].kind().to_owned(), other[to].place()?));
    pairs.by_key(sizes, key_before, key_after, in_order);
    // The position may differ, if size, number and using kernels are equal.
    let key = |group: &AllocationGroup<'_>, users: BTreeSet<usize>| {
        (!users.is_empty()).then(|| (group.kind().to_owned(), group.bytes(), group.rows.len(), users))
    };
    let key_before = |at: usize| {
        let users: Option<BTreeSet<usize>> =
            one[at].users(before).into_iter().map(|kernel| kernels.after(kernel)).collect();
        key(&one[at], users?)
    };
    pairs.by_key(sizes, key_before, |to| key(&other[to], other[to].users(after)), in_order);
    pairs
}
