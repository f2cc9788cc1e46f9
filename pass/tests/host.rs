//! IR tests of the host stages: each `tests/host/*.cu` goes through note, optimise and hook, then to FileCheck.
//! `// LEVEL:` sets the `-O` level.

#[allow(dead_code)] // Each test file uses a part of it.
mod common;

use common::{Side, compile, each, filecheck, flags, setting};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::path::Path;
use warpline_pass::host::{self, HostHooks};
use warpline_pass::object::{self, EmitOptions, Output};

fn parse<'c>(context: &'c Context, bytes: &[u8]) -> Module<'c> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, "test");
    Module::parse_bitcode_from_buffer(&buffer, context).expect("clang makes bitcode of our LLVM")
}

fn stage<'c>(context: &'c Context, source: &Path) -> Module<'c> {
    let flags = flags(source);
    let bitcode = compile(source, Side::Host, &flags.iter().map(String::as_str).collect::<Vec<_>>());
    let module = parse(context, &bitcode);
    let level = setting(source, "LEVEL").map_or(2, |text| text.parse().expect("a level"));
    let machine = host::machine(&module).expect("host code");
    host::note(&module);
    host::optimize(&module, &machine, level).expect("optimised");
    let descriptor = module.get_global("__cuda_fatbin_wrapper").map(|_| "__warpline_module");
    host::hook(&module, HostHooks { descriptor, allocations: true }).expect("hooked");
    module
}

#[test]
fn hooked_code() {
    each("host", |source| {
        let context = Context::create();
        filecheck(source, &common::without_debug_records(&stage(&context, source).print_to_string().to_string()))
    });
}

/// A device module with a function of the same name as one of the host's.
const DEVICE: &str = r#"
target triple = "x86_64-pc-linux-gnu"
@__warpline_module = global [2 x ptr] [ptr @twice, ptr null]
define i32 @twice(i32 %x) { %r = shl i32 %x, 1 ret i32 %r }
"#;

fn assembled<'c>(context: &'c Context, text: &str) -> Module<'c> {
    // LLVM requires the text to end in a zero that is not part of it.
    let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "device");
    context.create_module_from_ir(buffer).expect("valid IR")
}

#[test]
fn device_code_joins_the_host_code_and_keeps_to_itself() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host/paths.cu");
    let context = Context::create();
    let module = stage(&context, &source);
    object::join(&module, assembled(&context, DEVICE), &[]).expect("joined");
    module.verify().expect("valid");
    let text = module.print_to_string().to_string();
    assert!(text.contains("@__warpline_module = internal global [2 x ptr]"), "{text}");
    assert!(text.contains("define internal i32 @twice"), "{text}");
    for output in [Output::Object, Output::Assembly, Output::Bitcode, Output::Ir] {
        let bytes =
            object::emit(&module, EmitOptions { output, level: 2, pic: true, bound: object::BUILT }).expect("emitted");
        let start: &[u8] = match output {
            Output::Object => b"\x7fELF",
            Output::Assembly => b"\t.file",
            Output::Bitcode => b"BC\xc0\xde",
            Output::Ir => b"; ModuleID",
        };
        assert!(bytes.starts_with(start), "{output:?} starts with {:?}", &bytes[..8]);
    }
}

#[test]
fn unreadable_bitcode_is_named() {
    let context = Context::create();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host/names.cu");
    let error = object::read(&context, &path).expect_err("source text is no bitcode");
    assert!(error.to_string().contains("names.cu"), "{error}");
    assert!(object::read(&context, Path::new("/nowhere.bc")).is_err());
}
