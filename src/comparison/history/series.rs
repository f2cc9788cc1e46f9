//! Collects the values of a figure from recordings.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::document::{History, Point, SCHEMA, Series, VERSION};
use crate::document::Value;
use crate::{Measured, measure};
use warpline_profile::store::{Recorded, Store, StoreError};

/// A figure's values in one profile, by kernel.
type Values = Vec<(String, Option<Value>)>;
/// Name of the recordings, and GPU model.
type Group = (String, String);

/// The subject of a series.
#[derive(Clone, Debug)]
pub enum SeriesScope {
    /// The whole program.
    Program,
    /// Kernels whose demangled name matches.
    Kernels(Regex),
}

/// Collects a figure from every recording. Recordings must be sorted. A difference is a change if it exceeds
/// `tolerance` (a share) of the earlier value.
///
/// # Errors
/// Returns an error if a profile is missing or damaged.
pub fn collect(
    store: &Store,
    records: &[Recorded],
    wanted: &SeriesScope,
    metric: &str,
    tolerance: f64,
) -> Result<History, StoreError> {
    let mut groups: BTreeMap<Group, Vec<(&Recorded, Values)>> = BTreeMap::new();
    // Commits without changes share a profile, which is read only once.
    let mut last: BTreeMap<Group, (String, Values)> = BTreeMap::new();
    for recorded in records {
        let record = &recorded.record;
        let model = record.models.first().cloned().unwrap_or_default();
        let group = (record.name.clone(), model);
        let values = match last.get(&group) {
            Some((object, values)) if *object == record.object => values.clone(),
            _ => values(&measure(&store.profile(record)?), wanted, metric),
        };
        last.insert(group.clone(), (record.object.clone(), values.clone()));
        groups.entry(group).or_default().push((recorded, values));
    }
    let mut series = Vec::new();
    for ((name, model), points) in groups {
        let mut seen = BTreeSet::new();
        let names: Vec<&String> = points
            .iter()
            .flat_map(|(_, values)| values)
            .map(|(kernel, _)| kernel)
            .filter(|name| seen.insert(*name))
            .collect();
        for kernel in names {
            let value = |values: &[(String, Option<Value>)]| {
                values.iter().find(|(other, _)| other == kernel).and_then(|(_, value)| *value)
            };
            let mut before: Option<Option<Value>> = None;
            let mut rows = Vec::with_capacity(points.len());
            for (recorded, values) in &points {
                let value = value(values);
                let changed = before.is_some_and(|before| differ(before, value, tolerance));
                // Values are compared with the last change, not the last commit, so that a slow drift is detected.
                if changed || before.is_none() {
                    before = Some(value);
                }
                rows.push(point(recorded, value, changed));
            }
            let kernel = matches!(wanted, SeriesScope::Kernels(_)).then(|| kernel.clone());
            series.push(Series { name: name.clone(), model: model.clone(), kernel, points: rows });
        }
    }
    Ok(History { schema: SCHEMA.to_owned(), version: VERSION, metric: metric.to_owned(), series })
}

fn values(measured: &Measured, wanted: &SeriesScope, metric: &str) -> Values {
    match wanted {
        SeriesScope::Program => vec![(String::new(), measured.program.get(metric))],
        SeriesScope::Kernels(regex) => {
            let kernels = measured.kernels.iter().filter(|(name, _)| regex.is_match(name));
            kernels.map(|(name, figures)| (name.clone(), figures.get(metric))).collect()
        }
    }
}

fn point(recorded: &Recorded, value: Option<Value>, changed: bool) -> Point {
    let record = &recorded.record;
    Point {
        commit: record.commit.clone(),
        date: record.date().to_owned(),
        branch: record.branch.clone(),
        record: recorded.id.to_string(),
        value,
        changed,
    }
}

fn differ(before: Option<Value>, after: Option<Value>, tolerance: f64) -> bool {
    match (before, after) {
        (Some(one), Some(other)) => {
            let apart = (one.number() - other.number()).abs();
            apart > 0.0 && apart > tolerance * one.number().abs()
        }
        (one, other) => one.is_some() != other.is_some(),
    }
}
