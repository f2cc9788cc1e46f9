//! Profiles of one program put together.

use std::collections::BTreeMap;

use crate::support::program::{Source, demo_profile, program};
use crate::support::schema::check;
use proptest::prelude::*;
use serde_json::Value;
use warpline::merge::{MergeError, merge};
use warpline::profile::Profile;
use warpline::profile::model::{Metrics, Severity};

/// Another run of the same program: the same rows, counted `times` as often.
fn another(profile: &Profile, times: u64, date: &str) -> Profile {
    let mut copy = profile.clone();
    fn scaled(metrics: &mut Metrics, times: u64) {
        for count in [
            &mut metrics.requests,
            &mut metrics.lanes,
            &mut metrics.bytes,
            &mut metrics.sectors,
            &mut metrics.ideal_sectors,
        ] {
            *count *= times;
        }
        metrics.lines_touched.values_mut().flatten().for_each(|count| *count *= times);
    }
    copy.kernels.iter_mut().flat_map(|row| row.metrics.values_mut()).for_each(|metrics| scaled(metrics, times));
    copy.lines.iter_mut().flat_map(|row| row.metrics.values_mut()).for_each(|metrics| scaled(metrics, times));
    for site in &mut copy.sites {
        scaled(&mut site.metrics, times);
        site.by_allocation.iter_mut().for_each(|row| scaled(&mut row.metrics, times));
    }
    copy.allocations.iter_mut().for_each(|row| scaled(&mut row.metrics, times));
    copy.branches.iter_mut().for_each(|row| row.executions *= times);
    copy.run.environment.date = Some(date.to_owned());
    copy
}

/// Every whole number of a document, by a path without positions in lists, summed up.
fn counts(profile: &Profile) -> BTreeMap<String, u128> {
    fn walk(value: &Value, path: &str, sums: &mut BTreeMap<String, u128>) {
        match value {
            Value::Number(number) => {
                if let Some(count) = number.as_u64() {
                    *sums.entry(path.to_owned()).or_default() += u128::from(count);
                }
            }
            Value::Array(items) if path.ends_with(".32") || path.ends_with(".128") => {
                for (position, item) in items.iter().enumerate() {
                    walk(item, &format!("{path}.{position}"), sums);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, path, sums)),
            Value::Object(fields) => fields.iter().for_each(|(key, item)| walk(item, &format!("{path}.{key}"), sums)),
            _ => {}
        }
    }
    let mut sums = BTreeMap::new();
    let rows = serde_json::json!({
        "kernels": profile.kernels.iter().map(|row| (&row.metrics, &row.instructions, row.lane_slots, row.launch_count)).collect::<Vec<_>>(),
        "lines": profile.lines.iter().map(|row| (&row.metrics, &row.instructions)).collect::<Vec<_>>(),
        "sites": profile.sites.iter().map(|row| (&row.metrics, row.by_allocation.iter().map(|row| &row.metrics).collect::<Vec<_>>())).collect::<Vec<_>>(),
        "allocations": profile.allocations.iter().map(|row| (&row.metrics, row.bytes, row.count, row.copies.iter().map(|copy| (copy.bytes, copy.count)).collect::<Vec<_>>())).collect::<Vec<_>>(),
        "branches": profile.branches.iter().map(|row| (row.executions, row.divergent, &row.lanes)).collect::<Vec<_>>(),
        "blocks": profile.blocks.iter().map(|row| (row.executions, row.lanes, row.partial)).collect::<Vec<_>>(),
    });
    walk(&rows, "", &mut sums);
    // The highest distance of a bucket is no count, and a sum of distances is reported where several are put together.
    sums.retain(|path, _| !path.ends_with(".upto") && !path.ends_with(".sum"));
    sums
}

#[test]
fn one_profile_stays_as_it_is() {
    let profile = demo_profile();
    assert_eq!(merge(vec![profile.clone()]).unwrap(), profile);
    assert_eq!(merge(Vec::new()), Err(MergeError::Nothing));
}

