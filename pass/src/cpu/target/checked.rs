//! The properties of an access that its check and its record use.

use warpline_format::access::Space;

/// The access that a check tests.
pub struct Checked {
    /// The number of the site.
    pub site: u32,
    /// The space of the access.
    pub space: Space,
    /// The size of the access in bytes.
    pub bytes: u32,
    /// The alignment that the access needs.
    pub align: u32,
    /// The bundle that the access begins.
    pub bundle: Option<Whole>,
    /// Whether the access has a record. Accesses to variables that `ptxas` keeps in registers are only checked.
    pub recorded: bool,
}

/// The properties of all accesses of a bundle together, relative to the first address.
pub struct Whole {
    /// The site field of the record.
    pub field: u32,
    /// The lowest and highest byte that are touched.
    pub bytes: [i64; 2],
    /// The alignment that all accesses need.
    pub align: u32,
}

impl Checked {
    /// Returns the site field of the access's record.
    pub fn field(&self) -> u32 {
        self.bundle.as_ref().map_or(self.site, |bundle| bundle.field)
    }

    /// Returns the lowest and highest byte that are checked with the access, relative to its address.
    pub fn reach(&self) -> [u64; 2] {
        self.bundle
            .as_ref()
            .map_or([0, u64::from(self.bytes.max(1)) - 1], |bundle| bundle.bytes.map(|byte| byte as u64))
    }

    pub fn alignment(&self) -> u32 {
        self.bundle.as_ref().map_or(self.align, |bundle| bundle.align)
    }
}
