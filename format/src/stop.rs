//! Messages between a program that is stopped at an access and `warpline run`, over a socket: [`Stopped`] from the
//! program, and [`Reply`] to the program. Each message is a 32-bit little-endian length followed by the postcard bytes.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::access::Space;
use crate::event::{CallPathFrame, FaultKind, InterpretedFrame, LaunchId};
use crate::site_table::Op;

/// Maximum bytes of a message; a longer one is invalid.
const MOST_BYTES: u32 = 16 << 20;

/// The accesses at which a program stops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopAt {
    /// Descriptor of the program's end of the socket.
    pub descriptor: i32,
    /// Path suffixes and lines: accesses at these lines, or inlined at them.
    pub lines: Vec<(String, u32)>,
    /// Names of allocations.
    pub allocations: Vec<String>,
    /// Whether to stop at bad accesses.
    pub faults: bool,
}

/// A position in device code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePlace {
    /// Demangled name.
    pub function: String,
    /// Path of the file; empty if unknown.
    pub file: String,
    /// Line, counted from 1; 0 if unknown.
    pub line: u32,
    /// Column, counted from 1; 0 if unknown.
    pub column: u32,
    /// Whether it does not belong to the user's code.
    pub system: bool,
}

/// The target of an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// A live allocation.
    Allocation {
        /// Name or other description.
        name: String,
        /// Size.
        bytes: u64,
        /// Offset in bytes within the allocation.
        offset: u64,
    },
    /// An allocation that was freed.
    Freed {
        /// Name or other description.
        name: String,
        /// Size.
        bytes: u64,
        /// Offset in bytes within the allocation.
        offset: u64,
    },
    /// Outside of all allocations, with the nearest allocation.
    Outside {
        /// Name of the nearest allocation.
        name: String,
        /// Size of the nearest allocation.
        bytes: u64,
        /// Distance in bytes before its start (negative) or after its end.
        distance: i64,
    },
    /// The block's shared memory: the offset in bytes, and its size.
    Shared(i64, u64),
    /// A variable in the block's shared memory.
    SharedVariable {
        /// Name.
        name: String,
        /// Size.
        bytes: u64,
        /// Offset in bytes within the variable.
        offset: u64,
    },
    /// The thread's local memory, with the offset in bytes from the start of its stack.
    Local(u64),
    /// The kernel's parameters.
    Parameters,
    /// An address outside all known memory.
    Unknown,
}

/// An active lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedLane {
    /// Number of the lane, counted from 0.
    pub lane: u32,
    /// `threadIdx`.
    pub thread: [u32; 3],
    /// Address in the kernel.
    pub address: u64,
    /// Address for counting sectors. It differs for host memory, whose address changes between runs.
    pub counted: u64,
    /// Target of the address.
    pub target: Target,
}

/// A host call path with the data that its frames refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPath {
    /// Return addresses, innermost first.
    pub frames: Vec<CallPathFrame>,
    /// Loaded objects that the frames refer to: number, path, build id.
    pub objects: Vec<(u32, String, Vec<u8>)>,
    /// Source positions of an interpreted program, by number.
    pub interpreted: Vec<(u64, InterpretedFrame)>,
}

/// The state of a program that is stopped before an access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// Launch.
    pub launch: LaunchId,
    /// Demangled name of the kernel.
    pub kernel: String,
    /// `gridDim`.
    pub grid: [u32; 3],
    /// `blockDim`.
    pub block_size: [u32; 3],
    /// `blockIdx`.
    pub block: [u32; 3],
    /// Number of the warp in the block.
    pub warp: u32,
    /// Existing lanes of the warp.
    pub live: u32,
    /// Kind of access; `None` when unknown.
    pub op: Option<Op>,
    /// Space at compile time.
    pub space: Space,
    /// Bytes per lane.
    pub bytes: u32,
    /// Accessed variable and member, with names from the source; empty if unknown.
    pub object: String,
    /// Structure that contains the accessed member; empty if there is none.
    pub structure: String,
    /// Bytes of the structure; 0 if there is none.
    pub structure_bytes: u32,
    /// Kind of fault, if the program stops because of one.
    pub fault: Option<FaultKind>,
    /// Active lanes.
    pub lanes: Vec<StoppedLane>,
    /// Source position of the access: the innermost position first, then the calls that it was inlined through.
    pub code: Vec<CodePlace>,
    /// Device calls that were not inlined, outermost first; each has the form of `code`.
    pub calls: Vec<Vec<CodePlace>>,
    /// Host call path of the launch.
    pub path: HostPath,
}

/// How the program continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// Continue to the next matching request, after skipping this number of them.
    Next(u64),
    /// Continue without further stops.
    Continue,
    /// End the program.
    End,
}

/// Writes a message.
///
/// # Errors
/// Returns the errors of the writer.
pub fn send<T: Serialize>(mut to: impl Write, message: &T) -> io::Result<()> {
    let bytes = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= MOST_BYTES);
    let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
    to.write_all(&[&length.to_le_bytes()[..], &bytes].concat())
}

/// Reads a message.
///
/// # Errors
/// Returns the errors of the reader, or an error at the end of the data or for an invalid message.
pub fn receive<T: DeserializeOwned>(mut from: impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MOST_BYTES {
        return Err(io::Error::other("the message is too long"));
    }
    let mut bytes = vec![0; length as usize];
    from.read_exact(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back_and_damage_is_reported() {
        let mut bytes = Vec::new();
        send(&mut bytes, &Reply::Next(7)).unwrap();
        send(&mut bytes, &Reply::End).unwrap();
        let mut rest = &bytes[..];
        assert_eq!(receive::<Reply>(&mut rest).unwrap(), Reply::Next(7));
        assert_eq!(receive::<Reply>(&mut rest).unwrap(), Reply::End);
        assert!(receive::<Reply>(&mut rest).is_err());
        assert!(receive::<Reply>(&[0xff; 64][..]).is_err());
        assert!(receive::<Reply>(&[1, 0, 0, 0, 99][..]).is_err());
    }
}
