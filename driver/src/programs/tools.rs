//! The tools and files of one run of the driver; they are searched for when they are first needed.

use crate::architecture;
use crate::command;
use crate::error::DriverError;
use crate::invocation::Invocation;
use crate::programs::embedded;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use warpline_toolchain::clang::{self, Clang};
use warpline_toolchain::cuda::Cuda;
use warpline_toolchain::interrupt::{self, Removal};
use warpline_toolchain::{doctor, fetch};
use warpline_toolchain::{packages, programs};

fn requests_openmp(invocation: &Invocation) -> bool {
    invocation.common.iter().chain(&invocation.host).any(|flag| flag == OPENMP)
}

/// Returns whether a source includes `omp.h`, which g++ finds with and without `-fopenmp`.
fn names_openmp(invocation: &Invocation) -> bool {
    // A pipe can be read only once, so it is not read here.
    let files = invocation.sources().map(|input| Path::new(&input.path)).filter(|path| path.is_file());
    let mut texts = files.map(std::fs::read_to_string);
    texts.any(|text| text.is_ok_and(|text| text.contains("omp.h")))
}

/// Returns the folder of g++'s OpenMP header, if OpenMP is used and clang does not have the header.
fn openmp_functions(invocation: &Invocation, clang: &Clang) -> Option<PathBuf> {
    if !requests_openmp(invocation) && !names_openmp(invocation) {
        return None;
    }
    let resources = programs::output(&clang.path, &["-print-resource-dir"])?;
    if Path::new(resources.trim()).join("include/omp.h").is_file() {
        return None;
    }
    let folder = programs::output(&programs::find("g++")?, &["-print-file-name=include"])?;
    Some(PathBuf::from(folder.trim()))
}

/// Checks that clang has the headers of a C++ library, before the toolkit's parts are fetched for nothing.
fn host_tools(clang: &Clang) -> Result<(), DriverError> {
    let Err(missing) = doctor::host_compiler() else { return Ok(()) };
    // Some systems have the library without g++.
    let arguments = ["-x", "c++", "-fsyntax-only", "-include", "climits", "/dev/null"];
    programs::output(&clang.path, &arguments).map(|_| ()).ok_or(DriverError::Toolchain(missing))
}

/// The option that enables OpenMP.
pub const OPENMP: &str = "-fopenmp";

/// Everything that a compilation needs in addition to the command line.
pub struct Tools {
    /// The compiler.
    pub clang: Clang,
    /// The toolkit.
    pub cuda: Cuda,
    /// Warpline's headers.
    pub include: PathBuf,
    /// The selected architecture; 75 means `sm_75`.
    pub architecture: u32,
    /// The requested architecture.
    pub requested_architecture: u32,
    /// The differences from the request, one sentence each.
    pub notes: Vec<String>,
    /// If `-fopenmp` is not available: the folder of g++'s `omp.h`, for programs that only call OpenMP's functions.
    pub openmp_functions: Option<PathBuf>,
    temporary: TempDir,
    _removal: Removal,
}

impl Tools {
    /// Finds all tools.
    pub fn find(invocation: &Invocation) -> Result<Tools, DriverError> {
        let clang = clang::clang()?;
        let named = invocation.cuda_path.as_deref();
        let cuda = fetch::find_or_fetch(
            named,
            || host_tools(&clang),
            |text| {
                crate::message::line(format_args!("warpline-cc: {text}"));
            },
        )?;
        let choice = architecture::choose(&invocation.architectures, cuda.oldest_architecture());
        let temporary = tempfile::Builder::new()
            .prefix("warpline-cc.")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .map_err(DriverError::writing(std::env::temp_dir()))?;
        let removal = interrupt::removes(temporary.path());
        command::keep_temporary_files_in(temporary.path());
        let mut notes: Vec<String> = choice.note.into_iter().collect();
        notes.extend(cuda.skipped.iter().map(|skipped| format!("{skipped}; {} is used instead", cuda.root.display())));
        let openmp_functions = openmp_functions(invocation, &clang);
        if openmp_functions.is_some() && requests_openmp(invocation) {
            notes.push(format!(
                "-fopenmp: clang's OpenMP is not installed ({}), so OpenMP pragmas of host code have no effect and its loops run on one \
                 thread",
                packages::install(&["openmp"])
            ));
        }
        Ok(Tools {
            clang,
            cuda,
            include: embedded::include_folder()?,
            architecture: choice.architecture,
            requested_architecture: choice.requested,
            notes,
            openmp_functions,
            temporary,
            _removal: removal,
        })
    }

    /// Returns the folder of intermediate files, which is removed at the end.
    pub fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    /// Returns the substitute toolkit, see [`crate::programs::toolkit`].
    pub fn toolkit(&self) -> Result<PathBuf, DriverError> {
        crate::programs::toolkit::folder(&self.cuda)
    }

    /// Returns `-L` for the runtime with CUDA's library names.
    pub fn link_path(&self) -> Result<String, DriverError> {
        Ok(format!("-L{}", self.toolkit()?.join("lib64").display()))
    }

    /// Returns the arguments in a form that clang supports here.
    pub fn without_openmp(&self, arguments: &[String]) -> Vec<String> {
        if self.openmp_functions.is_none() {
            return arguments.to_vec();
        }
        let each = |argument: &String| match argument == OPENMP {
            // With this option, clang ignores the pragmas and links the functions of g++'s library.
            true => "-fopenmp=libgomp".into(),
            false => argument.clone(),
        };
        arguments.iter().map(each).collect()
    }

    /// Returns the options for the folder of `omp.h`, for both sides, if it is g++'s header.
    pub fn openmp_headers(&self) -> Vec<String> {
        let folder = self.openmp_functions.iter();
        folder.flat_map(|folder| ["-idirafter".into(), folder.display().to_string()]).collect()
    }

    /// Returns the folders whose files are not the user's code: headers of the compiler, the toolkit, the system and
    /// Warpline.
    pub fn system_folders(&self) -> Vec<String> {
        let resolved = |path: PathBuf| path.canonicalize().ok().filter(|real| *real != path);
        let folders = [
            self.cuda.root.clone(),
            self.include.clone(),
            PathBuf::from("/usr/include"),
            PathBuf::from("/usr/lib"),
            PathBuf::from("/usr/local/include"),
        ];
        let resource = programs::output(&self.clang.path, &["-print-resource-dir"]);
        let resource = resource.map(|folder| PathBuf::from(folder.trim()));
        folders
            .into_iter()
            .chain(resource)
            // The substitute toolkit, because a makefile may name its headers by this folder.
            .chain(warpline_toolchain::cache::folder().ok())
            .flat_map(|path| resolved(path.clone()).into_iter().chain([path]))
            .map(|path| path.display().to_string())
            .collect()
    }
}
