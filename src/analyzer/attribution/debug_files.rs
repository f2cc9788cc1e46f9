//! Checks the additional files that addr2line would open and decompress because an object's debug information names
//! them. addr2line itself opens any file.
//!
//! The files are checked before they are opened, so a later change is not detected.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use addr2line::gimli::{self, EndianSlice};
use object::read::ReadCache;
use object::{BinaryFormat, Object as _, ObjectSection as _};

use super::host_sources::{endian_of, section_of};
use crate::named_files;

/// Maximum ratio of the uncompressed debug information to its size in the file. The output of compilers has a ratio of
/// 2 to 10.
const MOST_UNPACKED: u64 = 64;

type Error = Box<dyn std::error::Error>;

/// Refuses an object if a further file of its debug information is a pipe or a device, if it would fill memory, or if
/// its format names files in a way that is not checked here.
///
/// # Errors
/// Returns the reason for the refusal, or the read error.
pub(super) fn check(path: &Path, most: u64) -> Result<(), Error> {
    let file = named_files::open(path, most)?;
    let length = file.metadata()?.len();
    let cache = ReadCache::new(file);
    let object = object::File::parse(&cache)?;
    if object.format() != BinaryFormat::Elf {
        return Err("not an ELF file".into());
    }
    let unpacked =
        object.sections().filter_map(|section| Some(section.compressed_file_range().ok()?.uncompressed_size));
    if unpacked.fold(0, u64::saturating_add) > length.saturating_mul(MOST_UNPACKED) {
        return Err(format!("its debug information has more than {MOST_UNPACKED} times the size of the file").into());
    }
    check_further(&package_of(path), most)?;
    let sections = gimli::DwarfSections::load(|id| section_of(&object, id))?;
    let dwarf = sections.borrow(|data: &Cow<'_, [u8]>| EndianSlice::new(data, endian_of(&object)));
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let Ok(Some(name)) = unit.dwo_name() else { continue };
        let Ok(name) = dwarf.attr_string(&unit, name) else { continue };
        let folder = unit.comp_dir.map(|folder| OsStr::from_bytes(folder.slice()));
        let folder = PathBuf::from(folder.unwrap_or_default());
        check_further(&folder.join(OsStr::from_bytes(name.slice())), most)?;
    }
    Ok(())
}

/// Returns the path of an object's package of split debug information, as addr2line computes it.
fn package_of(path: &Path) -> PathBuf {
    let extension = path.extension().map_or_else(
        || "dwp".into(),
        |extension| {
            let mut extension = OsString::from(extension);
            extension.push(".dwp");
            extension
        },
    );
    path.with_extension(extension)
}

/// Checks a further file. It may be missing; its source lines are then missing, too.
fn check_further(path: &Path, most: u64) -> Result<(), Error> {
    if !path.exists() {
        return Ok(());
    }
    named_files::open(path, most).map(drop).map_err(|error| format!("{}: {error}", path.display()).into())
}
