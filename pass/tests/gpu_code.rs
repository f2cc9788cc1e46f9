//! Code for real GPUs, checked without one: every example becomes PTX with the original and the hooked kernels side
//! by side, and NVIDIA's assembler takes it for each architecture.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpline_format::gpu::{COUNTED_SUFFIX, FINISH_KERNEL, HOOKED_SUFFIX, is_counted};
use warpline_format::operation::{Followed, RecordedKinds};
use warpline_format::site_table::{CacheOp, Site, SiteTable};
use warpline_pass::device::{self, HookOptions};
use warpline_pass::gpu::{Assembler, Plan, build, emit_ptx, instrument};
use warpline_toolchain::{clang, cuda};

const PROCESSORS: [&str; 8] = ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the repository")
}

/// The module of a CUDA source as the hook stage leaves it.
fn hooked<'c>(context: &'c Context, source: &Path, options: &[&str]) -> (Module<'c>, SiteTable) {
    let toolkit = cuda::find(None).expect("the toolkit's parts are installed");
    let clang = clang::clang().expect("clang is installed");
    let folder = tempfile::tempdir().expect("a folder");
    let bitcode = folder.path().join("device.bc");
    let mut command = Command::new(&clang.path);
    command.args([
        "--driver-mode=g++",
        "-x",
        "cuda",
        "--cuda-device-only",
        "--cuda-gpu-arch=sm_75",
        "-O2",
        "-std=c++17",
    ]);
    command.arg(format!("--cuda-path={}", toolkit.root.display()));
    command.args([
        "-Wno-unknown-cuda-version",
        "-Xclang",
        "-disable-llvm-passes",
        "-Xclang",
        "-debug-info-kind=limited",
    ]);
    command.arg("-isystem").arg(repository().join("driver/include"));
    command.args(options).args(["-emit-llvm", "-c"]).arg(source).arg("-o").arg(&bitcode);
    let output = command.output().expect("clang runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let buffer = MemoryBuffer::create_from_file(&bitcode).expect("clang wrote it");
    let module = Module::parse_bitcode_from_buffer(&buffer, context).expect("bitcode");
    let machine = device::machine(&module).expect("device code");
    device::note_locations(&module);
    device::optimize(&module, &machine, 2).expect("optimisation");
    device::prepare(&module, &machine, 2).expect("preparation");
    let table =
        device::hook(&module, &machine, &HookOptions { bundles: true, ..HookOptions::default() }).expect("hooks");
    (module, table)
}

fn assembler() -> Assembler {
    let toolkit = cuda::find(None).expect("the toolkit's parts are installed");
    Assembler {
        ptxas: toolkit.ptxas(),
        oldest: toolkit.oldest_architecture(),
        older_ptxas: toolkit.older_ptxas(),
        fatbinary: toolkit.fatbinary(),
        options: Vec::new(),
        folder: std::env::temp_dir(),
    }
}

fn examples() -> Vec<PathBuf> {
    let mut sources = Vec::new();
    for folder in std::fs::read_dir(repository().join("examples")).expect("examples").flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            if file.path().extension().is_some_and(|extension| extension == "cu") {
                sources.push(file.path());
            }
        }
    }
    sources.sort();
    assert!(sources.len() >= 10);
    sources
}

/// Each example for three architectures, so that each architecture has several examples.
#[test]
fn every_example_assembles_for_some_architectures() {
    let some = |number: usize| (0..3).map(|step| PROCESSORS[(number + step * 3) % PROCESSORS.len()]).collect();
    assemble_examples(&some);
}

#[test]
#[ignore = "test-all"]
fn all_examples_assemble_for_all_architectures() {
    assemble_examples(&|_| PROCESSORS.to_vec());
}

