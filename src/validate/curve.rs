//! Derives cache properties from a curve of latencies.

use serde::{Deserialize, Serialize};

/// Average latency of a load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Size of the array or stride, in bytes.
    pub bytes: u64,
    /// Cycles per load.
    pub cycles: f64,
}

/// A level of the hierarchy, visible as a plateau of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    /// Largest size that it serves; for the last level, the end of the curve.
    pub bytes: u64,
    /// Latency in cycles.
    pub cycles: f64,
}

/// Maximum relative difference between adjacent points of a plateau.
const FLAT: f64 = 0.02;
/// Minimum ratio between the sizes at the ends of a plateau, and minimum number of points.
const SPAN: f64 = 1.5;
const POINTS: usize = 4;
/// Plateaus whose latencies differ by less than this share are merged.
const ALIKE: f64 = 0.1;
/// A size still fits if at most this share of the step to the next level is visible.
const SPILLED: f64 = 0.05;

/// Returns the levels of a curve over ascending sizes: ranges in which the latency hardly changes.
pub fn plateaus(points: &[Point]) -> Vec<Plateau> {
    let mut found: Vec<(usize, f64)> = Vec::new();
    let mut first = 0;
    for index in 1..=points.len() {
        let goes_on = index < points.len()
            && (points[index].cycles - points[index - 1].cycles).abs() <= FLAT * points[index - 1].cycles;
        if goes_on {
            continue;
        }
        let run = &points[first..index];
        first = index;
        let [from, .., to] = run else { continue };
        if run.len() < POINTS || (to.bytes as f64) < SPAN * from.bytes as f64 {
            continue;
        }
        let cycles = median(run);
        match found.last_mut() {
            Some((end, before)) if (cycles - *before).abs() <= ALIKE * *before => *end = index,
            _ => found.push((index, cycles)),
        }
    }
    let levels = found.iter().enumerate();
    levels
        .map(|(level, &(end, cycles))| {
            let limit = found.get(level + 1).map(|(_, next)| cycles + SPILLED * (next - cycles));
            let fits = |point: &&Point| limit.is_none_or(|limit| point.cycles <= limit);
            let upto = found.get(level + 1).map_or(points.len(), |(next, _)| *next);
            let last = points[..upto].iter().rev().find(fits).unwrap_or(&points[end - 1]);
            Plateau { bytes: last.bytes, cycles }
        })
        .collect()
}

fn median(run: &[Point]) -> f64 {
    let mut cycles: Vec<f64> = run.iter().map(|point| point.cycles).collect();
    cycles.sort_by(f64::total_cmp);
    cycles[cycles.len() / 2]
}

/// Returns the bytes that a miss fetches, from latencies over doubling strides. As long as several loads share a fetch,
/// doubling the stride doubles the difference from the latency of a `hit`.
pub fn doubling(points: &[Point], hit: f64) -> Option<u64> {
    let mut last = points.first()?.bytes;
    for pair in points.windows(2) {
        let (before, after) = (pair[0].cycles - hit, pair[1].cycles - hit);
        if before <= 0.0 || after < 1.5 * before {
            break;
        }
        last = pair[1].bytes;
    }
    Some(last)
}

/// Returns the bytes per tag, from the largest sizes that fit at each stride. Beyond a tag's bytes, the fitting size
/// grows with the stride. Sets that a stride skips can only increase a quotient, so the smallest one is used.
pub fn tag_bytes(capacity: u64, fitting: &[(u64, u64)]) -> Option<u64> {
    let quotients = fitting
        .iter()
        .filter(|(_, bytes)| *bytes > 0)
        .map(|(stride, bytes)| *stride as f64 * capacity as f64 / *bytes as f64);
    let smallest = quotients.min_by(f64::total_cmp)?;
    // The bytes per tag are a power of two.
    Some(1 << smallest.log2().round().max(2.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(of: &[(u64, f64)]) -> Vec<Point> {
        of.iter().map(|&(bytes, cycles)| Point { bytes, cycles }).collect()
    }

    /// Latencies of a V100 from te42kyfo/gpu-benches 1c36d509 (gpu-latency): KiB and cycles of a random chain with 64
    /// bytes between elements; every other point.
    const V100: [(u64, f64); 33] = [
        (15, 30.0),
        (20, 30.0),
        (27, 30.0),
        (35, 30.0),
        (44, 30.1),
        (55, 30.1),
        (69, 30.1),
        (86, 30.1),
        (106, 30.2),
        (118, 30.3),
        (130, 89.5),
        (160, 191.0),
        (196, 213.4),
        (239, 215.1),
        (291, 215.0),
        (354, 215.0),
        (523, 215.0),
        (771, 215.1),
        (1133, 215.0),
        (1664, 215.0),
        (2441, 215.0),
        (3579, 215.0),
        (5245, 215.0),
        (5770, 215.3),
        (6348, 265.1),
        (7684, 395.8),
        (9299, 424.9),
        (11254, 426.0),
        (13620, 428.2),
        (16482, 428.2),
        (24136, 428.5),
        (35343, 429.0),
        (75772, 433.3),
    ];

    #[test]
    fn the_levels_of_a_real_gpu() {
        let found = plateaus(&points(&V100));
        let levels: Vec<(u64, f64)> = found.iter().map(|level| (level.bytes, level.cycles)).collect();
        // The levels are L1 (128 KiB minus shared memory), L2 (6 MiB) and device memory.
        assert_eq!(levels, [(118, 30.1), (5770, 215.0), (75772, 428.2)]);
    }

    #[test]
    fn a_curve_without_levels_has_none() {
        assert_eq!(plateaus(&[]), []);
        let steep: Vec<Point> = (1..20).map(|step| Point { bytes: 1 << step, cycles: f64::from(1 << step) }).collect();
        assert_eq!(plateaus(&steep), []);
    }

    #[test]
    fn what_a_miss_fetches() {
        // At a stride of half a sector, half of the loads hit.
        let of = |sector: u64| -> Vec<Point> {
            let share = |stride: u64| stride.min(sector) as f64 / sector as f64;
            [4u64, 8, 16, 32, 64, 128, 256]
                .iter()
                .map(|&s| Point { bytes: s, cycles: 33.0 + 200.0 * share(s) })
                .collect()
        };
        for sector in [32, 64, 128] {
            assert_eq!(doubling(&of(sector), 33.0), Some(sector));
        }
        assert_eq!(doubling(&[], 33.0), None);
    }

    #[test]
    fn bytes_of_a_tag() {
        // The cache has 128 KiB in lines of 128 bytes. The last stride skips half of the sets.
        let fitting = [(96, 128 << 10), (192, 192 << 10), (384, 384 << 10), (768, 384 << 10)];
        assert_eq!(tag_bytes(128 << 10, &fitting), Some(128));
        assert_eq!(tag_bytes(128 << 10, &[]), None);
    }
}
