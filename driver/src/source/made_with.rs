//! Records the compiler of the code and its options in a site table, so that a comparison of two profiles can show
//! differences between them.

use warpline_format::site_table::SiteTable;

use crate::invocation::Invocation;

/// Returns the options that affect how device code is generated. Macros and folders belong to the program: their
/// effects are visible in the source.
pub fn options(invocation: &Invocation) -> String {
    let mut words = Vec::new();
    if invocation.device_debug {
        words.push("-G".to_owned());
    }
    if invocation.relocatable {
        words.push("-rdc=true".to_owned());
    }
    let all = invocation.common.iter().chain(&invocation.device);
    words.extend(all.filter(|word| generates(word)).cloned());
    words.extend(invocation.ptxas.iter().cloned());
    words.join(" ")
}

/// Returns whether an option affects how code is generated.
fn generates(word: &str) -> bool {
    let about = ["-std=", "-f", "-m"].iter().any(|start| word.starts_with(start));
    let elsewhere =
        ["-fPIC", "-fpic", "-fdebug", "-ffile-prefix", "-fmacro-prefix", "-fdiagnostics", "-fcolor", "-fvisibility"];
    about && !elsewhere.iter().any(|start| word.starts_with(start))
}

/// Adds the compiler, the optimisation level and the options to the table of a module.
pub fn add(table: &mut SiteTable, level: u8, options: &str) {
    table.compiler = format!("LLVM {}", warpline_pass::llvm::version());
    table.options = format!("-O{level} {options}").trim_end().to_owned();
}
