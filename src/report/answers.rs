//! Text of the views that a user selected by name.

use super::views::{self, View};
use super::words::Style;
use crate::text::{LEAST_WIDTH, TextOptions, write_short};
use warpline_profile::Profile;

/// Returns a short header of the run, then the selected views.
pub fn answers(profile: &Profile, views: &[View], options: &TextOptions) -> String {
    let mut out = String::new();
    let width = options.width.max(LEAST_WIDTH);
    write_short(&mut out, profile, Style { color: options.color }, width);
    for view in views {
        out.push_str(&views::text(view, options.top, width, options.color));
        out.push('\n');
    }
    out
}
