//! The output of the coalescer.

/// The part of a request that lies in one 128-byte line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Address / 128.
    pub line: u64,
    /// Sectors with a touched byte; bit 0 is the lowest sector.
    pub sectors: u8,
    /// Touched bytes. If [`super::Coalescer`] was set not to compute them, only the sectors are valid.
    pub bytes: u128,
}

impl Piece {
    /// Returns the piece of the request shifted by this many lines, modulo 2^57.
    #[inline(always)]
    pub fn moved(&self, lines: u64) -> Piece {
        Piece { line: self.line.wrapping_add(lines) & (u64::MAX >> 7), ..*self }
    }
}
