//! Converts PTX to machine code with the toolkit's ptxas, and machine code to a fat binary with the toolkit's
//! fatbinary. It never sets a register limit, so that the measured properties of the original kernel are those of the
//! user's own build.

use super::{GpuError, names};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// ptxas's figures for a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// The number of registers per thread.
    pub registers: u32,
    /// The number of bytes that are stored and loaded again because of too few registers. No record shows this traffic.
    pub spill_bytes: u32,
    /// The bytes of stack per thread.
    pub stack_bytes: u32,
    /// The bytes of static shared memory per block.
    pub shared_bytes: u32,
}

/// Machine code for one architecture.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The ELF image.
    pub cubin: Vec<u8>,
    /// The resources of each kernel, by mangled name, including original and hooked kernels.
    pub kernels: BTreeMap<String, Resources>,
}

/// One image of a fat binary.
#[derive(Clone, Copy, Debug)]
pub enum Image<'a> {
    /// Machine code for a processor; the first value is the processor.
    Cubin(&'a str, &'a [u8]),
    /// PTX, which the driver compiles if no machine code fits; the first value is the processor.
    Ptx(&'a str, &'a [u8]),
}

/// The toolkit's tools.
#[derive(Clone, Debug)]
pub struct Assembler {
    /// The path of ptxas.
    pub ptxas: PathBuf,
    /// The oldest architecture that ptxas supports; 75 means `sm_75`.
    pub oldest: u32,
    /// The path of a ptxas of CUDA 12, for older architectures.
    pub older_ptxas: Option<PathBuf>,
    /// The path of fatbinary.
    pub fatbinary: PathBuf,
    /// The options that the user passed for ptxas (`-Xptxas`), and no others.
    pub options: Vec<OsString>,
    /// The folder in which folders for the tools' files are created.
    pub folder: PathBuf,
}

impl Assembler {
    /// Returns the ptxas that generates code for a processor such as `sm_90`, or `None` if there is none and PTX must
    /// be used.
    pub fn ptxas_for(&self, processor: &str) -> Option<&Path> {
        let number: u32 = processor.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0);
        let here = if number >= self.oldest { Some(self.ptxas.as_path()) } else { self.older_ptxas.as_deref() };
        here.filter(|path| path.is_file())
    }

    /// Assembles PTX for a processor such as `sm_90`.
    pub fn assemble(&self, processor: &str, ptx: &[u8]) -> Result<Assembled, GpuError> {
        let folder = Scratch::new(&self.folder)?;
        let source = folder.write("code.ptx", ptx)?;
        let target = folder.path("code.cubin");
        let ptxas = self.ptxas_for(processor).unwrap_or(&self.ptxas);
        let mut command = Command::new(ptxas);
        command.args(["-v", "-arch", processor]).args(&self.options).arg(&source).arg("-o").arg(&target);
        let said = run(&mut command, ptxas, processor)?;
        let cubin = std::fs::read(&target).map_err(|source| GpuError::File { path: target, source })?;
        Ok(Assembled { cubin, kernels: resources(&said) })
    }

    /// Packs images into a fat binary.
    pub fn fat_binary(&self, images: &[Image<'_>]) -> Result<Vec<u8>, GpuError> {
        let folder = Scratch::new(&self.folder)?;
        let target = folder.path("code.fatbin");
        let mut command = Command::new(&self.fatbinary);
        command.arg("-64").arg(prefixed("--create=", &target));
        for (index, image) in images.iter().enumerate() {
            let (kind, processor, bytes) = match image {
                Image::Cubin(processor, bytes) => ("elf", processor, bytes),
                Image::Ptx(processor, bytes) => ("ptx", processor, bytes),
            };
            let file = folder.write(&format!("{index}.{kind}"), bytes)?;
            let number = processor.trim_start_matches("sm_");
            command.arg(prefixed(&format!("--image3=kind={kind},sm={number},file="), &file));
        }
        run(&mut command, &self.fatbinary, "the fat binary")?;
        std::fs::read(&target).map_err(|source| GpuError::File { path: target, source })
    }
}

