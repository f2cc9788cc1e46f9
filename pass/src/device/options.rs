//! The options of the hook stage.

use warpline_format::site_table::CacheOp;

/// The input of the hook stage in addition to the code.
#[derive(Clone, Debug, Default)]
pub struct HookOptions {
    /// Folders whose files are not the user's code: clang's resource folder, and the headers of the toolkit and of the
    /// system. The paths are absolute and are compared as prefixes of the paths that the compiler wrote.
    pub system_folders: Vec<String>,
    /// Whether accesses with constant distances between them share a record.
    pub bundles: bool,
    /// The cache operator of loads from global memory that name none (`-Xptxas -dlcm`).
    pub load_cache: CacheOp,
}
