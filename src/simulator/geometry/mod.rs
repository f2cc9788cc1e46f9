//! Sizes and shapes that everything above counts with: sectors, lines, the bytes of an access, banks.
//!
//! Definitions are those of the contract: a *sector* is a 32-byte aligned piece of memory, a *line* a 128-byte one.

mod banks;
pub(crate) mod sectors;
mod sizes;
mod width;

pub(crate) use banks::period;
pub use banks::{BankRules, Banks};
pub use sizes::{LINE_BYTES, SECTOR_BYTES};
pub use width::{MAX_WIDTH, Width};
