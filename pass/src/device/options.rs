//! How hooks are put in.

use warpline_format::site_table::CacheOp;

/// What the hook stage needs to know besides the code.
#[derive(Clone, Debug, Default)]
pub struct HookOptions {
    /// Folders whose files are not the user's code: clang's resource folder, the toolkit's and the system's headers.
    /// Absolute, compared by path prefix as the compiler wrote the paths.
    pub system_folders: Vec<String>,
    /// Accesses at constant distances from each other share a record.
    pub bundles: bool,
    /// Cache operator of loads from global memory that name none (`-Xptxas -dlcm`).
    pub load_cache: CacheOp,
}
