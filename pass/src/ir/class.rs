//! Classifies the calls in device code, by name.

use crate::ir::range::Range;
use crate::llvm::{Value, intrinsics};
use warpline_format::hooks::Hook;

/// A special register, such as a thread index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// `%tid`; the dimension is 0 to 2.
    Thread(usize),
    /// `%ntid`.
    BlockSize(usize),
    /// `%ctaid`.
    Block(usize),
    /// `%nctaid`.
    GridSize(usize),
    /// `%cluster_nctaid`: the blocks of a cluster.
    ClusterSize(usize),
    /// `%cluster_ctaid`: the position of the block in its cluster.
    ClusterBlock(usize),
    /// `%clusterid`: the position of the cluster in the grid.
    ClusterIndex(usize),
    /// `%nclusterid`: the clusters of the grid.
    Clusters(usize),
    /// `%cluster_ctarank`: the block's number in its cluster.
    ClusterRank,
    /// `%cluster_nctarank`: the number of blocks of a cluster.
    ClusterBlocks,
    /// `%laneid`.
    Lane,
    /// `%warpid`.
    WarpSlot,
    /// `%nwarpid`.
    WarpSlots,
    /// `%smid`.
    Sm,
    /// `%nsmid`.
    Sms,
    /// `WARP_SZ`.
    WarpSize,
    /// `%lanemask_eq`, `_le`, `_lt`, `_ge`, `_gt`.
    LaneMask(LaneMask),
    /// `%clock`.
    Clock,
    /// `%clock64`.
    Clock64,
    /// `%globaltimer`.
    GlobalTimer,
    /// `%envreg1` or `%envreg2`: 32 bits of the address of a cooperative launch's workspace, from this bit on.
    Workspace(u32),
    /// `%gridid`, other environment registers, and other registers that are zero here.
    Zero,
}

/// Which lanes a lane-mask register names, relative to the lane that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LaneMask {
    Equal,
    LessEqual,
    Less,
    GreaterEqual,
    Greater,
}

/// The meaning of a call for the lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A hook.
    Hook(Hook),
    /// Reads a register.
    Register(Register),
    /// The call needs no code.
    Nothing,
    /// The result is the first argument.
    PassThrough,
    /// The result depends only on the arguments of the same lane.
    Pure,
    /// The result is the same for all participating lanes if the arguments are the same.
    WarpWide,
    /// Any other call.
    Other,
}

/// Returns the register that an intrinsic reads.
pub fn register(name: &str) -> Option<Register> {
    // LLVM parts the words of these registers by a dot.
    let name = name.strip_prefix("llvm.nvvm.read.ptx.sreg.")?.replace("cluster.", "cluster_");
    let name = name.as_str();
    let dimension = |suffix: &str| ["x", "y", "z"].iter().position(|one| *one == suffix);
    if let Some((base, suffix)) = name.split_once('.') {
        let one = match base {
            "tid" => Register::Thread,
            "ntid" => Register::BlockSize,
            "ctaid" => Register::Block,
            "nctaid" => Register::GridSize,
            "cluster_nctaid" => Register::ClusterSize,
            "cluster_ctaid" => Register::ClusterBlock,
            "clusterid" => Register::ClusterIndex,
            "nclusterid" => Register::Clusters,
            "lanemask" => {
                return Some(Register::LaneMask(match suffix {
                    "eq" => LaneMask::Equal,
                    "le" => LaneMask::LessEqual,
                    "lt" => LaneMask::Less,
                    "ge" => LaneMask::GreaterEqual,
                    "gt" => LaneMask::Greater,
                    _ => return None,
                }));
            }
            _ => return None,
        };
        return dimension(suffix).map(one);
    }
    named_register(name)
}

/// Returns the register for a PTX name, such as `laneid`.
pub fn named_register(name: &str) -> Option<Register> {
    Some(match name {
        "laneid" => Register::Lane,
        "warpid" => Register::WarpSlot,
        "nwarpid" => Register::WarpSlots,
        "smid" => Register::Sm,
        "nsmid" => Register::Sms,
        "warpsize" => Register::WarpSize,
        "clock" => Register::Clock,
        "clock64" => Register::Clock64,
        "globaltimer" | "globaltimer.lo" => Register::GlobalTimer,
        "cluster_ctarank" => Register::ClusterRank,
        "cluster_nctarank" => Register::ClusterBlocks,
        "gridid" => Register::Zero,
        "envreg1" => Register::Workspace(32),
        "envreg2" => Register::Workspace(0),
        "lanemask_eq" => Register::LaneMask(LaneMask::Equal),
        "lanemask_le" => Register::LaneMask(LaneMask::LessEqual),
        "lanemask_lt" => Register::LaneMask(LaneMask::Less),
        "lanemask_ge" => Register::LaneMask(LaneMask::GreaterEqual),
        "lanemask_gt" => Register::LaneMask(LaneMask::Greater),
        _ => return name.starts_with("envreg").then_some(Register::Zero),
    })
}

