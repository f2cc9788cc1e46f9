//! Derives figures of caches from timed chases, and compares them with the model.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::chase::{Chase, Sweep};
use super::curve::{Point, doubling, plateaus, tag_bytes};
use warpline_simulator::hierarchy::HierarchyConfig;
use warpline_simulator::models::{Curve, CurvePath as Path};

/// A figure of the model and its measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureRow {
    /// Name of the figure.
    pub what: String,
    /// `bytes` or `cycles`.
    pub unit: String,
    /// Value of the model; `None` if it has no such figure.
    pub model: Option<f64>,
    /// Measured value; `None` if the curves do not show it.
    pub measured: Option<f64>,
}

/// Returns the curves over sizes of timed chases.
pub fn curves(timed: &[(Sweep, Chase, u64)], source: &str) -> Vec<Curve> {
    let of = |past_level_1: bool| {
        let points = points(timed, Sweep::Sizes { past_level_1 }, |chase| chase.bytes);
        Curve {
            path: if past_level_1 { Path::PastLevel1 } else { Path::ThroughLevel1 },
            stride: 128,
            bytes: points.iter().map(|point| point.bytes).collect(),
            cycles: points.iter().map(|point| (point.cycles * 10.0).round() / 10.0).collect(),
            source: source.to_owned(),
        }
    };
    vec![of(false), of(true)]
}

fn points(timed: &[(Sweep, Chase, u64)], sweep: Sweep, of: impl Fn(&Chase) -> u64) -> Vec<Point> {
    let all = timed.iter().filter(|(which, ..)| *which == sweep);
    let mut points: Vec<Point> = all
        .map(|(_, chase, cycles)| Point { bytes: of(chase), cycles: *cycles as f64 / chase.timed.max(1) as f64 })
        .collect();
    points.sort_by_key(|point| point.bytes);
    points
}

/// Returns the bytes of L1 without shared memory.
fn level_1_bytes(config: &HierarchyConfig) -> f64 {
    (u64::from(config.l1.lines(0)) * u64::from(config.l1.line_bytes)) as f64
}

/// Returns the figures that follow from curves over sizes: capacities and latencies.
pub fn of_curves(config: &HierarchyConfig, curves: &[Curve]) -> Vec<FigureRow> {
    let mut rows = Vec::new();
    for curve in curves {
        let points = curve.bytes.iter().zip(&curve.cycles);
        let points: Vec<Point> = points.map(|(&bytes, &cycles)| Point { bytes, cycles }).collect();
        let levels = plateaus(&points);
        let (path, names) = match curve.path {
            Path::ThroughLevel1 => ("through L1", &["L1", "L2", "memory"][..]),
            Path::PastLevel1 => ("past L1", &["L2", "memory"][..]),
        };
        let has_all = levels.len() == names.len();
        for (name, level) in names.iter().zip(&levels) {
            let model = match *name {
                "L1" => Some(level_1_bytes(config)),
                "L2" => Some(config.l2.bytes() as f64),
                _ => None,
            };
            // If the number of levels differs from the model, levels cannot be assigned.
            if model.is_some() {
                let measured = has_all.then_some(level.bytes as f64);
                rows.push(FigureRow { what: format!("capacity of {name}"), unit: "bytes".into(), model, measured });
            }
            let what = format!("latency of {name}, {path}");
            let measured = has_all.then_some(level.cycles);
            rows.push(FigureRow { what, unit: "cycles".into(), model: None, measured });
        }
    }
    rows
}

/// Returns all figures that follow from timed chases.
pub fn figures(config: &HierarchyConfig, timed: &[(Sweep, Chase, u64)]) -> Vec<FigureRow> {
    let mut rows = of_curves(config, &curves(timed, ""));
    for (past_level_1, what, model) in [
        (false, "bytes that a miss of L1 fetches", config.l1.sector_bytes),
        (true, "bytes that a miss of L2 fetches", config.l2.fill_bytes),
    ] {
        let strides = points(timed, Sweep::Fetch { past_level_1 }, |chase| chase.stride);
        let hit = points(timed, Sweep::Sizes { past_level_1 }, |chase| chase.bytes).first().map(|point| point.cycles);
        let measured = hit.and_then(|hit| doubling(&strides, hit)).map(|bytes| bytes as f64);
        rows.push(FigureRow { what: what.into(), unit: "bytes".into(), model: Some(model.into()), measured });
    }
    let through = points(timed, Sweep::Sizes { past_level_1: false }, |chase| chase.bytes);
    let measured = match plateaus(&through)[..] {
        [level_1, level_2, ..] => {
            let mut strides: Vec<u64> = Vec::new();
            strides.extend(timed.iter().filter_map(|(sweep, ..)| match sweep {
                Sweep::Tags { stride } => Some(*stride),
                _ => None,
            }));
            strides.dedup();
            let limit = level_1.cycles + 0.05 * (level_2.cycles - level_1.cycles);
            let fitting = strides.iter().map(|&stride| {
                let sizes = points(timed, Sweep::Tags { stride }, |chase| chase.bytes);
                (stride, sizes.iter().take_while(|point| point.cycles <= limit).last().map_or(0, |point| point.bytes))
            });
            tag_bytes(level_1.bytes, &fitting.collect::<Vec<_>>()).map(|bytes| bytes as f64)
        }
        _ => None,
    };
    let model = Some(f64::from(config.l1.line_bytes));
    rows.push(FigureRow { what: "bytes of a tag of L1".into(), unit: "bytes".into(), model, measured });
    rows
}

