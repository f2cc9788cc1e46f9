//! An access as its check and its record see it.

use warpline_format::access::Space;

/// The access that a check tests.
pub struct Checked {
    /// Number of the site.
    pub site: u32,
    /// Its space.
    pub space: Space,
    /// Bytes of the access.
    pub bytes: u32,
    /// Alignment that it needs.
    pub align: u32,
    /// The bundle that the access begins.
    pub bundle: Option<Whole>,
    /// Whether it has a record. Accesses to variables that `ptxas` keeps in registers are only checked.
    pub recorded: bool,
}

/// Of all accesses of a bundle, as seen from the first address.
pub struct Whole {
    /// Site field of the record.
    pub field: u32,
    /// Lowest and highest byte touched.
    pub bytes: [i64; 2],
    /// Alignment that all need.
    pub align: u32,
}

impl Checked {
    /// Site field of the access's record.
    pub fn field(&self) -> u32 {
        self.bundle.as_ref().map_or(self.site, |bundle| bundle.field)
    }

    /// Lowest and highest byte that are checked with the access, from its address.
    pub fn reach(&self) -> [u64; 2] {
        self.bundle
            .as_ref()
            .map_or([0, u64::from(self.bytes.max(1)) - 1], |bundle| bundle.bytes.map(|byte| byte as u64))
    }

    pub fn alignment(&self) -> u32 {
        self.bundle.as_ref().map_or(self.align, |bundle| bundle.align)
    }
}
