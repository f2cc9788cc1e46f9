//! Kernels lowered to the CPU device and run in the runtime's stub, `../cpu/stub.cpp`.

use super::{Side, compile};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpline_format::site_table::SiteTable;
use warpline_pass::cpu::Generated;
use warpline_pass::llvm::Machine;
use warpline_pass::{cpu, device};

/// How kernels are lowered.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// As clang's `-march`.
    pub processor: &'static str,
    /// Everything in the cautious way.
    pub cautious: bool,
    /// Instructions from which on a function calls what others write out.
    pub large: usize,
    /// Instructions per gather up to which threads run one after the other.
    pub serial: usize,
    /// The warp functions that are generated.
    pub generated: Generated<'static>,
    /// Whether LLVM's optimiser runs on the result.
    pub optimize: bool,
}

impl Default for Form {
    fn default() -> Form {
        Form {
            processor: "native",
            cautious: false,
            large: cpu::LARGE,
            serial: cpu::SERIAL,
            generated: Generated::All,
            optimize: true,
        }
    }
}

/// Device code with hooks, and its sites.
pub fn hooked<'c>(context: &'c Context, source: &Path) -> (Module<'c>, SiteTable) {
    let bitcode = compile(source, Side::Device, &[]);
    let buffer = MemoryBuffer::create_from_memory_range_copy(&bitcode, "test");
    let module = Module::parse_bitcode_from_buffer(&buffer, context).expect("clang makes bitcode of our LLVM");
    let machine = device::machine(&module).expect("device code");
    device::note_locations(&module);
    device::optimize(&module, &machine, 2).expect("optimised");
    device::prepare(&module, &machine, 2).expect("prepared");
    let options = device::HookOptions { bundles: true, ..device::HookOptions::default() };
    let table = device::hook(&module, &machine, &options).expect("hooked");
    (module, table)
}

/// The same for the CPU device.
pub fn lowered<'c>(module: &Module<'c>, table: &SiteTable, form: Form) -> Module<'c> {
    let options = cpu::Options {
        processor: form.processor,
        descriptor: "warpline_module",
        visible: true,
        fat_binary: &[],
        emulated: None,
        registers: &BTreeMap::new(),
        cautious: form.cautious,
        any_shape: false,
        large: form.large,
        serial: form.serial,
        generated: form.generated,
        values: false,
        carried: &[],
        optimize: form.optimize,
    };
    cpu::lower(module, Some(table), &options).expect("lowered")
}

/// A folder for one test's files.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("temporary folder");
    folder
}

/// The stub with kernels of `flow.h`'s kind, of which `kernels` is the list: those of the file where `source` is empty.
pub fn program(folder: &Path, source: &str, kernels: &str, form: Form) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpu");
    let path = folder.join("kernels.cu");
    let choice = if source.is_empty() { "" } else { "#define RANDOM\n" };
    let head = format!("{choice}#include \"{}/flow.h\"\n", here.display());
    std::fs::write(&path, head + source).expect("source written");
    std::fs::write(folder.join("list.h"), kernels).expect("list written");
    let context = Context::create();
    let (module, table) = hooked(&context, &path);
    let result = lowered(&module, &table, form);
    let object = Machine::host(form.processor).and_then(|machine| machine.emit_object(&result)).expect("object");
    std::fs::write(folder.join("device.o"), object).expect("object written");
    let program = folder.join("program");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-O1", "-w", "-fwrapv", "-fno-strict-aliasing", "-I"]).arg(folder);
    compiler
        .arg(here.join("stub.cpp"))
        .args(["-x", "c++"])
        .arg(&path)
        .args(["-x", "none"])
        .arg(folder.join("device.o"));
    let output = compiler.arg("-o").arg(&program).arg("-lm").output().expect("g++ is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// The stub's output for the kernels, whose results agree with plain C++.
pub fn run(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}: {:?}\n{text}", program.display(), output.status);
    text
}
