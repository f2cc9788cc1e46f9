//! Reading trace streams, wherever their bytes come from: a file, a pipe, the shared-memory ring.

mod reader;
mod ring_source;

pub use reader::{Damage, Ending, Message, TraceReader};
pub use ring_source::{RingMemory, RingReader};
