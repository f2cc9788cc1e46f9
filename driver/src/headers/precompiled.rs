//! Compiles with precompiled headers, if there are any for the command line.

use super::inputs::Inputs;
use super::options::{self, ArgumentPosition, VARIABLES};
use super::store::Entry;
use crate::clang_jobs::{self, Side};
use crate::command::{Command, Finished, StartError};
use crate::invocation::{Input, Invocation, Language};
use crate::programs::tools::Tools;
use std::path::{Path, PathBuf};

/// A source without text in Warpline's include folder.
const SOURCE: &str = "warpline/precompiled.cu";
/// clang's message about a header that it cannot use contains one of these.
const COMPLAINTS: [&str; 2] = ["precompiled file", "PCH file"];

/// The precompiled headers of one side of a compilation.
pub struct Precompiled<'a> {
    tools: &'a Tools,
    /// The invocation, reduced to the part on which the headers depend.
    bare: Invocation,
    side: Side,
    /// The other arguments on which the headers depend.
    more: Vec<String>,
    folders: Vec<PathBuf>,
    /// Files that this compilation sees with changed content.
    changed: &'a [PathBuf],
    entry: Entry,
}

impl<'a> Precompiled<'a> {
    /// Returns the precompiled headers for a source, a command line and `more` arguments after it. `changed` are files
    /// for which clang receives other texts. Returns `None` if there can be none.
    pub fn new(
        tools: &'a Tools,
        invocation: &Invocation,
        input: &Input,
        side: Side,
        more: &[String],
        changed: &'a [PathBuf],
    ) -> Option<Precompiled<'a>> {
        if !invocation.precompiled_headers || invocation.dry_run || clang_jobs::is_cmake_probe(invocation, input) {
            return None;
        }
        let common = options::part(&invocation.common, ArgumentPosition::Before)?;
        let [device, host, more] = [&invocation.device[..], &invocation.host, more]
            .map(|arguments| options::part(arguments, ArgumentPosition::Behind));
        let (device, host, more) = (device?, host?, more?);
        let folders = [common.folders, device.folders, host.folders, more.folders].concat();
        let bare = Invocation {
            common: common.kept,
            device: device.kept,
            host: host.kept,
            macros: Vec::new(),
            ..invocation.clone()
        };
        let more = more.kept;
        let command = command(tools, &bare, side, &more, Path::new("header"));
        let variables = VARIABLES.map(|name| std::env::var_os(name).unwrap_or_default());
        let compiler = tools.clang.path.canonicalize().ok()?;
        let built = compiler.metadata().and_then(|data| data.modified()).ok()?;
        let libraries = standard_libraries();
        let text = format!("{} {variables:?} {} {built:?} {libraries:?}", command.line(), tools.clang.version);
        let entry = Entry::for_text(&text)?;
        Some(Precompiled { tools, bare, side, more, folders, changed, entry })
    }

    /// Runs a compilation with the headers if they exist or should be made now, otherwise without.
    pub fn capture(&self, compilation: &Command) -> Result<Finished, StartError> {
        let Some(inputs) = self.inputs() else { return compilation.capture() };
        if inputs.are_hidden_by(&self.folders) || inputs.have_one_of(self.changed) {
            return compilation.capture();
        }
        let with = compilation.clone().args(["-Xclang", "-include-pch", "-Xclang"]).path(&self.entry.file());
        let finished = with.capture()?;
        let said = String::from_utf8_lossy(&finished.diagnostics);
        if finished.code != 0 && COMPLAINTS.iter().any(|complaint| said.contains(complaint)) {
            // The headers are damaged, or were removed or became outdated since the check.
            self.entry.discard();
            return compilation.capture();
        }
        Ok(finished)
    }

    fn inputs(&self) -> Option<Inputs> {
        self.entry.fresh().or_else(|| {
            let make = |output: &Path| command(self.tools, &self.bare, self.side, &self.more, output);
            self.entry.is_worth_making().then(|| self.entry.make(make)).flatten()
        })
    }
}

/// Returns the versions of g++ whose standard library clang may use: it uses the newest, unless an option selects
/// another one.
fn standard_libraries() -> Vec<PathBuf> {
    let entries = |folder: &Path| folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut versions: Vec<PathBuf> = entries(Path::new("/usr/lib/gcc")).flat_map(|target| entries(&target)).collect();
    versions.sort();
    versions
}

/// Returns the command that makes the headers.
fn command(tools: &Tools, bare: &Invocation, side: Side, more: &[String], output: &Path) -> Command {
    let input =
        Input { path: tools.include.join(SOURCE).display().to_string(), language: Language::Cuda, known_as: None };
    let command = clang_jobs::cuda_bitcode(tools, bare, &input, side, output);
    command.args(more.iter().cloned()).args(["-Xclang", "-emit-pch"])
}
