//! The back end in this process: whether it is used, and what the program registered.

use super::addresses::{AddressMap, Range};
use super::driver::first_device;
use super::emulation;
use super::real::real;
use crate::output::message;
use crate::trace::sink::Sink;
use std::collections::{HashMap, HashSet};
use std::ffi::c_int;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use warpline_format::device::Device as DeviceNumbers;
use warpline_format::gpu::CountLayout;
use warpline_format::options::{self, DEVICE_VARIABLE, EMULATED, Options};

/// Allocations of all GPUs: their addresses never overlap.
pub static ADDRESSES: LazyLock<AddressMap> = LazyLock::new(AddressMap::default);

/// Where kernels run.
#[derive(Clone, Debug)]
enum Choice {
    /// On the CPU device.
    Cpu,
    /// On the first GPU of the machine.
    Gpu(Box<DeviceNumbers>),
    /// On the emulated one, which is of the model that the program is profiled for.
    Emulated,
}

/// Decided at first use.
static CHOICE: OnceLock<Choice> = OnceLock::new();

fn choice() -> &'static Choice {
    CHOICE.get_or_init(choose)
}

/// Whether kernels run on a GPU, a real one or the emulated one.
pub fn active() -> bool {
    !matches!(choice(), Choice::Cpu)
}

/// The real GPU that kernels run on, if they do.
pub fn found() -> Option<&'static DeviceNumbers> {
    match choice() {
        Choice::Gpu(device) => Some(device),
        _ => None,
    }
}

fn choose() -> Choice {
    if emulation::is_the_gpu() {
        return Choice::Cpu;
    }
    let wish = std::env::var(DEVICE_VARIABLE).unwrap_or_default().to_ascii_lowercase();
    let asked = wish == "gpu";
    if wish == EMULATED {
        if emulation::is_linked() {
            return Choice::Emulated;
        }
        refuse(&format!(
            "{DEVICE_VARIABLE}={EMULATED}: this executable carries no emulated GPU: build it with `warpline cc \
             --device={EMULATED}`"
        ));
    }
    if wish == "cpu" || ((real().is_none() || emulation::is_linked()) && !asked) {
        return Choice::Cpu;
    }
    if !asked && !wish.is_empty() {
        message::note(&format!(
            "{DEVICE_VARIABLE}={wish} is none of `cpu`, `gpu` and `{EMULATED}`; a GPU is used where there is one"
        ));
    }
    let cause = if real().is_none() || emulation::is_linked() {
        "this executable carries no GPU code: build it with `warpline cc --device=gpu`".to_owned()
    } else {
        match first_device(&DeviceNumbers::rtx_2080_ti()) {
            Ok(device) => return Choice::Gpu(Box::new(device)),
            Err(error) => error.to_string(),
        }
    };
    if asked {
        refuse(&format!("{DEVICE_VARIABLE}=gpu: {cause}; without the variable the CPU device is used"));
    }
    message::note(&format!("{cause}; kernels run on the CPU device"));
    Choice::Cpu
}

/// Asked for by name: nothing else will do, and a program that went on would measure something else.
fn refuse(why: &str) -> ! {
    message::note(why);
    // Under `warpline run` the reader would otherwise look for the reason.
    if let Some(options) = std::env::var(options::VARIABLE).ok().and_then(|text| Options::decode(&text).ok()) {
        Sink::decline(&options.output);
    }
    std::process::exit(125);
}

/// A kernel in all forms.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Index of its module in the runtime.
    pub module: usize,
    /// Index in the module's descriptor.
    pub index: usize,
    /// Stands for the form that sends records in calls of the real runtime.
    pub traced: usize,
    /// Stands for the form that counts.
    pub counted: usize,
    /// Stands for the module's finish kernel.
    pub finish: usize,
}

/// A device variable of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// What stands for it in the host's code.
    pub shadow: usize,
    /// Index of its module in the runtime.
    pub module: usize,
    /// Index among the module's variables.
    pub index: usize,
}

/// What the program registered.
#[derive(Debug, Default)]
pub struct Registry {
    /// By the handle that the program has: the real one, and the module and finish kernel where it is one of ours.
    pub handles: Vec<(usize, Option<(usize, usize)>)>,
    /// By host stub.
    pub kernels: HashMap<usize, Kernel>,
    /// Names of kernels that were compiled without Warpline, by host stub.
    pub foreign: HashMap<usize, String>,
    /// Variables of modules.
    pub variables: Vec<Variable>,
    /// Modules whose variables have been asked for, with the device: each has its own copies.
    pub placed: HashSet<(c_int, usize)>,
    /// Addresses in the trace of those whose address on some device is known, by module and index.
    pub placed_variables: HashMap<(usize, usize), u64>,
    /// Layout of each module's count cells.
    pub layouts: HashMap<usize, Arc<CountLayout>>,
    /// Numbers of the streams in the trace.
    pub streams: HashMap<usize, u32>,
    /// What has been told already.
    pub told: HashSet<String>,
}

/// The registry.
pub fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A stream's number in the trace: 0 for the default ones, else in order of first use.
pub fn stream_number(handle: usize) -> u32 {
    // Null, `cudaStreamLegacy`, `cudaStreamPerThread`.
    if handle < 3 {
        return 0;
    }
    let mut registry = registry();
    let next = registry.streams.len() as u32 + 1;
    *registry.streams.entry(handle).or_insert(next)
}

/// Tells the user something once.
pub fn note_once(text: String) {
    let new = registry().told.insert(text.clone());
    if new {
        message::note(&text);
    }
}

/// Enters an allocation for the translation of addresses.
pub fn know(device: u64, bytes: u64, synthetic: u64) {
    ADDRESSES.insert(Range { device, bytes, synthetic });
}
