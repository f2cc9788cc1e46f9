//! The hooks of device code, and the functions that lowered code and GPU code call. This is the only definition of
//! their names, arguments and meanings.

use crate::access::Space;
use crate::gpu::OPERATION_WORDS;

/// Type of an argument or a result in LLVM IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `void`
    Void,
    /// `i1`
    Bit,
    /// `i32`
    Word,
    /// `i64`
    Long,
    /// `ptr`: for a hook, in the address space of the access; for a runtime function, a host pointer.
    Pointer,
}

/// Flag of `__warpline_name_member`: the memory belongs to the object itself, as from an allocator, and not to an
/// element.
pub const NAME_OF_STORAGE: u32 = 1;
/// Flag of `__warpline_name_member`: a name given by a caller takes precedence.
pub const WEAK_NAME: u32 = 2;

/// A call that directly precedes the instruction that it describes (or follows it: [`Hook::Return`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hook {
    /// A memory access. Arguments: the site, or the `access::bundle_field` of a bundle that starts here; the address.
    Access(Space),
    /// An access that shares the record of an earlier access. Arguments: its site, its address, the bundle.
    Member(Space),
    /// The start of a basic block, at its first insertion point. Argument: the block.
    Block,
    /// A conditional branch. Arguments: the branch, its condition. Side 0 is taken if the condition is true.
    Branch,
    /// A switch. Arguments: the branch, and the side, which is the index of the distinct target; 0 is the default.
    Switch,
    /// A call that was not inlined. Argument: the call site.
    Call,
    /// The return from the call.
    Return,
    /// A texture fetch or surface access. Argument: its first site.
    Texture,
}

/// Names of spaces, with which the names of hooks end.
const SPACES: [(Space, &str); 5] = [
    (Space::Generic, "generic"),
    (Space::Global, "global"),
    (Space::Shared, "shared"),
    (Space::Constant, "constant"),
    (Space::Local, "local"),
];

/// Prefix of the names of all device hooks.
const PREFIX: &str = "__warpline_";

fn space_name(space: Space) -> &'static str {
    SPACES.iter().find(|(one, _)| *one == space).map_or("generic", |(_, name)| name)
}

fn space_of(name: &str) -> Option<Space> {
    SPACES.iter().find(|(_, one)| *one == name).map(|(space, _)| *space)
}

impl Hook {
    /// Returns every hook.
    pub fn all() -> impl Iterator<Item = Hook> {
        let of_spaces = SPACES.into_iter().flat_map(|(space, _)| [Hook::Access(space), Hook::Member(space)]);
        let others = [Hook::Block, Hook::Branch, Hook::Switch, Hook::Call, Hook::Return, Hook::Texture];
        of_spaces.chain(others)
    }

    /// Returns the name of its function.
    pub fn name(self) -> String {
        match self {
            Hook::Access(space) => format!("{PREFIX}access_{}", space_name(space)),
            Hook::Member(space) => format!("{PREFIX}member_{}", space_name(space)),
            Hook::Block => format!("{PREFIX}block"),
            Hook::Branch => format!("{PREFIX}branch"),
            Hook::Switch => format!("{PREFIX}switch"),
            Hook::Call => format!("{PREFIX}call"),
            Hook::Return => format!("{PREFIX}return"),
            Hook::Texture => format!("{PREFIX}texture"),
        }
    }

    /// Returns the types of its arguments. There is no result.
    pub fn arguments(self) -> &'static [Type] {
        match self {
            Hook::Access(_) => &[Type::Word, Type::Pointer],
            Hook::Member(_) => &[Type::Word, Type::Pointer, Type::Word],
            Hook::Block | Hook::Call | Hook::Texture => &[Type::Word],
            Hook::Branch => &[Type::Word, Type::Bit],
            Hook::Switch => &[Type::Word, Type::Word],
            Hook::Return => &[],
        }
    }

    /// Returns the hook with this name.
    pub fn of_name(name: &str) -> Option<Hook> {
        let rest = name.strip_prefix(PREFIX)?;
        if let Some(space) = rest.strip_prefix("access_") {
            return space_of(space).map(Hook::Access);
        }
        if let Some(space) = rest.strip_prefix("member_") {
            return space_of(space).map(Hook::Member);
        }
        Some(match rest {
            "block" => Hook::Block,
            "branch" => Hook::Branch,
            "switch" => Hook::Switch,
            "call" => Hook::Call,
            "return" => Hook::Return,
            "texture" => Hook::Texture,
            _ => return None,
        })
    }
}

