//! The image of a module, as a program passes it to the driver.

use crate::cuda::error::{self, Error};
use crate::nvrtc::mark;
use crate::output::message;
use std::ffi::CStr;
use std::path::PathBuf;
use std::slice;
use warpline_format::carried::{self, CarriedError};

/// An image that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Image<'a> {
    /// A shared object for this processor.
    Object(&'a [u8]),
    /// PTX from NVRTC: the value is the shared object of the same source.
    Compiled(PathBuf),
    /// PTX that `warpline-cc -ptx` wrote: the value is the shared object that the PTX contains.
    Carried(Vec<u8>),
    /// LLVM IR as text.
    Ir(&'a str),
}

const ELF: [u8; 4] = *b"\x7fELF";
/// The values of `e_machine`: `EM_X86_64`, and NVIDIA's own number.
const X86_64: u16 = 62;
const CUDA: u16 = 190;
/// The first word of a fat binary.
const FAT_BINARY: [u8; 4] = 0xba55_ed50u32.to_le_bytes();
/// The size of an ELF file's header in bytes.
const ELF_HEADER: usize = 64;
/// The maximum size of a file in bytes; larger files are not modules.
const MOST_BYTES: u64 = 1 << 32;

impl<'a> Image<'a> {
    /// Recognises the content of a file that ends with a zero byte.
    pub fn in_file(content: &'a [u8]) -> Result<Image<'a>, Error> {
        if let (true, Some(header)) = (content.starts_with(&ELF), content.get(..ELF_HEADER)) {
            // Nothing may be read beyond the end of a truncated file.
            let bytes = object_bytes(header)?;
            return content.get(..bytes).map(Image::Object).ok_or(error::INVALID_KERNEL_IMAGE);
        }
        if content.starts_with(&ELF) || content.last() != Some(&0) {
            return Err(error::INVALID_KERNEL_IMAGE);
        }
        // SAFETY: the content is not an ELF file, and it ends with a zero.
        unsafe { Image::at(content.as_ptr()) }
    }

    /// Recognises the image to which `data` points.
    ///
    /// # Safety
    /// `data` is null, or points to a complete ELF file or to text that ends with a zero; it lives as long as
    /// the image.
    pub unsafe fn at(data: *const u8) -> Result<Image<'a>, Error> {
        if data.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: text that is shorter than a mark ends with a zero, which differs from every byte of a mark; reading
        // stops there.
        let begins = |mark: &[u8]| mark.iter().enumerate().all(|(at, byte)| unsafe { *data.add(at) } == *byte);
        if begins(&ELF) {
            // SAFETY: an ELF file begins with its header.
            let header = unsafe { slice::from_raw_parts(data, ELF_HEADER) };
            let bytes = object_bytes(header)?;
            // SAFETY: the contract guarantees the complete file.
            return Ok(Image::Object(unsafe { slice::from_raw_parts(data, bytes) }));
        }
        if begins(&FAT_BINARY) {
            return Err(foreign("a fat binary of nvcc's"));
        }
        // SAFETY: by the contract.
        let text = unsafe { CStr::from_ptr(data.cast()) }.to_str().map_err(|_| error::INVALID_KERNEL_IMAGE)?;
        if text.contains(".version") && text.contains(".target") {
            if let Some(found) = carried::find(text) {
                return found.map(Image::Carried).map_err(|cause| {
                    message::note(&cause.to_string());
                    match cause {
                        CarriedError::Changed => error::INVALID_KERNEL_IMAGE,
                        CarriedError::Without(_) => error::NO_KERNEL_IMAGE_FOR_DEVICE,
                    }
                });
            }
            return match mark::find(text) {
                Some(found) => found.map(Image::Compiled).map_err(|cause| {
                    message::note(&cause.to_string());
                    error::NO_KERNEL_IMAGE_FOR_DEVICE
                }),
                None => Err(foreign("PTX")),
            };
        }
        Ok(Image::Ir(text))
    }
}

/// Returns the size of the file in bytes. Its section headers are at its end, because linkers write them last.
fn object_bytes(header: &[u8]) -> Result<usize, Error> {
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    match half(18) {
        X86_64 => {}
        CUDA => return Err(foreign("code for a GPU")),
        _ => return Err(error::NO_KERNEL_IMAGE_FOR_DEVICE),
    }
    let mut offset = [0; 8];
    offset.copy_from_slice(&header[40..48]);
    let end = u64::from_le_bytes(offset).checked_add(u64::from(half(58)) * u64::from(half(60)));
    end.filter(|end| (ELF_HEADER as u64..MOST_BYTES).contains(end))
        .map(|end| end as usize)
        .ok_or(error::INVALID_KERNEL_IMAGE)
}

pub fn foreign(what: &str) -> Error {
    message::note(&format!(
        "a module is {what}, which the CPU device cannot run: let warpline-nvcc compile its source (-ptx, -cubin, -fatbin), or hand \
         over LLVM IR"
    ));
    error::NO_KERNEL_IMAGE_FOR_DEVICE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(machine: u16, sections: u64, size: u16, count: u16) -> Vec<u8> {
        let mut bytes = vec![0; ELF_HEADER];
        bytes[..4].copy_from_slice(&ELF);
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[40..48].copy_from_slice(&sections.to_le_bytes());
        bytes[58..60].copy_from_slice(&size.to_le_bytes());
        bytes[60..62].copy_from_slice(&count.to_le_bytes());
        bytes
    }

    #[test]
    fn images_are_distinguished() {
        // SAFETY: the test data are complete files, and text with its zero.
        let of = |bytes: &'static [u8]| unsafe { Image::at(bytes.as_ptr()) };
        assert_eq!(of(b"target triple = \"x\"\0"), Ok(Image::Ir("target triple = \"x\"")));
        assert_eq!(of(b"\0"), Ok(Image::Ir("")));
        assert_eq!(of(b"// nvcc\n.version 8.0\n.target sm_80\0"), Err(error::NO_KERNEL_IMAGE_FOR_DEVICE));
        assert_eq!(of(b"\x50\xed\x55\xba\0"), Err(error::NO_KERNEL_IMAGE_FOR_DEVICE));
        assert_eq!(of(b"\xff\xfe\0"), Err(error::INVALID_KERNEL_IMAGE));
    }

    #[test]
    fn files_that_were_cut_are_no_images() {
        let mut file = header(X86_64, 100, 64, 1);
        file.resize(164, 1);
        assert_eq!(Image::in_file(&file), Ok(Image::Object(&file)));
        for length in [4, 63, 64, 163] {
            assert_eq!(Image::in_file(&file[..length]), Err(error::INVALID_KERNEL_IMAGE), "{length}");
        }
        assert_eq!(Image::in_file(b"target\0"), Ok(Image::Ir("target")));
        assert_eq!(Image::in_file(b"target"), Err(error::INVALID_KERNEL_IMAGE));
    }

    #[test]
    fn sizes_of_objects_come_from_their_headers() {
        assert_eq!(object_bytes(&header(X86_64, 1000, 64, 3)), Ok(1192));
        assert_eq!(object_bytes(&header(CUDA, 1000, 64, 3)), Err(error::NO_KERNEL_IMAGE_FOR_DEVICE));
        assert_eq!(object_bytes(&header(X86_64, u64::MAX, 64, 3)), Err(error::INVALID_KERNEL_IMAGE));
        assert_eq!(object_bytes(&header(X86_64, 0, 0, 0)), Err(error::INVALID_KERNEL_IMAGE));
    }
}
