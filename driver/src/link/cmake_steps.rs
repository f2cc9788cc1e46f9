//! The steps of CMake's device link for clang: `nvlink` joins device code, `fatbinary` packs it, and clang compiles the
//! toolkit's `link.stub` with both results. In the substitute toolkit, the first two programs are `warpline-cc` under
//! these names. `nvlink` generates the object of the device link, `fatbinary` writes its path, and the compilation of
//! `link.stub` copies the object.

use super::linker;
use crate::error::DriverError;
use crate::invocation::{Input, Invocation, UsageError};
use crate::options::Dialect;
use crate::programs::tools::Tools;
use std::path::{Path, PathBuf};

/// A program of the toolkit that `warpline-cc` replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `nvlink`.
    Link,
    /// `fatbinary`.
    Pack,
}

/// The names of the programs.
pub const PROGRAMS: [(&str, Step); 2] = [("nvlink", Step::Link), ("fatbinary", Step::Pack)];

/// The start of the note that `fatbinary` writes for the compilation of `link.stub`.
const NOTE: &str = "// warpline: device link ";

impl Step {
    /// Returns the step for a program's name.
    pub fn of_program(program: &str) -> Option<Step> {
        let name = Path::new(program).file_name()?.to_str()?;
        PROGRAMS.iter().find(|(known, _)| *known == name).map(|(_, step)| *step)
    }

    /// Runs the step for a command line.
    pub fn run(self, arguments: &[String]) -> Result<(), DriverError> {
        match self {
            Step::Link => link(arguments),
            Step::Pack => pack(arguments),
        }
    }
}

/// Links the device code of objects to an object with the name of the cubin, and writes the list of units, which is not
/// used.
fn link(arguments: &[String]) -> Result<(), DriverError> {
    let (list, others): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.starts_with("--register-link-binaries="));
    let line = std::iter::once("-dlink".to_owned()).chain(others.into_iter().cloned()).collect::<Vec<_>>();
    let invocation = Invocation::parse(&line, Dialect::Nvcc)?;
    linker::device_link(&Tools::find(&invocation)?, &invocation)?;
    for path in list.iter().filter_map(|argument| argument.split_once('=').map(|(_, path)| path)) {
        std::fs::write(path, "").map_err(DriverError::writing(path))?;
    }
    Ok(())
}

/// Writes the path of the first image.
fn pack(arguments: &[String]) -> Result<(), DriverError> {
    let value = |name: &str| arguments.iter().find_map(|argument| argument.strip_prefix(name));
    // The option is `-im=`, `--image=` or `--image3=`, depending on CMake's version.
    let images = arguments.iter().filter(|argument| argument.trim_start_matches('-').starts_with("im"));
    let image = images.flat_map(|image| image.split(',')).find_map(|part| part.strip_prefix("file="));
    let (Some(result), Some(image)) = (value("--embedded-fatbin="), image) else {
        return Err(DriverError::Usage(UsageError::NvccOnly(format!("fatbinary {}", arguments.join(" ")))));
    };
    let image = std::path::absolute(image).unwrap_or_else(|_| image.into());
    std::fs::write(result, format!("{NOTE}{}\n", image.display())).map_err(DriverError::writing(result))
}

/// Returns the object of the device link that a compilation of `link.stub` represents, or `None` for any other
/// compilation.
pub fn linked_object(invocation: &Invocation, input: &Input) -> Option<PathBuf> {
    if Path::new(&input.path).file_name()? != "link.stub" {
        return None;
    }
    let note = invocation.common.iter().find_map(|argument| argument.strip_prefix("-DFATBINFILE="))?;
    let text = std::fs::read_to_string(note.trim_matches('"')).ok()?;
    text.strip_prefix(NOTE).map(|path| PathBuf::from(path.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invocation::Language;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_stub_stands_for_the_object_of_the_device_link() {
        assert_eq!(Step::of_program("/cache/toolkit/bin/nvlink"), Some(Step::Link));
        assert_eq!(Step::of_program("warpline-nvcc"), None);
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("fatbin.h").display().to_string();
        for image in ["-im=profile=sm_75,file=/b/sm_75.cubin", "--image3=kind=elf,sm=75,file=/b/sm_75.cubin"] {
            pack(&words(&format!("-64 -link --embedded-fatbin={note} {image} --image=profile=sm_80,file=x"))).unwrap();
            let line = words(&format!("-DFATBINFILE=\"{note}\" -x cu -c /toolkit/bin/crt/link.stub"));
            let invocation = Invocation::parse(&line, Dialect::Clang).unwrap();
            assert_eq!(linked_object(&invocation, &invocation.inputs[0]), Some("/b/sm_75.cubin".into()));
            let other = Input { path: "a.cu".into(), language: Language::Cuda, known_as: None };
            assert_eq!(linked_object(&invocation, &other), None);
        }
        assert!(pack(&words("-64 x.cubin")).is_err());
    }
}