/// A function of `runtime/device/hooks.cu` that instrumented GPU code calls. The four arguments of the launch's
/// `Target` precede the arguments listed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GpuHook {
    /// Sends the record of an access. Arguments: site, address.
    Access(Space),
    /// Sends the record of an access with an expected stride between lanes. Arguments: space and site in one word,
    /// address, stride.
    AccessHinted,
    /// Counts an access. Arguments: its first cell, the useful bytes per lane, the address.
    Count(Space),
    /// Counts a block. Argument: its first cell.
    Block,
    /// Counts a branch. Arguments: its first cell, the condition.
    Branch,
    /// Counts a switch. Arguments: its first cell, the side.
    Switch,
    /// Sends the values of an operation. Arguments: its number, the `gpu::OperationShape`, the number of words of 32 bits
    /// per lane, and these words, followed by zeros.
    Operation,
    /// Sends the record of a call. Argument: the call site.
    Call,
    /// Sends the record of a return.
    Return,
    /// Sends the record of a block-wide barrier.
    Barrier,
    /// Sends the record that lanes leave the kernel.
    Exit,
}

impl GpuHook {
    /// Returns every hook.
    pub fn all() -> impl Iterator<Item = GpuHook> {
        use GpuHook::{AccessHinted, Barrier, Block, Branch, Call, Exit, Operation, Return, Switch};
        let of_spaces = SPACES.into_iter().flat_map(|(space, _)| [GpuHook::Access(space), GpuHook::Count(space)]);
        of_spaces.chain([AccessHinted, Block, Branch, Switch, Operation, Call, Return, Barrier, Exit])
    }

    /// Returns the name of its function.
    pub fn name(self) -> String {
        let rest = match self {
            GpuHook::Access(space) => return format!("__warpline_gpu_access_{}", space_name(space)),
            GpuHook::Count(space) => return format!("__warpline_gpu_count_{}", space_name(space)),
            GpuHook::AccessHinted => "access_hinted",
            GpuHook::Block => "block",
            GpuHook::Branch => "branch",
            GpuHook::Switch => "switch",
            GpuHook::Operation => "operation",
            GpuHook::Call => "call",
            GpuHook::Return => "return",
            GpuHook::Barrier => "barrier",
            GpuHook::Exit => "exit",
        };
        format!("__warpline_gpu_{rest}")
    }

    /// Returns the types of its arguments after the target. Addresses in shared and local memory are 32-bit offsets.
    pub fn arguments(self) -> &'static [Type] {
        match self {
            GpuHook::Access(Space::Shared | Space::Local) => &[Type::Word, Type::Word],
            GpuHook::Access(_) => &[Type::Word, Type::Long],
            GpuHook::Count(Space::Shared | Space::Local) => &[Type::Word, Type::Word, Type::Word],
            GpuHook::Count(_) => &[Type::Word, Type::Word, Type::Long],
            GpuHook::AccessHinted => &[Type::Word, Type::Long, Type::Word],
            GpuHook::Block | GpuHook::Call => &[Type::Word],
            GpuHook::Branch => &[Type::Word, Type::Bit],
            GpuHook::Switch => &[Type::Word, Type::Word],
            GpuHook::Operation => {
                const ARGUMENTS: [Type; 3 + OPERATION_WORDS] = {
                    let mut arguments = [Type::Word; 3 + OPERATION_WORDS];
                    arguments[1] = Type::Long;
                    arguments
                };
                &ARGUMENTS
            }
            GpuHook::Return | GpuHook::Barrier | GpuHook::Exit => &[],
        }
    }
}

/// The LLVM IR type of a runtime function's argument or result in Rust.
pub trait Border {
    /// The type.
    const TYPE: Type;
}

impl Border for () {
    const TYPE: Type = Type::Void;
}

impl Border for u32 {
    const TYPE: Type = Type::Word;
}

impl Border for u64 {
    const TYPE: Type = Type::Long;
}

impl<T> Border for *const T {
    const TYPE: Type = Type::Pointer;
}

impl<T> Border for *mut T {
    const TYPE: Type = Type::Pointer;
}

