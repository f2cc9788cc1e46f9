//! The files from which the page is assembled.

use super::data::{self, Document};

const PAGE: &str = include_str!("page.html");

/// Style sheets in the order of the cascade.
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

/// Scripts, which are concatenated to one module. A script may use only names of earlier ones, except in code that runs
/// after all are loaded.
const SCRIPTS: [&str; 28] = [
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
    include_str!("scripts/rounding.js"),
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
    // Each placeholder is replaced once, and the inserted text is not expanded again, because data may contain
    // placeholders.
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
