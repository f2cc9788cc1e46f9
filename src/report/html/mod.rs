//! Writes the report as a single page for a browser without external resources. The page contains the whole document as
//! data, and scripts that draw every view from it. Texts of the program are data only; scripts insert them as text, not
//! as markup.

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

/// Returns the page of a comparison of two profiles. Every view of each profile can be opened from it.
pub fn diff_html(diff: &Diff, before: &Profile, after: &Profile) -> String {
    let document = Document {
        sides: vec![Side::new("before", before), Side::new("after", after)],
        comparison: Some(diff),
        figures: data::figures(diff),
    };
    parts::page("Warpline comparison", &document)
}
