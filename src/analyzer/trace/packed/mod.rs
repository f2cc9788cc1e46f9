//! Traces in a compressed form: one file, or pieces of bounded size.
//!
//! The bytes of the stream are cut into parts, and each part is a zstd frame of its own with its checksum, so that
//! whatever was written before a damage or a crash is readable, by `zstd -d` as well. A piece begins with a skippable
//! frame with the run that it belongs to and where its bytes are in the stream.

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
