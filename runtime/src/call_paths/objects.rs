//! Loaded objects. A return address is converted to an object and an offset, so that paths do not depend on the
//! addresses that the loader chose.

use std::ffi::{CStr, c_int, c_void};
use warpline_format::event::{CallPathFrame, Event};

/// One executable segment.
#[derive(Debug)]
struct Segment {
    start: u64,
    end: u64,
    object: usize,
}

#[derive(Debug)]
struct Object {
    bias: u64,
    path: String,
    build_id: Vec<u8>,
    /// The number in the trace, after a frame needed one.
    id: Option<u32>,
}

/// Objects seen so far.
#[derive(Debug, Default)]
pub struct Objects {
    segments: Vec<Segment>,
    objects: Vec<Object>,
    /// Objects in the order of their numbers.
    numbered: Vec<usize>,
}

impl Objects {
    /// Returns the number of objects that have a number in the trace.
    pub fn numbered(&self) -> usize {
        self.numbered.len()
    }

    /// Returns the events for the numbered objects from `first` on.
    pub fn known(&self, first: usize) -> Vec<Event> {
        let numbered = self.numbered[first.min(self.numbered.len())..].iter().zip(first as u32..);
        numbered
            .map(|(&object, id)| {
                let Object { path, build_id, .. } = &self.objects[object];
                Event::Object { id, path: path.clone(), build_id: build_id.clone() }
            })
            .collect()
    }

    /// Returns the frame of a return address.
    pub fn resolve(&mut self, address: u64) -> CallPathFrame {
        let found = self.lookup(address).or_else(|| {
            self.refresh();
            self.lookup(address)
        });
        let Some(index) = found else {
            // The address is in generated code or in a page of the system's kernel, where the number would differ
            // between runs.
            return CallPathFrame { object: u32::MAX, offset: 0 };
        };
        let next = self.numbered.len() as u32;
        let object = &mut self.objects[index];
        let id = *object.id.get_or_insert(next);
        let offset = address - object.bias;
        if id == next {
            self.numbered.push(index);
        }
        CallPathFrame { object: id, offset }
    }

    fn lookup(&self, address: u64) -> Option<usize> {
        let after = self.segments.partition_point(|segment| segment.start <= address);
        let segment = self.segments[..after].last()?;
        // A return address may be just after the last instruction of a segment.
        (address <= segment.end).then_some(segment.object)
    }

    /// Reads the loader's list again; known objects keep their numbers.
    fn refresh(&mut self) {
        let mut found = Vec::<LoadedObject>::new();
        // SAFETY: the callback only runs during the call, and its argument is the vector.
        unsafe { libc::dl_iterate_phdr(Some(collect), std::ptr::from_mut(&mut found).cast()) };
        self.segments.clear();
        for new in found {
            let known = self.objects.iter().position(|object| object.bias == new.bias && object.path == new.path);
            let object = known.unwrap_or_else(|| {
                self.objects.push(Object { bias: new.bias, path: new.path, build_id: new.build_id, id: None });
                self.objects.len() - 1
            });
            self.segments.extend(new.code.iter().map(|&(start, end)| Segment { start, end, object }));
        }
        self.segments.sort_by_key(|segment| segment.start);
    }
}

struct LoadedObject {
    bias: u64,
    path: String,
    build_id: Vec<u8>,
    code: Vec<(u64, u64)>,
}

unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description; `data` is the vector of `refresh`.
    let (info, found) = unsafe { (&*info, &mut *data.cast::<Vec<LoadedObject>>()) };
    // SAFETY: the loader's name is a string, or null.
    let name = if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } };
    let name = name.to_string_lossy();
    let path = if name.is_empty() {
        std::fs::read_link("/proc/self/exe").map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    } else if name.starts_with('/') {
        name.into_owned()
    } else if name.starts_with("linux-") {
        return 0;
    } else {
        std::fs::canonicalize(&*name).map_or_else(|_| name.into_owned(), |path| path.to_string_lossy().into_owned())
    };
    // SAFETY: the loader's program headers are an array of this length.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let mut code = Vec::new();
    let mut build_id = Vec::new();
    for header in headers {
        let start = info.dlpi_addr + header.p_vaddr;
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
            code.push((start, start + header.p_memsz));
        } else if header.p_type == libc::PT_NOTE && build_id.is_empty() {
            // SAFETY: a note segment of a loaded object is mapped readable over its memory size.
            let notes = unsafe { std::slice::from_raw_parts(start as *const u8, header.p_memsz as usize) };
            build_id = build_id_of(notes, header.p_align.max(4) as usize).unwrap_or_default();
        }
    }
    found.push(LoadedObject { bias: info.dlpi_addr, path, build_id, code });
    0
}

/// Returns the GNU build id among the notes of a segment.
fn build_id_of(mut notes: &[u8], align: usize) -> Option<Vec<u8>> {
    const NT_GNU_BUILD_ID: u32 = 3;
    let align = if align == 8 { 8 } else { 4 };
    while notes.len() >= 12 {
        let word = |at: usize| Some(u32::from_le_bytes(notes.get(at..at + 4)?.try_into().ok()?));
        let (name, description, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let start = (12 + name).next_multiple_of(align);
        if kind == NT_GNU_BUILD_ID && notes.get(12..12 + name)? == b"GNU\0" {
            return notes.get(start..start + description).map(<[u8]>::to_vec);
        }
        notes = notes.get((start + description).next_multiple_of(align)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_code_is_found_with_its_load_bias_removed() {
        let mut objects = Objects::default();
        let address = build_id_of as *const () as u64;
        let frame = objects.resolve(address);
        assert_eq!(frame.object, 0);
        assert!(frame.offset < 1 << 32);
        assert_eq!(objects.resolve(8), CallPathFrame { object: u32::MAX, offset: 0 });
        let events = objects.known(0);
        assert_eq!(events.len(), 1);
        let Event::Object { path, .. } = &events[0] else { panic!("{events:?}") };
        assert_eq!(std::path::Path::new(path), std::env::current_exe().unwrap());
    }

    #[test]
    fn damaged_notes_are_no_build_id() {
        assert_eq!(build_id_of(&[4, 0, 0, 0, 255, 255, 255, 255, 3, 0, 0, 0, 0x47, 0x4e, 0x55, 0], 4), None);
        let mut good = vec![4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0];
        good.extend_from_slice(b"GNU\0\xab\xcd\0\0");
        assert_eq!(build_id_of(&good, 4), Some(vec![0xab, 0xcd]));
    }
}