/// Returns the curves in the format of model files, with the figures as comments.
pub fn model_text(curves: &[Curve], figures: &[FigureRow], source: (&str, &str)) -> String {
    let mut text = String::new();
    for row in figures {
        let number = |figure: Option<f64>| figure.map_or("not known".to_owned(), |figure| format!("{figure:.0}"));
        _ = writeln!(text, "# {}: {} {}, in the model {}", row.what, number(row.measured), row.unit, number(row.model));
    }
    for curve in curves {
        let path = match curve.path {
            Path::ThroughLevel1 => "through_level_1",
            Path::PastLevel1 => "past_level_1",
        };
        _ = writeln!(text, "\n[[curves]]\npath = \"{path}\"\nstride = {}", curve.stride);
        _ = writeln!(text, "bytes = {:?}\ncycles = {:?}\nsource = \"{}\"", curve.bytes, curve.cycles, source.0);
    }
    _ = writeln!(text, "\n# For the table [sources]:\n# {} = {:?}", source.0, source.1);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::timing_plan;
    use warpline_format::site_table::CacheOp;
    use warpline_simulator::hierarchy::pointer_chase::walk_behind;
    use warpline_simulator::models;

    /// Returns the latencies of a GPU with exactly the model's caches: 30 cycles for L1, 200 for L2, and 500 beyond.
    fn timed(config: &HierarchyConfig) -> Vec<(Sweep, Chase, u64)> {
        let plan = timing_plan(config).into_iter();
        plan.map(|(sweep, chase)| {
            let cache = if chase.past_level_1 { CacheOp::Global } else { CacheOp::Default };
            let (n, s) = (chase.bytes / 4, chase.stride / 4);
            let sum = walk_behind(config, n, s, chase.before, chase.timed, cache);
            let (l2, memory) = (sum.l2.lookups, sum.l2.lookups - sum.l2.hits);
            (sweep, chase, 30 * chase.timed + 170 * l2.min(chase.timed) + 300 * memory.min(chase.timed))
        })
        .collect()
    }

    #[test]
    fn a_model_s_own_latencies_give_its_figures() {
        for (name, l1_kib, sets) in [("v100", 32, 128), ("rtx2080ti", 16, 64)] {
            // The caches are small, so that the test is fast.
            let mut config = models::find(name).unwrap().hierarchy().unwrap();
            config.l1.bytes = l1_kib << 10;
            config.l1.reserved_bytes = 0;
            config.l1.shared_options.clear();
            (config.l2.slices, config.l2.sets, config.l2.ways) = (4, sets, 16);
            let rows = figures(&config, &timed(&config));
            let figure = |what: &str| rows.iter().find(|row| row.what == what).and_then(|row| row.measured).unwrap();
            let l1 = level_1_bytes(&config);
            // Sizes are an eighth of a doubling apart.
            let capacity = figure("capacity of L1");
            assert!(capacity <= l1 && capacity > 0.9 * l1, "{name}: {capacity}, {l1}");
            let capacity = figure("capacity of L2");
            let l2 = config.l2.bytes() as f64;
            assert!(capacity <= l2 && capacity > 0.85 * l2, "{name}: {capacity}, {l2}");
            assert_eq!(figure("bytes that a miss of L1 fetches"), 32.0, "{name}");
            assert_eq!(figure("bytes that a miss of L2 fetches"), f64::from(config.l2.fill_bytes), "{name}");
            assert_eq!(figure("bytes of a tag of L1"), 128.0, "{name}");
            assert_eq!(figure("latency of L1, through L1"), 30.0, "{name}");
        }
    }

    #[test]
    fn what_is_written_for_a_model_file_can_be_read() {
        #[derive(Deserialize)]
        struct File {
            curves: Vec<Curve>,
        }
        let curve = Curve {
            path: Path::PastLevel1,
            stride: 128,
            bytes: vec![4096, 8192],
            cycles: vec![200.0, 201.5],
            source: "validate".into(),
        };
        let row = FigureRow { what: "capacity".into(), unit: "bytes".into(), model: None, measured: Some(5.0) };
        let text = model_text(std::slice::from_ref(&curve), &[row], ("validate", "warpline validate on \"this\" GPU"));
        assert_eq!(toml::from_str::<File>(&text).unwrap().curves, [curve], "{text}");
    }
}