/// Assembles every example for the architectures that its number is given.
fn assemble_examples(processors: &(dyn Fn(usize) -> Vec<&'static str> + Sync)) {
    let sources: Vec<(usize, PathBuf)> = examples().into_iter().enumerate().collect();
    let (left, right) = sources.split_at(sources.len() / 2);
    let assemble = |some: &[(usize, PathBuf)]| some.iter().for_each(|(at, source)| assembles(source, &processors(*at)));
    std::thread::scope(|scope| {
        scope.spawn(|| assemble(left));
        assemble(right);
    });
}

fn assembles(source: &Path, processors: &[&str]) {
    let assembler = assembler();
    let context = Context::create();
    let (module, table) = hooked(&context, source, &[]);
    let code = instrument(&module, &table).expect("instrumentation");
    assert!(!code.kernels.is_empty(), "{}", source.display());
    // What the texture unit reads is not hooked on a GPU: sites that know no alignment, of read-only loads.
    let texels = |site: &Site| site.align == 1 && site.cache == CacheOp::NonCoherent;
    let odd: Vec<_> = table.sites.iter().filter(|site| !is_counted(site) && !texels(site)).collect();
    assert!(odd.is_empty(), "{}: counters mode leaves out {odd:?}", source.display());
    for &processor in processors {
        let ptx = emit_ptx(&code, processor).expect("PTX");
        let text = String::from_utf8_lossy(&ptx);
        for kernel in &code.kernels {
            assert!(text.contains(&format!(".entry {kernel}(")), "{kernel}");
            assert!(text.contains(&format!(".entry {kernel}{HOOKED_SUFFIX}(")), "{kernel}");
            assert!(text.contains(&format!(".entry {kernel}{COUNTED_SUFFIX}(")), "{kernel}");
        }
        assert!(text.contains(&format!(".entry {FINISH_KERNEL}(")));
        let generic = generic_reads_of_parameters(&text);
        assert!(generic.is_empty(), "{}: {generic:?}", source.display());
        // Every hook was inlined: nothing of theirs is called, and their four parameters reach no stack.
        assert!(!text.contains("__warpline_gpu_"), "{}: a hook was not inlined", source.display());
        // A CUDA 13 toolkit of the machine's own comes without the older ptxas that the pinned wheels have.
        if assembler.ptxas_for(processor).is_none() {
            continue;
        }
        let result =
            assembler.assemble(processor, &ptx).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
        for kernel in &code.kernels {
            let of = |suffix| result.kernels[&format!("{kernel}{suffix}")];
            let (original, hooked, counted) = (result.kernels[kernel], of(HOOKED_SUFFIX), of(COUNTED_SUFFIX));
            assert!(original.registers > 0);
            assert!(counted.registers <= original.registers + 100, "{kernel}: {original:?} {counted:?}");
            assert_eq!(original.stack_bytes, counted.stack_bytes, "{kernel}: counting needs no stack");
            // A guard against hooks that grow; docs/design/gpu.md has the figures.
            assert!(hooked.registers <= original.registers + 80, "{kernel}: {original:?} {hooked:?}");
            assert_eq!(original.shared_bytes, hooked.shared_bytes, "{kernel}");
            assert_eq!(original.stack_bytes, hooked.stack_bytes, "{kernel}: hooks need no stack");
            println!(
                "{kernel} {processor}: {} -> {} registers, {} counting",
                original.registers, hooked.registers, counted.registers
            );
        }
    }
}

/// Code that sends the values of all operations: ptxas accepts it, and the hooks need no stack.
#[test]
fn hooks_at_operations_assemble_and_need_no_stack() {
    let recorded = RecordedKinds { float: true, integer: true, memory: true };
    let followed = Followed { recorded, ..Followed::default() };
    let assembler = assembler();
    for source in ["tests/operations/values.cu", "tests/emulated/operations.cu", "examples/matmul/matmul.cu"] {
        let context = Context::create();
        let (module, table) = hooked(&context, &repository().join(source), &[]);
        let table = device::number_operations(&module, table, &HookOptions::default(), &followed);
        assert!(table.operations.len() >= 8, "{source}: {:?}", table.operations);
        let code = instrument(&module, &table).expect("instrumentation");
        for processor in ["sm_70", "sm_80", "sm_90", "sm_120"] {
            let ptx = emit_ptx(&code, processor).expect("PTX");
            let text = String::from_utf8_lossy(&ptx);
            assert!(!text.contains("__warpline_gpu_"), "{source}: a hook was not inlined");
            let [original, hooked] = ["(", &format!("{HOOKED_SUFFIX}(")].map(|end| {
                let starts = code.kernels.iter().map(|kernel| format!(".entry {kernel}{end}"));
                starts.map(|start| fused(text.split_once(&start).expect("a kernel").1)).sum::<usize>()
            });
            assert_eq!(hooked, original, "{source}: hooks change which products are fused");
            if assembler.ptxas_for(processor).is_none() {
                continue;
            }
            let result = assembler.assemble(processor, &ptx).unwrap_or_else(|error| panic!("{source}: {error}"));
            for kernel in &code.kernels {
                let (original, hooked) = (result.kernels[kernel], result.kernels[&format!("{kernel}{HOOKED_SUFFIX}")]);
                assert_eq!(original.stack_bytes, hooked.stack_bytes, "{source}: {kernel}");
                println!("{kernel} {processor}: {} -> {} registers", original.registers, hooked.registers);
            }
        }
    }
}

/// The number of fused operations up to the end of a function.
fn fused(ptx: &str) -> usize {
    let body = ptx.split_once("\n}").map_or(ptx, |(body, _)| body);
    body.lines().filter(|line| line.trim().starts_with("fma.rn")).count()
}

/// Lines that read parameter space at the *generic* address of a parameter or at what was computed from it: valid to
/// ptxas, and something else than the parameter on a GPU.
fn generic_reads_of_parameters(ptx: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut generic: BTreeSet<String> = BTreeSet::new();
    for line in ptx.lines() {
        let line = line.trim().trim_end_matches(';');
        if line.contains(".entry ") || line.contains(".func ") {
            generic.clear();
        }
        let registers = |text: &str| -> Vec<String> {
            let pieces = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '%'));
            pieces.filter(|piece| piece.starts_with('%')).map(str::to_owned).collect()
        };
        let Some((operation, operands)) = line.split_once(char::is_whitespace) else { continue };
        let Some((target, sources)) = operands.split_once(',') else { continue };
        let from_generic = registers(sources).iter().any(|register| generic.contains(register));
        if operation.starts_with("ld.param") {
            if from_generic {
                wrong.push(line.to_owned());
            }
        } else if operation.starts_with("cvta.param")
            || from_generic && ["add.", "mov.", "mad.", "or."].iter().any(|some| operation.starts_with(some))
        {
            generic.extend(registers(target));
        }
    }
    wrong
}

