//! Sizes that all other modules use: sectors, lines, the bytes of an access, banks.
//!
//! A *sector* is a 32-byte aligned piece of memory, and a *line* a 128-byte aligned piece.

mod banks;
pub(crate) mod sectors;
mod sizes;
mod width;

pub(crate) use banks::period;
pub use banks::{BankRules, Banks};
pub use sizes::{LINE_BYTES, SECTOR_BYTES};
pub use width::{MAX_WIDTH, Width};
