//! `warpline explore`: a session in the terminal over one profile, or two.
//!
//! [`Session`] contains the state: tabs of pages, each of which is a view of `report::views` with a cursor. It is
//! independent of the terminal: it receives keys and returns actions. [`draw`] draws it, and [`terminal`] reads keys
//! and runs the editor.

mod draw;
mod editor;
mod help;
mod page;
mod session;
mod terminal;

pub use draw::draw;
pub use session::{Action, Profiles, Session};
pub use terminal::{ExploreError, run};
