//! Selects the part of a command line on which the headers depend.

use crate::source::command_line_macros;
use std::path::PathBuf;

/// The environment variables from which clang reads folders or options.
pub const VARIABLES: [&str; 4] = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS"];

/// Prefixes of options that change where headers are found or what is read before them, or that print headers while
/// they are read.
const UNSUITED: [&str; 23] = [
    "--sysroot",
    "-isysroot",
    "-imacros",
    "-include-pch",
    "-include-pth",
    "-iprefix",
    "-iwithprefix",
    "-ivfsoverlay",
    "-nostdinc",
    "-nocuda",
    "-nogpuinc",
    "-nobuiltininc",
    "-stdlib",
    "-fmodule",
    "-fpch",
    "-fplugin",
    "-ftime",
    "-save-temps",
    "-Xpreprocessor",
    "-Wp,",
    "-B",
    "-E",
    "-H",
];

/// The position of arguments relative to the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentPosition {
    /// Before the headers: files that the arguments include are read before the end of the headers.
    Before,
    /// After the headers.
    Behind,
}

/// Arguments, split into groups.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parted {
    /// The arguments on which the headers may depend.
    pub kept: Vec<String>,
    /// The folders that are searched for headers. Only the headers in them depend on them.
    pub folders: Vec<PathBuf>,
}

/// Splits arguments. Returns `None` if headers should not be precompiled with one of them.
pub fn part(arguments: &[String], place: ArgumentPosition) -> Option<Parted> {
    let mut parted = Parted::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "-I" | "-isystem" | "-iquote" | "-idirafter" => parted.folders.extend(rest.next().map(PathBuf::from)),
            "-include" if place == ArgumentPosition::Behind => _ = rest.next(),
            "-include" => return None,
            "-MF" | "-MT" | "-MQ" => _ = rest.next(),
            "-MD" | "-MMD" | "-MP" | "-MG" => {}
            // The next argument is for the compiler itself, and not an option of the driver.
            "-Xclang" | "-mllvm" => {
                parted.kept.push(argument.clone());
                let value = rest.next()?;
                if is_unsuited(value) {
                    return None;
                }
                parted.kept.push(value.clone());
            }
            // The name of a file in debug information does not affect any header, and it may be a temporary name.
            other if other.starts_with("-fdebug-prefix-map=") => {}
            other if is_unsuited(other) => return None,
            // The macro is defined after the headers.
            other if command_line_macros::is_late(other) => {}
            other => match other.strip_prefix("-I") {
                Some(folder) => parted.folders.push(folder.into()),
                None => parted.kept.push(other.into()),
            },
        }
    }
    Some(parted)
}

fn is_unsuited(argument: &str) -> bool {
    UNSUITED.iter().any(|beginning| argument.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(String::from).collect()
    }

    #[test]
    fn folders_and_dependencies_do_not_matter() {
        let parted = part(&words("-Ia -DN=1 -isystem b -I c -MD -MF d -std=c++17"), ArgumentPosition::Before).unwrap();
        assert_eq!(parted.kept, ["-std=c++17"], "macros of the user's own are defined after the headers");
        assert_eq!(parted.folders, ["a", "b", "c"].map(PathBuf::from));
    }

    #[test]
    fn what_is_read_before_the_headers_does() {
        assert_eq!(part(&words("-include a.h"), ArgumentPosition::Before), None);
        assert_eq!(part(&words("-include a.h"), ArgumentPosition::Behind), Some(Parted::default()));
        for line in ["-imacros a.h", "--sysroot=/x", "-nostdinc++", "-DA -H", "-Xclang -include-pch -Xclang x"] {
            assert_eq!(part(&words(line), ArgumentPosition::Behind), None, "{line}");
        }
    }
}
