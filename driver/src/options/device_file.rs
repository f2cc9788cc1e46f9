//! Device code in separate files, as nvcc generates them.

/// A file that contains only device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceFile {
    /// `-ptx`.
    Ptx,
    /// `-cubin`.
    Cubin,
    /// `-fatbin`.
    FatBinary,
}

impl DeviceFile {
    /// Returns the suffix of its name.
    pub fn suffix(self) -> &'static str {
        match self {
            DeviceFile::Ptx => "ptx",
            DeviceFile::Cubin => "cubin",
            DeviceFile::FatBinary => "fatbin",
        }
    }
}
