//! Device code that a program contains, for `warpline-cc` to compile while the program runs: functions with hooks,
//! code that tracks values, and the figures of ptxas for architectures for which the program was not built.

use crate::occupancy::Resources;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Figures of ptxas for kernels, by mangled name, each in ascending order of architectures.
pub type KernelResources = BTreeMap<String, Vec<Resources>>;

/// The code of one module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedCode {
    /// Encoded site table ([`crate::site_table::SiteTable::to_bytes`]).
    pub site_table: Vec<u8>,
    /// Figures for the architectures for which the program was built.
    pub registers: KernelResources,
    /// The code that ptxas assembles for further architectures.
    pub assembly: CarriedPtx,
    /// Folders that do not contain the user's code.
    pub system_folders: Vec<String>,
    /// The hooked module.
    pub bitcode: Vec<u8>,
}

/// PTX without hooks and without debug information, and how it is assembled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedPtx {
    /// The compressed text: an LZ4 block after its uncompressed size. Empty if LLVM could not generate PTX.
    pub text: Vec<u8>,
    /// Architecture for which the PTX was generated (75 for `sm_75`).
    pub made_for: u32,
    /// Arguments of ptxas.
    pub arguments: Vec<String>,
}

impl CarriedCode {
    /// Returns the encoded bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain data always encodes")
    }

    /// Decodes the output of [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Option<CarriedCode> {
        postcard::from_bytes(bytes).ok()
    }
}

/// Returns the encoded figures of kernels.
pub fn encode_resources(resources: &KernelResources) -> Vec<u8> {
    postcard::to_stdvec(resources).expect("plain data always encodes")
}

/// Decodes the output of [`encode_resources`].
pub fn decode_resources(bytes: &[u8]) -> Option<KernelResources> {
    postcard::from_bytes(bytes).ok()
}
