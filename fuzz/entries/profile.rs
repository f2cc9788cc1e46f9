//! Reports an arbitrary profile in every form of `warpline report`.

use warpline::profile::Profile;
use warpline::profile::file::{from_bytes, to_bytes};
use warpline::report;
use warpline::report::views::{self, CallTree, View};

/// Reads and reports the input, both as a file and as a document that is converted to a file.
pub fn run(data: &[u8]) {
    if let Ok(profile) = from_bytes(data, std::path::Path::new("x")) {
        report(&profile);
    }
    if let Ok(profile) = serde_json::from_slice::<Profile>(data) {
        // The file may be of another kind.
        if let Ok(profile) = from_bytes(&to_bytes(&profile), std::path::Path::new("x")) {
            report(&profile);
        }
    }
}

/// Formats the profile in all forms of report.
pub fn report(profile: &Profile) {
    let filter = report::Filter { top: 5, ..report::Filter::default() };
    let Some(kept) = report::apply(profile, &filter) else { return };
    let options = |all, shown| report::TextOptions { color: false, top: 5, all, width: 80, shown };
    let text = |all, shown| report::text(&kept, &options(all, shown));
    let shown = [
        text(true, report::Shown::Summary),
        text(false, report::Shown::Summary),
        text(false, report::Shown::Source),
        report::answers_text(&kept, &pages(&kept), &options(false, report::Shown::Summary)),
        report::csv(&kept),
        report::callgrind(&kept),
        report::markdown(&kept, 5),
        report::brief_markdown(&kept),
        report::brief_json(&kept),
    ];
    for text in shown {
        let hidden = text.chars().find(|c| warpline_format::visible::is_hidden(*c) && !matches!(c, '\n' | '\t'));
        assert_eq!(hidden, None, "{text}");
    }
    _ = report::json(&kept);
    _ = report::html(&kept);
    _ = report::sarif(&kept);
    _ = warpline::findings::find(&kept, None);
    _ = report::pprof(&kept);
}

/// Returns the pages for the first entries of each kind, and for a comparison of the profile with itself.
fn pages(profile: &Profile) -> Vec<View> {
    let calls = CallTree::new(profile);
    let kernels = profile.kernels.iter().take(3).filter_map(|row| views::kernel(profile, row.id));
    let lines = profile.lines.iter().take(3).filter_map(|row| views::line(profile, &row.file, row.line));
    let allocations = profile.allocations.iter().take(3).filter_map(|row| views::allocation(profile, row.id));
    let findings = profile.findings.iter().take(3).filter_map(|row| views::finding(profile, row.rank));
    let nodes = (0..calls.len().min(5)).filter_map(|node| calls.view(node));
    let whole = [views::program(profile), views::comparison(profile, profile)];
    kernels.chain(lines).chain(allocations).chain(findings).chain(nodes).chain(whole).collect()
}
