//! Host call paths as functions and source lines, inlined frames included.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use object::Object as _;
use object::read::ReadCache;
use warpline_format::event::{INTERPRETED, InterpretedFrame, PathFrame};
use warpline_format::visible;

use super::debug_files;
use super::host_sources::{self, HostSources};
use crate::named_files;

/// Larger objects are none.
const MAX_OBJECT_BYTES: u64 = 16 << 30;
/// Programs load fewer objects; of more, a trace is wrong.
const MOST_OBJECTS: usize = 1 << 14;

/// Functions that call the program's own entry points; they and what is outside them is not shown.
const OUTSIDE: &[&str] = &[
    "_start",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "start_thread",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
    "_dl_start_user",
    "_dl_init",
    "call_init",
    "_dl_start",
    "__libc_csu_init",
    "_init",
    "std::execute_native_thread_routine",
    "execute_native_thread_routine",
];

/// A position in the host program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFrame {
    /// Demangled name; empty when unknown.
    pub function: String,
    /// Absolute path as the compiler saw it; empty when unknown.
    pub file: String,
    /// From 1; 0 unknown.
    pub line: u32,
    /// From 1; 0 unknown.
    pub column: u32,
}

enum Loaded {
    Ready {
        loader: Box<addr2line::Loader>,
        /// Its build id is that of the run's.
        fits: bool,
    },
    Missing,
}

/// Resolves return addresses in the program's objects.
pub struct Symbolizer {
    objects: BTreeMap<u32, (String, Loaded)>,
    /// Keyed by object and address; those of interpreted programs from the start.
    known: HashMap<(u32, u64), Vec<HostFrame>>,
    problems: Vec<String>,
}

impl Symbolizer {
    /// Opens the objects: number, path, build id (empty: not compared). `interpreted` are the positions that frames of
    /// interpreted programs name by their numbers.
    pub fn new<'a>(
        objects: impl IntoIterator<Item = (u32, &'a str, &'a [u8])>,
        interpreted: &BTreeMap<u64, InterpretedFrame>,
    ) -> Symbolizer {
        let mut problems = Vec::new();
        let mut open = |path: &str, build_id: &[u8]| {
            let fits = match check_build_id(Path::new(path), build_id) {
                Ok(Some(false)) => {
                    problems.push(format!("{path} has changed since the run; call paths through it show no lines"));
                    return Loaded::Missing;
                }
                Ok(fits) => fits.is_some(),
                Err(error) => {
                    problems.push(format!("{path} cannot be read ({error}); call paths through it show no lines"));
                    return Loaded::Missing;
                }
            };
            let checked = debug_files::check(Path::new(path), MAX_OBJECT_BYTES);
            match checked.and_then(|()| addr2line::Loader::new(path)) {
                Ok(loader) => Loaded::Ready { loader: Box::new(loader), fits },
                Err(error) => {
                    problems.push(format!("{path} has no readable debug information: {error}"));
                    Loaded::Missing
                }
            }
        };
        let objects = objects.into_iter().take(MOST_OBJECTS);
        let objects = objects.map(|(id, path, build_id)| (id, (path.to_owned(), open(path, build_id)))).collect();
        let position = |(&number, frame): (&u64, &InterpretedFrame)| {
            let InterpretedFrame { function, file, line } = frame.clone();
            ((INTERPRETED, number), vec![HostFrame { function, file, line, column: 0 }])
        };
        Symbolizer { objects, known: interpreted.iter().map(position).collect(), problems }
    }

    /// What the objects of the run know of these source files.
    pub fn sources(&self, wanted: &BTreeSet<&str>) -> HostSources {
        let mut sources = HostSources::default();
        for (path, loaded) in self.objects.values() {
            if matches!(loaded, Loaded::Ready { fits: true, .. }) {
                // Debug information that cannot be read has none.
                _ = host_sources::add(Path::new(path), MAX_OBJECT_BYTES, wanted, &mut sources);
            }
        }
        sources
    }

    /// Returns the main source files of all objects, and for each whether clang made its code.
    pub fn makers(&self) -> BTreeMap<String, bool> {
        let mut makers = BTreeMap::new();
        for (path, loaded) in self.objects.values() {
            if matches!(loaded, Loaded::Ready { .. }) {
                // Of debug information that cannot be read nothing is known.
                _ = host_sources::add_makers(Path::new(path), MAX_OBJECT_BYTES, &mut makers);
            }
        }
        makers
    }

    /// What was in the way, for notes.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns a path in the user's terms: outermost known frame first, from `main`, a thread's start or a
    /// static initialiser to the call into CUDA. `frames` are return addresses, innermost first.
    pub fn path(&mut self, frames: &[PathFrame]) -> Vec<HostFrame> {
        let mut path: Vec<HostFrame> = Vec::new();
        for frame in frames {
            // A return address is after its call; the number of an interpreter's position is that of the call
            // itself.
            let behind = u64::from(frame.object != INTERPRETED);
            path.extend_from_slice(self.frames(frame.object, frame.offset.saturating_sub(behind)));
        }
        if let Some(outside) = path.iter().position(|frame| OUTSIDE.contains(&base_name(&frame.function))) {
            path.truncate(outside);
        }
        // What clang puts between the launch and the runtime is not a call of the user's.
        let stub = |frame: &HostFrame| frame.function.contains("__device_stub__");
        let inner = path.iter().position(|frame| !stub(frame)).unwrap_or(path.len());
        path.drain(..inner);
        path.reverse();
        path
    }

    /// Frames at an address, innermost inlined one first; one nameless frame where nothing is known.
    fn frames(&mut self, object: u32, address: u64) -> &[HostFrame] {
        let objects = &self.objects;
        self.known.entry((object, address)).or_insert_with(|| match objects.get(&object) {
            Some((_, Loaded::Ready { loader, .. })) => resolve(loader, address),
            Some((path, Loaded::Missing)) => {
                vec![HostFrame { function: format!("{}+{address:#x}", visible::name(path)), ..HostFrame::default() }]
            }
            None => Vec::new(),
        })
    }
}

