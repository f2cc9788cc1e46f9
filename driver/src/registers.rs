//! Registers per thread, from ptxas: it assembles the code as it would run on a GPU, without hooks, and says what each
//! kernel takes. Occupancy follows from it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use warpline_pass::cpu::Registers;

/// An assembly under way.
pub struct Assembly {
    child: Option<Child>,
}

/// What assembling needs to know.
#[derive(Clone, Debug)]
pub struct Assembler {
    /// ptxas; absent when the toolkit has none.
    pub program: Option<PathBuf>,
    /// `-Xptxas`, `-maxrregcount`.
    pub arguments: Vec<String>,
    /// Folder of intermediate files.
    pub folder: PathBuf,
}

impl Assembler {
    /// Starts ptxas on PTX for an architecture (75 is `sm_75`). Registers are a finer point of the model: where they
    /// cannot be had, the profile says that occupancy is assumed.
    pub fn start(&self, ptx: &[u8], architecture: u32) -> Assembly {
        let source = self.folder.join("registers.ptx");
        let started = self.program.as_ref().filter(|_| std::fs::write(&source, ptx).is_ok()).and_then(|program| {
            let mut command = Command::new(program);
            command.args(["-v", &format!("-arch=sm_{architecture}")]).args(&self.arguments).arg(&source);
            // The device runtime, for kernels that launch kernels, is not linked here.
            command.args(String::from_utf8_lossy(ptx).contains("__cudaCDP2").then_some("-c"));
            command.arg("-o").arg(self.folder.join("registers.cubin"));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().ok()
        });
        Assembly { child: started }
    }
}

impl Assembly {
    /// Of code that there is no PTX for.
    pub fn none() -> Assembly {
        Assembly { child: None }
    }

    /// Waits for ptxas. Registers by the kernel's mangled name; empty when it failed.
    pub fn finish(self) -> BTreeMap<String, Registers> {
        let output = self.child.and_then(|child| child.wait_with_output().ok());
        match output.filter(|output| output.status.success()) {
            Some(output) => parse(&String::from_utf8_lossy(&output.stderr)),
            None => BTreeMap::new(),
        }
    }
}

/// Reads what `ptxas -v` says: a line that names the function, then its stack and spills, then its registers.
fn parse(text: &str) -> BTreeMap<String, Registers> {
    let mut registers = BTreeMap::new();
    let mut function = "";
    let mut spill_bytes = 0;
    let number_before = |line: &str, words: &str| -> Option<u32> {
        line[..line.find(words)?].trim_end().rsplit([' ', ',']).next()?.parse().ok()
    };
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            function = rest.split('\'').next().unwrap_or("");
            spill_bytes = 0;
        } else if let Some(stores) = number_before(line, " bytes spill stores") {
            spill_bytes = stores + number_before(line, " bytes spill loads").unwrap_or(0);
        } else if let Some((_, used)) = line.split_once(": Used ")
            && let Some(count) = number_before(used, " registers")
            && !function.is_empty()
        {
            registers.insert(function.into(), Registers { count, spill_bytes });
        }
    }
    registers
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
        let registers = parse(text);
        assert_eq!(registers["_Z1kPf"], Registers { count: 31, spill_bytes: 20 });
        assert_eq!(registers["plain"], Registers { count: 8, spill_bytes: 0 });
        assert_eq!(registers.len(), 2);
        assert!(parse("garbage 'x'\n: Used many registers").is_empty());
    }
}
