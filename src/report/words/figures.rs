//! Formats numbers.

use warpline_profile::model::{CacheMetrics, DramMetrics, HitRate, LevelMetrics, Metrics, Spaces};

/// Formats bytes as `1.50 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {}", units[unit])
}

/// Formats a count as `12 345` or `1.23 M`.
pub(crate) fn count(count: u64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M")];
    if count < 1_000_000 {
        return if count < 10_000 { count.to_string() } else { format!("{} {:03}", count / 1000, count % 1000) };
    }
    let value = count as f64;
    let (scale, unit) = units.iter().find(|(scale, _)| value >= *scale).copied().unwrap_or((1.0, ""));
    let scaled = value / scale;
    let digits = if scaled < 9.995 {
        2
    } else if scaled < 99.95 {
        1
    } else {
        0
    };
    format!("{scaled:.digits$} {unit}")
}

/// Returns `part / whole`, or 0 if `whole` is 0.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Formats a share as `12.5 %`.
pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.000_95 { "<0.1 %".to_owned() } else { format!("{:.1} %", share * 100.0) }
}

/// Formats a hit rate as `12.5 %`, or a dash if there were no lookups.
pub(crate) fn hit_rate(rate: HitRate) -> String {
    rate.share().map_or("-".to_owned(), percent)
}

/// Formats a time as `12.3 us`.
pub(crate) fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds >= 1.0 => (seconds, "s"),
        seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        seconds if seconds >= 1e-6 => (seconds * 1e6, "us"),
        seconds => (seconds * 1e9, "ns"),
    };
    let digits = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {unit}")
}

/// Spaces whose requests have sectors and cause traffic.
const MEMORY: [&str; 3] = ["global", "local", "constant"];

/// Returns the sum over the spaces outside the SM.
pub(crate) fn memory(spaces: &Spaces) -> Metrics {
    let mut sum = Metrics::default();
    for (_, metrics) in spaces.iter().filter(|(space, _)| MEMORY.contains(&space.as_str())) {
        add(&mut sum, metrics);
    }
    sum
}

/// Returns the cache figures of requests to the spaces outside the SM on a further model; `None` if unknown.
pub(crate) fn model_caches(spaces: &Spaces, model: &str) -> Option<CacheMetrics> {
    let all = spaces.iter().filter(|(space, _)| MEMORY.contains(&space.as_str()));
    let found: Vec<&CacheMetrics> = all.filter_map(|(_, metrics)| metrics.other_models.get(model)).collect();
    let (first, rest) = found.split_first()?;
    let mut sum = CacheMetrics { l1_wavefronts: None, ..**first };
    for more in rest {
        add_level(&mut sum.l1, &more.l1);
        add_level(&mut sum.l2, &more.l2);
        add_dram(&mut sum.dram, &more.dram);
    }
    Some(sum)
}

fn add_level(sum: &mut LevelMetrics, more: &LevelMetrics) {
    sum.lookups = sum.lookups.saturating_add(more.lookups);
    sum.hits = sum.hits.saturating_add(more.hits);
    sum.load_lookups = sum.load_lookups.saturating_add(more.load_lookups);
    sum.load_hits = sum.load_hits.saturating_add(more.load_hits);
}

fn add_dram(sum: &mut DramMetrics, more: &DramMetrics) {
    sum.read_sectors = sum.read_sectors.saturating_add(more.read_sectors);
    sum.write_sectors = sum.write_sectors.saturating_add(more.write_sectors);
}

/// Adds the figures that are plain sums.
pub(crate) fn add(sum: &mut Metrics, more: &Metrics) {
    sum.requests = sum.requests.saturating_add(more.requests);
    sum.lanes = sum.lanes.saturating_add(more.lanes);
    sum.bytes = sum.bytes.saturating_add(more.bytes);
    sum.sectors = sum.sectors.saturating_add(more.sectors);
    sum.ideal_sectors = sum.ideal_sectors.saturating_add(more.ideal_sectors);
    for (sum, more) in [(&mut sum.shared, &more.shared), (&mut sum.constant, &more.constant)] {
        if let Some(more) = more {
            let passes = sum.get_or_insert_default();
            passes.wavefronts = passes.wavefronts.saturating_add(more.wavefronts);
            passes.ideal_wavefronts = passes.ideal_wavefronts.saturating_add(more.ideal_wavefronts);
        }
    }
    for (sum, more) in [(&mut sum.l1, &more.l1), (&mut sum.l2, &more.l2)] {
        if let Some(more) = more {
            add_level(sum.get_or_insert_default(), more);
        }
    }
    if let Some(more) = &more.dram {
        add_dram(sum.dram.get_or_insert_default(), more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024), "1.00 KiB");
        assert_eq!(bytes(5632 << 10), "5.50 MiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(count(9_999), "9999");
        assert_eq!(count(123_456), "123 456");
        assert_eq!(count(1_234_567), "1.23 M");
        assert_eq!(percent(0.125), "12.5 %");
        assert_eq!(seconds(1.5e-4), "150 us");
        assert_eq!(seconds(2.0), "2.00 s");
        assert_eq!(seconds(0.0), "0.00 ns");
        assert_eq!(percent(0.0001), "<0.1 %");
    }
}
