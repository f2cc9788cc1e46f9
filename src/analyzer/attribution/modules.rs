//! A device module in the form that the analysis uses.

use warpline_format::site_table::{File, FrameId, SiteTable, SiteTableError};
use warpline_format::visible;

use super::site_facts::SiteFacts;
use warpline_simulator::geometry::{MAX_WIDTH, Width};

/// Reasons why a module record cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// The site table cannot be decoded.
    #[error(transparent)]
    Table(#[from] SiteTableError),
    /// The width of a site is invalid.
    #[error("damaged site table: site {site} accesses {bytes} bytes per lane")]
    Width {
        /// Number of the site.
        site: usize,
        /// Width in bytes.
        bytes: u32,
    },
}

/// A device module.
#[derive(Clone, Debug)]
pub struct Module {
    /// The checked site table.
    pub table: SiteTable,
    /// Width of each site.
    pub widths: Vec<Width>,
    /// What the check for races needs of each site.
    pub facts: Vec<SiteFacts>,
}

impl Module {
    /// Reads and checks a module record's site table.
    ///
    /// # Errors
    /// Returns a [`ModuleError`] if the table is invalid.
    pub fn new(site_table: &[u8]) -> Result<Module, ModuleError> {
        let mut table = SiteTable::from_bytes(site_table)?;
        show_names(&mut table);
        let width = |(site, entry): (usize, &warpline_format::site_table::Site)| {
            if entry.bytes == 0 || entry.bytes > MAX_WIDTH {
                return Err(ModuleError::Width { site, bytes: entry.bytes });
            }
            let inside = if entry.bytes >= 64 { u64::MAX } else { (1 << entry.bytes) - 1 };
            let holes = entry.byte_mask.map(|mask| mask & inside).filter(|&mask| mask != 0 && mask != inside);
            Ok(Width { bytes: entry.bytes, holes: if entry.bytes > 64 { None } else { holes } })
        };
        let widths = table.sites.iter().enumerate().map(width).collect::<Result<_, _>>()?;
        let facts = SiteFacts::of_table(&table);
        Ok(Module { table, widths, facts })
    }

    /// Returns the position of the user frame in a chain (innermost first): the innermost frame in the user's own code.
    /// If there is none, as in the kernels of Thrust and CUB, it is the innermost frame that is not an intrinsic
    /// function, or otherwise the outermost frame. Returns `None` for an empty chain.
    pub fn user_frame(&self, chain: &[FrameId]) -> Option<usize> {
        let find = |wanted: fn(&File) -> bool| {
            chain.iter().position(|frame| {
                let frame = &self.table.frames[*frame as usize];
                frame.line != 0 && wanted(&self.table.files[frame.file as usize])
            })
        };
        find(|file| !file.system).or_else(|| find(|file| !is_intrinsic(&file.path))).or(chain.len().checked_sub(1))
    }
}

/// Cleans names for output in terminals and tables.
fn show_names(table: &mut SiteTable) {
    let SiteTable { module, hash, files, frames, functions, globals, not_seen, .. } = table;
    let functions = functions.iter_mut().flat_map(|function| [&mut function.mangled, &mut function.name]);
    [module, hash]
        .into_iter()
        .chain(files.iter_mut().map(|file| &mut file.path))
        .chain(frames.iter_mut().map(|frame| &mut frame.function))
        .chain(functions)
        .chain(globals.iter_mut().map(|global| &mut global.name))
        .chain(not_seen.iter_mut().map(|entry| &mut entry.what))
        .for_each(visible::make_name);
}

/// Returns whether a system file is a header in which the compiler or the toolkit defines intrinsic functions. Such
/// headers are located directly in include folders; libraries use subfolders.
fn is_intrinsic(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    path.is_empty() || ["/include", "/crt"].iter().any(|end| folder.ends_with(end)) || path.contains("/lib/clang/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_format::site_table::Frame;

    #[test]
    fn an_access_belongs_to_the_user_or_to_the_library_that_it_is_deepest_in() {
        let paths = [
            ("/home/me/app.cu", false),
            ("/opt/cuda/include/sm_32_intrinsics.hpp", true),
            ("/opt/cuda/include/cccl/cub/agent/agent_scan.cuh", true),
            ("/opt/cuda/include/cccl/cub/block/block_load.cuh", true),
        ];
        let table = SiteTable {
            files: paths.map(|(path, system)| File { path: path.into(), system }).to_vec(),
            frames: (0..)
                .zip(paths)
                .map(|(file, _)| Frame { function: String::new(), file, line: 1, column: 0 })
                .collect(),
            ..SiteTable::default()
        };
        let module = Module { table, widths: Vec::new(), facts: Vec::new() };
        assert_eq!(module.user_frame(&[1, 3, 0]), Some(2), "the user's");
        assert_eq!(module.user_frame(&[1, 3, 2]), Some(1), "a library's kernel");
        assert_eq!(module.user_frame(&[1, 1]), Some(1), "nothing but intrinsic functions");
        assert_eq!(module.user_frame(&[]), None);
    }
}
