//! Copies of rectangles and boxes by the driver API (`cuMemcpy2D`, `cuMemcpy3D`), recorded as the runtime's own.

use super::driver_api;
use crate::api::copies::arrays::{array, part};
use crate::api::copies::copy::rows;
use crate::cuda::copy_kind::{BY_ADDRESS, ON_DEVICE, TO_DEVICE, TO_HOST};
use crate::cuda::error::{self, Error};
use crate::cuda::types::StreamHandle;
use crate::graphs::{CopyWork, Work};
use crate::memory::images::Array;
use crate::memory::rows::Rows;
use crate::state::runtime::Runtime;
use std::ffi::{c_int, c_uint, c_void};

/// `CUmemorytype`.
const HOST: c_uint = 1;
const DEVICE: c_uint = 2;
const ARRAY: c_uint = 3;
const UNIFIED: c_uint = 4;

/// One end of a copy in two dimensions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Flat {
    x: usize,
    y: usize,
    kind: c_uint,
    host: *mut c_void,
    device: *mut c_void,
    array: *mut c_void,
    pitch: usize,
}

/// `CUDA_MEMCPY2D_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Rectangle {
    from: Flat,
    to: Flat,
    width: usize,
    height: usize,
}

/// One end of a copy in three dimensions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Deep {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: c_uint,
    host: *mut c_void,
    device: *mut c_void,
    array: *mut c_void,
    reserved: *mut c_void,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Cuboid {
    from: Deep,
    to: Deep,
    width: usize,
    height: usize,
    depth: usize,
}

impl Deep {
    fn from_flat(flat: Flat) -> Deep {
        let Flat { x, y, kind, host, device, array, pitch } = flat;
        let none = std::ptr::null_mut();
        Deep { x, y, z: 0, level: 0, kind, host, device, array, reserved: none, pitch, height: 0 }
    }

    /// Returns the memory that this end names.
    fn memory(&self) -> Result<*mut c_void, Error> {
        match self.kind {
            HOST => Ok(self.host),
            DEVICE | UNIFIED => Ok(self.device),
            _ => Err(error::INVALID_VALUE),
        }
    }

    /// Returns rows of a slice of an array. As elsewhere, positions and widths are in bytes.
    fn part(&self, array: &Array, slice: usize, area: [usize; 2]) -> Result<Rows, Error> {
        let fits = |slice: &usize| *slice < array.image.size[2] as usize;
        let slice = self.z.checked_add(slice).filter(fits).ok_or(error::INVALID_VALUE)?;
        let Rows { start, pitch } = part(array, self.x, self.y, area[0], area[1])?;
        Ok(Rows { start: start + slice as u64 * array.image.slice, pitch })
    }

    /// Returns rows of a slice of the memory or array that this end names.
    fn rows(&self, runtime: &Runtime, slice: usize, area: [usize; 2]) -> Result<Rows, Error> {
        if self.kind == ARRAY {
            return self.part(&array(runtime, self.array)?, slice, area);
        }
        self.slice(slice, area).map(|(first, pitch)| rows(first, pitch))
    }

    /// Returns the first byte of a slice and the bytes between rows. A pitch of 0 means that the rows follow one
    /// another without gaps.
    fn slice(&self, slice: usize, [width, height]: [usize; 2]) -> Result<(*mut c_void, usize), Error> {
        let pitch = if self.pitch == 0 { self.x + width } else { self.pitch };
        let rows = if self.height == 0 { self.y + height } else { self.height };
        if self.x.checked_add(width).is_none_or(|end| end > pitch) {
            return Err(error::INVALID_VALUE);
        }
        let plane = pitch.checked_mul(rows).ok_or(error::INVALID_VALUE)?;
        let offset = (self.z + slice).checked_mul(plane).and_then(|at| at.checked_add(self.y.checked_mul(pitch)?));
        let offset = offset.and_then(|at| at.checked_add(self.x)).ok_or(error::INVALID_VALUE)?;
        Ok((self.memory()?.wrapping_byte_add(offset), pitch))
    }
}

impl Cuboid {
    fn from_rectangle(rectangle: Rectangle) -> Cuboid {
        let Rectangle { from, to, width, height } = rectangle;
        Cuboid { from: Deep::from_flat(from), to: Deep::from_flat(to), width, height, depth: 1 }
    }

    fn work(&self, runtime: &Runtime) -> Result<CopyWork, Error> {
        // Arrays are in device memory.
        let place = |end: &Deep| if end.kind == ARRAY { DEVICE } else { end.kind };
        let kind = match (place(&self.from), place(&self.to)) {
            (HOST, HOST) => 0,
            (HOST, DEVICE) => TO_DEVICE,
            (DEVICE, HOST) => TO_HOST,
            (DEVICE, DEVICE) => ON_DEVICE,
            _ => BY_ADDRESS,
        };
        let area = [self.width, self.height];
        let piece = |slice| {
            let (to, from) = (self.to.rows(runtime, slice, area)?, self.from.rows(runtime, slice, area)?);
            Ok((to, from, self.width as u64, self.height as u64))
        };
        let pieces = (0..self.depth).map(piece).collect::<Result<_, Error>>()?;
        Ok(CopyWork { pieces, kind: kind as c_int })
    }
}

/// # Safety
/// The pointer is null, which causes an error, or valid.
unsafe fn rectangle(runtime: &Runtime, parameters: *const Rectangle) -> Result<Work, Error> {
    // SAFETY: by the contract of the API function.
    let found = unsafe { parameters.as_ref() }.ok_or(error::INVALID_VALUE)?;
    Cuboid::from_rectangle(*found).work(runtime).map(Work::Copy)
}

/// # Safety
/// The pointer is null, which causes an error, or valid.
unsafe fn cuboid(runtime: &Runtime, parameters: *const Cuboid) -> Result<Work, Error> {
    // SAFETY: by the contract of the API function.
    unsafe { parameters.as_ref() }.ok_or(error::INVALID_VALUE)?.work(runtime).map(Work::Copy)
}

driver_api! {
    /// Copies a rectangle.
    fn cuMemcpy2D_v2(parameters: *const Rectangle) needs Context |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe {
            let work = rectangle(runtime, parameters)?;
            runtime.perform(&work, 0, entry)
        }
    }

    /// Copies a rectangle whose rows may have any alignment.
    fn cuMemcpy2DUnaligned_v2(parameters: *const Rectangle) needs Context |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe {
            let work = rectangle(runtime, parameters)?;
            runtime.perform(&work, 0, entry)
        }
    }

    /// Copies a rectangle in a stream; completes before it returns.
    fn cuMemcpy2DAsync_v2(parameters: *const Rectangle, stream: StreamHandle) needs Context |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe {
            let work = rectangle(runtime, parameters)?;
            runtime.submit(stream as usize, work, entry)
        }
    }

    /// Copies a box.
    fn cuMemcpy3D_v2(parameters: *const Cuboid) needs Context |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe {
            let work = cuboid(runtime, parameters)?;
            runtime.perform(&work, 0, entry)
        }
    }

    /// Copies a box in a stream; completes before it returns.
    fn cuMemcpy3DAsync_v2(parameters: *const Cuboid, stream: StreamHandle) needs Context |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe {
            let work = cuboid(runtime, parameters)?;
            runtime.submit(stream as usize, work, entry)
        }
    }
}
