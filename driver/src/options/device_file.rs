//! Device code in files of its own, as nvcc makes them.

/// A file of device code alone.
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
    /// What its name ends with.
    pub fn suffix(self) -> &'static str {
        match self {
            DeviceFile::Ptx => "ptx",
            DeviceFile::Cubin => "cubin",
            DeviceFile::FatBinary => "fatbin",
        }
    }
}