/// Returns the possible values of a register. Grids with 2^21 or more blocks in a dimension use the general version,
/// which does not depend on the ranges for blocks.
pub fn register_range(register: Register) -> Range {
    let (low, high) = match register {
        Register::Thread(_) => (0, 1023),
        Register::BlockSize(_) => (1, 1024),
        Register::Block(_) => (0, LARGEST_GRID - 1),
        Register::GridSize(_) => (1, LARGEST_GRID),
        Register::ClusterSize(_) | Register::ClusterBlocks => (1, MOST_CLUSTER),
        Register::ClusterBlock(_) | Register::ClusterRank => (0, MOST_CLUSTER - 1),
        Register::ClusterIndex(_) => (0, LARGEST_GRID - 1),
        Register::Clusters(_) => (1, LARGEST_GRID),
        Register::Lane => (0, 31),
        Register::WarpSize => (32, 32),
        Register::WarpSlot | Register::WarpSlots | Register::Sm | Register::Sms => (0, 1 << 16),
        Register::Zero => (0, 0),
        Register::LaneMask(_) | Register::Clock | Register::Workspace(_) => return Range::full(32),
        Register::Clock64 | Register::GlobalTimer => return Range::full(64),
    };
    Range { low, high }
}

/// The largest extent of a grid for which the versions that track affine values may run.
pub const LARGEST_GRID: i64 = 1 << 21;

/// The maximum number of blocks of a cluster.
const MOST_CLUSTER: i64 = warpline_format::cluster::MOST_BLOCKS as i64;

/// Classifies a call by the name of its callee.
pub fn classify(name: &str) -> Call {
    if let Some(hook) = Hook::of_name(name) {
        return Call::Hook(hook);
    }
    if let Some(register) = register(name) {
        return Call::Register(register);
    }
    // Asynchronous copies are performed immediately, and kernels run one after another, so these calls have nothing to
    // wait for.
    const NOTHING: [&str; 13] = [
        "llvm.lifetime.",
        "llvm.assume",
        "llvm.dbg.",
        "llvm.experimental.noalias.scope.decl",
        "llvm.donothing",
        "llvm.prefetch",
        "llvm.nvvm.prefetch",
        "llvm.nvvm.nanosleep",
        "llvm.nvvm.cp.async.commit.group",
        "llvm.nvvm.cp.async.wait.group",
        "llvm.nvvm.cp.async.wait.all",
        "llvm.nvvm.griddepcontrol.",
        "llvm.invariant.",
    ];
    if NOTHING.iter().any(|prefix| name.starts_with(prefix)) {
        return Call::Nothing;
    }
    const PASS: [&str; 8] = [
        "llvm.nvvm.internal.addrspace.wrap",
        "llvm.expect.",
        "llvm.launder.invariant.group",
        "llvm.strip.invariant.group",
        "llvm.ptr.annotation",
        "llvm.annotation.",
        "llvm.ssa.copy",
        "llvm.nvvm.ptr.",
    ];
    if PASS.iter().any(|prefix| name.starts_with(prefix)) {
        return Call::PassThrough;
    }
    const WARP_WIDE: [&str; 4] =
        ["llvm.nvvm.vote.", "llvm.nvvm.activemask", "llvm.nvvm.barrier", "llvm.nvvm.texsurf.handle"];
    if WARP_WIDE.iter().any(|prefix| name.starts_with(prefix)) {
        return Call::WarpWide;
    }
    if is_pure(name) { Call::Pure } else { Call::Other }
}

