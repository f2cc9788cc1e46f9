//! Memory in rows.

/// Rows of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The address of the first byte.
    pub start: u64,
    /// The number of bytes between rows.
    pub pitch: u64,
}
