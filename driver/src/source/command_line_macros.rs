//! Macros of the command line (`-D`, `-U`) that are defined after the headers that are read before every source.
//!
//! nvcc reads `cuda_runtime.h` before a source; the names in this header are reserved. clang's wrapper also reads
//! `cuda.h` and cuRAND's headers, whose parameters have names like `N` and `X`. A macro that a program's build defines
//! with `-DN=1024` would change these headers. It is therefore defined in a separate file, [`FILE`], which is read
//! after them and before the user's first file.
//!
//! Macros that those headers test in conditions stay on the command line: reserved names, and the prefixes in
//! [`TESTED`].

use crate::invocation::Invocation;

/// The name of the file among Warpline's headers. An overlay provides its text.
pub const FILE: &str = "warpline/command_line_macros.h";

/// Prefixes of names that conditions in the headers of clang's wrapper test, apart from reserved names. A test compares
/// them with the toolkit's headers.
const TESTED: [&str; 7] = ["_", "CUDA", "CURAND", "CU_", "NV_", "PSTL_", "WARPLINE_"];

/// Other names that such conditions test, and those that clang predefines.
const TESTED_NAMES: [&str; 5] = ["NDEBUG", "NOMINMAX", "QUALIFIERS", "linux", "unix"];

/// Options whose value is the next argument and is not a macro.
const WITH_VALUE: [&str; 9] =
    ["-Xclang", "-Xpreprocessor", "-mllvm", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot"];

/// A macro's name with its parameters, and its value.
type Definition<'a> = (&'a str, &'a str);

/// Returns arguments without the definitions that [`text`] contains.
pub fn without_late(arguments: &[String]) -> Vec<String> {
    let kept = |(argument, is_value): (&String, bool)| (is_value || late(argument).is_none()).then(|| argument.clone());
    options(arguments).filter_map(kept).collect()
}

/// Returns whether one of the arguments defines a macro that the headers must not see.
fn any_late(arguments: &[String]) -> bool {
    options(arguments).any(|(argument, is_value)| !is_value && late(argument).is_some())
}

/// Returns whether an option defines such a macro.
pub fn is_late(argument: &str) -> bool {
    late(argument).is_some()
}

/// Returns whether a compilation of a CUDA source needs [`FILE`].
pub fn is_needed(invocation: &Invocation) -> bool {
    let given = [&invocation.common, &invocation.device, &invocation.host];
    !invocation.macros.is_empty() || given.iter().any(|arguments| any_late(arguments))
}

/// Returns the text of [`FILE`] for a command line, or `None` if it has no such macros. Macros that nvcc defines for
/// options are included, because the headers are precompiled without them.
pub fn text(invocation: &Invocation) -> Option<String> {
    let nvccs: String = invocation.macros.iter().filter_map(|argument| definition(argument).map(directive)).collect();
    let [device, host] = [&invocation.device, &invocation.host]
        .map(|own| format!("{nvccs}{}", definitions(&[&invocation.common[..], own].concat())));
    match (device == host, device.is_empty() && host.is_empty()) {
        (_, true) => None,
        // Diagnostics name the position in the same way as clang.
        (true, _) => Some(format!("# 1 \"<command line>\"\n{device}")),
        (false, _) => Some(format!("# 1 \"<command line>\"\n#ifdef __CUDA_ARCH__\n{device}#else\n{host}#endif\n")),
    }
}

/// Returns the arguments, each with whether it is the value of the previous one.
fn options(arguments: &[String]) -> impl Iterator<Item = (&String, bool)> {
    let mut is_value = false;
    arguments.iter().map(move |argument| {
        let this = is_value;
        is_value = !this && WITH_VALUE.contains(&argument.as_str());
        (argument, this)
    })
}

/// Returns directives for the macros that are defined at the end of the arguments. If a header has defined the name,
/// the header's definition stays, as if the header were read after the command line.
fn definitions(arguments: &[String]) -> String {
    let mut macros: Vec<Definition<'_>> = Vec::new();
    for (argument, _) in options(arguments).filter(|(_, is_value)| !is_value) {
        let new = late(argument);
        let name = match (new, argument.strip_prefix("-U")) {
            (Some((signature, _)), _) => bare(signature),
            (None, Some(name)) => name,
            (None, None) => continue,
        };
        macros.retain(|(signature, _)| bare(signature) != name);
        macros.extend(new);
    }
    macros.into_iter().map(directive).collect()
}

/// Returns the name in a macro's name with parameters.
fn bare(signature: &str) -> &str {
    signature.split('(').next().unwrap_or_default()
}

/// Returns the lines that define a macro unless it is defined.
fn directive((signature, value): Definition<'_>) -> String {
    format!("#ifndef {}\n#define {signature} {value}\n#endif\n", bare(signature))
}

/// Returns the definition in a `-D`.
fn definition(argument: &str) -> Option<Definition<'_>> {
    let definition = argument.strip_prefix("-D")?;
    Some(definition.split_once('=').unwrap_or((definition, "1")))
}

/// Returns the definition in a `-D` of a macro that the headers must not see.
fn late(argument: &str) -> Option<Definition<'_>> {
    let (signature, value) = definition(argument)?;
    let name = bare(signature);
    let letters = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_name = letters(name) && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    let is_tested = TESTED.iter().any(|start| name.starts_with(start)) || TESTED_NAMES.contains(&name);
    // clang ends a value at the end of the line; a backslash there would continue the directive.
    let value = value.split('\n').next()?;
    (is_name && !is_tested && !signature.contains('\n') && !value.ends_with('\\')).then_some((signature, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Dialect;

    fn parsed(arguments: &[&str]) -> Invocation {
        let arguments: Vec<String> = arguments.iter().chain(&["-c", "a.cu"]).map(|&word| word.into()).collect();
        Invocation::parse(&arguments, Dialect::Nvcc).unwrap()
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.into()).collect()
    }

    #[test]
    fn the_last_definition_of_a_name_counts() {
        let invocation = parsed(&["-DN=1", "-D", "N=2", "-Uo", "-Do", "-DX=5", "-UX", "-DF(a,b)=a+b"]);
        let text = text(&invocation).unwrap();
        let wanted = "# 1 \"<command line>\"\n#ifndef N\n#define N 2\n#endif\n#ifndef o\n#define o 1\n#endif\n\
                      #ifndef F\n#define F(a,b) a+b\n#endif\n";
        assert_eq!(text, wanted);
    }

    #[test]
    fn names_that_headers_test_stay_on_the_command_line() {
        let early =
            ["-DNDEBUG", "-D_GNU_SOURCE", "-D__CUDA_NO_HALF_OPERATORS__", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"];
        assert_eq!(text(&parsed(&early)), None);
        assert_eq!(without_late(&words(&early)), words(&early));
        let mixed = words(&["-DN=1", "-UN", "-Xclang", "-DM", "-D9=2", "-DA=\\", "-include", "-DQ"]);
        assert_eq!(without_late(&mixed), mixed[1..], "values of other options, no names, and continued lines");
        assert!(any_late(&mixed) && !any_late(&mixed[1..]));
    }

    #[test]
    fn each_side_has_its_own_macros() {
        let arguments = words(&["-Xarch_device", "-DT=1", "-Xarch_host", "-DT=2", "-c", "a.cu"]);
        let text = text(&Invocation::parse(&arguments, Dialect::Clang).unwrap()).unwrap();
        assert!(text.find("__CUDA_ARCH__") < text.find("#define T 1") && text.find("#else") < text.find("#define T 2"));
    }
}
