//! Symbols and device code in objects and archives.

use crate::device_code::device_section::SECTION;
use crate::error::DriverError;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::Path;

/// The content of an input that the device link needs.
#[derive(Debug, Default)]
pub struct Contents {
    /// The device code of each translation unit, in the format of the section.
    pub device_code: Vec<Vec<u8>>,
    /// The registration functions that are called.
    pub wanted: BTreeSet<String>,
    /// The registration functions that are defined; their units have already been device-linked.
    pub defined: BTreeSet<String>,
}

/// The prefix of the name of the function that registers a translation unit.
pub const REGISTER_PREFIX: &str = "__cudaRegisterLinkedBinary";

impl Contents {
    /// Adds the content of an object or archive. Other files (linker scripts, shared libraries) contain nothing that is
    /// needed.
    pub fn read(&mut self, path: &Path) -> Result<(), DriverError> {
        let bytes = std::fs::read(path).map_err(DriverError::reading(path))?;
        let damaged = |cause: object::Error| DriverError::Object { path: path.into(), cause: cause.to_string() };
        if bytes.starts_with(b"!<arch>\n") {
            let archive = ArchiveFile::parse(&*bytes).map_err(damaged)?;
            for member in archive.members() {
                let data = member.and_then(|member| member.data(&*bytes)).map_err(damaged)?;
                if data.starts_with(b"\x7fELF") {
                    self.read_object(data).map_err(damaged)?;
                }
            }
        } else if bytes.starts_with(b"\x7fELF") {
            self.read_object(&bytes).map_err(damaged)?;
        }
        Ok(())
    }

    fn read_object(&mut self, bytes: &[u8]) -> Result<(), object::Error> {
        let file = object::File::parse(bytes)?;
        if file.kind() != object::ObjectKind::Relocatable {
            return Ok(());
        }
        for symbol in file.symbols() {
            let name = symbol.name().unwrap_or_default();
            if name.starts_with(REGISTER_PREFIX) {
                let set = if symbol.is_undefined() { &mut self.wanted } else { &mut self.defined };
                set.insert(name.into());
            }
        }
        for section in file.sections().filter(|section| section.name() == Ok(SECTION)) {
            self.device_code.push(section.data()?.to_vec());
        }
        Ok(())
    }
}
