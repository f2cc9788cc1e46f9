//! Splits a stream into validated chunks. A damaged or truncated stream is readable up to the damage.

use std::io::Read;

use warpline_format::access::ItemError;
use warpline_format::chunk::{
    CHUNK_HEAD_BYTES, ChunkError, ChunkHead, ChunkKind, HEADER_BYTES, HeaderError, check_header,
};
use warpline_format::event::{Event, EventError, LaunchId};

/// Payloads are read in pieces of at most this size, so that a damaged length does not cause an allocation that the
/// stream cannot fill.
const READ_STEP: usize = 1 << 20;

/// One chunk of a trace.
#[derive(Debug)]
pub enum Message<'a> {
    /// A control record.
    Event(Box<Event>),
    /// Items of one launch; see [`warpline_format::access`].
    Batch {
        /// The launch of the items.
        launch: LaunchId,
        /// Encoded items.
        items: &'a [u8],
    },
}

/// Reasons why a stream cannot be read further. Everything before the damage was intact.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// The first bytes are not those of a trace that this release can read.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The stream ends inside its header.
    #[error("the trace is empty or shorter than its header ({0} bytes)")]
    NoHeader(usize),
    /// A chunk is invalid.
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    /// The stream ends inside a chunk.
    #[error("the trace ends inside chunk {0}")]
    Cut(u64),
    /// An intact chunk contains a control record that cannot be decoded.
    #[error("chunk {0}: {1}")]
    Event(u64, EventError),
    /// An intact chunk contains items that cannot be decoded.
    #[error("chunk {0}: {1}")]
    Items(u64, ItemError),
    /// A record refers to something undeclared, or contradicts an earlier record.
    #[error("chunk {0}: {1}")]
    Meaning(u64, String),
    /// The system failed to read the bytes.
    #[error("reading the trace failed: {0}")]
    Io(#[from] std::io::Error),
}

/// How a stream ended.
#[derive(Debug)]
pub enum Ending {
    /// With its `End` record.
    Complete,
    /// Between two chunks, but without the `End` record, because the program was interrupted.
    Unfinished,
    /// At damage; see [`Damage`].
    Damaged(Damage),
}

/// Reads a trace from any byte stream.
pub struct TraceReader<R> {
    source: R,
    payload: Vec<u8>,
    sequence: u64,
    bytes: u64,
    ended: bool,
    version: u32,
}

impl<R: Read> TraceReader<R> {
    /// Reads and checks the stream's header.
    ///
    /// # Errors
    /// Returns [`Damage::NoHeader`] for a stream that is shorter than a header, [`Damage::Header`] if it is
    /// not a trace or is newer than this release, or [`Damage::Io`].
    pub fn new(mut source: R) -> Result<Self, Damage> {
        let mut header = [0; HEADER_BYTES];
        let got = read_full(&mut source, &mut header)?;
        if got < HEADER_BYTES {
            return Err(Damage::NoHeader(got));
        }
        let version = check_header(&header)?;
        Ok(TraceReader { source, payload: Vec::new(), sequence: 0, bytes: got as u64, ended: false, version })
    }

    /// Returns the format version of the stream.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Returns the bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of the chunk that [`Self::next`] returned last, for messages.
    pub fn chunk(&self) -> u64 {
        self.sequence.saturating_sub(1)
    }

