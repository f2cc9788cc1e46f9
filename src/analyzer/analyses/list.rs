//! The list of independent analyses.

use super::Listed;
use super::operations::Operations;
use super::pages::{PageSettings, Pages};
use super::widths::Widths;

/// Returns the analyses of one worker. Pages are counted if their size is known.
pub fn all(pages: Option<PageSettings>) -> Listed {
    let mut listed = Listed::default();
    listed.push(Box::new(Widths::default()));
    listed.push(Box::new(Operations::default()));
    if let Some(pages) = pages {
        listed.push(Box::new(Pages::new(pages)));
    }
    listed
}
