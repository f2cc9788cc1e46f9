//! The functions of the device runtime that lowered code calls.

use super::queue::{Children, Request, Thread, Work};
use crate::cuda::error::{self, Error};
use crate::cuda::version::VERSION;
use crate::device::execution::lanes::lanes;
use crate::device::execution::scheduled::warp_of;
use crate::device::execution::warp::Running;
use crate::modules::configuration::Configuration;
use warpline_format::abi::{WarpContext, device_call};
use warpline_format::access::LANES;

/// `cudaStreamTailLaunch`.
const TAIL: u64 = 3;
/// The arguments of one lane.
type Arguments = [u64; device_call::ARGUMENTS as usize];

/// Runs a function of the device runtime for each lane of the mask in turn. [`device_call`] defines the numbers for
/// `which` and the order of the arguments; each argument has one value per lane.
///
/// # Safety
/// Lowered code calls this function with its own context. The array entries of the active lanes are defined.
/// Pointers among the arguments are unchanged from the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_device_call(
    context: *mut WarpContext,
    mask: u32,
    which: u32,
    arguments: *const [[u64; LANES]; device_call::ARGUMENTS as usize],
    results: *mut [u64; LANES],
) {
    // SAFETY: by the contract; the launch's state is used by this thread alone.
    unsafe {
        let running = (*warp_of(context)).running;
        for lane in lanes(mask) {
            let thread = ((*context).block, (*context).warp * LANES as u32 + lane as u32);
            let given: Arguments = std::array::from_fn(|index| (*arguments)[index][lane]);
            (*results)[lane] = call(&mut *(*running).children, running, which, thread, &given);
        }
        crate::device::execution::heap::write_heap_events(running);
    }
}

/// Runs one function for one thread and returns its result.
///
/// # Safety
/// `running` is the launch that runs; pointers among the arguments are unchanged from the program.
unsafe fn call(
    children: &mut Children,
    running: *mut Running,
    which: u32,
    thread: Thread,
    arguments: &Arguments,
) -> u64 {
    let [first, second, third, ..] = *arguments;
    let done = |code: Error| code as u32 as u64;
    // SAFETY: by the contract.
    unsafe {
        let put = |children: &mut Children, value: u64, bytes: usize| match first {
            0 => done(children.fail(thread, error::INVALID_VALUE)),
            _ => {
                std::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), first as *mut u8, bytes);
                0
            }
        };
        match which {
            device_call::BUFFER => children.buffer(thread, second),
            device_call::LAUNCH => done(children.launch(thread, &*(*running).module, request(arguments))),
            device_call::LAST_ERROR => done(children.last_error(thread, true)),
            device_call::PEEK_ERROR => done(children.last_error(thread, false)),
            device_call::ERROR_NAME => error::name(first as Error).as_ptr() as u64,
            device_call::ERROR_TEXT => error::text(first as Error).as_ptr() as u64,
            device_call::CREATE => {
                let handle = children.handle();
                put(children, handle, 8)
            }
            device_call::ORDERED => 0,
            device_call::DEVICE => put(children, 0, 4),
            device_call::DEVICE_COUNT => put(children, 1, 4),
            device_call::VERSION => put(children, VERSION as u64, 4),
            device_call::MALLOC => match (*(*running).heap).allocate(&mut *(*running).memory, second) {
                0 => done(children.fail(thread, error::MEMORY_ALLOCATION)),
                address => put(children, address, 8),
            },
            device_call::FREE => match (*(*running).heap).free(&mut *(*running).memory, first) {
                true => {
                    // The range of a site may still permit the freed memory, so the cached ranges are cleared.
                    if (*running).check != warpline_format::options::Check::Off {
                        (*(*running).module).clear_ranges();
                    }
                    0
                }
                false => done(children.fail(thread, error::INVALID_VALUE)),
            },
            device_call::COPY => {
                children.add(Work::Copy { to: first, from: second, bytes: third });
                0
            }
            device_call::FILL => {
                children.add(Work::Fill { to: first, value: second as u8, bytes: third });
                0
            }
            _ => done(children.fail(thread, error::NOT_SUPPORTED)),
        }
    }
}

fn request(arguments: &Arguments) -> Request {
    let [kernel, buffer, gx, gy, gz, bx, by, bz, shared, stream] = *arguments;
    let configuration = Configuration {
        grid: [gx, gy, gz].map(|size| size as u32),
        block: [bx, by, bz].map(|size| size as u32),
        shared: u64::from(shared as u32),
        stream: 0,
        cooperative: false,
        cluster: [0; 3],
    };
    Request { kernel, buffer, configuration, tail: stream == TAIL }
}