/// Returns whether the result depends only on the arguments of the same lane. LLVM provides this property for each
/// intrinsic. If an intrinsic is unknown, or neither belongs to a target nor works on elements, the function returns
/// false, and the lowering refuses the intrinsic by name.
fn is_pure(name: &str) -> bool {
    let Some(facts) = intrinsics::facts(name).filter(|facts| !facts.touches_memory && !facts.convergent) else {
        return false;
    };
    match name.strip_prefix("llvm.nvvm.") {
        Some(rest) => !NOT_OF_ARGUMENTS.iter().any(|prefix| rest.starts_with(prefix)),
        None => {
            facts.elementwise
                || name.starts_with("llvm.vector.reduce.")
                || ELEMENTWISE
                    .iter()
                    .any(|own| name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
        }
    }
}

/// Intrinsics of the target for which LLVM lists no effects, but whose results depend on more than the arguments of the
/// same lane: registers, the memory behind pointers, products of a whole warp.
const NOT_OF_ARGUMENTS: [&str; 10] = [
    "read.",
    "isspacep",
    "reflect",
    "mapa",
    "texsurf",
    "wmma.",
    "mma.",
    "clusterlaunchcontrol.",
    "getctarank",
    "is_explicit_cluster",
];

/// Operations on elements that LLVM's vectoriser does not list.
const ELEMENTWISE: [&str; 6] = [
    "llvm.arithmetic.fence",
    "llvm.convert.from.fp16",
    "llvm.convert.to.fp16",
    "llvm.ptrmask",
    "llvm.sshl.sat",
    "llvm.ushl.sat",
];

/// Returns whether other warps may run during an instruction, or other code may write records. After such an
/// instruction, the room for records must be checked again, and no bundle of accesses extends across it.
pub fn gives_way(instruction: Value<'_>) -> bool {
    if !instruction.is_call() {
        return instruction.is_terminator();
    }
    let Some(callee) = instruction.called_value().filter(|callee| callee.is_function()) else { return true };
    let name = callee.name();
    match classify(&name) {
        Call::Hook(hook) => {
            !matches!(hook, Hook::Access(_) | Hook::Member(_) | Hook::Block | Hook::Branch | Hook::Switch)
        }
        Call::Register(_) => name.contains("globaltimer"),
        Call::Nothing | Call::PassThrough | Call::Pure => false,
        Call::WarpWide | Call::Other => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_format::access::Space;

    #[test]
    fn registers_are_known_by_name() {
        assert_eq!(register("llvm.nvvm.read.ptx.sreg.tid.y"), Some(Register::Thread(1)));
        assert_eq!(register("llvm.nvvm.read.ptx.sreg.lanemask.lt"), Some(Register::LaneMask(LaneMask::Less)));
        assert_eq!(register("llvm.nvvm.read.ptx.sreg.tid.w"), None);
        assert_eq!(register("llvm.nvvm.read.ptx.sreg.envreg1"), Some(Register::Workspace(32)));
        assert_eq!(register("llvm.nvvm.read.ptx.sreg.envreg3"), Some(Register::Zero));
    }

    #[test]
    fn nothing_with_effects_is_pure() {
        let mut own = Vec::new();
        for name in intrinsics::names().filter(|name| classify(name) == Call::Pure) {
            let facts = intrinsics::facts(&name).expect("LLVM named it");
            assert!(!facts.touches_memory && !facts.convergent, "{name}");
            for word in ["mma", "shfl", "vote", "match", "redux", "ldmatrix", "nvvm.tex", "tld4", "sreg", "cluster"] {
                assert!(!name.contains(word), "{name} depends on more than its arguments");
            }
            if !name.starts_with("llvm.nvvm.") {
                own.push(name);
            }
        }
        // After an update of LLVM, check each new name: is it an operation on elements, and is it lowered correctly?
        assert_eq!(own.join("\n"), include_str!("elementwise.txt").trim_end());
    }

    #[test]
    fn calls_are_sorted() {
        assert_eq!(classify("__warpline_access_global"), Call::Hook(Hook::Access(Space::Global)));
        assert_eq!(classify("__warpline_member_shared"), Call::Hook(Hook::Member(Space::Shared)));
        assert_eq!(classify("llvm.fma.f32"), Call::Pure);
        assert_eq!(classify("llvm.nvvm.fma.rn.ftz.f"), Call::Pure);
        assert_eq!(classify("llvm.vector.reduce.add.v4i32"), Call::Pure);
        assert_eq!(classify("llvm.uadd.with.overflow.i32"), Call::Pure);
        for unknown in ["llvm.of.tomorrow", "llvm.nvvm.of.tomorrow.f32", "llvm.get.rounding", "llvm.returnaddress"] {
            assert_eq!(classify(unknown), Call::Other, "{unknown}");
        }
        assert_eq!(classify("llvm.nvvm.shfl.sync.idx.i32"), Call::Other);
        assert_eq!(classify("llvm.nvvm.vote.ballot.sync"), Call::WarpWide);
        assert_eq!(classify("vprintf"), Call::Other);
    }
}
