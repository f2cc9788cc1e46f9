//! Optimises parts and generates their code, in several threads.

use super::split::Split;
use crate::cpu;
use crate::llvm::shim::quiet_context;
use crate::object::{self, EmitOptions, Huge, ObjectError};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// LLVM recurses over expressions and loops; a thread's usual 2 MiB are a quarter of what a main thread has.
const STACK: usize = 16 << 20;

/// How the parts are generated.
#[derive(Clone, Copy, Debug)]
pub struct GenerateOptions<'a> {
    /// Host processor, as in [`cpu::Options::processor`].
    pub processor: &'a str,
    /// How code is generated.
    pub emit: EmitOptions,
    /// What the shared names end with.
    pub suffix: &'a str,
    /// Threads that work at the parts. The result is the same for any number.
    pub threads: usize,
    /// Keep the optimised IR as text.
    pub keep_ir: bool,
}

/// What a part became.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// Its largest function, if that was too large for the code generator's optimisations.
    pub huge: Option<Huge>,
    /// The optimised IR, if it was requested.
    pub ir: Option<String>,
}

/// Generates all parts, in their order.
pub fn generate(split: &Split, options: &GenerateOptions<'_>) -> Result<Vec<Generated>, ObjectError> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<_>> = Mutex::new(split.parts.iter().map(|_| None).collect());
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = split.parts.get(at) else { return };
            let made = generate_part(split, part, options);
            if let Ok(mut results) = results.lock() {
                results[at] = Some(made);
            }
        }
    };
    std::thread::scope(|scope| {
        let started = (0..options.threads.min(split.parts.len())).map_while(|number| {
            let thread = std::thread::Builder::new().name(format!("part {number}")).stack_size(STACK);
            // A thread that cannot be had leaves its share to the others.
            thread.spawn_scoped(scope, work).ok()
        });
        if started.count() == 0 {
            work();
        }
    });
    // A thread that panicked has let the scope panic, so that every part has a result.
    let results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.into_iter().flatten().collect()
}

fn generate_part(split: &Split, bitcode: &[u8], options: &GenerateOptions<'_>) -> Result<Generated, ObjectError> {
    let context = quiet_context();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "part");
    let module = Module::parse_bitcode_from_buffer(&buffer, &context)
        .map_err(|cause| ObjectError::Read { path: "a part of the device code".into(), cause: cause.to_string() })?;
    split.rename(&module, options.suffix);
    cpu::optimize(&module, options.processor)?;
    let ir = options.keep_ir.then(|| module.print_to_string().to_string());
    let (emit, huge) = options.emit.bounded(&module);
    Ok(Generated { bytes: object::emit(&module, emit)?, huge, ir })
}
