//! Reads trace streams from a file, a pipe or the shared-memory ring.

mod packed;
mod reader;
mod ring_source;

pub use packed::{DEFAULT_LEVEL, Opened, PackedWriter, Packing, Pieces, files, first_of, is_packed, open, plain_name};
pub use reader::{Damage, Ending, Message, TraceReader};
pub use ring_source::{RingMemory, RingReader};
