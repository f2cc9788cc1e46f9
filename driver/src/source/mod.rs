//! Processes sources before clang reads them: syntax that nvcc accepts and clang does not is rewritten in the texts
//! that clang receives. The files are not changed.

pub(crate) mod asm_strings;
pub(crate) mod cccl;
pub(crate) mod command_line_macros;
pub(crate) mod compiler_macro;
pub(crate) mod digests;
pub mod launches;
pub(crate) mod made_with;
pub(crate) mod overlay;
pub(crate) mod percent_signs;
pub(crate) mod pragmas;
pub(crate) mod respelling;
pub(crate) mod standard;
pub(crate) mod standard_input;
pub(crate) mod strictness;
pub mod unit;