fn prefixed(option: &str, path: &Path) -> OsString {
    let mut text = OsString::from(option);
    text.push(path);
    text
}

fn run(command: &mut Command, tool: &Path, processor: &str) -> Result<String, GpuError> {
    let output = command.output().map_err(|source| GpuError::Tool { tool: tool.into(), source })?;
    let mut text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stdout));
    if output.status.success() {
        return Ok(text);
    }
    Err(GpuError::Refused { tool: tool.into(), processor: processor.into(), output: text })
}

/// Reads the output of `ptxas -v`.
fn resources(said: &str) -> BTreeMap<String, Resources> {
    let mut kernels = BTreeMap::new();
    let mut kernel: Option<String> = None;
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().map(|name| names::of_spelled(name).into_owned());
        } else if line.contains("Function properties for") {
            // The following lines belong to a function that the kernel calls, unless the line names the kernel itself.
            if kernel.as_deref().is_none_or(|kernel| !names::of_spelled(line.trim_end()).ends_with(kernel)) {
                kernel = None;
            }
        }
        let Some(kernel) = &kernel else { continue };
        let entry: &mut Resources = kernels.entry(kernel.clone()).or_default();
        let number = |before: &str| -> Option<u32> {
            let (head, _) = line.split_once(before)?;
            head.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        if let Some(stack) = number(" bytes stack frame") {
            entry.stack_bytes = stack;
            let spilled = number(" bytes spill stores").unwrap_or(0) + number(" bytes spill loads").unwrap_or(0);
            entry.spill_bytes = spilled;
        }
        if let Some(registers) = number(" registers") {
            entry.registers = registers;
            entry.shared_bytes = number(" bytes smem").unwrap_or(0);
        }
    }
    kernels
}

/// A folder for the tools' files with an unpredictable name, which other users cannot enter; it is removed at the end.
struct Scratch {
    folder: TempDir,
}

impl Scratch {
    fn new(below: &Path) -> Result<Scratch, GpuError> {
        let private = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("warpline-gpu.").permissions(private).tempdir_in(below);
        folder.map(|folder| Scratch { folder }).map_err(|source| GpuError::File { path: below.into(), source })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, GpuError> {
        let path = self.path(name);
        std::fs::write(&path, bytes).map_err(|source| GpuError::File { path: path.clone(), source })?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_folders_are_private_and_their_names_random() {
        let (one, other) = (Scratch::new(&std::env::temp_dir()).unwrap(), Scratch::new(&std::env::temp_dir()).unwrap());
        assert_eq!(one.folder.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_ne!(one.folder.path(), other.folder.path());
        assert!(!one.folder.path().display().to_string().contains(&std::process::id().to_string()));
        let place = one.write("code.ptx", b"//").unwrap();
        drop(one);
        assert!(!place.exists());
    }

    #[test]
    fn resources_are_read_from_the_assembler() {
        let said = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function '_Z3fooPf' for 'sm_90'\n\
            ptxas info    : Function properties for _Z3fooPf\n\
            \x20   64 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n\
            ptxas info    : Used 38 registers, used 1 barriers, 64 bytes cumulative stack size, 8192 bytes smem\n\
            ptxas info    : Compile time = 2.9 ms\n\
            ptxas info    : Function properties for helper\n\
            \x20   8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Compiling entry function 'bar' for 'sm_90'\n\
            ptxas info    : Function properties for bar\n\
            \x20   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 10 registers, used 0 barriers\n";
        let kernels = resources(said);
        assert_eq!(kernels.len(), 2);
        let foo = Resources { registers: 38, spill_bytes: 32, stack_bytes: 64, shared_bytes: 8192 };
        assert_eq!(kernels["_Z3fooPf"], foo);
        assert_eq!(kernels["bar"], Resources { registers: 10, ..Resources::default() });
    }
}