/// Passes the functions of the runtime that lowered code calls to a macro: `name = symbol(argument: type, …) ->
/// result;`.
///
/// All are `extern "C"` and may not unwind. `context` is the warp's; masks have a bit per lane; `Lanes<T>` is one value
/// per lane, of which those of the active lanes are defined.
#[macro_export]
macro_rules! runtime_functions {
    ($use:ident) => {
        $use! {
            /// Makes room for at least `MAX_ITEM_BYTES` of records; may switch to another warp.
            flush = __wl_flush(context: *mut WarpContext) -> ();
            /// Slow path of the access check, if the cached range does not contain the access. Returns the lanes that
            /// may continue, and updates the range. `space` is encoded as in `access::Space`.
            check = __wl_check(
                context: *mut WarpContext, range: *mut SiteRange, site: u32, space: u32, mask: u32,
                addresses: *const Lanes<u64>, bytes: u32, align: u32
            ) -> u32;
            /// Block-wide barrier; `kind` from `abi::barrier`. Returns the count, `all` or `any`. In hooked code, the
            /// lowered code has already written the `Barrier` item.
            barrier = __wl_barrier(context: *mut WarpContext, mask: u32, kind: u32, predicates: u32) -> u32;
            /// Arrival at a barrier with a number or a thread count. `meeting` is a `rendezvous::Rendezvous::word`; the
            /// other arguments are those of `barrier`.
            named_barrier = __wl_named_barrier(
                context: *mut WarpContext, mask: u32, kind: u32, predicates: u32, meeting: u32
            ) -> u32;
            /// The barrier of the block's cluster; `action` from `abi::cluster_barrier`.
            cluster_barrier = __wl_cluster_barrier(context: *mut WarpContext, action: u32) -> ();
            /// `mapa`: converts `addresses` to the corresponding addresses in the shared memory of other blocks of the
            /// cluster.
            map_shared = __wl_map_shared(
                context: *mut WarpContext, mask: u32, ranks: *const Lanes<u32>, addresses: *mut Lanes<u64>
            ) -> ();
            /// `getctarank`: returns the ranks of the blocks whose shared memory contains the addresses.
            shared_rank = __wl_shared_rank(
                context: *mut WarpContext, mask: u32, addresses: *const Lanes<u64>, ranks: *mut Lanes<u32>
            ) -> ();
            /// Operation on an `mbarrier` object; `operation` from `abi::mbarrier`. Returns the lanes for which a test
            /// is true.
            mbarrier = __wl_mbarrier(
                context: *mut WarpContext, mask: u32, operation: u32, addresses: *const Lanes<u64>,
                operands: *const Lanes<u64>, states: *mut Lanes<u64>
            ) -> u32;
            /// Reports that the lanes in `mask` reach `__syncthreads`, while those in `absent` are elsewhere and will
            /// continue.
            divergent_barrier = __wl_divergent_barrier(
                context: *mut WarpContext, mask: u32, absent: u32, file: *const u8, line: u32
            ) -> ();
            /// Called when the patience of a waiting loop is used up; refills `patience`.
            yield_now = __wl_yield(context: *mut WarpContext) -> ();
            /// Called in hooked code after `yield_now`, in a region in which lanes may wait for each other. Arguments:
            /// the branch that leaves the loop in which lanes wait, and the lanes elsewhere in the region that continue
            /// first. If there are none, nothing is reported.
            parted = __wl_parted(context: *mut WarpContext, branch: u32, others: u32) -> ();
            /// `printf`.
            vprintf = __wl_vprintf(
                context: *mut WarpContext, mask: u32, formats: *const Lanes<u64>, arguments: *const Lanes<u64>,
                results: *mut Lanes<i32>
            ) -> ();
            /// `__assertfail`; stops the kernel.
            assert = __wl_assert(
                context: *mut WarpContext, mask: u32, message: *const Lanes<u64>, file: *const Lanes<u64>,
                line: *const Lanes<u32>, function: *const Lanes<u64>
            ) -> ();
            /// `trap`; stops the kernel.
            trap = __wl_trap(context: *mut WarpContext, mask: u32) -> ();
            /// Allocation from the device heap.
            malloc = __wl_malloc(
                context: *mut WarpContext, mask: u32, sizes: *const Lanes<u64>, results: *mut Lanes<u64>
            ) -> ();
            /// Free of device heap memory.
            free = __wl_free(context: *mut WarpContext, mask: u32, pointers: *const Lanes<u64>) -> ();
            /// Stack overflow of a lane; stops the kernel.
            stack_overflow = __wl_stack_overflow(context: *mut WarpContext) -> ();
            /// Call through a pointer that is not a device function; stops the kernel.
            bad_call = __wl_bad_call(context: *mut WarpContext, mask: u32, targets: *const Lanes<u64>) -> ();
            /// Texture fetch. `operation` has the bits of `abi::texture`. The function writes its record, unless `site`
            /// is `NO_SITE`.
            texture = __wl_texture(
                context: *mut WarpContext, mask: u32, site: u32, operation: u32, handles: *const Lanes<u64>,
                coordinates: *const [Lanes<u32>; 4], results: *mut [Lanes<u32>; 4]
            ) -> ();
            /// Surface access. `operation` has the bits of `abi::surface`. The function writes its record, unless
            /// `site` is `NO_SITE`.
            surface = __wl_surface(
                context: *mut WarpContext, mask: u32, site: u32, operation: u32, handles: *const Lanes<u64>,
                coordinates: *const [Lanes<u32>; 4], values: *mut [Lanes<u64>; 4]
            ) -> ();
            /// CUDA's device runtime: launches of kernels by kernels, and related functions; `which` from
            /// `abi::device_call`.
            device_call = __wl_device_call(
                context: *mut WarpContext, mask: u32, which: u32,
                arguments: *const [Lanes<u64>; ARGUMENTS as usize], results: *mut Lanes<u64>
            ) -> ();
            /// `%globaltimer`: returns the virtual clock in nanoseconds.
            globaltimer = __wl_globaltimer(context: *mut WarpContext) -> u64;
            /// Reports the values of an operation, in code that records values: those with an exceptional result, or
            /// all of them if the code records them. `types` is a `ValueTypes`. `values` contains the bits of the
            /// result and of up to three operands, defined in the lanes of `mask`.
            operation = __wl_operation(
                context: *mut WarpContext, number: u32, types: u32, mask: u32, values: *const [Lanes<u64>; 4]
            ) -> ();
            /// Computes D = A · B + C for one tile of a tensor core. `format/src/matrix.rs` defines the bits of
            /// `operation` and the layout of registers.
            matrix = __wl_matrix(operation: u32, a: *const u8, b: *const u8, c: *const u8, d: *mut u8) -> ();
            /// The same in code that records values: also reports the values. The highest bit of `number` requests a
            /// record of each result. `tile` is the `access::part_word` of the tile in its instruction.
            matrix_values = __wl_matrix_values(
                context: *mut WarpContext, number: u32, mask: u32, tile: u32, operation: u32, a: *const u8,
                b: *const u8, c: *const u8, d: *mut u8
            ) -> ();
        }
    };
}

