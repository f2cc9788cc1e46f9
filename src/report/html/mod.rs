//! The report as one page for a browser, with nothing to fetch: the whole document as data, and the scripts that draw
//! every view from it. What comes from the program is data only; the scripts put it into the page as text.

mod data;
mod parts;

use data::{Document, Side};
use warpline_comparison::Diff;
use warpline_profile::Profile;

/// Returns the page of a profile.
pub fn html(profile: &Profile) -> String {
    let document =
        Document { sides: vec![Side::new("profile", profile)], comparison: None, figures: data::no_figures() };
    parts::page("Warpline", &document)
}

/// Returns the page of a comparison of two profiles, from which every view of each can be opened.
pub fn diff_html(diff: &Diff, before: &Profile, after: &Profile) -> String {
    let document = Document {
        sides: vec![Side::new("before", before), Side::new("after", after)],
        comparison: Some(diff),
        figures: data::figures(diff),
    };
    parts::page("Warpline comparison", &document)
}
