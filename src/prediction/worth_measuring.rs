//! Determines which configurations the time intervals can distinguish, and which are worth a measurement.

use serde::{Deserialize, Serialize};

use super::document::{Configuration, Document};

/// The configurations that are worth a measurement, for a number of measurements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorthMeasuring {
    /// Positions in [`Document::configurations`], the most promising configuration first.
    pub configurations: Vec<usize>,
    /// Number of configurations that are undecided against the first one (including it) and are not in the list.
    pub left_out: usize,
}

/// Marks the configurations whose interval overlaps that of the first one, including the first one. Configurations must
/// be ranked. Without times, no order is decided.
pub fn mark_undecided(configurations: &mut [Configuration]) {
    let Some(first) = configurations.first() else { return };
    let limit = first.seconds_high;
    for one in configurations.iter_mut().filter(|one| one.other_work.is_none()) {
        one.undecided = match (one.seconds_low, limit) {
            (Some(low), Some(high)) => low <= high,
            _ => true,
        };
    }
}

/// Chooses at most `budget` configurations: undecided ones first, and among them those with the smallest possible time
/// first.
pub fn choose(document: &Document, budget: usize) -> WorthMeasuring {
    let all = &document.configurations;
    let mut order: Vec<usize> = (0..all.len()).filter(|&at| all[at].other_work.is_none()).collect();
    let low = |at: usize| all[at].seconds_low.unwrap_or(f64::INFINITY);
    // A stable sort keeps the rank of equal elements.
    order.sort_by(|&one, &other| all[other].undecided.cmp(&all[one].undecided).then(low(one).total_cmp(&low(other))));
    let left_out = order.iter().skip(budget).filter(|&&at| all[at].undecided).count();
    order.truncate(budget);
    WorthMeasuring { configurations: order, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(times: &[(f64, f64, f64)]) -> Document {
        let one = |&(low, seconds, high): &(f64, f64, f64)| Configuration {
            seconds: Some(seconds),
            seconds_low: Some(low),
            seconds_high: Some(high),
            ..Configuration::default()
        };
        let mut document = Document { configurations: times.iter().map(one).collect(), ..Document::default() };
        mark_undecided(&mut document.configurations);
        document
    }

    #[test]
    fn overlapping_intervals_decide_nothing() {
        let found = document(&[(0.9, 1.0, 1.1), (1.0, 1.05, 1.1), (1.11, 1.2, 1.3), (0.5, 2.0, 3.5)]);
        let undecided: Vec<bool> = found.configurations.iter().map(|one| one.undecided).collect();
        assert_eq!(undecided, [true, true, false, true]);
    }

    #[test]
    fn the_budget_goes_to_what_may_be_fastest() {
        let found = document(&[(0.9, 1.0, 1.1), (1.0, 1.05, 1.1), (1.11, 1.2, 1.3), (0.5, 2.0, 3.5)]);
        assert_eq!(choose(&found, 2), WorthMeasuring { configurations: vec![3, 0], left_out: 1 });
        assert_eq!(choose(&found, 9), WorthMeasuring { configurations: vec![3, 0, 1, 2], left_out: 0 });
    }

    #[test]
    fn other_work_is_no_rival() {
        let mut found = document(&[(0.9, 1.0, 1.1), (1.0, 1.05, 1.1)]);
        found.configurations[1].other_work = Some(0.5);
        found.configurations[1].undecided = false;
        mark_undecided(&mut found.configurations);
        assert!(!found.configurations[1].undecided);
        assert_eq!(choose(&found, 5), WorthMeasuring { configurations: vec![0], left_out: 0 });
    }

    #[test]
    fn without_times_nothing_is_decided() {
        let mut found = document(&[(0.9, 1.0, 1.1), (1.2, 1.3, 1.4)]);
        found.configurations.iter_mut().for_each(|one| (one.seconds_low, one.seconds_high) = (None, None));
        mark_undecided(&mut found.configurations);
        assert_eq!(choose(&found, 1), WorthMeasuring { configurations: vec![0], left_out: 1 });
    }
}
