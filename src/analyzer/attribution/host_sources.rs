//! Reads the checksums of source files from the DWARF 5 debug information of a program's objects.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use addr2line::gimli::{self, EndianSlice, RunTimeEndian};
use object::ObjectSection as _;
use object::read::ReadCache;
use warpline_format::site_table::Digest;

use crate::named_files;

/// The known properties of source files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSources {
    /// Expected checksums of files.
    pub digests: Vec<(String, Digest)>,
    /// Files without a checksum (g++ writes none) that have the extension of a source file and are named by an object
    /// that belongs to the reader or the system.
    pub vouched: BTreeSet<String>,
}

/// Extensions of files with host C++ code.
const ENDINGS: [&str; 18] = [
    "c", "cc", "cp", "cpp", "cppm", "cu", "cuh", "cxx", "h", "hh", "hpp", "hxx", "i", "ii", "inc", "inl", "ipp", "tcc",
];

type Error = Box<dyn std::error::Error>;

/// Adds the checksums of the `wanted` files that an object of at most `most` bytes contains.
///
/// # Errors
/// Returns an error if it cannot be read.
pub(super) fn add(path: &Path, most: u64, wanted: &BTreeSet<&str>, known: &mut HostSources) -> Result<(), Error> {
    let file = named_files::open(path, most)?;
    let owner = file.metadata()?.uid();
    // SAFETY: the call only returns the user id of this process.
    let trusted = owner == 0 || owner == unsafe { libc::geteuid() };
    let cache = ReadCache::new(file);
    let object = object::File::parse(&cache)?;
    let sections = gimli::DwarfSections::load(|id| section_of(&object, id))?;
    let dwarf = sections.borrow(|data| EndianSlice::new(data, endian_of(&object)));
    let mut found = BTreeMap::<String, Option<Digest>>::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        files_of(unit.unit_ref(&dwarf), wanted, &mut found);
    }
    for (file, digest) in found {
        match digest {
            Some(digest) => known.digests.push((file, digest)),
            None if trusted && is_source(&file) => _ = known.vouched.insert(file),
            None => {}
        }
    }
    Ok(())
}

/// Adds the main source files of an object's compilation units to `makers`, each with a flag for clang.
///
/// # Errors
/// Returns an error if it cannot be read.
pub(super) fn add_makers(path: &Path, most: u64, makers: &mut BTreeMap<String, bool>) -> Result<(), Error> {
    let cache = ReadCache::new(named_files::open(path, most)?);
    let object = object::File::parse(&cache)?;
    let sections = gimli::DwarfSections::load(|id| section_of(&object, id))?;
    let dwarf = sections.borrow(|data| EndianSlice::new(data, endian_of(&object)));
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let unit = unit.unit_ref(&dwarf);
        let Some(name) = unit.name else { continue };
        let mut file = unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
        push(&mut file, &name.to_string_lossy());
        makers.insert(file, producer(unit).is_some_and(|producer| producer.contains("clang")));
    }
    Ok(())
}

/// Returns the producer of a compilation unit, such as a compiler.
fn producer<'a>(unit: gimli::UnitRef<'_, Slice<'a>>) -> Option<Cow<'a, str>> {
    let mut entries = unit.entries();
    let root = entries.next_dfs().ok()??;
    let value = root.attr_value(gimli::DW_AT_producer)?;
    Some(unit.attr_string(value).ok()?.to_string_lossy())
}

pub(super) fn endian_of<'a>(object: &impl object::Object<'a>) -> RunTimeEndian {
    if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
}

pub(super) fn section_of<'a>(object: &impl object::Object<'a>, id: gimli::SectionId) -> Result<Cow<'a, [u8]>, Error> {
    Ok(match object.section_by_name(id.name()) {
        Some(section) => section.uncompressed_data()?,
        None => Cow::Borrowed(&[]),
    })
}

fn is_source(file: &str) -> bool {
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending.to_ascii_lowercase().as_str()))
}

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Returns the wanted files of a unit, with their checksums if the unit contains them.
fn files_of(
    unit: gimli::UnitRef<'_, Slice<'_>>,
    wanted: &BTreeSet<&str>,
    found: &mut BTreeMap<String, Option<Digest>>,
) {
    let Some(program) = &unit.line_program else { return };
    let header = program.header();
    for file in header.file_names() {
        let Some(path) = path_of(unit, header, file) else { continue };
        if wanted.contains(path.as_str()) {
            let digest = header.file_has_md5().then(|| *file.md5());
            let known = found.entry(path).or_default();
            *known = digest.or(*known);
        }
    }
}

/// Returns a file's path, composed as in addr2line.
fn path_of<'a>(
    unit: gimli::UnitRef<'_, Slice<'a>>,
    header: &gimli::LineProgramHeader<Slice<'a>>,
    file: &gimli::FileEntry<Slice<'a>>,
) -> Option<String> {
    let text =
        |value: gimli::AttributeValue<Slice<'a>>| Some(unit.attr_string(value).ok()?.to_string_lossy().into_owned());
    let mut path = unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    if file.directory_index() != 0
        && let Some(folder) = file.directory(header)
    {
        push(&mut path, &text(folder)?);
    }
    push(&mut path, &text(file.path_name())?);
    Some(path)
}

fn push(path: &mut String, part: &str) {
    if part.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_known_by_their_ending() {
        assert!(is_source("/home/me/a.CU") && is_source("b.hpp"));
        assert!(!is_source("/etc/shadow") && !is_source("/home/me/.ssh/id_rsa") && !is_source("/home/me/.cpp"));
    }
}
