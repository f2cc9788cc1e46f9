//! One compilation: it writes files for clang, runs `warpline-cc`, and stores the result by the content of all inputs.

use super::includes::{self, FOLDERS};
use super::mark::{self, FOLDER, IMAGE};
use super::turn::Turn;
use crate::compiler::{self, Compiler, NO_FOLDER};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use warpline_format::run_time::{DEPENDENCIES, EXIT_USAGE, NAME_VARIABLE, NAMES, NAMES_OPTION, OPTION, PTX};
use warpline_format::visible;

/// Files next to the shared object: the compiler's output, and the list of included files.
const LOG: &str = "log";
const INCLUDED: &str = "included";

/// The exit code of `warpline-cc` if a tool is missing.
const EXIT_TOOLCHAIN: i32 = 6;

/// The maximum length of a source's name.
const MOST_LETTERS: usize = 100;

/// The inputs of a compilation.
#[derive(Hash)]
pub struct Request<'a> {
    /// The CUDA C++ source.
    pub source: &'a str,
    /// The program's name for the source.
    pub name: &'a str,
    /// The names and texts of the headers.
    pub headers: &'a [(String, String)],
    /// The options that the program passed.
    pub options: &'a [String],
    /// The expressions whose mangled names are requested.
    pub names: &'a [String],
}

/// The result of a compilation.
pub struct Build {
    /// The PTX with its mark.
    pub ptx: String,
    /// The shared object.
    pub image: Vec<u8>,
    /// The mangled name of each expression.
    pub names: Vec<String>,
    /// The warnings.
    pub log: String,
}

/// The reason why the compilation failed.
#[derive(Debug)]
pub enum BuildError {
    /// The source has errors.
    Source(String),
    /// An option is invalid.
    Option(String),
    /// The name of a header is invalid.
    Header(String),
    /// The compiler is missing, or there is no place for its files.
    Service(String),
}

/// Compiles the source, or returns the result of an earlier compilation.
pub fn build(request: &Request<'_>) -> Result<Build, BuildError> {
    let compiler = Compiler::find();
    let all = compiler::folder(FOLDER).ok_or_else(|| BuildError::Service(NO_FOLDER.into()))?;
    let beside = includes::source_folder(request.name, request.options);
    let mut hasher = DefaultHasher::new();
    (&compiler, request, &beside).hash(&mut hasher);
    let identity = format!("{:016x}", hasher.finish());
    // Threads that compile the same source would write the same files.
    let _turn = Turn::of(&identity);
    let folder = all.join(&identity);
    let read = |name: &str| fs::read_to_string(folder.join(name));
    let kept = read(INCLUDED).is_ok_and(|list| includes::unchanged(&list)) && folder.join(IMAGE).is_file();
    if !kept {
        // The files of a failed compilation are not needed.
        make(request, &compiler, &folder, beside.as_deref()).inspect_err(|_| _ = fs::remove_dir_all(&folder))?;
    }
    let file = |suffix: &str| Path::new(IMAGE).with_extension(suffix).to_string_lossy().into_owned();
    let result = || -> io::Result<Build> {
        Ok(Build {
            ptx: mark::marked(&read(&file(PTX))?, &identity),
            image: fs::read(folder.join(IMAGE))?,
            names: read(&file(NAMES))?.lines().map(str::to_owned).collect(),
            log: read(LOG)?,
        })
    };
    result().map_err(|cause| BuildError::Service(format!("{} cannot be read: {cause}", folder.display())))
}

