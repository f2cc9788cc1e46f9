//! Inline assembly as text: its statements and its named registers.

pub mod barrier;
pub mod branches;
pub mod flow;
pub mod parse;
pub mod registers;
