//! Reads the stream of a compressed trace from one file, or from pieces in their order.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use zstd::stream::read::Decoder;

use super::head::{HEAD_BYTES, PieceHead, is_piece_head};
use super::names;

/// Base-2 logarithm of the largest window of a frame, which a decoder keeps in memory. Frames of Warpline need much
/// less.
const WINDOW_LOG: u32 = 26;
/// Bytes by which the stream may exceed [`MOST_EXPANDED`] times the compressed bytes. The limit prevents a small file
/// from causing an endless analysis.
const SLACK: u64 = 256 << 20;
/// Maximum bytes of the stream per compressed byte. Chunks have headers and checksums that do not repeat.
const MOST_EXPANDED: u64 = 1 << 14;

type Inner = Decoder<'static, BufReader<Counting>>;

/// Reads a compressed trace.
pub struct Pieces {
    base: PathBuf,
    /// Header of the current piece; `None` for a single file.
    head: Option<PieceHead>,
    decoder: Option<Inner>,
    /// Bytes returned so far.
    given: u64,
    /// Bytes of earlier pieces.
    before: u64,
}

/// A file that counts the bytes read from it.
struct Counting {
    file: File,
    read: u64,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read += count as u64;
        Ok(count)
    }
}

fn invalid(path: &Path, what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()))
}

impl Pieces {
    /// Reads a compressed file. If it is a first piece, the other pieces follow.
    ///
    /// # Errors
    /// Returns an error if it is a later piece, or cannot be read.
    pub fn new(path: &Path, file: File) -> io::Result<Pieces> {
        let (head, decoder) = open(path, file)?;
        let (base, _) = names::without_endings(path);
        match head {
            Some(PieceHead { number: 1, offset: 0, .. }) | None => {}
            Some(PieceHead { number, .. }) => {
                let first = names::piece(&base, 1);
                return Err(invalid(
                    path,
                    format!("this is piece {number} of a trace; name the first, {}", first.display()),
                ));
            }
        }
        Ok(Pieces { base, head, decoder: Some(decoder), given: 0, before: 0 })
    }

    /// Opens the next piece; returns `false` if there is none.
    fn next_piece(&mut self) -> io::Result<bool> {
        let Some(head) = self.head else { return Ok(false) };
        let Some(number) = head.number.checked_add(1) else { return Ok(false) };
        let path = names::piece(&self.base, number);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if names::has_later(&self.base, number) {
                    return Err(invalid(&path, "this piece of the trace is missing"));
                }
                return Ok(false);
            }
            Err(error) => return Err(invalid(&path, error)),
        };
        let (next, decoder) = open(&path, file)?;
        let next = next.ok_or_else(|| invalid(&path, "this is not a piece of a trace"))?;
        if next.run != head.run {
            return Err(invalid(&path, "this piece belongs to the trace of another run"));
        }
        if next.number != number || next.offset != self.given {
            let what = format!(
                "piece {} from byte {} of the trace stands where piece {number} from byte {} belongs",
                next.number, next.offset, self.given
            );
            return Err(invalid(&path, what));
        }
        self.before = self.given;
        (self.head, self.decoder) = (Some(next), Some(decoder));
        Ok(true)
    }
}

/// Returns a file's piece header, if it has one, and its stream.
fn open(path: &Path, file: File) -> io::Result<(Option<PieceHead>, Inner)> {
    let mut reader = BufReader::with_capacity(1 << 20, Counting { file, read: 0 });
    let mut first = [0; HEAD_BYTES];
    let begun = io::BufRead::fill_buf(&mut reader)?;
    let head = if is_piece_head(begun) {
        reader.read_exact(&mut first).map_err(|_| invalid(path, "the piece ends inside its head"))?;
        Some(PieceHead::from_bytes(&first).ok_or_else(|| invalid(path, "the piece's head is damaged"))?)
    } else {
        None
    };
    let mut decoder = Decoder::with_buffer(reader)?;
    decoder.window_log_max(WINDOW_LOG)?;
    Ok((head, decoder))
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(decoder) = &mut self.decoder {
            let count = decoder.read(buffer)?;
            if count > 0 {
                self.given += count as u64;
                let read = decoder.get_ref().get_ref().read;
                if self.given - self.before > SLACK.saturating_add(read.saturating_mul(MOST_EXPANDED)) {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "the compressed trace expands beyond reason",
                    ));
                }
                return Ok(count);
            }
            self.decoder = None;
            if !self.next_piece()? {
                return Ok(0);
            }
        }
        Ok(0)
    }
}
