//! What a node does.

use super::graph::Graph;
use crate::cuda::error::{self, Error};
use crate::cuda::types::HostFunction;
use crate::memory::rows::Rows;
use crate::modules::configuration::Configuration;
use std::ffi::c_int;

/// A kernel's launch, with its arguments as they were when the node was made.
#[derive(Clone, Debug)]
pub struct KernelWork {
    /// Host stub.
    pub stub: usize,
    /// Shape.
    pub configuration: Configuration,
    /// Packed parameters.
    pub parameters: Vec<u64>,
}

/// A copy: pieces of rows.
#[derive(Clone, Debug)]
pub struct CopyWork {
    /// Target, source, bytes per row, rows.
    pub pieces: Vec<(Rows, Rows, u64, u64)>,
    /// `cudaMemcpyKind`.
    pub kind: c_int,
}

impl CopyWork {
    /// Rows of one plane.
    pub fn rows(to: Rows, from: Rows, width: u64, height: u64, kind: c_int) -> CopyWork {
        CopyWork { pieces: vec![(to, from, width, height)], kind }
    }

    /// Bytes after one another.
    pub fn flat(to: u64, from: u64, bytes: u64, kind: c_int) -> CopyWork {
        let rows = |start| Rows { start, pitch: bytes };
        CopyWork::rows(rows(to), rows(from), bytes, 1, kind)
    }
}

/// A fill with an element of 1, 2 or 4 bytes.
#[derive(Clone, Debug)]
pub struct FillWork {
    /// Where, one for each plane.
    pub planes: Vec<Rows>,
    /// The element.
    pub value: u32,
    /// Its bytes.
    pub size: u32,
    /// Bytes per row.
    pub width: u64,
    /// Rows.
    pub height: u64,
}

/// A call of a host function.
#[derive(Clone, Copy, Debug)]
pub struct HostWork {
    /// The function.
    pub function: HostFunction,
    /// Its argument, a pointer.
    pub data: usize,
}

/// What a node does.
#[derive(Clone, Debug)]
pub enum Work {
    /// Nothing: it joins others.
    Empty,
    /// Launches a kernel.
    Kernel(KernelWork),
    /// Copies.
    Copy(CopyWork),
    /// Fills.
    Fill(FillWork),
    /// Calls the host.
    Host(HostWork),
    /// Records an event.
    Record(usize),
    /// Waits for an event, which has happened.
    Wait(usize),
    /// Runs another graph.
    Child(Graph),
    /// Memory of the graph at this address begins to be in use.
    Allocate(u64),
    /// It is no longer in use.
    Free(u64),
}

impl Work {
    /// Launches that it makes.
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
    /// A fill as `cudaMemsetParams` has it, `width` in elements.
    pub fn new(to: Rows, value: u32, size: u32, width: u64, height: u64) -> Result<FillWork, Error> {
        if !matches!(size, 1 | 2 | 4) {
            return Err(error::INVALID_VALUE);
        }
        let width = width.checked_mul(u64::from(size)).ok_or(error::INVALID_VALUE)?;
        Ok(FillWork { planes: vec![to], value, size, width, height })
    }
}
