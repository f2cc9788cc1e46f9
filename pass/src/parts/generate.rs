//! Optimises parts and generates their code with several threads.

use super::split::{Part, Split};
use crate::cpu;
use crate::llvm::shim::quiet_context;
use crate::object::{self, EmitOptions, Huge, ObjectError};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// LLVM recurses over expressions and loops, so the stack must be large; a thread's default stack of 2 MiB is a quarter
/// of a main thread's stack.
const STACK: usize = 16 << 20;

/// The options for generating the parts.
#[derive(Clone, Copy, Debug)]
pub struct GenerateOptions<'a> {
    /// The host processor, as in [`cpu::Options::processor`].
    pub processor: &'a str,
    /// How code is generated.
    pub emit: EmitOptions,
    /// The suffix of the shared names.
    pub suffix: &'a str,
    /// The number of threads. The result is the same for any number.
    pub threads: usize,
    /// Whether the optimised IR is kept as text.
    pub keep_ir: bool,
}

/// The result for a part.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The largest function, if it was too large for the code generator's optimisations.
    pub huge: Option<Huge>,
    /// The optimised IR, if it was requested.
    pub ir: Option<String>,
}

/// Generates all parts, and returns them in their order.
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
            // If a thread cannot be created, the other threads do its work.
            thread.spawn_scoped(scope, work).ok()
        });
        if started.count() == 0 {
            work();
        }
    });
    // A thread that panics makes the scope panic, so every part has a result here.
    let results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.into_iter().flatten().collect()
}

fn generate_part(split: &Split, part: &Part, options: &GenerateOptions<'_>) -> Result<Generated, ObjectError> {
    let context = quiet_context();
    let buffer = MemoryBuffer::create_from_memory_range_copy(&part.bitcode, "part");
    let module = Module::parse_bitcode_from_buffer(&buffer, &context)
        .map_err(|cause| ObjectError::Read { path: "a part of the device code".into(), cause: cause.to_string() })?;
    split.rename(&module, options.suffix);
    match part.hooked {
        true => cpu::optimize_hooked(&module, options.processor)?,
        false => cpu::optimize(&module, options.processor)?,
    }
    let ir = options.keep_ir.then(|| module.print_to_string().to_string());
    let (emit, huge) = match part.hooked {
        true => (EmitOptions { level: 0, ..options.emit }, None),
        false => options.emit.bounded(&module),
    };
    Ok(Generated { bytes: object::emit(&module, emit)?, huge, ir })
}
