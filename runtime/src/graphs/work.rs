//! The work of a node.

use super::graph::Graph;
use crate::cuda::error::{self, Error};
use crate::cuda::types::HostFunction;
use crate::memory::rows::Rows;
use crate::modules::configuration::Configuration;
use std::ffi::c_int;

/// A kernel launch, with its arguments at the time when the node was created.
#[derive(Clone, Debug)]
pub struct KernelWork {
    /// The host stub.
    pub stub: usize,
    /// The launch configuration.
    pub configuration: Configuration,
    /// The packed parameters.
    pub parameters: Vec<u64>,
}

/// A copy, divided into pieces with rows.
#[derive(Clone, Debug)]
pub struct CopyWork {
    /// For each piece: destination, source, bytes per row, rows.
    pub pieces: Vec<(Rows, Rows, u64, u64)>,
    /// `cudaMemcpyKind`.
    pub kind: c_int,
}

impl CopyWork {
    /// Creates a copy of the rows of one plane.
    pub fn rows(to: Rows, from: Rows, width: u64, height: u64, kind: c_int) -> CopyWork {
        CopyWork { pieces: vec![(to, from, width, height)], kind }
    }

    /// Creates a copy of consecutive bytes.
    pub fn flat(to: u64, from: u64, bytes: u64, kind: c_int) -> CopyWork {
        let rows = |start| Rows { start, pitch: bytes };
        CopyWork::rows(rows(to), rows(from), bytes, 1, kind)
    }
}

/// A fill with an element of 1, 2 or 4 bytes.
#[derive(Clone, Debug)]
pub struct FillWork {
    /// The destination, one entry for each plane.
    pub planes: Vec<Rows>,
    /// The value of the element.
    pub value: u32,
    /// The size of the element in bytes.
    pub size: u32,
    /// The number of bytes per row.
    pub width: u64,
    /// The number of rows.
    pub height: u64,
}

/// A call of a host function.
#[derive(Clone, Copy, Debug)]
pub struct HostWork {
    /// The function.
    pub function: HostFunction,
    /// The argument of the function, which is a pointer.
    pub data: usize,
}

/// The work of a node.
#[derive(Clone, Debug)]
pub enum Work {
    /// No work; the node joins others.
    Empty,
    /// Launches a kernel.
    Kernel(KernelWork),
    /// Copies.
    Copy(CopyWork),
    /// Fills memory.
    Fill(FillWork),
    /// Calls a host function.
    Host(HostWork),
    /// Records an event.
    Record(usize),
    /// Waits for an event that has already happened.
    Wait(usize),
    /// Runs another graph.
    Child(Graph),
    /// Begins the use of the graph's memory at this address.
    Allocate(u64),
    /// Ends the use of the memory at this address.
    Free(u64),
}

impl Work {
    /// Returns the number of launches that the work makes.
    pub fn launches(&self) -> u64 {
        match self {
            Work::Kernel(_) => 1,
            Work::Child(graph) => graph.launches(),
            _ => 0,
        }
    }

    /// `cudaGraphNodeType`.
    pub fn kind(&self) -> c_int {
        match self {
            Work::Kernel(_) => 0,
            Work::Copy(_) => 1,
            Work::Fill(_) => 2,
            Work::Host(_) => 3,
            Work::Child(_) => 4,
            Work::Empty => 5,
            Work::Wait(_) => 6,
            Work::Record(_) => 7,
            Work::Allocate(_) => 10,
            Work::Free(_) => 11,
        }
    }
}

impl FillWork {
    /// Creates a fill from the fields of `cudaMemsetParams`; `width` is in elements.
    pub fn new(to: Rows, value: u32, size: u32, width: u64, height: u64) -> Result<FillWork, Error> {
        if !matches!(size, 1 | 2 | 4) {
            return Err(error::INVALID_VALUE);
        }
        let width = width.checked_mul(u64::from(size)).ok_or(error::INVALID_VALUE)?;
        Ok(FillWork { planes: vec![to], value, size, width, height })
    }
}
