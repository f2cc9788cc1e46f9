//! `--warpline-dump`: writes the IR before and after each stage to files.

use crate::error::DriverError;
use inkwell::module::Module;
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// Writes the IR of each stage if the user requested it.
pub struct Dump {
    folder: Option<PathBuf>,
    stem: String,
    made: Cell<bool>,
}

impl Dump {
    /// Returns whether anything is written.
    pub fn is_on(&self) -> bool {
        self.folder.is_some()
    }

    /// Creates a `Dump` for a source; without a folder nothing is written.
    pub fn new(folder: Option<PathBuf>, source: &str) -> Dump {
        let stem = Path::new(source).file_name().map_or("unit".into(), |name| name.to_string_lossy().into_owned());
        Dump { folder, stem, made: Cell::new(false) }
    }

    /// Writes a module's IR.
    pub fn write(&self, module: &Module<'_>, stage: &str) -> Result<(), DriverError> {
        match self.folder {
            Some(_) => self.write_text(&module.print_to_string().to_string(), stage),
            None => Ok(()),
        }
    }

    /// Writes text.
    pub fn write_text(&self, text: &str, stage: &str) -> Result<(), DriverError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        if !self.made.replace(true) {
            std::fs::create_dir_all(folder).map_err(DriverError::writing(folder))?;
        }
        let path = folder.join(format!("{}.{stage}.ll", self.stem));
        std::fs::write(&path, text).map_err(DriverError::writing(&path))
    }
}
