//! Calls of the device runtime: kernels that launch kernels, and its other functions.

use crate::cpu::emitter::lanes::Lay;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::target::types::{LANES, leaf_types};
use crate::llvm::Value;
use warpline_format::abi::device_call;

/// Functions of the device runtime without their prefix, with the corresponding function of the CPU device and the
/// arguments that it receives. `DIMENSIONS` represents a `dim3`.
const CALLS: [(&str, u32, &[usize]); 20] = [
    ("GetParameterBuffer", device_call::BUFFER, &[0, 1]),
    ("LaunchDevice", device_call::LAUNCH, &[0, 1, 2, 3, 4, 5]),
    ("GetLastError", device_call::LAST_ERROR, &[]),
    ("PeekAtLastError", device_call::PEEK_ERROR, &[]),
    ("GetErrorName", device_call::ERROR_NAME, &[0]),
    ("GetErrorString", device_call::ERROR_TEXT, &[0]),
    ("StreamCreateWithFlags", device_call::CREATE, &[0]),
    ("StreamDestroy", device_call::ORDERED, &[]),
    ("StreamWaitEvent", device_call::ORDERED, &[]),
    ("EventCreateWithFlags", device_call::CREATE, &[0]),
    ("EventRecord", device_call::ORDERED, &[]),
    ("EventRecordWithFlags", device_call::ORDERED, &[]),
    ("EventDestroy", device_call::ORDERED, &[]),
    ("GetDevice", device_call::DEVICE, &[0]),
    ("GetDeviceCount", device_call::DEVICE_COUNT, &[0]),
    ("RuntimeGetVersion", device_call::VERSION, &[0]),
    ("Malloc", device_call::MALLOC, &[0, 1]),
    ("Free", device_call::FREE, &[0]),
    ("MemcpyAsync", device_call::COPY, &[0, 1, 2]),
    ("MemsetAsync", device_call::FILL, &[0, 1, 2]),
];
/// The arguments of a launch that are structures with three numbers.
const DIMENSIONS: [usize; 2] = [2, 3];

impl<'c> Emitter<'_, 'c> {
    /// Lowers a call of a function whose name begins with `__cudaCDP2`.
    pub fn device_call(&mut self, call: Value<'c>, name: &str) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let arguments = call.arguments();
        let base = name.trim_start_matches("__cudaCDP2").trim_end_matches("_ptsz");
        let known = CALLS.iter().find(|(known, ..)| *known == base);
        let Some((_, which, wanted)) = known.filter(|(.., wanted)| wanted.iter().all(|at| *at < arguments.len()))
        else {
            return Err(Refusal::new(call, format!("{} in device code", base_name(base))));
        };
        let long = self.int_lanes(64);
        let bytes = 8 * u64::from(LANES);
        let given = self.once("device call", |this| this.entry.alloca(long.array(device_call::ARGUMENTS), 64));
        let mut at = 0;
        for &argument in *wanted {
            let value = self.vector(arguments[argument])?;
            let values = if *which == device_call::LAUNCH && DIMENSIONS.contains(&argument) {
                let lay = Lay::Scattered(value);
                let read = |this: &mut Self, axis: u64| {
                    let place = this.moved(&lay, 4 * axis);
                    this.load_lanes(this.t.int(32), &place, this.mask(), 4)
                };
                vec![read(self, 0), read(self, 1), read(self, 2)]
            } else {
                vec![value]
            };
            for value in values {
                let wide = self.b.fit_lanes(value, long);
                self.b.store(wide, self.b.offset(given, at), 64);
                at += bytes;
            }
        }
        let results = self.once("device result", |this| this.entry.alloca(long, 64));
        let function = self.unit().runtime().device_call();
        self.b.call(function, &[self.context(), self.mask(), self.i32(*which), given, results]);
        let Some(ty) = leaf_types(call.ty()).first().copied() else { return Ok(None) };
        let result = self.b.load(long, results, 64);
        Ok(Some(vec![Leaf::Lanes(self.b.fit_lanes(result, ty.vector(LANES)))]))
    }
}

/// Returns the name by which the program calls the function.
fn base_name(base: &str) -> String {
    match base {
        "GetParameterBufferV2" | "LaunchDeviceV2" => format!("a launch as nvcc makes it (cuda{base})"),
        _ => format!("cuda{base}"),
    }
}
