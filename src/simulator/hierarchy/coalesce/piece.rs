//! What leaves the coalescer.

/// Part of a request that lies in one 128-byte line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Address / 128.
    pub line: u64,
    /// Sectors with a touched byte, bit 0 the lowest.
    pub sectors: u8,
    /// Touched bytes. If [`super::Coalescer`] was set not to compute them, only the sectors are valid.
    pub bytes: u128,
}

impl Piece {
    /// Returns the piece where the request begins this many lines further, modulo 2^57.
    #[inline(always)]
    pub fn moved(&self, lines: u64) -> Piece {
        Piece { line: self.line.wrapping_add(lines) & (u64::MAX >> 7), ..*self }
    }
}