#[test]
fn counts_are_sums_and_rows_are_matched() {
    let one = demo_profile();
    let other = another(&one, 3, "2030-01-01T00:00:00Z");
    let both = merge(vec![one.clone(), other.clone()]).unwrap();
    let sizes = |profile: &Profile| {
        let allocations = (profile.allocations.len(), profile.host_allocations.len());
        (
            profile.kernels.len(),
            profile.lines.len(),
            profile.sites.len(),
            profile.branches.len(),
            profile.blocks.len(),
            allocations,
        )
    };
    assert_eq!(sizes(&both), sizes(&one));
    let (of_one, of_other, of_both) = (counts(&one), counts(&other), counts(&both));
    assert!(of_both.len() > 50);
    for (path, sum) in &of_both {
        assert_eq!(*sum, of_one.get(path).unwrap_or(&0) + of_other.get(path).unwrap_or(&0), "{path}");
    }
    let (kernel, merged) = (&one.kernels[0], &both.kernels[0]);
    assert_eq!(merged.launches.len(), 2 * kernel.launches.len());
    let ids: Vec<u64> = merged.launches.iter().map(|launch| launch.id).collect();
    assert_eq!(ids, (0..ids.len() as u64).collect::<Vec<_>>());
    let (estimate, twice) = (&kernel.estimates[0], &merged.estimates[0]);
    assert!((twice.seconds - 2.0 * estimate.seconds).abs() < 1e-6 * estimate.seconds);
    assert_eq!((twice.launches, &twice.limiter), (2 * estimate.launches, &estimate.limiter));
    // The same launches twice: the same mean, and the same spread.
    assert_eq!(merged.over_launches, kernel.over_launches);
    assert!(both.run.notes.iter().any(|note| note.contains("ratios")), "{:?}", both.run.notes);
    let schema: Value = serde_json::from_str(include_str!("../../docs/profile-v1.schema.json")).unwrap();
    check(&schema, &schema, &serde_json::to_value(&both).unwrap(), "merged");
    // Each row leads to its kernel and allocation.
    for site in &both.sites {
        assert!(both.kernels.iter().any(|kernel| kernel.id == site.kernel));
        assert!(site.by_allocation.iter().all(|row| row.allocation.is_none_or(|id| both.allocation(id).is_some())));
    }
    let matrix = both.allocations.iter().find(|row| row.name.as_deref() == Some("d_matrix")).unwrap();
    assert_eq!((matrix.count, matrix.copies.len(), matrix.copies[0].count), (2, 1, 2));
    assert!(both.host_allocations.iter().any(|row| Some(row.id) == matrix.copies[0].host));
}

#[test]
fn launches_that_were_recorded_are_counted_once() {
    let one = demo_profile();
    let launches = |profile: &Profile| {
        let rows = profile
            .kernels
            .iter()
            .map(|kernel| (kernel.name.clone(), kernel.launch_count(), kernel.recorded_launches()));
        rows.collect::<Vec<_>>()
    };
    let merged = merge(vec![one.clone(), another(&one, 2, "2026-01-02"), another(&one, 3, "2026-01-03")]).unwrap();
    let tripled: Vec<_> =
        launches(&one).into_iter().map(|(name, all, recorded)| (name, 3 * all, 3 * recorded)).collect();
    assert_eq!(launches(&merged), tripled);
}

#[test]
fn spreads_are_those_of_all_launches() {
    let mut one = demo_profile();
    let mut other = one.clone();
    let spread = |mean, min, max, stddev| warpline::profile::model::Spread { mean, min, max, stddev };
    // Launches with 10 and 20, and with 30 and 60; what only one has is 0 in the others.
    one.kernels[0].over_launches =
        [("global.sectors".into(), spread(15.0, 10, 20, 5.0)), ("x".into(), spread(4.0, 4, 4, 0.0))].into();
    other.kernels[0].over_launches = [("global.sectors".into(), spread(45.0, 30, 60, 15.0))].into();
    let both = merge(vec![one, other]).unwrap();
    let all = &both.kernels[0].over_launches;
    assert_eq!(all["global.sectors"], spread(30.0, 10, 60, 18.7082869));
    assert_eq!(all["x"], spread(2.0, 0, 4, 2.0));
    assert!(both.kernels[0].ratios_over_launches.is_empty());
}

