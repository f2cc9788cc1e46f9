//! What of a command line the headers depend on.

use crate::source::command_line_macros;
use std::path::PathBuf;

/// Environment variables that clang takes folders or options from.
pub const VARIABLES: [&str; 4] = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS"];

/// Beginnings of options that change where headers are found, what is read before them, or that print headers as they
/// are read.
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

/// Where arguments stand with respect to the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentPosition {
    /// Before: what they include comes before the headers' end.
    Before,
    /// Behind.
    Behind,
}

/// Arguments, parted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parted {
    /// Those that the headers may depend on.
    pub kept: Vec<String>,
    /// Folders that are searched for headers. Nothing depends on them that does not lie in them.
    pub folders: Vec<PathBuf>,
}

/// Parts arguments. `None` where one is among them that headers should not be precompiled with.
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
            // What follows is for the compiler itself, and no option of ours.
            "-Xclang" | "-mllvm" => {
                parted.kept.push(argument.clone());
                let value = rest.next()?;
                if is_unsuited(value) {
                    return None;
                }
                parted.kept.push(value.clone());
            }
            // What debug information calls a file; that has to do with no header, and may be a temporary one.
            other if other.starts_with("-fdebug-prefix-map=") => {}
            other if is_unsuited(other) => return None,
            // Defined after the headers.
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
