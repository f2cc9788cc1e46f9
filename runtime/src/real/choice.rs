//! Decides once on which device kernels run.

use super::driver::first_device;
use super::emulation;
use super::functions::real;
use crate::output::message;
use crate::trace::sink::Sink;
use std::sync::OnceLock;
use warpline_format::device::Device as DeviceNumbers;
use warpline_format::options::{self, DEVICE_VARIABLE, EMULATED, Options};

/// The device on which kernels run.
#[derive(Clone, Debug)]
enum Choice {
    /// The CPU device.
    Cpu,
    /// The first GPU of the machine.
    Gpu(Box<DeviceNumbers>),
    /// The emulated GPU, which has the model for which the program is profiled.
    Emulated,
}

/// The choice, which is made at first use.
static CHOICE: OnceLock<Choice> = OnceLock::new();

fn choice() -> &'static Choice {
    CHOICE.get_or_init(choose)
}

/// Returns whether kernels run on a GPU, a real one or the emulated one.
pub fn active() -> bool {
    !matches!(choice(), Choice::Cpu)
}

/// Returns the real GPU on which kernels run, if they do.
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
    let requested = wish == "gpu";
    if wish == EMULATED {
        if emulation::is_linked() {
            return Choice::Emulated;
        }
        refuse(&format!(
            "{DEVICE_VARIABLE}={EMULATED}: this executable carries no emulated GPU: build it with `warpline cc \
             --device={EMULATED}`"
        ));
    }
    if wish == "cpu" || ((real().is_none() || emulation::is_linked()) && !requested) {
        return Choice::Cpu;
    }
    if !requested && !wish.is_empty() {
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
    if requested {
        refuse(&format!("{DEVICE_VARIABLE}=gpu: {cause}; without the variable the CPU device is used"));
    }
    message::note(&format!("{cause}; kernels run on the CPU device"));
    Choice::Cpu
}

/// Ends the program. The device was requested by name, and a program that continued would measure another device.
fn refuse(why: &str) -> ! {
    message::note(why);
    // Without this, `warpline run` would search for the reason.
    if let Some(options) = std::env::var(options::VARIABLE).ok().and_then(|text| Options::decode(&text).ok()) {
        Sink::decline(&options.output);
    }
    std::process::exit(125);
}
