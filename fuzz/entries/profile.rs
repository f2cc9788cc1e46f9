//! A profile of anybody's: what `warpline report` makes of it, in every form.

use warpline::profile::Profile;
use warpline::profile::file::{from_bytes, to_bytes};
use warpline::report;

/// Reads and reports: the file as it is, and a document that was given a file.
pub fn run(data: &[u8]) {
    if let Ok(profile) = from_bytes(data, std::path::Path::new("x")) {
        report(&profile);
    }
    if let Ok(profile) = serde_json::from_slice::<Profile>(data) {
        // Of another kind it may be.
        if let Ok(profile) = from_bytes(&to_bytes(&profile), std::path::Path::new("x")) {
            report(&profile);
        }
    }
}

/// All forms of report.
pub fn report(profile: &Profile) {
    let filter = report::Filter { top: 5, ..report::Filter::default() };
    let Some(kept) = report::apply(profile, &filter) else { return };
    let ids = kept.allocations.iter().take(3).map(|row| row.id).collect();
    let text = |all, view| report::text(&kept, &report::TextOptions { color: false, top: 5, all, width: 80, view });
    let shown = [
        text(true, report::View::Program),
        text(false, report::View::Program),
        text(false, report::View::Source),
        text(false, report::View::Allocations(ids)),
        report::csv(&kept),
        report::callgrind(&kept),
        report::markdown(&kept, 5),
    ];
    for text in shown {
        let hidden = text.chars().find(|c| warpline_format::visible::is_hidden(*c) && !matches!(c, '\n' | '\t'));
        assert_eq!(hidden, None, "{text}");
    }
    _ = report::json(&kept);
    _ = report::html(&kept, 5);
    _ = report::sarif(&kept);
    _ = warpline::findings::find(&kept, None);
    _ = report::pprof(&kept);
}
