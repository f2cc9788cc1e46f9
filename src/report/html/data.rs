//! The data in the page: the displayed part of the documents of `--format json`, and texts that other formats also use.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use crate::comparison::words;
use crate::rows::ranks::{RankRows, over_ranks};
use crate::trust::sentences;
use crate::words::label;
use warpline_comparison::{Better, Diff, Unit, better, rank, unit};
use warpline_profile::Profile;
use warpline_profile::model::{ByOp, Metrics};
use warpline_profile::trust::trust;

/// Size in bytes above which data is compressed. Browsers decompress it faster than they read it from a disk.
const MOST_PLAIN: usize = 1 << 19;

/// All data of a page.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    /// One profile, or the two compared profiles (before, after).
    pub(super) sides: Vec<Side>,
    pub(super) comparison: Option<&'a Diff>,
    /// Formats of the comparison's figures, by name.
    pub(super) figures: BTreeMap<String, FigureWords>,
}

/// A profile of the page.
#[derive(Serialize)]
pub(super) struct Side {
    name: &'static str,
    profile: Profile,
    /// Kernel labels as in the text report, by number.
    kernel_labels: BTreeMap<u32, String>,
    /// Differences between ranks as in the other formats; absent without ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks: Option<RankRows>,
    /// Sentences on the reliability of the figures, by name.
    trust: Vec<(&'static str, String)>,
}

impl Side {
    pub(super) fn new(name: &'static str, profile: &Profile) -> Side {
        let labels = profile.kernels.iter().map(|kernel| (kernel.id, label(profile, kernel)));
        let trust = sentences(&trust(profile)).into_iter().map(|sentence| (sentence.name, sentence.text));
        Side {
            name,
            profile: drawn(profile),
            kernel_labels: labels.collect(),
            ranks: over_ranks(profile),
            trust: trust.collect(),
        }
    }
}

/// Returns the displayed part of a profile. It includes distributions of kernels and allocations, but excludes spreads
/// and the data for `predict`, which are most of a large profile.
fn drawn(profile: &Profile) -> Profile {
    let mut drawn = profile.clone();
    let plain = |metrics: &mut Metrics| {
        metrics.lines_touched = BTreeMap::new();
        metrics.reuse = None;
    };
    drawn.allocation_names = Vec::new();
    for kernel in &mut drawn.kernels {
        kernel.over_ranks = BTreeMap::new();
        kernel.paths_over_ranks = Vec::new();
        kernel.over_launches = BTreeMap::new();
        kernel.ratios_over_launches = BTreeMap::new();
        kernel.over_paths = Vec::new();
        kernel.addresses = None;
        for launch in &mut kernel.launches {
            launch.metrics.values_mut().for_each(plain);
            launch.by_op = ByOp::new();
            launch.arguments = Vec::new();
        }
        for group in &mut kernel.launch_groups {
            group.metrics.values_mut().for_each(plain);
            group.by_op = ByOp::new();
            group.over_launches = BTreeMap::new();
            group.ratios_over_launches = BTreeMap::new();
        }
    }
    drawn.lines.iter_mut().for_each(|line| line.over_ranks = BTreeMap::new());
    drawn.lines.iter_mut().flat_map(|line| line.metrics.values_mut()).for_each(plain);
    for site in &mut drawn.sites {
        site.over_ranks = BTreeMap::new();
        plain(&mut site.metrics);
        site.by_allocation.iter_mut().for_each(|part| plain(&mut part.metrics));
        site.contexts.iter_mut().for_each(|context| plain(&mut context.metrics));
    }
    for allocation in &mut drawn.allocations {
        allocation.by_kernel.iter_mut().for_each(|part| plain(&mut part.metrics));
    }
    drawn.blocks = Vec::new();
    drawn
}

/// Format of a figure in a comparison.
#[derive(Serialize)]
pub(super) struct FigureWords {
    label: String,
    unit: &'static str,
    better: &'static str,
    /// Position in the order of significance; absent for dependent figures.
    rank: Option<usize>,
}

/// Returns the figures of a page without a comparison.
pub(super) fn no_figures() -> BTreeMap<String, FigureWords> {
    BTreeMap::new()
}

/// Returns all figures in the comparison.
pub(super) fn figures(diff: &Diff) -> BTreeMap<String, FigureWords> {
    let rows = [&diff.program].into_iter();
    let rows = rows.chain(diff.kernels.iter().map(|row| &row.metrics));
    let rows = rows.chain(diff.lines.iter().map(|row| &row.metrics));
    let rows = rows.chain(diff.branches.iter().map(|row| &row.metrics));
    let rows = rows.chain(diff.allocations.iter().map(|row| &row.metrics));
    rows.flat_map(BTreeMap::keys).map(|name| (name.clone(), figure(name))).collect()
}

fn figure(name: &str) -> FigureWords {
    let unit = match unit(name) {
        Unit::Count => "count",
        Unit::Bytes => "bytes",
        Unit::Seconds => "seconds",
        Unit::Share => "share",
        Unit::Mean => "mean",
    };
    let better = match better(name) {
        Better::Less => "less",
        Better::More => "more",
        Better::Neither => "neither",
    };
    FigureWords { label: words(name), unit, better, rank: rank(name) }
}

/// Returns the element that contains the data. Scripts find it by its `id`.
pub(super) fn element(document: &Document<'_>) -> String {
    let json = serde_json::to_string(document).expect("a profile has string keys and finite numbers");
    if json.len() <= MOST_PLAIN {
        return format!("<script type=\"application/json\" id=\"data\">{}</script>", inert(&json));
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let packed = gzip.write_all(json.as_bytes()).and_then(|()| gzip.finish()).expect("memory takes what is written");
    format!("<script type=\"application/gzip\" id=\"data\">{}</script>", base64(&packed))
}

/// Escapes JSON so that it cannot end a script element or start a comment. The escaped characters occur only in
/// strings.
fn inert(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            other => out.push(other),
        }
    }
    out
}

/// Encodes bytes as in RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place > group.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn data_neither_ends_its_element_nor_changes() {
        let nasty = "</script><!-- & \u{2028}\u{2029} ]]>";
        let json = serde_json::to_string(nasty).unwrap();
        let shown = inert(&json);
        assert!(!shown.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), nasty);
    }
}
