//! Framing of the trace stream. A file and the ring contain the same bytes: a [`Header`], then chunks.
//!
//! A chunk is a 24-byte head (magic, kind, payload length, checksum, sequence number) and its payload. The checksum is
//! a CRC-32 over kind, length, sequence number and payload. A changed or missing byte is detected in its chunk, and all
//! earlier chunks stay readable.

/// First bytes of a trace.
pub const MAGIC: [u8; 8] = *b"WLTRACE\0";
/// Version that this code writes. It reads this version and all earlier ones. Additions by version: 2 events, 4 even
/// items and bundles, 8 spills, 16 the mark of a GPU, 32 work that did not run and registers by architecture, 64 warps
/// at different barriers, 128 positions and arrays of interpreted programs, 256 arguments of launches, 512 positions in
/// a sample, 1024 mapped memory, 2048 carve-out preferences, numbered barriers and failed calls, 4096 the order of
/// warps, 8192 uninitialised reads and floating-point exceptions, 16384 values of accesses, 32768 values of operations
/// and the order of streams, 65536 rounded elements, 131072 several results of an
/// execution and paths of exceptional values. Versions are powers of two, so a single flipped bit cannot change one
/// version to another.
pub const VERSION: u32 = 131072;
/// Bytes of the stream header: magic number, version, and four zero bytes.
pub const HEADER_BYTES: usize = 16;
/// First word of each chunk.
pub const CHUNK_MAGIC: u32 = u32::from_le_bytes(*b"WLCK");
/// Bytes of a chunk head.
pub const CHUNK_HEAD_BYTES: usize = 24;
/// Maximum bytes of a payload that a reader accepts. Access batches are much shorter, but a site table may be large.
pub const MAX_PAYLOAD_BYTES: usize = 1 << 30;

/// Contents of a chunk's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ChunkKind {
    /// One postcard-encoded [`crate::event::Event`].
    Event = 1,
    /// `u64` launch id, then items as in [`crate::access`]. A batch never splits an item, and each
    /// starts with a `Turn` or `BlockStart`.
    Access = 2,
}

/// Returns the header of a trace stream.
pub fn header() -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes
}

/// Reasons why the start of a stream is not a valid trace header.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HeaderError {
    /// The magic number is wrong.
    #[error("this is not a Warpline trace")]
    Magic,
    /// A later version wrote the trace.
    #[error(
        "trace version {0} is not the one this warpline reads ({VERSION}); use the warpline that belongs to the program's build"
    )]
    Version(u32),
    /// Bytes that must be zero are not.
    #[error("the trace's header is damaged")]
    Damaged,
}

/// Checks a stream header and returns its version.
pub fn check_header(bytes: &[u8; HEADER_BYTES]) -> Result<u32, HeaderError> {
    if bytes[..8] != MAGIC {
        return Err(HeaderError::Magic);
    }
    let version = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    if !version.is_power_of_two() || version > VERSION {
        return Err(HeaderError::Version(version));
    }
    if bytes[12..] != [0; 4] {
        return Err(HeaderError::Damaged);
    }
    Ok(version)
}

/// The head of a chunk in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHead {
    /// Contents of the payload.
    pub kind: ChunkKind,
    /// Bytes of the payload.
    pub length: u32,
    /// CRC-32 as defined in the module documentation.
    pub checksum: u32,
    /// Sequence number, counted from 0. A gap means that chunks were lost.
    pub sequence: u64,
}

/// Reasons why a chunk cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ChunkError {
    /// The head does not start with the magic number.
    #[error("chunk {0} does not start with the chunk mark")]
    Magic(u64),
    /// The kind is unknown: it belongs to a later version, or the chunk is damaged.
    #[error("chunk {0} has the unknown kind {1}")]
    Kind(u64, u32),
    /// The payload is longer than any writer produces.
    #[error("chunk {0} claims {1} bytes")]
    Length(u64, u32),
    /// The payload does not match its checksum.
    #[error("chunk {0} is damaged (checksum)")]
    Checksum(u64),
    /// The sequence number is not the expected one.
    #[error("chunk {expected} is missing (found {found})")]
    Sequence {
        /// The expected number.
        expected: u64,
        /// The number in the stream.
        found: u64,
    },
}

fn checksum(kind: u32, length: u32, sequence: u64, parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&kind.to_le_bytes());
    hasher.update(&length.to_le_bytes());
    hasher.update(&sequence.to_le_bytes());
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

impl ChunkHead {
    /// Creates the head for a payload that is given in parts.
    pub fn new(kind: ChunkKind, sequence: u64, parts: &[&[u8]]) -> ChunkHead {
        let length = parts.iter().map(|part| part.len()).sum::<usize>() as u32;
        ChunkHead { kind, length, checksum: checksum(kind as u32, length, sequence, parts), sequence }
    }

    /// Returns the bytes in the stream.
    pub fn to_bytes(self) -> [u8; CHUNK_HEAD_BYTES] {
        let mut bytes = [0; CHUNK_HEAD_BYTES];
        bytes[0..4].copy_from_slice(&CHUNK_MAGIC.to_le_bytes());
        bytes[4..8].copy_from_slice(&(self.kind as u32).to_le_bytes());
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.checksum.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        bytes
    }

    /// Decodes a head; `expected` is the expected sequence number.
    pub fn from_bytes(bytes: &[u8; CHUNK_HEAD_BYTES], expected: u64) -> Result<ChunkHead, ChunkError> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if word(0) != CHUNK_MAGIC {
            return Err(ChunkError::Magic(expected));
        }
        let kind = match word(4) {
            1 => ChunkKind::Event,
            2 => ChunkKind::Access,
            other => return Err(ChunkError::Kind(expected, other)),
        };
        let length = word(8);
        if length as usize > MAX_PAYLOAD_BYTES {
            return Err(ChunkError::Length(expected, length));
        }
        let sequence = u64::from(word(16)) | u64::from(word(20)) << 32;
        if sequence != expected {
            return Err(ChunkError::Sequence { expected, found: sequence });
        }
        Ok(ChunkHead { kind, length, checksum: word(12), sequence })
    }

    /// Compares the payload with the head's checksum.
    pub fn check(&self, payload: &[u8]) -> Result<(), ChunkError> {
        if checksum(self.kind as u32, self.length, self.sequence, &[payload]) == self.checksum {
            Ok(())
        } else {
            Err(ChunkError::Checksum(self.sequence))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_header_is_checked() {
        let good = header();
        assert_eq!(check_header(&good), Ok(VERSION));
        for byte in 0..HEADER_BYTES {
            let mut wrong = good;
            wrong[byte] ^= 0x43;
            assert!(check_header(&wrong).is_err(), "byte {byte}");
        }
    }
}
