//! What goes between a program that stands still at an access and `warpline run`, over a socket: [`Stopped`] one way,
//! [`Reply`] the other. Each message is a 32-bit little-endian length and the postcard bytes.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::access::Space;
use crate::event::{FaultKind, InterpretedFrame, LaunchId, PathFrame};
use crate::site_table::Op;

/// Longest message; a longer one is damage.
const MOST_BYTES: u32 = 16 << 20;

/// Where a program stops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopAt {
    /// Descriptor of the program's end of the socket.
    pub descriptor: i32,
    /// Ends of paths, and lines: accesses whose line this is, or that are inlined at it.
    pub lines: Vec<(String, u32)>,
    /// Names of allocations.
    pub allocations: Vec<String>,
    /// Accesses that must not be.
    pub faults: bool,
}

/// A place in device code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePlace {
    /// Demangled name.
    pub function: String,
    /// Path; empty when unknown.
    pub file: String,
    /// From 1; 0 unknown.
    pub line: u32,
    /// From 1; 0 unknown.
    pub column: u32,
    /// Not the user's own code.
    pub system: bool,
}

/// What lies at an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// A live allocation.
    Allocation {
        /// Name, or what is known instead.
        name: String,
        /// Size.
        bytes: u64,
        /// Bytes from its start.
        offset: u64,
    },
    /// An allocation that was freed.
    Freed {
        /// Name, or what is known instead.
        name: String,
        /// Size.
        bytes: u64,
        /// Bytes from its start.
        offset: u64,
    },
    /// Outside of all allocations, with the nearest one.
    Outside {
        /// Its name.
        name: String,
        /// Its size.
        bytes: u64,
        /// Bytes before its start (negative), or past its end.
        distance: i64,
    },
    /// The block's shared memory: bytes from its start, and its size.
    Shared(i64, u64),
    /// A variable in the block's shared memory.
    SharedVariable {
        /// Name.
        name: String,
        /// Size.
        bytes: u64,
        /// Bytes from its start.
        offset: u64,
    },
    /// The thread's local memory: bytes from the start of its stack.
    Local(u64),
    /// The kernel's parameters.
    Parameters,
    /// An address outside all known memory.
    Unknown,
}

/// An active lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedLane {
    /// From 0.
    pub lane: u32,
    /// `threadIdx`.
    pub thread: [u32; 3],
    /// Address as the kernel has it.
    pub address: u64,
    /// Address that sectors are counted by: another one for host memory, which lies elsewhere in each run.
    pub counted: u64,
    /// What lies there.
    pub target: Target,
}

/// A host call path with all that its frames refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPath {
    /// Return addresses, innermost first.
    pub frames: Vec<PathFrame>,
    /// Loaded objects that they point into: number, path, build id.
    pub objects: Vec<(u32, String, Vec<u8>)>,
    /// Positions of an interpreted program, by number.
    pub interpreted: Vec<(u64, InterpretedFrame)>,
}

/// A program that stands still before an access.
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
    /// Warp in the block.
    pub warp: u32,
    /// Lanes of the warp that exist.
    pub live: u32,
    /// Kind of access; `None` when unknown.
    pub op: Option<Op>,
    /// Space as far as the compiler knew.
    pub space: Space,
    /// Bytes per lane.
    pub bytes: u32,
    /// Variable and member that it accesses, in the words of the source; empty when unknown.
    pub object: String,
    /// Structure that a member is accessed of; empty when it is none.
    pub structure: String,
    /// Its bytes; 0 when it is none.
    pub structure_bytes: u32,
    /// What is wrong with it, where the program stops for that.
    pub fault: Option<FaultKind>,
    /// Active lanes.
    pub lanes: Vec<StoppedLane>,
    /// Where the access stands: true innermost place first, then the calls that it was inlined through.
    pub code: Vec<CodePlace>,
    /// Device calls that survived inlining, outermost first; each as `code`.
    pub calls: Vec<Vec<CodePlace>>,
    /// Host call path of the launch.
    pub path: HostPath,
}

/// How the program continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// To the next request where it stops, but for so many.
    Next(u64),
    /// Without further stops.
    Continue,
    /// Not at all.
    End,
}

/// Writes a message.
///
/// # Errors
/// Those of the writer.
pub fn send<T: Serialize>(mut to: impl Write, message: &T) -> io::Result<()> {
    let bytes = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= MOST_BYTES);
    let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
    to.write_all(&[&length.to_le_bytes()[..], &bytes].concat())
}

/// Reads a message.
///
/// # Errors
/// Those of the reader, its end, and damage.
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