#[test]
fn what_was_not_made_alike_is_refused() {
    let one = demo_profile();
    let refused = |change: fn(&mut Profile)| {
        let mut other = one.clone();
        change(&mut other);
        merge(vec![one.clone(), other]).unwrap_err().to_string()
    };
    assert!(refused(|profile| profile.run.models = vec!["h100".into()]).contains("GPU models (a100 and h100)"));
    assert!(refused(|profile| profile.run.device = "gpu".into()).contains("devices"));
    assert!(refused(|profile| profile.run.mode = "counters".into()).contains("modes"));
    let other = |profile: &mut Profile| {
        profile.run.program = vec!["/b/other".into()];
        profile.kernels[0].module = "/b/other.cu".into();
    };
    assert!(refused(other).contains("different programs"));
}

#[test]
fn an_incomplete_part_makes_all_of_it_incomplete() {
    let mut one = demo_profile();
    let mut other = another(&one, 1, "2031-01-01T00:00:00Z");
    other.run.complete = false;
    other.run.exit_code = Some(134);
    other.run.notes = vec!["the program ended before its trace did".into()];
    other.run.assumptions.insert("l2_copies".into(), "cold".into());
    one.run.assumptions.insert("l2_copies".into(), "warm".into());
    other.findings = vec![crate::support::program::finding("fault", Severity::Error, 0, "/nowhere/columns.cu", 9)];
    let both = merge(vec![one, other]).unwrap();
    assert!(!both.run.complete);
    assert_eq!(both.run.exit_code, Some(134));
    let notes = both.run.notes.join("\n");
    for wanted in ["merged from 2 profiles", "in 1 of the profiles: the program ended", "0 | 134", "cold | warm"] {
        assert!(notes.contains(wanted), "{wanted}: {notes}");
    }
}

#[test]
fn processes_with_other_kernels_keep_theirs() {
    let code = [("    data[i] = 0;", 32)];
    let one = program("/a/app.cu", &[Source { name: "first", code: &code }], &[("d_in", 512)]);
    let other = program("/a/app.cu", &[Source { name: "second", code: &code }], &[("d_in", 512), ("d_in", 512)]);
    let both = merge(vec![one, other]).unwrap();
    assert_eq!(both.kernels.iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>().len(), 2);
    assert_eq!(both.lines.len(), 2);
    // The second row of a name, path and size is another place in the source here.
    assert_eq!(both.allocations.iter().map(|row| row.count).sum::<u64>(), 3);
}

/// Forty processes that allocate once each are no loop that allocates.
#[test]
fn what_each_process_does_once_is_not_done_many_times() {
    let code = [("    data[i] = 0;", 32)];
    let mut one = program("/a/app.cu", &[Source { name: "first", code: &code }], &[("d_in", 1 << 20)]);
    one.allocations[0].live_at_once = 1;
    one.allocations[0].copies = vec![warpline::profile::model::CopyRow {
        direction: "host_to_device".into(),
        bytes: 64,
        count: 1,
        unchanged_count: 0,
        source_count: 0,
        source_bytes: 0,
        first_launch: None,
        last_launch: None,
        host: None,
        path: one.allocations[0].path.clone(),
    }];
    let dated = |number: u64| another(&one, 1, &format!("2030-01-{number:02}"));
    let all = merge((0..40).map(dated).collect()).unwrap();
    let ids = |profile: &Profile| profile.findings.iter().map(|finding| finding.id.clone()).collect::<Vec<_>>();
    let alone = warpline::findings::find(&one, None);
    for id in ids(&all) {
        assert!(alone.iter().any(|finding| finding.id == id), "{id}: {:#?}", all.findings);
    }
    assert_eq!((all.allocations[0].count, all.allocations[0].live_at_once), (40, 40));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5))]

    /// Whatever their order, and however they are numbered.
    #[test]
    fn the_order_of_profiles_does_not_matter(times in prop::collection::vec(1u64..9, 1..5), turn in 0usize..5) {
        let one = demo_profile();
        let dated = |(index, times): (usize, &u64)| another(&one, *times, &format!("2030-01-{:02}", index % 3));
        let all: Vec<Profile> = times.iter().enumerate().map(dated).collect();
        let mut turned = all.clone();
        turned.rotate_left(turn % all.len());
        turned.reverse();
        prop_assert_eq!(merge(all.clone()).unwrap(), merge(turned).unwrap());
        let merged = counts(&merge(all.clone()).unwrap());
        for (path, sum) in &merged {
            let parts: u128 = all.iter().map(|profile| counts(profile).get(path).copied().unwrap_or(0)).sum();
            prop_assert_eq!(*sum, parts, "{}", path);
        }
    }
}

