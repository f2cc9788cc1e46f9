//! The list.

use super::Listed;
use super::pages::{PageSettings, Pages};
use super::shards::AnyTool;
use super::widths::Widths;

/// Those of one worker. Pages are counted where their size is known.
pub fn all(pages: Option<PageSettings>) -> Listed {
    let mut list: Vec<Box<dyn AnyTool>> = vec![Box::new(Widths::default())];
    if let Some(pages) = pages {
        list.push(Box::new(Pages::new(pages)));
    }
    Listed(list)
}
