//! Reads an arbitrary site table, as if it came from an executable.

use warpline::attribution::Module;
use warpline_format::site_table::{SiteTable, VERSION};

/// Reads the input unchanged and with a corrected checksum. A table that can be read must be usable, and encoding it
/// must give the same table.
pub fn run(data: &[u8]) {
    read(data);
    read(&sealed(data));
}

fn read(bytes: &[u8]) {
    _ = Module::new(bytes);
    let Ok(table) = SiteTable::from_bytes(bytes) else { return };
    assert_eq!(SiteTable::from_bytes(&table.to_bytes()).expect("what was just written"), table);
}

/// Returns the same table with the current version and a correct checksum.
pub fn sealed(bytes: &[u8]) -> Vec<u8> {
    let Some(table) = bytes.get(5..) else { return bytes.to_vec() };
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[VERSION]);
    hasher.update(table);
    [&[VERSION][..], &hasher.finalize().to_le_bytes(), table].concat()
}
