//! Queries the machine's GPUs. It calls the NVIDIA driver directly, because the device is chosen while the program's
//! constructors run, before the CUDA runtime may be used.

use super::system;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Read;
use std::os::fd::FromRawFd;
use warpline_format::device::Device;

/// The reason why no GPU can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum DriverError {
    /// There is no driver.
    #[error("there is no NVIDIA driver here (libcuda.so.1 cannot be loaded)")]
    NoDriver,
    /// The driver cannot be initialized.
    #[error("the NVIDIA driver does not start (cuInit returned {0})")]
    Init(i32),
    /// The driver reports no device.
    #[error("the NVIDIA driver finds no GPU")]
    NoDevice,
    /// The library does not contain an expected function.
    #[error("libcuda.so.1 has no {0}: the driver is too old or damaged")]
    Symbol(String),
    /// The child process that queries the driver failed.
    #[error("the NVIDIA driver gave no answer (the process that queried it failed)")]
    Probe,
}

/// The functions of the driver that are needed.
struct Driver {
    count: unsafe extern "C" fn(*mut c_int) -> c_int,
    get: unsafe extern "C" fn(*mut c_int, c_int) -> c_int,
    attribute: unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int,
    name: unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int,
    memory: unsafe extern "C" fn(*mut usize, c_int) -> c_int,
}

fn load() -> Result<Driver, DriverError> {
    // SAFETY: the driver's library may be loaded at any time; the names have these types in `cuda.h`.
    unsafe {
        let library = system::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if library.is_null() {
            return Err(DriverError::NoDriver);
        }
        let symbol = |name: &'static CStr, shown: &'static str| -> Result<*mut c_void, DriverError> {
            let found = libc::dlsym(library, name.as_ptr());
            if found.is_null() { Err(DriverError::Symbol(shown.into())) } else { Ok(found) }
        };
        let init: unsafe extern "C" fn(u32) -> c_int = std::mem::transmute(symbol(c"cuInit", "cuInit")?);
        let code = init(0);
        // CUDA_ERROR_NO_DEVICE
        if code == 100 {
            return Err(DriverError::NoDevice);
        }
        if code != 0 {
            return Err(DriverError::Init(code));
        }
        Ok(Driver {
            count: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_int) -> c_int>(symbol(
                c"cuDeviceGetCount",
                "cuDeviceGetCount",
            )?),
            get: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_int, c_int) -> c_int>(symbol(
                c"cuDeviceGet",
                "cuDeviceGet",
            )?),
            attribute: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int>(
                symbol(c"cuDeviceGetAttribute", "cuDeviceGetAttribute")?,
            ),
            name: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int>(symbol(
                c"cuDeviceGetName",
                "cuDeviceGetName",
            )?),
            memory: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut usize, c_int) -> c_int>(symbol(
                c"cuDeviceTotalMem_v2",
                "cuDeviceTotalMem_v2",
            )?),
        })
    }
}

/// Returns the first GPU that programs see. `like` provides the property that the driver does not report: the order of
/// warps.
///
/// A child process queries the driver. A process that has initialized the driver can no longer fork and use CUDA in its
/// children, which programs may do as long as they have not used CUDA themselves.
///
/// # Errors
/// [`DriverError`] states why there is no GPU.
pub fn first_device(like: &Device) -> Result<Device, DriverError> {
    let mut ends = [0; 2];
    // SAFETY: the array has two elements.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(DriverError::Probe);
    }
    // SAFETY: the child queries the driver, writes to the pipe and leaves without running the program's exit handlers.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let answer = query(like);
        let bytes = postcard::to_stdvec(&answer).unwrap_or_default();
        // SAFETY: the descriptor is the pipe's own end; the answer is far smaller than a pipe's buffer.
        unsafe {
            libc::write(ends[1], bytes.as_ptr().cast(), bytes.len());
            libc::_exit(0);
        }
    }
    // SAFETY: this function owns both ends; the file takes over the end for reading.
    let mut reader = unsafe {
        libc::close(ends[1]);
        std::fs::File::from_raw_fd(ends[0])
    };
    if child < 0 {
        return Err(DriverError::Probe);
    }
    let mut bytes = Vec::new();
    let read = reader.read_to_end(&mut bytes);
    let mut status = 0;
    // SAFETY: the process is this function's child, and the status is a local variable.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    let answer: Result<Device, DriverError> =
        read.ok().and_then(|_| postcard::from_bytes(&bytes).ok()).unwrap_or(Err(DriverError::Probe));
    // The encoded form of a device does not contain the order of warps.
    answer.map(|device| Device { order: like.order, ..device })
}

fn query(like: &Device) -> Result<Device, DriverError> {
    let driver = load()?;
    let (mut count, mut device) = (0, 0);
    // SAFETY: the results go to local variables, after cuInit succeeded.
    let found = unsafe { (driver.count)(&raw mut count) == 0 && count > 0 && (driver.get)(&raw mut device, 0) == 0 };
    if !found {
        return Err(DriverError::NoDevice);
    }
    // `CUdevice_attribute` in cuda.h.
    let attribute = |number: c_int, otherwise: u32| {
        let mut value = 0;
        // SAFETY: the result goes to a local variable; for an unknown attribute, the call returns an error code.
        let code = unsafe { (driver.attribute)(&raw mut value, number, device) };
        if code == 0 { value as u32 } else { otherwise }
    };
    let mut name = [0 as c_char; 256];
    let mut memory = 0usize;
    // SAFETY: the buffer has the passed length, and the other result goes to a local variable.
    unsafe {
        (driver.name)(name.as_mut_ptr(), name.len() as c_int, device);
        (driver.memory)(&raw mut memory, device);
    }
    // SAFETY: the last byte stays zero, because the driver receives the length.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    Ok(Device {
        name,
        compute_capability: (attribute(75, like.compute_capability.0), attribute(76, like.compute_capability.1)),
        sms: attribute(16, like.sms),
        threads_per_sm: attribute(39, like.threads_per_sm),
        blocks_per_sm: attribute(106, like.blocks_per_sm),
        registers_per_sm: attribute(82, like.registers_per_sm),
        shared_per_sm: attribute(81, like.shared_per_sm),
        shared_per_block: attribute(8, like.shared_per_block),
        shared_per_block_optin: attribute(97, like.shared_per_block_optin),
        shared_reserved_per_block: attribute(111, like.shared_reserved_per_block),
        clock_khz: attribute(13, like.clock_khz),
        memory_clock_khz: attribute(36, like.memory_clock_khz),
        memory_bus_bits: attribute(37, like.memory_bus_bits),
        l2_bytes: u64::from(attribute(38, like.l2_bytes as u32)),
        memory_bytes: memory as u64,
        ..like.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_driver_says_so() {
        // On a machine with a GPU, the other branch must hold.
        match first_device(&Device::rtx_2080_ti()) {
            Err(error) => assert!(error.to_string().contains("NVIDIA driver")),
            Ok(device) => assert!(device.sms > 0 && !device.name.is_empty()),
        }
    }
}