fn resolve(loader: &addr2line::Loader, address: u64) -> Vec<HostFrame> {
    let mut found = Vec::new();
    if let Ok(mut frames) = loader.find_frames(address) {
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.and_then(|name| name.demangle().ok().map(|name| name.into_owned()));
            let place = frame.location.as_ref();
            found.push(HostFrame {
                function: visible::name(&function.unwrap_or_default()).into_owned(),
                file: visible::name(place.and_then(|place| place.file).unwrap_or_default()).into_owned(),
                line: place.and_then(|place| place.line).unwrap_or(0),
                column: place.and_then(|place| place.column).unwrap_or(0),
            });
        }
    }
    // Without debug information there is at most a symbol.
    let nameless = found.last().is_none_or(|frame| frame.function.is_empty());
    if nameless && let Some(symbol) = loader.find_symbol(address) {
        let function = visible::name(&demangle(symbol)).into_owned();
        match found.last_mut() {
            Some(frame) => frame.function = function,
            None => found.push(HostFrame { function, ..HostFrame::default() }),
        }
    }
    found
}

/// A C++ name in readable form; other names stay.
pub fn demangle(name: &str) -> String {
    addr2line::demangle_auto(name.into(), None).into_owned()
}

/// A function's name without parameters and symbol version.
fn base_name(function: &str) -> &str {
    let end = function.find(['(', '@']).unwrap_or(function.len());
    &function[..end]
}

/// Returns whether the file still is the one of the run; `None` where one of them has no build id.
fn check_build_id(path: &Path, build_id: &[u8]) -> std::io::Result<Option<bool>> {
    let cache = ReadCache::new(named_files::open(path, MAX_OBJECT_BYTES)?);
    if build_id.is_empty() {
        return Ok(None);
    }
    let file = object::File::parse(&cache).map_err(std::io::Error::other)?;
    Ok(file.build_id().ok().flatten().map(|found| found == build_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_objects_are_reported_and_still_give_an_address() {
        let mut symbols = Symbolizer::new([(0, "/nowhere/at/all", &[][..])], &BTreeMap::new());
        assert!(symbols.problems()[0].contains("/nowhere/at/all"));
        let path = symbols.path(&[PathFrame { object: 0, offset: 0x11 }, PathFrame { object: u32::MAX, offset: 5 }]);
        assert_eq!(path.len(), 1);
        assert_eq!(path[0].function, "/nowhere/at/all+0x10");
    }

    #[test]
    fn positions_of_interpreted_programs_are_named_by_number() {
        let at = |function: &str, line| InterpretedFrame { function: function.into(), file: "/a.py".into(), line };
        let known = [(0, at("launch", 3)), (7, at("<module>", 9))].into_iter().collect();
        let frame = |offset| PathFrame { object: INTERPRETED, offset };
        let path = Symbolizer::new([], &known).path(&[frame(0), frame(7), frame(8)]);
        let shown: Vec<_> = path.iter().map(|frame| (frame.function.as_str(), frame.line)).collect();
        assert_eq!(shown, [("<module>", 9), ("launch", 3)]);
    }

    #[test]
    fn names_are_read_and_cut() {
        assert_eq!(demangle("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(base_name("main(int, char**)"), "main");
        assert_eq!(base_name("__libc_start_main@@GLIBC_2.34"), "__libc_start_main");
    }
}