/// Compiles into `folder`. Headers that the program passed precede those in the folder of the source.
fn make(request: &Request<'_>, compiler: &Compiler, folder: &Path, beside: Option<&Path>) -> Result<(), BuildError> {
    let unwritable = |cause: io::Error| BuildError::Service(format!("{} cannot be written: {cause}", folder.display()));
    let source = write_files(request, folder)?;
    // The file is renamed at the end, so that other processes that compile the same source see either the complete file
    // or no file.
    let own = folder.join(format!("{}.so", std::process::id()));
    let [include, last] = FOLDERS.map(|name| folder.join(name));
    let mut command = compiler.command();
    command.args([OPTION, "-o"]).arg(&own).arg(format!("{NAMES_OPTION}={}", request.names.len()));
    if let Some(beside) = beside {
        command.arg("-iquote").arg(&include).arg("-iquote").arg(beside);
    }
    command.args(request.options).arg("-I").arg(include);
    if let Some(beside) = beside {
        command.arg("-I").arg(beside);
    }
    command.arg("-idirafter").arg(last).args(["-x", "cu"]).arg(source);
    let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output();
    let Output { status, stderr, .. } = output.map_err(|cause| BuildError::Service(compiler.not_started(&cause)))?;
    // The folder is removed from the log, so that the names are those that the program passed.
    let log = String::from_utf8_lossy(&stderr).replace(&format!("{}/", folder.display()), "");
    match status.code() {
        Some(0) => {}
        Some(code) if code == i32::from(EXIT_USAGE) => return Err(BuildError::Option(log)),
        Some(EXIT_TOOLCHAIN) => return Err(BuildError::Service(log)),
        _ => return Err(BuildError::Source(log)),
    }
    let made = own.with_extension(DEPENDENCIES);
    let rule = fs::read_to_string(&made).map_err(unwritable)?;
    _ = fs::remove_file(made);
    let list = includes::listed(&includes::outside(&rule, folder));
    write(&folder.join(LOG), &log).and_then(|()| write(&folder.join(INCLUDED), &list)).map_err(unwritable)?;
    let image = folder.join(IMAGE);
    for suffix in [PTX, NAMES, "so"] {
        fs::rename(own.with_extension(suffix), image.with_extension(suffix)).map_err(unwritable)?;
    }
    Ok(())
}

/// Writes the source and the headers, and returns the path of the source.
fn write_files(request: &Request<'_>, folder: &Path) -> Result<PathBuf, BuildError> {
    let unwritable = |cause: io::Error| BuildError::Service(format!("{} cannot be written: {cause}", folder.display()));
    for (name, text) in request.headers {
        let place = includes::place(name).ok_or_else(|| {
            let name = visible::name(name);
            BuildError::Header(format!("a header's name must be a relative path without ..: {name}\n"))
        })?;
        write(&folder.join(place), text).map_err(unwritable)?;
    }
    let mut text = request.source.to_owned();
    for (number, expression) in request.names.iter().enumerate() {
        // The expressions follow the source, so that no line number changes; clang's messages name an expression by its
        // number.
        text += &format!(
            "\n#line {} \"name expression\"\nextern \"C\" __device__ const void *const {NAME_VARIABLE}{number} = \
             (const void *)({expression});\n",
            number + 1
        );
    }
    let source = folder.join(file_name(request.name));
    write(&source, &text).map_err(unwritable)?;
    Ok(source)
}

/// Returns the last component of the program's name for a source, which may be any text.
fn file_name(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or_default();
    let plain = |letter: char| if letter.is_alphanumeric() || "._-+".contains(letter) { letter } else { '_' };
    let name: String = last.chars().take(MOST_LETTERS).map(plain).collect();
    // This avoids the names of the files that this module writes.
    match name.as_str() {
        "" | "." | ".." => "default_program".into(),
        name if name.starts_with(Path::new(IMAGE).with_extension("").to_string_lossy().as_ref()) => format!("_{name}"),
        LOG | INCLUDED | "include" | "include-last" => format!("_{name}"),
        _ => name,
    }
}

/// Writes a complete file, and creates its folder.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let own = path.with_file_name(format!(
        "{}.{}",
        path.file_name().unwrap_or_default().to_string_lossy(),
        std::process::id()
    ));
    fs::write(&own, text)?;
    fs::rename(own, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sources_are_names_of_files() {
        for (name, wanted) in [
            ("saxpy.cu", "saxpy.cu"),
            ("", "default_program"),
            ("/tmp/a/b.cu", "b.cu"),
            ("a b\n.cu", "a_b_.cu"),
            ("..", "default_program"),
            ("image.so", "_image.so"),
            ("log", "_log"),
        ] {
            assert_eq!(file_name(name), wanted, "{name}");
        }
    }
}