macro_rules! names {
    ($($(#[$meta:meta])* $name:ident = $symbol:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// Names of the runtime's functions.
        pub const RUNTIME_FUNCTIONS: &[&str] = &[$(stringify!($symbol)),*];
    };
}

runtime_functions!(names);

/// Prefix of the names in [`RUNTIME_FUNCTIONS`].
pub const RUNTIME_FUNCTION_PREFIX: &str = "__wl_";

/// One value per lane.
pub type Lanes<T> = [T; 32];

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the copies that cannot be generated from the tables: the device's hooks in CUDA, and the documentation.
    #[test]
    fn sources_and_pages_have_the_same_hooks() {
        let cuda = include_str!("../../runtime/device/hooks.cu");
        let defined = cuda.lines().filter_map(|line| line.strip_prefix("HOOK void ")?.strip_suffix(") {"));
        let mut defined: Vec<(String, Vec<Type>)> = defined
            .filter_map(|line| {
                let (name, arguments) = line.split_once('(')?;
                let types = arguments.split(", ").skip(1).map(|argument| match argument.split(' ').next() {
                    Some("u32") => Type::Word,
                    Some("u64") => Type::Long,
                    Some("bool") => Type::Bit,
                    other => panic!("{name} has an argument of type {other:?}"),
                });
                assert_eq!(arguments.split(", ").next(), Some("TARGET"), "{name}");
                Some((name.to_owned(), types.collect()))
            })
            .collect();
        let mut listed: Vec<_> = GpuHook::all().map(|hook| (hook.name(), hook.arguments().to_vec())).collect();
        let by_name = |one: &(String, Vec<Type>), other: &(String, Vec<Type>)| one.0.cmp(&other.0);
        defined.sort_by(by_name);
        listed.sort_by(by_name);
        assert_eq!(defined, listed);

        let page = include_str!("../../docs/design/borders.md");
        for name in RUNTIME_FUNCTIONS {
            assert!(name.starts_with(RUNTIME_FUNCTION_PREFIX), "{name}");
            assert!(page.contains(&format!("`{name}(")), "docs/design/borders.md does not describe {name}");
        }
        for hook in Hook::all()
            .filter(|hook| !matches!(hook, Hook::Access(space) | Hook::Member(space) if *space != Space::Generic))
        {
            assert!(page.contains(&hook.name()), "docs/design/borders.md does not describe {}", hook.name());
        }
    }

    #[test]
    fn hooks_are_known_by_their_names() {
        for hook in Hook::all() {
            assert_eq!(Hook::of_name(&hook.name()), Some(hook));
        }
        assert_eq!(Hook::of_name("__warpline_access_heap"), None);
        assert_eq!(Hook::of_name("__warpline_name"), None);
        assert_eq!(Hook::of_name("warpline_block"), None);
    }
}
