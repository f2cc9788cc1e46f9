//! Memory in rows.

/// Rows of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// First byte.
    pub start: u64,
    /// Bytes between rows.
    pub pitch: u64,
}
