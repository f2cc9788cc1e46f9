//! Storage of the files of a store.

use super::StoreError;

/// Storage for files that are written once. The store generates all keys from letters, digits, `-`, `.` and `/`.
pub trait Blobs {
    /// Returns the content of a key; `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or is larger than `most`.
    fn read(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>, StoreError>;

    /// Writes a key atomically: a reader finds either the whole content or nothing, even if the writer is killed.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    fn write(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// Returns all keys below a prefix (given without its last `/`), in order. Temporary files are not keys.
    ///
    /// # Errors
    /// Returns an error if they cannot be listed.
    fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError>;

    /// Returns whether the storage is empty.
    ///
    /// # Errors
    /// Returns an error if this cannot be determined.
    fn is_empty(&self) -> Result<bool, StoreError>;

    /// Returns a key as messages show it.
    fn place(&self, key: &str) -> String;
}
