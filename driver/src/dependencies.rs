//! Files of dependencies (`-MD`, `-MMD`): where they go, what they are of, and what is left out of them.

use crate::error::DriverError;
use crate::invocation::{Input, Invocation};
use crate::programs::tools::Tools;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The rule of a source.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The file that the compiler writes.
    pub file: PathBuf,
    /// What depends on the source.
    pub target: PathBuf,
}

impl Rule {
    /// Of an object that was asked for: `-MF`, or the object's name with `.d`.
    pub fn of_object(invocation: &Invocation, object: &Path) -> Rule {
        let file = invocation.dependency_file.clone().unwrap_or_else(|| object.with_extension("d"));
        Rule { file, target: object.into() }
    }

    /// Of an object that nobody asked for, `object`, on the way to what is linked. The rule is, as with clang, that of the result
    /// where it is named, else of the object that there would be; [`Parts::publish`] puts it where it belongs.
    fn of_part(invocation: &Invocation, input: &Input, object: &Path) -> Rule {
        let target = invocation.output.clone().unwrap_or_else(|| beside(input, "o"));
        Rule { file: object.with_extension("d"), target }
    }
}

/// A file in the working folder with the name of a source.
fn beside(input: &Input, extension: &str) -> PathBuf {
    Path::new(Path::new(&input.path).file_name().unwrap_or_default()).with_extension(extension)
}

/// The rules of sources that are compiled for one result.
#[derive(Default)]
pub struct Parts {
    /// Those that have a rule already.
    begun: BTreeSet<PathBuf>,
}

impl Parts {
    /// The rule for the compilation of a source to `object`.
    pub fn rule(&self, invocation: &Invocation, input: &Input, object: &Path) -> Rule {
        Rule::of_part(invocation, input, object)
    }

    /// Puts what the compiler wrote where it was asked for: into `-MF`, or the result's name with `.d`, which have the rules of all
    /// sources one behind the other, or where nothing is named into the source's name with `.d`.
    pub fn publish(&mut self, invocation: &Invocation, input: &Input, rule: &Rule) -> Result<(), DriverError> {
        if invocation.dependencies.is_empty() || !rule.file.is_file() {
            return Ok(());
        }
        let result = invocation.output.as_ref().map(|output| output.with_extension("d"));
        let to = invocation.dependency_file.clone().or(result).unwrap_or_else(|| beside(input, "d"));
        let text = std::fs::read(&rule.file).map_err(DriverError::reading(&rule.file))?;
        // Standard output, perhaps: what is no file is written once more, and not read.
        let before = match self.begun.insert(to.clone()) || !to.is_file() {
            true => Vec::new(),
            false => std::fs::read(&to).map_err(DriverError::reading(&to))?,
        };
        std::fs::write(&to, [before, text].concat()).map_err(DriverError::writing(&to))
    }
}

/// Takes what is Warpline's own out of a dependency file: headers, which lie in a cache that may be emptied, and what was read from
/// standard input. make would find no way to make them.
pub fn remove_own_files(tools: &Tools, invocation: &Invocation, file: &Path) -> Result<(), DriverError> {
    if invocation.dependencies.is_empty() || !file.is_file() {
        return Ok(());
    }
    let text = std::fs::read_to_string(file).map_err(DriverError::reading(file))?;
    let folders = [tools.include.as_path(), tools.temporary()].map(|folder| folder.display().to_string());
    let kept = folders.iter().fold(text.clone(), |text, folder| without_files_in(&text, folder));
    if kept != text {
        std::fs::write(file, kept).map_err(DriverError::writing(file))?;
    }
    Ok(())
}

fn without_files_in(text: &str, folder: &str) -> String {
    let own = |word: &str| word.starts_with(folder);
    // `-MP` gives each header a rule of its own.
    let rule = |line: &str| line.trim_end().strip_suffix(':').is_some_and(own);
    let line = |line: &str| match line.contains(folder) {
        true => line
            .split(' ')
            .map(|word| if own(word.trim_end()) { word.trim_start_matches(|c| c != '\n') } else { word })
            .collect::<Vec<_>>()
            .join(" "),
        false => line.to_string(),
    };
    text.split_inclusive('\n').filter(|text| !rule(text)).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_headers_leave_dependency_files() {
        let text = "a.o: a.cu \\\n  /cache/w/x.h /cache/w/z.h \\\n  b.h \\\n  /cache/w/y.h\n\n/cache/w/x.h:\n\nb.h:\n";
        assert_eq!(without_files_in(text, "/cache/w"), "a.o: a.cu \\\n    \\\n  b.h \\\n  \n\n\nb.h:\n");
    }
}
