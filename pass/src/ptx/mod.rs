//! Inline assembly as text: its statements, and its registers that have names.

pub mod parse;
pub mod registers;
