//! A device module as the analysis uses it.

use warpline_format::site_table::{FrameId, SiteTable, SiteTableError};

use crate::metrics::{MAX_WIDTH, Width};

/// Why a module record cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// The site table does not decode.
    #[error(transparent)]
    Table(#[from] SiteTableError),
    /// A number in it makes no sense.
    #[error("damaged site table: site {site} accesses {bytes} bytes per lane")]
    Width {
        /// Site.
        site: usize,
        /// Bytes.
        bytes: u32,
    },
}

/// A registered module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its site table, checked.
    pub table: SiteTable,
    /// Width of each site.
    pub widths: Vec<Width>,
}

impl Module {
    /// Reads and checks a module record's site table.
    ///
    /// # Errors
    /// [`ModuleError`].
    pub fn new(site_table: &[u8]) -> Result<Module, ModuleError> {
        let table = SiteTable::from_bytes(site_table)?;
        let width = |(site, entry): (usize, &warpline_format::site_table::Site)| {
            if entry.bytes == 0 || entry.bytes > MAX_WIDTH {
                return Err(ModuleError::Width { site, bytes: entry.bytes });
            }
            let inside = if entry.bytes >= 64 { u64::MAX } else { (1 << entry.bytes) - 1 };
            let holes = entry.byte_mask.map(|mask| mask & inside).filter(|&mask| mask != 0 && mask != inside);
            Ok(Width { bytes: entry.bytes, holes: if entry.bytes > 64 { None } else { holes } })
        };
        let widths = table.sites.iter().enumerate().map(width).collect::<Result<_, _>>()?;
        Ok(Module { table, widths })
    }

    /// Position in a chain (innermost first) of the user frame: the innermost one in the user's own
    /// code, or else the outermost. `None` for an empty chain.
    pub fn user_frame(&self, chain: &[FrameId]) -> Option<usize> {
        let users = |frame: &FrameId| {
            let frame = &self.table.frames[*frame as usize];
            frame.line != 0 && !self.table.files[frame.file as usize].system
        };
        chain.iter().position(users).or(chain.len().checked_sub(1))
    }
}
