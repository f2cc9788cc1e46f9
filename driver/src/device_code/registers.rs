//! The registers per thread and the local memory of kernels, from ptxas. ptxas assembles the code as it would be built
//! for a GPU, without hooks and without debug information, and reports the resources of each kernel on the requested
//! architectures. They determine the occupancy, and which local variables are in memory. A program contains the PTX, so
//! that a run can request the resources on further architectures.

use super::stacks::{Stack, in_registers};
use crate::message;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use warpline_format::device_code::{CarriedPtx, KernelResources};
use warpline_format::occupancy::Resources;
use warpline_pass::gpu::names;
use warpline_toolchain::cuda::Cuda;

/// The data that ptxas reports for a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembled {
    /// Registers of kernels.
    pub kernels: KernelResources,
    /// Functions whose local variables are in registers, by mangled name.
    pub in_registers: BTreeSet<String>,
    /// ptxas' own text for the architectures that the user named, if `-Xptxas -v` is given.
    pub shown: String,
    /// The assembled code.
    pub ptx: CarriedPtx,
}

/// The running assemblies.
pub struct Assembly {
    thread: Option<JoinHandle<Assembled>>,
    done: Assembled,
}

/// The inputs for assembling.
#[derive(Clone, Debug)]
pub struct Assembler {
    /// The available ptxas programs with the oldest architecture that each supports, best first.
    programs: Vec<(PathBuf, u32)>,
    /// `-Xptxas`, `-maxrregcount`.
    arguments: Vec<String>,
    /// Architectures that the user requested.
    requested: Vec<u32>,
    /// The folder of intermediate files.
    folder: PathBuf,
    /// The number of assemblies that run at the same time.
    at_once: usize,
}

impl Assembler {
    /// Creates an `Assembler` with the toolkit's ptxas, and with that of CUDA 12 for architectures that the toolkit's
    /// does not support. `requested` are the user's architectures.
    pub fn new(cuda: &Cuda, arguments: &[String], requested: Vec<u32>, folder: &Path, at_once: usize) -> Assembler {
        let first = Some((cuda.ptxas(), cuda.oldest_architecture()));
        let older = cuda.older_ptxas().map(|path| (path, 0));
        Assembler {
            programs: first.into_iter().chain(older).filter(|(path, _)| path.is_file()).collect(),
            arguments: arguments.to_vec(),
            requested,
            folder: folder.into(),
            at_once: at_once.max(1),
        }
    }

    /// Starts ptxas on PTX that was generated for an architecture (75 is `sm_75`). Registers are a detail of the model:
    /// if they are not available, the profile states that occupancy is assumed.
    pub fn start(self, ptx: Vec<u8>, made_for: u32) -> Assembly {
        if ptx.is_empty() {
            return Assembly::none();
        }
        let thread = std::thread::Builder::new().name("registers".into());
        let thread = thread.spawn(move || self.all(&ptx, made_for)).ok();
        Assembly { thread, done: Assembled::default() }
    }

    /// Returns the resources on the requested architectures of code that a program contains.
    pub(super) fn resources(&self, ptx: &CarriedPtx) -> KernelResources {
        let Ok(text) = lz4_flex::decompress_size_prepended(&ptx.text) else { return KernelResources::new() };
        let text = String::from_utf8_lossy(&text);
        let mut kernels = KernelResources::new();
        for (_, (_, found)) in self.each(&text, ptx.made_for, &self.requested.iter().copied().collect()) {
            collect(&mut kernels, found.kernels);
        }
        kernels
    }

    fn all(&self, ptx: &[u8], made_for: u32) -> Assembled {
        let text = String::from_utf8_lossy(ptx);
        let wanted = self.requested.iter().copied().chain([made_for]).collect();
        let (mut kernels, mut shown) = (KernelResources::new(), String::new());
        let mut stacks = BTreeMap::new();
        for (architecture, (printed, found)) in self.each(&text, made_for, &wanted) {
            if self.is_verbose() && self.requested.contains(&architecture) {
                shown += &printed;
            }
            collect(&mut kernels, found.kernels);
            stacks.insert(architecture, found.stacks);
        }
        let in_registers = in_registers(&text, made_for, &stacks);
        let ptx =
            CarriedPtx { text: lz4_flex::compress_prepend_size(ptx), made_for, arguments: self.arguments.clone() };
        Assembled { kernels, in_registers, shown, ptx }
    }

    /// Assembles the code for several architectures. The result contains those for which ptxas accepts the code.
    fn each(&self, text: &str, made_for: u32, wanted: &BTreeSet<u32>) -> BTreeMap<u32, (String, Reported)> {
        let wanted: Vec<u32> = wanted.iter().copied().collect();
        let mut all = BTreeMap::new();
        for some in wanted.chunks(self.at_once) {
            let found = std::thread::scope(|scope| {
                let start = |&architecture| scope.spawn(move || self.one(text, made_for, architecture));
                let threads: Vec<_> = some.iter().map(start).collect();
                threads.into_iter().map(|thread| thread.join().ok().flatten()).collect::<Vec<_>>()
            });
            all.extend(some.iter().zip(found).filter_map(|(&architecture, found)| Some((architecture, found?))));
        }
        all
    }

    /// `-Xptxas -v`, `--resource-usage`.
    fn is_verbose(&self) -> bool {
        self.arguments.iter().any(|argument| ["-v", "--verbose", "-verbose"].contains(&argument.as_str()))
    }

