//! Traces in a compressed form: one file, or pieces of bounded size.
//!
//! The stream is divided into parts. Each part is a separate zstd frame with a checksum, so everything before damage or
//! a crash is readable, also with `zstd -d`. A piece starts with a skippable frame that identifies its run and the
//! position of its bytes in the stream.

mod head;
mod names;
mod pieces;
mod source;
mod writer;

pub use head::is_packed;
pub use names::{files, first_of, plain_name};
pub use pieces::Pieces;
pub use source::{Opened, open};
pub use writer::{DEFAULT_LEVEL, PackedWriter, Packing};

#[cfg(test)]
#[path = "packed_tests.rs"]
mod tests;