/// Structures passed by value, as a GPU takes them: found wrong on an H100, where the parameter's generic address was
/// read as one of parameter space.
#[test]
fn parameters_passed_by_value_are_read_from_parameter_space() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("by_value.cu");
    let text = "struct Weights { double centre, around[4]; };\n\
                struct Arrays { float *x, *y; };\n\
                __global__ void sum(double *out, int n, Weights weights) {\n\
                    int i = threadIdx.x;\n\
                    if (i < n) out[i] = weights.centre + weights.around[i & 3];\n\
                }\n\
                __global__ void move(Arrays all, int n) { int i = threadIdx.x; if (i < n) all.x[i] += all.y[i]; }\n\
                __global__ void kept(Weights weights, const Weights **out) { *out = &weights; }\n\
                __global__ void changed(Weights weights, double *out) { weights.around[threadIdx.x & 3] += 1; *out = weights.around[2]; }\n";
    std::fs::write(&source, text).expect("a file");
    let context = Context::create();
    let (module, table) = hooked(&context, &source, &[]);
    let code = instrument(&module, &table).expect("instrumentation");
    assert_eq!(code.kernels.len(), 4);
    for processor in PROCESSORS {
        let ptx = emit_ptx(&code, processor).expect("PTX");
        let text = String::from_utf8_lossy(&ptx);
        assert!(text.contains("ld.param"));
        assert_eq!(generic_reads_of_parameters(&text), Vec::<String>::new(), "{processor}");
        assembler().assemble(processor, &ptx).expect("ptxas");
    }
}

#[test]
fn a_fat_binary_holds_machine_code_and_ptx() {
    let context = Context::create();
    let (module, table) = hooked(&context, &repository().join("examples/matmul/matmul.cu"), &[]);
    let processors = ["sm_70", "sm_80", "sm_90"].map(String::from);
    let mut assembler = assembler();
    let plan = Plan { processors: &processors, assembler: &assembler };
    let built = build(&module, &table, &plan).expect("a fat binary");
    // The container's magic number, as the CUDA runtime checks it.
    assert_eq!(built.fat_binary[..4], 0xba55_ed50_u32.to_le_bytes());
    assert!(built.fat_binary.len() > 10_000, "{} bytes", built.fat_binary.len());
    let original = built.kernels.values().next().expect("a kernel");
    assert!(original.registers > 0 && original.shared_bytes > 0 && original.spill_bytes == 0, "{original:?}");
    let described = |notes: &[String]| notes.iter().any(|note| note.contains("sm_70"));
    assert_eq!(described(&built.notes), assembler.ptxas_for("sm_70").is_none());
    // Without a ptxas that supports it, its PTX is packed.
    (assembler.oldest, assembler.older_ptxas) = (75, None);
    let built = build(&module, &table, &Plan { processors: &processors, assembler: &assembler }).expect("a fat binary");
    assert!(described(&built.notes) && !built.kernels.is_empty());
}

#[test]
fn a_hooked_kernel_can_be_launched_with_the_originals_blocks() {
    // With hooks the kernel needs more than 64 registers, which blocks of 1024 threads do not have.
    let context = Context::create();
    let (module, table) = hooked(&context, &repository().join("examples/raytracer/render.cu"), &[]);
    let plain = emit_ptx(&instrument(&module, &table).expect("instrumentation"), "sm_75").expect("PTX");
    let before = assembler().assemble("sm_75", &plain).expect("machine code");
    let kernel = before.kernels.keys().find(|name| name.ends_with(HOOKED_SUFFIX)).expect("a hooked kernel").clone();
    assert!(before.kernels[&kernel].registers > 64, "{:?}: the example no longer tests this", before.kernels[&kernel]);
    let processors = ["sm_75".to_owned()];
    let plan = Plan { processors: &processors, assembler: &assembler() };
    let built = build(&module, &table, &plan).expect("a fat binary");
    let original = &built.kernels[kernel.trim_end_matches(HOOKED_SUFFIX)];
    assert_eq!(original, &before.kernels[kernel.trim_end_matches(HOOKED_SUFFIX)], "the original is not touched");
}
