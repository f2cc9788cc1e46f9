//! Dependency files (`-MD`, `-MMD`): their paths, their targets, and the files that are not listed.

use crate::error::DriverError;
use crate::invocation::{Input, Invocation};
use crate::programs::tools::Tools;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The dependency rule of a source.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The file that the compiler writes.
    pub file: PathBuf,
    /// The target that depends on the source.
    pub target: PathBuf,
}

impl Rule {
    /// Returns the rule of a requested object: `-MF`, or the object's name with `.d`.
    pub fn of_object(invocation: &Invocation, object: &Path) -> Rule {
        let file = invocation.dependency_file.clone().unwrap_or_else(|| object.with_extension("d"));
        Rule { file, target: object.into() }
    }

    /// Returns the rule of `object`, an intermediate file of a link. As with clang, it is the rule of the result if
    /// that is named, or else of the object that `-c` would produce; [`Parts::publish`] moves it to its final path.
    fn of_part(invocation: &Invocation, input: &Input, object: &Path) -> Rule {
        let target = invocation.output.clone().unwrap_or_else(|| beside(input, "o"));
        Rule { file: object.with_extension("d"), target }
    }
}

/// Returns a file in the working folder with the name of a source.
fn beside(input: &Input, extension: &str) -> PathBuf {
    Path::new(Path::new(&input.path).file_name().unwrap_or_default()).with_extension(extension)
}

/// The dependency rules of sources that are compiled for one result.
#[derive(Default)]
pub struct Parts {
    /// The files that already contain a rule.
    begun: BTreeSet<PathBuf>,
}

impl Parts {
    /// Returns the rule for the compilation of a source to `object`.
    pub fn rule(&self, invocation: &Invocation, input: &Input, object: &Path) -> Rule {
        Rule::of_part(invocation, input, object)
    }

    /// Moves the rule that the compiler wrote to the requested file. With `-MF` or the result's name with `.d`, this
    /// file contains the rules of all sources one after another. If nothing is named, it is the source's name with
    /// `.d`.
    pub fn publish(&mut self, invocation: &Invocation, input: &Input, rule: &Rule) -> Result<(), DriverError> {
        if invocation.dependencies.is_empty() || !rule.file.is_file() {
            return Ok(());
        }
        let result = invocation.output.as_ref().map(|output| output.with_extension("d"));
        let to = invocation.dependency_file.clone().or(result).unwrap_or_else(|| beside(input, "d"));
        let text = std::fs::read(&rule.file).map_err(DriverError::reading(&rule.file))?;
        // The path may be standard output: if it is not a file, it is only written, and not read.
        let before = match self.begun.insert(to.clone()) || !to.is_file() {
            true => Vec::new(),
            false => std::fs::read(&to).map_err(DriverError::reading(&to))?,
        };
        std::fs::write(&to, [before, text].concat()).map_err(DriverError::writing(&to))
    }
}

/// Removes Warpline's own files from a dependency file: headers, which are in a cache that may be emptied, and files
/// with text from standard input. make would have no rule for them. The source comes first, as usual, and not after
/// precompiled headers.
pub fn remove_own_files(tools: &Tools, invocation: &Invocation, input: &Input, file: &Path) -> Result<(), DriverError> {
    if invocation.dependencies.is_empty() || !file.is_file() {
        return Ok(());
    }
    let text = std::fs::read_to_string(file).map_err(DriverError::reading(file))?;
    let folders = [tools.include.as_path(), tools.temporary()].map(|folder| folder.display().to_string());
    if folders.iter().any(|folder| text.contains(folder)) {
        let own = |word: &str| folders.iter().any(|folder| word.starts_with(folder));
        std::fs::write(file, tidied(&text, own, &input.path)).map_err(DriverError::writing(file))?;
    }
    Ok(())
}

/// Returns the rules of a text without the words that are `own`, and without the rules that `-MP` writes for such
/// headers.
fn tidied(text: &str, own: impl Fn(&str) -> bool, source: &str) -> String {
    let source = source.replace(' ', "\\ ").replace('#', "\\#").replace('$', "$$");
    let joined = text.replace("\\\n", " ");
    // With precompiled headers, clang treats the source as a header, for which `-MP` writes a separate rule.
    let is_empty = |line: &&str| line.is_empty() || own(line) || line.strip_suffix(':') == Some(&source);
    let rules = joined.lines().filter(|line| !is_empty(line)).map(|line| {
        let (words_of_source, others): (Vec<&str>, Vec<&str>) =
            words(line).into_iter().filter(|word| !own(word)).partition(|word| *word == source);
        let mut words = others;
        let behind_targets = words.iter().position(|word| word.ends_with(':')).map_or(words.len(), |last| last + 1);
        words.splice(behind_targets..behind_targets, words_of_source);
        wrapped(&words) + "\n"
    });
    rules.collect::<Vec<_>>().join("\n")
}

/// Returns a rule with these words, with the same line breaks as clang's.
fn wrapped(words: &[&str]) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for (number, word) in words.iter().enumerate() {
        let breaks = number > 0 && column + word.len() + 2 > 75;
        text += if breaks {
            " \\\n  "
        } else if number > 0 {
            " "
        } else {
            ""
        };
        column = if breaks { 2 } else { column + 1 } + word.len();
        text += word;
    }
    text
}

/// Returns the words of a rule in one line, in which a blank in a name has a backslash before it.
pub fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    for (at, _) in line.match_indices(' ') {
        if !line[..at].ends_with('\\') {
            words.push(&line[start..at]);
            start = at + 1;
        }
    }
    words.push(&line[start..]);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_headers_leave_dependency_files() {
        let text = "a.o: a.cu \\\n  /cache/w/x.h /cache/w/z.h \\\n  b.h \\\n  /cache/w/y.h\n\n/cache/w/x.h:\n\nb.h:\n";
        let own = |word: &str| word.starts_with("/cache/w");
        assert_eq!(tidied(text, own, "a.cu"), "a.o: a.cu b.h\n\nb.h:\n");
    }

    #[test]
    fn the_source_comes_first() {
        let text = "an\\ object.o: /cache/w/x.cu /usr/b.h \\\n  of\\ \\#1.cu c.h\n";
        let own = |word: &str| word.starts_with("/cache/w");
        let tidy = "an\\ object.o: of\\ \\#1.cu /usr/b.h c.h\n";
        assert_eq!(tidied(text, own, "of #1.cu"), tidy);
        assert_eq!(tidied(tidy, own, "of #1.cu"), tidy);
        assert_eq!(tidied("a: /cache/w/x a.cu a.h\n\na.cu:\n\na.h:\n", own, "a.cu"), "a: a.cu a.h\n\na.h:\n");
        assert_eq!(tidied("a b: /cache/w/x x.h a.cu\n", own, "a.cu"), "a b: a.cu x.h\n");
    }

    #[test]
    fn lines_are_broken_as_clang_breaks_them() {
        let names: Vec<String> = (0..9).map(|number| format!("/a/folder/with/headers/{number}.h")).collect();
        let words: Vec<&str> = ["a.o:"].into_iter().chain(names.iter().map(String::as_str)).collect();
        let text = wrapped(&words);
        assert!(text.lines().all(|line| line.len() <= 77) && text.lines().count() == 5, "{text}");
        assert_eq!(text.replace("\\\n  ", ""), words.join(" "));
    }
}