    /// Returns the output and the report of the first ptxas that accepts the code for an architecture.
    fn one(&self, text: &str, made_for: u32, architecture: u32) -> Option<(String, Reported)> {
        let source = self.folder.join(format!("registers-{architecture}.ptx"));
        std::fs::write(&source, for_target(text, made_for, architecture).as_bytes()).ok()?;
        self.programs.iter().filter(|(_, oldest)| architecture >= *oldest).find_map(|(program, _)| {
            let mut command = Command::new(program);
            // Virtual architectures have a different number of registers; only that of the machine code counts.
            command.args(["-v", &format!("-arch=sm_{architecture}")]).args(&self.arguments).arg(&source);
            // The device runtime, which kernels that launch kernels need, is not linked here.
            command.args(text.contains("__cudaCDP2").then_some("-c"));
            command.arg("-o").arg(source.with_extension("cubin"));
            let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output().ok()?;
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let kernels = parse(&text, architecture);
            output.status.success().then_some((text, kernels))
        })
    }
}

/// Returns PTX for another architecture, because ptxas refuses code that names a newer architecture than the one for
/// which it assembles. If the code needs the newer architecture, ptxas refuses the changed code as well.
fn for_target(text: &str, made_for: u32, architecture: u32) -> Cow<'_, str> {
    let named = format!(".target sm_{made_for}");
    match architecture < made_for && text.contains(&named) {
        true => text.replacen(&named, &format!(".target sm_{architecture}"), 1).into(),
        false => text.into(),
    }
}

fn collect(kernels: &mut KernelResources, found: Vec<(String, Resources)>) {
    for (kernel, resources) in found {
        kernels.entry(kernel).or_default().push(resources);
    }
}

impl Assembly {
    /// Returns an assembly for code without PTX.
    pub fn none() -> Assembly {
        Assembly { thread: None, done: Assembled::default() }
    }

    /// Waits for ptxas, and prints its report if `-Xptxas -v` is given. Kernels that ptxas refused are not included.
    pub fn finish(&mut self) -> &Assembled {
        if let Some(assembled) = self.thread.take().and_then(|thread| thread.join().ok()) {
            assembled.shown.lines().for_each(message::line);
            self.done = assembled;
        }
        &self.done
    }
}

/// The report of ptxas for one architecture.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reported {
    /// Registers of each kernel.
    kernels: Vec<(String, Resources)>,
    /// Stacks of kernels and of the functions that they call.
    stacks: BTreeMap<String, Stack>,
}

/// Reads the output of `ptxas -v`: a line that names the kernel; for the kernel and each function that it calls, a line
/// with the name and one with stack and spills; then the kernel's registers.
fn parse(text: &str, architecture: u32) -> Reported {
    let mut found = Reported::default();
    let mut function = "";
    let mut owner = "";
    let mut spill_bytes = 0;
    let number_before = |line: &str, words: &str| -> Option<u32> {
        line[..line.find(words)?].trim_end().rsplit([' ', ',']).next()?.parse().ok()
    };
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            function = rest.split('\'').next().unwrap_or("");
            owner = function;
            spill_bytes = 0;
        } else if let Some((_, rest)) = line.split_once("Function properties for ") {
            owner = rest.trim().trim_matches('\'');
        } else if let Some(stores) = number_before(line, " bytes spill stores") {
            spill_bytes = stores + number_before(line, " bytes spill loads").unwrap_or(0);
            if let Some(bytes) = number_before(line, " bytes stack frame") {
                let stack = Stack { bytes, spill_stores: stores };
                found.stacks.insert(names::of_spelled(owner).into(), stack);
            }
        } else if let Some((_, used)) = line.split_once(": Used ")
            && let Some(registers) = number_before(used, " registers")
            && !function.is_empty()
        {
            let resources = Resources { architecture, registers, spill_bytes };
            found.kernels.push((names::of_spelled(function).into(), resources));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptxas_output_is_read() {
        let text = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function '_Z1kPf' for 'sm_75'\n\
            ptxas info    : Function properties for _Z1kPf\n    \
            16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n\
            ptxas info    : Used 31 registers, used 1 barriers, 400 bytes cmem[0]\n\
            ptxas info    : Compiling entry function 'plain' for 'sm_75'\n\
            ptxas info    : Function properties for helper\n    \
            0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 8 registers, 356 bytes cmem[0]\n";
        let of = |registers, spill_bytes| Resources { architecture: 75, registers, spill_bytes };
        let read = parse(text, 75);
        assert_eq!(read.kernels, [("_Z1kPf".into(), of(31, 20)), ("plain".into(), of(8, 0))]);
        let stacks = [("_Z1kPf", 16, 12), ("helper", 0, 0)];
        let stack = |(name, bytes, spill_stores): (&str, u32, u32)| (name.into(), Stack { bytes, spill_stores });
        assert_eq!(read.stacks, stacks.map(stack).into());
        assert_eq!(parse("garbage 'x'\n: Used many registers", 75), Reported::default());
    }

    #[test]
    fn code_is_retargeted_downwards_only() {
        let text = "//\n.version 8.8\n.target sm_75\n.address_size 64\n";
        assert_eq!(for_target(text, 75, 70), text.replace("sm_75", "sm_70"));
        assert_eq!(for_target(text, 75, 80), text);
    }
}
