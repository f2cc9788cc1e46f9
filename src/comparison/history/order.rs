//! Orders recordings.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use warpline_profile::store::Recorded;

/// Sorts recordings, the oldest first. The criteria are, in this order: the repository's order of commits (`known`,
/// parents before children), the parents in the records, dates, and digests. The result does not depend on the initial
/// order.
pub fn in_order(records: Vec<Recorded>, known: &[String]) -> Vec<Recorded> {
    let mut groups: BTreeMap<String, Vec<Recorded>> = BTreeMap::new();
    for recorded in records {
        let key = recorded.record.commit.clone().unwrap_or_else(|| recorded.id.to_string());
        groups.entry(key).or_default().push(recorded);
    }
    let mut all = Vec::new();
    for commit in commits(&groups, known) {
        let mut records = groups.remove(&commit).unwrap_or_default();
        let run = |recorded: &Recorded| (recorded.record.environment.date.clone(), recorded.id);
        records.sort_by_key(run);
        all.extend(records);
    }
    all
}

/// Returns the sorted commits.
fn commits(groups: &BTreeMap<String, Vec<Recorded>>, known: &[String]) -> Vec<String> {
    let names: Vec<&str> = groups.keys().map(String::as_str).collect();
    let number: BTreeMap<&str, usize> = names.iter().enumerate().map(|(number, name)| (*name, number)).collect();
    let mut edges: BTreeSet<(usize, usize)> = BTreeSet::new();
    let ranked: Vec<usize> = known.iter().filter_map(|commit| number.get(commit.as_str()).copied()).collect();
    edges.extend(ranked.windows(2).map(|pair| (pair[0], pair[1])));
    let ranked: BTreeSet<usize> = ranked.into_iter().collect();
    for (child, records) in groups.values().enumerate() {
        let parents = records.iter().flat_map(|recorded| &recorded.record.parents);
        for &parent in parents.filter_map(|parent| number.get(parent.as_str())) {
            // The repository's order takes precedence.
            if parent != child && !(ranked.contains(&parent) && ranked.contains(&child)) {
                edges.insert((parent, child));
            }
        }
    }
    let dates: Vec<&str> = groups
        .values()
        .map(|records| records.iter().map(|recorded| recorded.record.date()).min().unwrap_or_default())
        .collect();
    let mut waits = vec![0usize; names.len()];
    edges.iter().for_each(|&(_, child)| waits[child] += 1);
    let place = |number: usize| Reverse((dates[number], number));
    let mut ready: BinaryHeap<_> = (0..names.len()).filter(|&number| waits[number] == 0).map(place).collect();
    let mut order = Vec::with_capacity(names.len());
    while let Some(Reverse((_, parent))) = ready.pop() {
        order.push(parent);
        for &(_, child) in edges.range((parent, 0)..(parent + 1, 0)) {
            waits[child] -= 1;
            if waits[child] == 0 {
                ready.push(place(child));
            }
        }
    }
    // Records that are each other's ancestors contradict each other; they are sorted by date.
    let placed: BTreeSet<usize> = order.iter().copied().collect();
    let mut rest: Vec<usize> = (0..names.len()).filter(|number| !placed.contains(number)).collect();
    rest.sort_by_key(|&number| (dates[number], number));
    order.into_iter().chain(rest).map(|number| names[number].to_owned()).collect()
}
