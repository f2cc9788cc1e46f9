//! The header of a piece.

/// First word of a zstd frame.
const ZSTD_MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// First word of the skippable frame at the start of a piece.
const PIECE_FRAME: [u8; 4] = 0x184d_2a57_u32.to_le_bytes();
/// First bytes of the frame's content.
const PIECE_MAGIC: [u8; 8] = *b"WLPIECE\0";
const VERSION: u32 = 1;
/// Bytes of the frame's content.
const CONTENT_BYTES: u32 = 32;
/// Bytes of the whole frame.
pub(super) const HEAD_BYTES: usize = 8 + CONTENT_BYTES as usize;

/// Identification of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceHead {
    /// Number of the run, which is equal in all pieces of the run and unique to it.
    pub run: u64,
    /// Number of the piece, counted from 1.
    pub number: u32,
    /// Bytes of the stream in earlier pieces.
    pub offset: u64,
}

/// Returns whether these are the first bytes of a compressed file.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&ZSTD_MAGIC) || is_piece_head(bytes)
}

pub(super) fn is_piece_head(bytes: &[u8]) -> bool {
    bytes.starts_with(&PIECE_FRAME)
}

impl PieceHead {
    /// Returns the frame.
    pub(super) fn to_bytes(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..4].copy_from_slice(&PIECE_FRAME);
        bytes[4..8].copy_from_slice(&CONTENT_BYTES.to_le_bytes());
        bytes[8..16].copy_from_slice(&PIECE_MAGIC);
        bytes[16..20].copy_from_slice(&VERSION.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.number.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.run.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    /// Decodes the output of [`Self::to_bytes`].
    pub(super) fn from_bytes(bytes: &[u8; HEAD_BYTES]) -> Option<PieceHead> {
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let fits =
            is_piece_head(bytes) && word(4)? == CONTENT_BYTES && bytes[8..16] == PIECE_MAGIC && word(16)? == VERSION;
        fits.then_some(PieceHead { run: long(24)?, number: word(20)?, offset: long(32)? })
            .filter(|head| head.number > 0)
    }
}
