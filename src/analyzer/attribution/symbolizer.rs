//! Resolves host call paths to functions and source lines, including inlined frames.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use object::Object as _;
use object::read::ReadCache;
use warpline_format::event::{CallPathFrame, INTERPRETED, InterpretedFrame};
use warpline_format::visible;

use super::debug_files;
use super::host_sources::{self, HostSources};
use crate::named_files;

/// Maximum size of an object file.
const MAX_OBJECT_BYTES: u64 = 16 << 30;
/// Maximum number of objects. A trace with more is invalid.
const MOST_OBJECTS: usize = 1 << 14;

/// Functions that call the program's entry points. These frames and those outside them are not shown.
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

/// A source position in the host program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFrame {
    /// Demangled name; empty if unknown.
    pub function: String,
    /// Absolute path as the compiler saw it; empty if unknown.
    pub file: String,
    /// Line, counted from 1; 0 if unknown.
    pub line: u32,
    /// Column, counted from 1; 0 if unknown.
    pub column: u32,
}

enum Loaded {
    Ready {
        loader: Box<addr2line::Loader>,
        /// Whether its build id is that of the run.
        fits: bool,
    },
    Missing,
}

/// Resolves return addresses in the program's objects.
pub struct Symbolizer {
    objects: BTreeMap<u32, (String, Loaded)>,
    /// Resolved frames, by object and address. Frames of interpreted programs are present from the start.
    known: HashMap<(u32, u64), Vec<HostFrame>>,
    problems: Vec<String>,
}

impl Symbolizer {
    /// Opens the objects, given by number, path and build id (an empty id is not compared). `interpreted` contains the
    /// positions that frames of interpreted programs refer to by number.
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

    /// Returns the known properties of these source files from the objects of the run.
    pub fn sources(&self, wanted: &BTreeSet<&str>) -> HostSources {
        let mut sources = HostSources::default();
        for (path, loaded) in self.objects.values() {
            if matches!(loaded, Loaded::Ready { fits: true, .. }) {
                // An object whose debug information cannot be read contributes nothing.
                _ = host_sources::add(Path::new(path), MAX_OBJECT_BYTES, wanted, &mut sources);
            }
        }
        sources
    }

    /// Returns the main source files of all objects, each with a flag for clang.
    pub fn makers(&self) -> BTreeMap<String, bool> {
        let mut makers = BTreeMap::new();
        for (path, loaded) in self.objects.values() {
            if matches!(loaded, Loaded::Ready { .. }) {
                // An object whose debug information cannot be read contributes nothing.
                _ = host_sources::add_makers(Path::new(path), MAX_OBJECT_BYTES, &mut makers);
            }
        }
        makers
    }

    /// Returns the problems that occurred, for notes.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns a call path for the user, outermost frame first: from `main`, a thread's start or a static initialiser
    /// to the call into CUDA. `frames` are return addresses, innermost first.
    pub fn path(&mut self, frames: &[CallPathFrame]) -> Vec<HostFrame> {
        let mut path: Vec<HostFrame> = Vec::new();
        for frame in frames {
            // A return address follows its call; a position of an interpreter is the call itself.
            let behind = u64::from(frame.object != INTERPRETED);
            path.extend_from_slice(self.frames(frame.object, frame.offset.saturating_sub(behind)));
        }
        if let Some(outside) = path.iter().position(|frame| OUTSIDE.contains(&base_name(&frame.function))) {
            path.truncate(outside);
        }
        // Stubs that clang inserts between the launch and the runtime are not calls of the user.
        let stub = |frame: &HostFrame| frame.function.contains("__device_stub__");
        let inner = path.iter().position(|frame| !stub(frame)).unwrap_or(path.len());
        path.drain(..inner);
        path.reverse();
        path
    }

    /// Returns the frames at an address, innermost inlined frame first; a single nameless frame if nothing is known.
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
    // Without debug information, there is at most a symbol.
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

/// Demangles a C++ name; returns other names unchanged.
pub fn demangle(name: &str) -> String {
    addr2line::demangle_auto(name.into(), None).into_owned()
}

/// Returns a function's name without parameters and symbol version.
fn base_name(function: &str) -> &str {
    let end = function.find(['(', '@']).unwrap_or(function.len());
    &function[..end]
}

/// Returns whether the file is still the one of the run; `None` if either has no build id.
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
        let path =
            symbols.path(&[CallPathFrame { object: 0, offset: 0x11 }, CallPathFrame { object: u32::MAX, offset: 5 }]);
        assert_eq!(path.len(), 1);
        assert_eq!(path[0].function, "/nowhere/at/all+0x10");
    }

    #[test]
    fn positions_of_interpreted_programs_are_named_by_number() {
        let at = |function: &str, line| InterpretedFrame { function: function.into(), file: "/a.py".into(), line };
        let known = [(0, at("launch", 3)), (7, at("<module>", 9))].into_iter().collect();
        let frame = |offset| CallPathFrame { object: INTERPRETED, offset };
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
