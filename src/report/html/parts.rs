//! The files that the page is joined from.

use super::data::{self, Document};

const PAGE: &str = include_str!("page.html");

/// In the order of the cascade.
const STYLES: [&str; 8] = [
    include_str!("style/theme.css"),
    include_str!("style/base.css"),
    include_str!("style/layout.css"),
    include_str!("style/parts.css"),
    include_str!("style/tables.css"),
    include_str!("style/charts.css"),
    include_str!("style/source.css"),
    include_str!("style/print.css"),
];

/// One module of the browser together: what a script uses is in those before it, but for what runs later than all.
const SCRIPTS: [&str; 27] = [
    include_str!("scripts/format.js"),
    include_str!("scripts/dom.js"),
    include_str!("scripts/glossary.js"),
    include_str!("scripts/data.js"),
    include_str!("scripts/metrics.js"),
    include_str!("scripts/hints.js"),
    include_str!("scripts/heat.js"),
    include_str!("scripts/rows.js"),
    include_str!("scripts/table.js"),
    include_str!("scripts/charts.js"),
    include_str!("scripts/distributions.js"),
    include_str!("scripts/findings.js"),
    include_str!("scripts/overview.js"),
    include_str!("scripts/roofline.js"),
    include_str!("scripts/kernels.js"),
    include_str!("scripts/bypassing.js"),
    include_str!("scripts/source.js"),
    include_str!("scripts/accesses.js"),
    include_str!("scripts/allocations.js"),
    include_str!("scripts/paths.js"),
    include_str!("scripts/timeline.js"),
    include_str!("scripts/divergence.js"),
    include_str!("scripts/ranks.js"),
    include_str!("scripts/about.js"),
    include_str!("scripts/comparison.js"),
    include_str!("scripts/search.js"),
    include_str!("scripts/main.js"),
];

/// Returns the page with its title and data.
pub(super) fn page(title: &str, document: &Document<'_>) -> String {
    let fill = |name: &str| match name {
        "title" => title.to_owned(),
        "style" => STYLES.concat(),
        "script" => SCRIPTS.concat(),
        "data" => data::element(document),
        other => unreachable!("page.html has no place called {other}"),
    };
    // Each place is filled once and its content is not expanded again: data may hold anything.
    let mut out = String::new();
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("page.html closes its places");
        out.push_str(before);
        out.push_str(&fill(name));
        rest = after;
    }
    out.push_str(rest);
    out
}