/// Counts that no run can have saturate, in every sum.
#[test]
fn huge_counts_do_not_overflow() {
    fn huge(value: &mut Value, key: &str) {
        match value {
            Value::Number(number) if number.is_u64() => {
                let small = ["id", "kernel", "line", "column", "version", "allocation", "host", "upto", "exit_code"];
                let narrow = ["grid", "block", "registers", "resident_blocks", "stream", "error", "spill_bytes"];
                let narrow = narrow.contains(&key) || key.ends_with("shared_bytes") || key.ends_with("_line");
                if narrow {
                    *value = u32::MAX.into();
                } else if !small.contains(&key) && key != "pid" && key != "threads" {
                    *value = u64::MAX.into();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| huge(item, key)),
            Value::Object(fields) => {
                let counts = |key: &String| !matches!(key.as_str(), "pattern" | "operand" | "bypass" | "pages");
                fields.iter_mut().filter(|(key, _)| counts(key)).for_each(|(key, item)| huge(item, key));
            }
            _ => {}
        }
    }
    let mut document = serde_json::to_value(demo_profile()).unwrap();
    for table in ["kernels", "lines", "sites", "allocations", "branches", "blocks", "host_allocations"] {
        // Widths of accesses are no counts.
        huge(&mut document[table], if table == "sites" { "id" } else { "" });
    }
    for site in document["sites"].as_array_mut().unwrap() {
        site["bytes"] = 4.into();
    }
    for launch in document["kernels"][0]["launches"].as_array_mut().unwrap() {
        launch["error"] = 0.into();
    }
    let profile: Profile = serde_json::from_value(document).unwrap();
    let merged = merge(vec![profile.clone(), profile.clone(), demo_profile()]).unwrap();
    assert_eq!(merged.kernels[0].metrics["global"].requests, u64::MAX);
    let found =
        warpline::comparison::compare(&demo_profile(), &merged, &warpline::comparison::Options::default(), None);
    let options = warpline::report::DiffOptions { color: false, top: 100, all: true, width: 80 };
    assert!(warpline::report::diff_text(&found, &demo_profile(), &merged, &options).contains("x more"));
}

#[test]
fn labels_that_all_have_are_those_of_the_whole() {
    let labelled = |rank: &str, date: &str| {
        let mut profile = another(&demo_profile(), 1, date);
        let labels = [("commit", "1a2b3c"), ("rank", rank)].map(|(name, value)| (name.to_owned(), value.to_owned()));
        profile.run.environment.labels = labels.into();
        profile
    };
    let whole = merge(vec![labelled("0", "2030-01-01T00:00:00Z"), labelled("1", "2030-01-02T00:00:00Z")]).unwrap();
    let labels: Vec<_> = whole.run.environment.labels.into_iter().collect();
    assert_eq!(labels, [("commit".to_owned(), "1a2b3c".to_owned())]);
}
