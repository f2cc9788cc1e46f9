//! Separate compilation of device code (`-rdc=true`): each object contains its device bitcode. The link joins the
//! bitcode of all objects into one device module, hooks and lowers it, and generates the functions with which the units
//! register.

use super::symbols::{Contents, REGISTER_PREFIX};
use crate::clang_jobs;
use crate::device_code::device_section::unframe;
use crate::error::DriverError;
use crate::invocation::{Invocation, Language};
use crate::programs::tools::Tools;
use crate::stages::{self, StageOptions};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns the linked device code of everything on a link line as an object, or nothing where there is none to link.
pub fn device_object(tools: &Tools, invocation: &Invocation, items: &[String]) -> Result<Option<PathBuf>, DriverError> {
    let mut contents = Contents::default();
    for path in link_files(items) {
        contents.read(&path)?;
    }
    let wanted: BTreeSet<&String> = contents.wanted.difference(&contents.defined).collect();
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut files = Vec::new();
    for section in &contents.device_code {
        let modules = unframe(section).map_err(|cut| DriverError::Object {
            path: PathBuf::from("an object of the link"),
            cause: cut.to_string(),
        })?;
        for (_, bitcode) in modules {
            let path = tools.temporary().join(format!("relocatable-{}.bc", files.len()));
            std::fs::write(&path, bitcode).map_err(DriverError::writing(&path))?;
            files.push(path);
        }
    }
    let object = tools.temporary().join("device-link.o");
    let name = invocation.output.as_deref().unwrap_or(Path::new("a.out")).display().to_string();
    let options = StageOptions::new(tools, invocation, &name);
    stages::linked_unit(&files, &registration(&wanted), &object, options)?;
    Ok(Some(object))
}

/// Returns the objects and archives of a link line; `-l` is searched in the folders of `-L`.
fn link_files(items: &[String]) -> Vec<PathBuf> {
    let folders: Vec<&str> = items.iter().filter_map(|item| item.strip_prefix("-L")).collect();
    let find = |item: &String| -> Option<PathBuf> {
        match item.strip_prefix("-l") {
            Some(name) => {
                folders.iter().map(|folder| Path::new(folder).join(format!("lib{name}.a"))).find(|path| path.is_file())
            }
            None if item.starts_with('-') => None,
            None => Some(PathBuf::from(item)).filter(|path| path.is_file()),
        }
    };
    let mut files: Vec<PathBuf> = items.iter().filter_map(find).collect();
    // Libraries may be repeated on a link line, but their device code must not be linked twice.
    let mut seen = BTreeSet::new();
    files.retain(|path| seen.insert(path.clone()));
    files
}

/// Returns the host side of a device link, as LLVM's text: one fat binary wrapper, and per unit the function that registers its
/// kernels and variables with it.
fn registration(wanted: &BTreeSet<&String>) -> String {
    debug_assert!(wanted.iter().all(|name| name.starts_with(REGISTER_PREFIX)));
    let unit = |name: &&String| {
        format!(
            "define hidden void @{name}(ptr %globals, ptr %wrapper, ptr %id, ptr %keep) #0 {{\n  \
             call void @join(ptr %globals)\n  ret void\n}}\n"
        )
    };
    REGISTRATION.to_string() + &wanted.iter().map(unit).collect::<String>()
}

/// The wrapper has the name and type that clang gives it in a unit that is not relocatable, because the pass recognises
/// it by them. 0x466243b1 is the magic number of a fat binary wrapper.
const REGISTRATION: &str = r#"
@placeholder = private constant [8 x i8] zeroinitializer
@__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1180844977, i32 1, ptr @placeholder, ptr null }, section ".nvFatBinSegment", align 8
@handle = internal global ptr null
declare i32 @atexit(ptr)
declare ptr @__cudaRegisterFatBinary(ptr)
declare void @__cudaRegisterFatBinaryEnd(ptr)
declare void @__cudaUnregisterFatBinary(ptr)
attributes #0 = { uwtable "target-cpu"="x86-64" }
define internal void @leave() #0 {
  %known = load ptr, ptr @handle
  call void @__cudaUnregisterFatBinary(ptr %known)
  ret void
}
define internal void @join(ptr %globals) #0 {
  %known = load ptr, ptr @handle
  %first = icmp eq ptr %known, null
  br i1 %first, label %register, label %add
register:
  %new = call ptr @__cudaRegisterFatBinary(ptr @__cuda_fatbin_wrapper)
  store ptr %new, ptr @handle
  %status = call i32 @atexit(ptr @leave)
  br label %add
add:
  %all = phi ptr [ %known, %0 ], [ %new, %register ]
  call void %globals(ptr %all)
  call void @__cudaRegisterFatBinaryEnd(ptr %all)
  ret void
}
"#;

/// Creates an object without any content.
pub fn empty_object(tools: &Tools, output: &Path) -> Result<(), DriverError> {
    let source = tools.temporary().join("empty.c");
    std::fs::write(&source, "").map_err(DriverError::writing(&source))?;
    let command = clang_jobs::clang(tools, Language::C).args(["-x", "c", "-fPIC", "-c"]).path(&source);
    let finished = command.args(["-o"]).path(output).capture()?;
    finished.report();
    if finished.code == 0 { Ok(()) } else { Err(DriverError::Compiler(finished.code)) }
}
