//! Command lines: the table of options, cutting arguments into options and inputs, response files.
//!
//! [`table`] lists each option's name and value, [`lex`] cuts a command line with it so that every argument
//! belongs to exactly one [`lex::Item`], and [`crate::invocation`] gives the items their meaning.

pub mod device_file;
pub mod lex;
pub mod load_cache;
pub mod response;
pub mod table;

/// Whose command line it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// nvcc's, and where they do not collide clang's options too. `warpline-nvcc` and `warpline-cc`.
    Nvcc,
    /// clang's. `warpline-clang++` and `warpline-clang`.
    Clang,
}

impl Dialect {
    /// Returns the dialect that a program of this name speaks.
    pub fn of_program(name: &str) -> Dialect {
        let file = name.rsplit('/').next().unwrap_or(name);
        if file.contains("clang") { Dialect::Clang } else { Dialect::Nvcc }
    }
}
