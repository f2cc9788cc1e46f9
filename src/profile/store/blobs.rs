//! Where a store keeps its files.

use super::StoreError;

/// A place for files that are written once. Keys are made by the store alone: letters, digits, `-`, `.` and `/`.
pub trait Blobs {
    /// Returns the content of a key; `None` where there is none.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or is larger than `most`.
    fn read(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>, StoreError>;

    /// Writes a key: whoever reads it finds all of it or nothing, also where the writer is killed.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    fn write(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// All keys below a prefix without its last `/`, in order; temporary files are none.
    ///
    /// # Errors
    /// Returns an error if they cannot be listed.
    fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError>;

    /// Returns whether there is nothing at all.
    ///
    /// # Errors
    /// That cannot be found out.
    fn is_empty(&self) -> Result<bool, StoreError>;

    /// Returns a key as messages name it.
    fn place(&self, key: &str) -> String;
}
