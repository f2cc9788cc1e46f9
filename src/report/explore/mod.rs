//! `warpline explore`: a session in the terminal over one profile, or two.
//!
//! [`Session`] is what the user does: tabs of pages, each a view of `report::views` with a cursor. It is independent of
//! the terminal: keys go in, what to do comes out, and [`draw`] paints it. [`terminal`] reads keys and runs the editor.

mod draw;
mod editor;
mod help;
mod page;
mod session;
mod terminal;

pub use draw::draw;
pub use session::{Action, Profiles, Session};
pub use terminal::{ExploreError, run};
