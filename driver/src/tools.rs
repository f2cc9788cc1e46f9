//! The tools and files of one run of the driver, looked for when first needed.

use crate::error::DriverError;
use crate::invocation::Invocation;
use crate::{architecture, embedded};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use warpline_toolchain::clang::{self, Clang};
use warpline_toolchain::cuda::{self, Cuda};

/// Everything that compiling needs besides the command line.
pub struct Tools {
    /// The compiler.
    pub clang: Clang,
    /// The toolkit.
    pub cuda: Cuda,
    /// Our headers.
    pub include: PathBuf,
    /// Chosen architecture, as 75 for `sm_75`.
    pub architecture: u32,
    /// Set when the choice needs a word.
    pub architecture_note: Option<String>,
    temporary: TempDir,
}

impl Tools {
    /// Finds everything.
    pub fn find(invocation: &Invocation) -> Result<Tools, DriverError> {
        let clang = clang::clang()?;
        let cuda = cuda::find(invocation.cuda_path.as_deref())?;
        let choice = architecture::choose(&invocation.architectures, cuda.oldest_architecture());
        let temporary = tempfile::Builder::new()
            .prefix("warpline-cc.")
            .tempdir()
            .map_err(DriverError::writing(std::env::temp_dir()))?;
        Ok(Tools {
            clang,
            cuda,
            include: embedded::include_folder()?,
            architecture: choice.architecture,
            architecture_note: choice.note,
            temporary,
        })
    }

    /// Folder of intermediate files, removed at the end.
    pub fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    /// The look-alike toolkit, see [`crate::toolkit`].
    pub fn toolkit(&self) -> Result<PathBuf, DriverError> {
        crate::toolkit::folder(&self.cuda)
    }

    /// `-L` for the runtime under CUDA's names.
    pub fn library_option(&self) -> Result<String, DriverError> {
        Ok(format!("-L{}", self.toolkit()?.join("lib64").display()))
    }

    /// Folders whose files are not the user's code: compiler, toolkit, system and our own headers.
    pub fn system_folders(&self) -> Vec<String> {
        let resolved = |path: PathBuf| path.canonicalize().ok().filter(|real| *real != path);
        let folders = [
            self.cuda.root.clone(),
            self.include.clone(),
            PathBuf::from("/usr/include"),
            PathBuf::from("/usr/lib"),
            PathBuf::from("/usr/local/include"),
        ];
        let resource = warpline_toolchain::programs::output(&self.clang.path, &["-print-resource-dir"]);
        let resource = resource.map(|folder| PathBuf::from(folder.trim()));
        folders
            .into_iter()
            .chain(resource)
            .flat_map(|path| resolved(path.clone()).into_iter().chain([path]))
            .map(|path| path.display().to_string())
            .collect()
    }
}