    /// Returns the next chunk, or how the stream ended. Bytes after the `End` record are not read.
    #[expect(clippy::should_implement_trait, reason = "lends from the reader, which Iterator cannot")]
    pub fn next(&mut self) -> Result<Message<'_>, Ending> {
        if self.ended {
            return Err(Ending::Complete);
        }
        let head = match self.fill() {
            Ok(Some(head)) => head,
            Ok(None) => return Err(Ending::Unfinished),
            Err(damage) => return Err(Ending::Damaged(damage)),
        };
        match head.kind {
            ChunkKind::Event => match Event::from_bytes(&self.payload) {
                Ok(event) => {
                    self.ended = matches!(event, Event::End { .. });
                    Ok(Message::Event(Box::new(event)))
                }
                Err(error) => Err(Ending::Damaged(Damage::Event(head.sequence, error))),
            },
            ChunkKind::Access => match self.payload.split_first_chunk::<8>() {
                Some((launch, items)) => Ok(Message::Batch { launch: u64::from_le_bytes(*launch), items }),
                None => {
                    let what = "an access batch without its launch number".to_owned();
                    Err(Ending::Damaged(Damage::Meaning(head.sequence, what)))
                }
            },
        }
    }

    /// Reads one chunk into the payload buffer; returns `None` if the stream ends between chunks.
    fn fill(&mut self) -> Result<Option<ChunkHead>, Damage> {
        let mut head = [0; CHUNK_HEAD_BYTES];
        let got = read_full(&mut self.source, &mut head)?;
        self.bytes += got as u64;
        if got == 0 {
            return Ok(None);
        }
        if got < CHUNK_HEAD_BYTES {
            return Err(Damage::Cut(self.sequence));
        }
        let head = ChunkHead::from_bytes(&head, self.sequence)?;
        let length = head.length as usize;
        self.payload.clear();
        while self.payload.len() < length {
            let start = self.payload.len();
            let step = (length - start).min(READ_STEP);
            self.payload.resize(start + step, 0);
            let got = read_full(&mut self.source, &mut self.payload[start..])?;
            self.bytes += got as u64;
            if got < step {
                return Err(Damage::Cut(self.sequence));
            }
        }
        head.check(&self.payload)?;
        self.sequence += 1;
        Ok(Some(head))
    }
}

/// Reads until the buffer is full or the stream ends; returns the number of bytes.
fn read_full(source: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match source.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(count) => got += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use warpline_format::chunk;

    fn stream(payloads: &[(ChunkKind, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = chunk::header().to_vec();
        for (number, (kind, payload)) in payloads.iter().enumerate() {
            bytes.extend(ChunkHead::new(*kind, number as u64, &[payload]).to_bytes());
            bytes.extend(payload);
        }
        bytes
    }

    fn small() -> Vec<u8> {
        stream(&[
            (ChunkKind::Event, Event::Dropped { records: 7 }.to_bytes()),
            (ChunkKind::Access, [5u64.to_le_bytes().to_vec(), vec![9; 16]].concat()),
            (ChunkKind::Event, Event::End { launches: 1 }.to_bytes()),
        ])
    }

    /// Returns the messages before the end as text, and the ending.
    fn read(bytes: &[u8]) -> (Vec<String>, Ending) {
        let mut reader = match TraceReader::new(bytes) {
            Ok(reader) => reader,
            Err(damage) => return (Vec::new(), Ending::Damaged(damage)),
        };
        let mut seen = Vec::new();
        loop {
            match reader.next() {
                Ok(message) => seen.push(format!("{message:?}")),
                Err(ending) => return (seen, ending),
            }
        }
    }

    #[test]
    fn a_whole_stream_is_complete() {
        let (seen, ending) = read(&small());
        assert_eq!(seen.len(), 3);
        assert!(matches!(ending, Ending::Complete), "{ending:?}");
    }

    #[test]
    fn every_prefix_gives_a_prefix_of_the_messages() {
        let whole = small();
        let (all, _) = read(&whole);
        for length in 0..whole.len() {
            let (seen, ending) = read(&whole[..length]);
            assert_eq!(seen, all[..seen.len()]);
            assert!(!matches!(ending, Ending::Complete), "{length} bytes of {}", whole.len());
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let whole = small();
        let (all, _) = read(&whole);
        for bit in 0..whole.len() * 8 {
            // The header's last four bytes are unused.
            if (12..16).contains(&(bit / 8)) {
                continue;
            }
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let (seen, ending) = read(&bytes);
            assert_eq!(seen, all[..seen.len()]);
            assert!(matches!(ending, Ending::Damaged(_)), "bit {bit}: {ending:?}");
        }
    }

    #[test]
    fn another_version_is_refused_by_name() {
        let mut bytes = small();
        bytes[8..12].copy_from_slice(&99u32.to_le_bytes());
        let (_, ending) = read(&bytes);
        let Ending::Damaged(damage) = ending else { panic!("{ending:?}") };
        assert!(damage.to_string().contains("version 99 is not the one"), "{damage}");
    }

    proptest! {
        #[test]
        fn garbage_never_panics(tail in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut bytes = chunk::header().to_vec();
            bytes.extend(tail);
            let _ = read(&bytes);
        }
    }
}
