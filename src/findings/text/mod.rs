//! Writes the texts of findings. This is the last stage, and the only one with sentences, which are templates in the
//! pages of findings.

mod pages;
mod template;
mod write;

#[cfg(test)]
mod tests;

pub(super) use write::{Text, write, write_phrase};
