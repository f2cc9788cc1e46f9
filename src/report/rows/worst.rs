//! Ranks source lines by avoidable cost, and allocations by traffic.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::words::add;
use warpline_profile::Profile;
use warpline_profile::model::{Allocation, Metrics, Site, user_frame};

/// Sites at one source position in one kernel with the same kind of access: copies of one expression that unrolling
/// created.
pub(crate) struct Group<'a> {
    pub(crate) column: u32,
    pub(crate) op: &'a str,
    pub(crate) space: &'a str,
    pub(crate) bytes: u32,
    pub(crate) sum: Metrics,
    pub(crate) sites: Vec<&'a Site>,
}

/// A line of a kernel.
pub(crate) struct Row<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: u32,
    pub(crate) kernel: u32,
    pub(crate) groups: Vec<Group<'a>>,
    /// The avoidable cost by which it is ranked.
    pub(crate) excess: u64,
    pub(crate) total: u64,
}

/// Returns lines in descending order of avoidable sectors. Shared memory has none.
pub(crate) fn by_sectors(profile: &Profile) -> Vec<Row<'_>> {
    rows(profile, |site| site.space != "shared", |m| (m.sectors, m.sectors.saturating_sub(m.ideal_sectors)))
}

/// Returns lines in descending order of avoidable passes over the banks of shared memory.
pub(crate) fn by_passes(profile: &Profile) -> Vec<Row<'_>> {
    let passes = |m: &Metrics| m.shared.clone().unwrap_or_default();
    rows(
        profile,
        |site| site.space == "shared",
        |m| (passes(m).wavefronts, passes(m).wavefronts.saturating_sub(passes(m).ideal_wavefronts)),
    )
}

/// Returns lines of the selected sites in descending order of avoidable cost. `cost` returns the total and the
/// avoidable cost.
fn rows<'a>(
    profile: &'a Profile,
    choose: impl Fn(&Site) -> bool,
    cost: impl Fn(&Metrics) -> (u64, u64),
) -> Vec<Row<'a>> {
    let mut rows: BTreeMap<(u32, &str, u32), Row<'a>> = BTreeMap::new();
    for site in profile.sites.iter().filter(|site| choose(site)) {
        let row = rows.entry((site.kernel, &site.file, site.line)).or_insert_with(|| Row {
            file: &site.file,
            line: site.line,
            kernel: site.kernel,
            groups: Vec::new(),
            excess: 0,
            total: 0,
        });
        let (total, excess) = cost(&site.metrics);
        row.total = row.total.saturating_add(total);
        row.excess = row.excess.saturating_add(excess);
        let same = |group: &&mut Group<'_>| {
            (group.column, group.op, group.space, group.bytes)
                == (site.column, site.op.as_str(), site.space.as_str(), site.bytes)
        };
        match row.groups.iter_mut().find(same) {
            Some(group) => {
                add(&mut group.sum, &site.metrics);
                group.sites.push(site);
            }
            None => {
                let mut sum = Metrics::default();
                add(&mut sum, &site.metrics);
                let (op, space) = (site.op.as_str(), site.space.as_str());
                row.groups.push(Group { column: site.column, op, space, bytes: site.bytes, sum, sites: vec![site] });
            }
        }
    }
    let mut rows: Vec<Row<'a>> = rows.into_values().collect();
    for row in &mut rows {
        row.groups.sort_by_key(|group| std::cmp::Reverse(cost(&group.sum)));
    }
    rows.sort_by(|one, other| {
        (other.excess, other.total)
            .cmp(&(one.excess, one.total))
            .then_with(|| (one.kernel, one.file, one.line).cmp(&(other.kernel, other.file, other.line)))
    });
    rows
}

/// Returns allocations by traffic, then by size. Those with the same name, kind and line are one row. Allocations of
/// the compiler are included only if they are used.
pub(crate) fn allocations(profile: &Profile) -> Vec<Cow<'_, Allocation>> {
    type Key<'a> = (Option<&'a str>, &'a str, Option<(&'a str, u32)>);
    let mut rows: Vec<Cow<'_, Allocation>> = Vec::new();
    let mut known: HashMap<Key<'_>, usize> = HashMap::new();
    for one in profile.allocations.iter().filter(|one| one.kind != "compiler" || one.metrics.requests > 0) {
        let place = user_frame(&one.path).map(|frame| (&frame.file[..], frame.line));
        let is_new = rows.len();
        match known.entry((one.name.as_deref(), &one.kind, place)) {
            // Allocations without a position are not combined, because they may be unrelated.
            Entry::Occupied(row) if place.is_some() => add_allocation(rows[*row.get()].to_mut(), one),
            Entry::Occupied(_) => rows.push(Cow::Borrowed(one)),
            Entry::Vacant(entry) => {
                entry.insert(is_new);
                rows.push(Cow::Borrowed(one));
            }
        }
    }
    rows.sort_by_key(|one| (Reverse(one.metrics.sectors), Reverse(one.bytes), one.id));
    rows
}

fn add_allocation(sum: &mut Allocation, more: &Allocation) {
    for (sum, more) in [
        (&mut sum.bytes, more.bytes),
        (&mut sum.count, more.count),
        (&mut sum.freed_count, more.freed_count),
        (&mut sum.touched_bytes, more.touched_bytes),
    ] {
        *sum = sum.saturating_add(more);
    }
    sum.freed &= more.freed;
    sum.copies.extend(more.copies.iter().cloned());
    add(&mut sum.metrics, &more.metrics);
    for row in &more.by_kernel {
        match sum.by_kernel.iter_mut().find(|one| one.kernel == row.kernel) {
            Some(sum) => add(&mut sum.metrics, &row.metrics),
            None => sum.by_kernel.push(row.clone()),
        }
    }
}
