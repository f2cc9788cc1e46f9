//! Command lines: the table of options, splitting arguments into options and inputs, response files.
//!
//! [`table`] lists each option's name and value, [`lex`] splits a command line so that every argument belongs to
//! exactly one [`lex::Item`], and [`crate::invocation`] interprets the items.

pub mod device_file;
pub mod lex;
pub mod load_cache;
pub mod response;
pub mod table;

/// The compiler whose syntax a command line has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// nvcc's options, and clang's options that do not conflict with them: `warpline-nvcc` and `warpline-cc`.
    Nvcc,
    /// clang's options: `warpline-clang++` and `warpline-clang`.
    Clang,
}

impl Dialect {
    /// Returns the dialect for a program with this name.
    pub fn of_program(name: &str) -> Dialect {
        let file = name.rsplit('/').next().unwrap_or(name);
        if file.contains("clang") { Dialect::Clang } else { Dialect::Nvcc }
    }
}
