//! The site table defines the meaning of every number in a module's records. The pass creates it, the executable
//! contains it as bytes, the trace stores it, and the analyzer reads it.

use crate::access::{MOST_BUNDLES, MOST_MEMBERS, MOST_SITES, Space};
use crate::condition::{AtomicKind, AtomicSite, Condition};
use crate::conflict::ConflictHint;
use crate::expression::{AddressExpression, Expression, LoopExpression, check_expressions};
use crate::matrix::Product;
use crate::member::{MemberAccess, Structure};
use crate::operation::Operation;
use crate::values::Element;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Version of the encoding; the first byte. Additions by version: 2 bundles, 4 the checksum and the digests of source
/// files, 8 hints, 16 the parts of blocks and operands, 33 address expressions, 36 conditions of branches, 37 loads
/// cached in all levels and local accesses that ptxas keeps in registers, 38 floating-point operations, 39 conflict
/// hints and the elements of sites, 40 accesses to members of structures. The checksum covers the version, so a flipped
/// bit is detected.
pub const VERSION: u8 = 40;
/// Bytes before the encoded table: the version, and since version 4 the CRC-32 of the version and the encoded table.
#[cfg(test)]
const HEAD_BYTES: usize = 5;

/// MD5 digest of a source file, as in DWARF 5.
pub type Digest = [u8; 16];

/// Index into [`SiteTable::files`].
pub type FileId = u32;
/// Index into [`SiteTable::frames`].
pub type FrameId = u32;

/// All numbered entities of one device module (a translation unit, or a whole program with `-rdc`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteTable {
    /// Absolute path of the module's main source file.
    pub module: String,
    /// Hexadecimal hash of the hooked device code, which distinguishes modules of the same name.
    pub hash: String,
    /// Device architecture that the code was compiled for, for example 75 for `sm_75`.
    pub arch: u32,
    /// Files that frames refer to.
    pub files: Vec<File>,
    /// Interned source positions.
    pub frames: Vec<Frame>,
    /// Device functions, including kernels.
    pub functions: Vec<Function>,
    /// Instrumented memory instructions, indexed by a record's site field.
    pub sites: Vec<Site>,
    /// Basic blocks, indexed by count records.
    pub blocks: Vec<Block>,
    /// Conditional branches and switches, indexed by count records.
    pub branches: Vec<Branch>,
    /// Calls that were not inlined, indexed by `Call` records.
    pub calls: Vec<CallSite>,
    /// Device variables and globals of the compiler, in the order of the module's descriptor.
    pub globals: Vec<Global>,
    /// Memory operations that are executed but not recorded.
    pub not_seen: Vec<NotSeen>,
    /// Accesses that share a record. Since version 2.
    pub bundles: Vec<Bundle>,
    /// Digests of the files in [`Self::files`] as the compiler read them, if they could be read; empty if not computed.
    /// Since version 4.
    pub digests: Vec<Option<Digest>>,
    /// Additional facts of sites, in ascending order of sites. Since version 8.
    pub hints: Vec<Hint>,
    /// Shared variables that hints refer to. Since version 8.
    pub shared: Vec<String>,
    /// The source lines of the instructions in blocks with several lines, in ascending order of blocks. A block without
    /// entries belongs to its own position. Since version 16.
    pub parts: Vec<BlockPart>,
    /// Operands of some sites with source names, in ascending order of sites. Since version 16.
    pub operands: Vec<Operand>,
    /// Names that operands refer to. Since version 16.
    pub names: Vec<String>,
    /// The branches that blocks directly depend on, in ascending order of blocks. Since version 32.
    pub decisions: Vec<Decision>,
    /// The block that ends with each branch in [`Self::branches`]; empty in older tables. Since version 32.
    pub branch_blocks: Vec<u32>,
    /// Expressions of addresses and guards; operands precede the expressions that use them. Since version 33.
    pub expressions: Vec<Expression>,
    /// Addresses of the sites of kernels, in ascending order of sites. Since version 33.
    pub addresses: Vec<AddressExpression>,
    /// Loops whose iterations are counted in expressions. Since version 33.
    pub loops: Vec<LoopExpression>,
    /// Names of the parameters that expressions read, by function, parameter and offset. Since version 33.
    pub parameters: Vec<ParameterName>,
    /// The compiler, for example `LLVM 22.1.0`; empty in older tables. Since version 34.
    pub compiler: String,
    /// Options that affect the generation of device code, for example `-O3 -ffast-math`. Since version 34.
    pub options: String,
    /// Conditions of the branches in [`Self::branches`]; empty in older tables. Since version 36.
    pub conditions: Vec<Condition>,
    /// Kinds of atomic operations, in ascending order of sites. Since version 36.
    pub atomics: Vec<AtomicSite>,
    /// Accesses to local variables that `ptxas` keeps in registers, in ascending order of sites. They are checked but
    /// cause no memory traffic, so they have no records. Since version 37.
    pub in_registers: Vec<u32>,
    /// Operations in code that checks or records values. Since version 38.
    pub operations: Vec<Operation>,
    /// Sites with conflict hints, in ascending order of sites. Since version 39.
    pub conflict_hints: Vec<ConflictHint>,
    /// Functions with memory fences, in ascending order; `None` if unknown. Since version 39.
    pub fencing: Option<Vec<u32>>,
    /// Elements that each site transfers. Sites without an entry are not recorded. Since version 39.
    pub elements: Vec<Element>,
    /// Structures whose members accesses index. Since version 40.
    pub structures: Vec<Structure>,
    /// Accesses that index a member of a structure, in ascending order of sites. Since version 40.
    pub member_accesses: Vec<MemberAccess>,
}

/// The source name of a kernel parameter, or of a member of one, that expressions read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ParameterName {
    /// Index into [`SiteTable::functions`].
    pub function: u32,
    /// Number of the parameter.
    pub parameter: u32,
    /// Offset in bytes within the parameter.
    pub offset: u32,
    /// Number of bytes that are read.
    pub bytes: u32,
    /// Name as an index into [`SiteTable::names`]; `None` without debug information.
    pub name: Option<u32>,
}

/// A side of a branch that always leads to a block, while its other sides need not (control dependence).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Index into [`SiteTable::blocks`].
    pub block: u32,
    /// Index into [`SiteTable::branches`].
    pub branch: u32,
    /// Side of the branch, as in its records.
    pub side: u32,
}

/// The instructions of a block that belong to one source line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockPart {
    /// Index into [`SiteTable::blocks`].
    pub block: u32,
    /// Source positions, innermost first; empty if unknown.
    pub chain: Vec<FrameId>,
    /// Number of instructions per execution.
    pub mix: InstructionMix,
}

/// The operand of a site, with names from the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    /// Index into [`SiteTable::sites`].
    pub site: u32,
    /// Variable that the address is derived from, as an index into [`SiteTable::names`].
    pub variable: Option<u32>,
    /// Accessed member, for example `.velocity.x`; an index into the names.
    pub member: Option<u32>,
    /// Structure that contains the member, or that is accessed as a whole; an index into the names.
    pub structure: Option<u32>,
    /// Size of the structure in bytes; 0 if there is none.
    pub structure_bytes: u32,
    /// Change of the address with `threadIdx.x`, `.y` and `.z`.
    pub steps: [Step; 3],
    /// Whether the address depends on a value loaded from memory, such as an index from an array.
    pub loaded: bool,
}

/// Change of an address when a thread index increases by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// The address does not change.
    #[default]
    None,
    /// The address changes by this many bytes.
    Bytes(i64),
    /// The address changes by a multiple of a value that is equal for all threads. Contains the value's name, if it has
    /// one.
    Times(Option<u32>),
    /// The address changes in another way.
    Other,
}

/// Facts that help to judge whether two accesses to the same memory conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// Index into [`SiteTable::sites`].
    pub site: u32,
    /// Accessed variable in shared memory, as an index into [`SiteTable::shared`].
    pub shared: Option<u32>,
    /// Known facts about the stored value.
    pub stored: Stored,
    /// Whether the result of an atomic operation is unused, so that no thread waits for it.
    pub unused: bool,
}

/// Known facts about the value of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stored {
    /// The value is unknown.
    #[default]
    Anything,
    /// The value is the same constant in all threads, given as the bits of an integer or a double.
    Constant(u64),
    /// The value is an argument of the kernel, so all threads of a launch store the same value.
    Argument,
}

/// Accesses of one basic block at constant distances that share one record ([`crate::access::bundle_field`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// Accesses in the order of execution. The record contains the addresses of the first one, whose offset is 0.
    pub members: Vec<Member>,
}

/// One access of a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Index into [`SiteTable::sites`].
    pub site: u32,
    /// Distance in bytes from the first member's address, equal in every lane.
    pub offset: i32,
}

/// A source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct File {
    /// Absolute path as the compiler saw it.
    pub path: String,
    /// Whether it does not belong to the user's code: clang's resource folder, toolkit or system headers, libdevice.
    pub system: bool,
}

/// A source position. `line` 0 means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Demangled function name, with parameters.
    pub function: String,
    /// File of the position.
    pub file: FileId,
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1; 0 if unknown.
    pub column: u32,
}

/// A device function or kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Mangled name; (module, mangled name) identifies a kernel.
    pub mangled: String,
    /// Demangled name.
    pub name: String,
    /// Position of its definition.
    pub frame: FrameId,
    /// Whether it is a kernel.
    pub kernel: bool,
    /// Whether it is part of libdevice or of Warpline.
    pub in_library: bool,
}

/// Memory operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Op {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It reads and writes atomically.
    Atomic,
}

/// Cache operator of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CacheOp {
    /// The architecture's default (`.ca` for loads, `.wb` for stores).
    #[default]
    Default,
    /// `.cg`: cached in L2 only.
    Global,
    /// `.cs`: streaming.
    Streaming,
    /// `.cv`/`.wt` or volatile: not cached in L1.
    Volatile,
    /// `.nc`: read-only data path (`__ldg`).
    NonCoherent,
    /// `.lu`: last use.
    LastUse,
    /// Cached in all levels, even if the architecture's default is not: requested by `-Xptxas -dlcm=ca`.
    All,
}

impl CacheOp {
    /// Returns whether loads with this operator bypass L1 on every GPU.
    pub fn is_past_l1(self) -> bool {
        matches!(self, CacheOp::Global | CacheOp::Volatile)
    }
}

/// One instrumented instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Index of the function that contains it.
    pub function: u32,
    /// Kind of access.
    pub op: Op,
    /// Space at compile time; records resolve `Generic`.
    pub space: Space,
    /// Bytes per lane, from the first to the last touched byte.
    pub bytes: u32,
    /// For accesses with holes (masked vectors): one bit per touched byte.
    pub byte_mask: Option<u64>,
    /// Alignment in bytes that the instruction requires.
    pub align: u32,
    /// Cache operator.
    pub cache: CacheOp,
    /// Source positions: the innermost first, then the inlined-at chain outwards. Never empty.
    pub chain: Vec<FrameId>,
    /// Whether the position is the nearest known one, because the instruction had lost its own.
    pub approximate: bool,
    /// Whether it is inside libdevice or another library function.
    pub in_library: bool,
}

impl Site {
    /// Returns whether it has no effect on other warps, and need not observe their effects immediately.
    pub fn is_plain_load(&self) -> bool {
        self.op == Op::Load && self.cache != CacheOp::Volatile
    }
}

/// Number of instructions per block, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionMix {
    /// Half-precision arithmetic.
    pub fp16: u32,
    /// Single-precision arithmetic.
    pub fp32: u32,
    /// Double-precision arithmetic.
    pub fp64: u32,
    /// Integer and logic operations.
    pub int: u32,
    /// Operations of the special function unit (reciprocal, square root, sine, …).
    pub special: u32,
    /// Conversions.
    pub conversion: u32,
    /// Branches, calls and returns.
    pub control: u32,
    /// Loads, stores and atomics.
    pub memory: u32,
    /// Barriers, fences and warp-wide operations.
    pub barrier: u32,
    /// Tensor-core operations.
    pub tensor: u32,
    /// Multiply-adds per warp of tensor-core operations, by [`crate::matrix::Product`].
    pub products: [u32; Product::ALL.len()],
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Index of the function that contains it.
    pub function: u32,
    /// The first known source positions, innermost first; empty if unknown.
    pub chain: Vec<FrameId>,
    /// Number of instructions per execution.
    pub mix: InstructionMix,
}

/// A conditional branch or switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Index of the function that contains it.
    pub function: u32,
    /// Source positions, innermost first; empty if unknown.
    pub chain: Vec<FrameId>,
    /// Number of sides: 2 (taken, not taken), or the number of distinct targets of a switch.
    pub sides: u32,
}

/// A call that was not inlined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSite {
    /// Index of the calling function.
    pub caller: u32,
    /// Source positions, innermost first.
    pub chain: Vec<FrameId>,
}

/// Kind of a module's global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GlobalKind {
    /// `__device__`.
    Device,
    /// `__constant__`.
    Constant,
    /// `__managed__`.
    Managed,
    /// Generated by the compiler: switch tables, constant arrays, strings, vtables.
    Compiler,
}

/// A device variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Global {
    /// Source name if known; otherwise, the mangled name.
    pub name: String,
    /// Kind.
    pub kind: GlobalKind,
    /// Size in bytes.
    pub bytes: u64,
    /// Position of its declaration, with line 0 if unknown.
    pub frame: Option<FrameId>,
}

/// An executed operation that no record shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotSeen {
    /// Index of the function that contains it.
    pub function: u32,
    /// Source positions, innermost first.
    pub chain: Vec<FrameId>,
    /// Description, for example "inline assembly: cp.async…".
    pub what: String,
}

impl NotSeen {
    /// Prefix of `what` for operations that the CPU device's records do show.
    pub const ON_GPU: &str = "on a GPU: ";

    /// Returns whether this device's records omit it.
    pub fn concerns(&self, cpu_device: bool) -> bool {
        !(cpu_device && self.what.starts_with(Self::ON_GPU))
    }
}

/// Reasons why bytes are not a valid site table.
#[derive(Debug, thiserror::Error)]
pub enum SiteTableError {
    /// Another version wrote the table.
    #[error("site table version {0}, this warpline reads {VERSION}: rebuild the program with the same release")]
    Version(u8),
    /// The bytes are empty or cannot be decoded.
    #[error("damaged site table: {0}; build the program again")]
    Damaged(String),
}

/// Returns whether a path ends with the components of `end`.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| end.starts_with('/') || rest.is_empty() || rest.ends_with('/'))
}

impl SiteTable {
    /// Returns the bytes that the executable and the trace contain.
    pub fn to_bytes(&self) -> Vec<u8> {
        let table = postcard::to_stdvec(self).expect("plain data always encodes");
        let mut bytes = vec![VERSION];
        bytes.extend(checksum(VERSION, &table).to_le_bytes());
        bytes.extend(table);
        bytes
    }

    /// Decodes the output of [`Self::to_bytes`] and validates every index, so that users of a table need not.
    pub fn from_bytes(bytes: &[u8]) -> Result<SiteTable, SiteTableError> {
        let (&version, rest) = bytes.split_first().ok_or_else(|| SiteTableError::Damaged("empty".into()))?;
        let damaged = |what: &str| SiteTableError::Damaged(what.into());
        let rest = match version {
            VERSION | 39 | 38 | 37 | 36 | 35 | 33 | 32 | 16 | 8 | 4 => {
                let (stored, rest) = rest.split_first_chunk().ok_or_else(|| damaged("it is cut short"))?;
                if u32::from_le_bytes(*stored) != checksum(version, rest) {
                    return Err(damaged("its checksum does not match"));
                }
                rest
            }
            1 | 2 => rest,
            _ => return Err(SiteTableError::Version(version)),
        };
        // Each version ends before the additions of later versions. A zero byte is an empty list or an empty text.
        let lists = match version {
            1 => 24,
            2 => 23,
            4 => 22,
            8 => 20,
            16 => 17,
            32 => 15,
            33 => 11,
            35 => 9,
            36 => 7,
            37 => 6,
            38 => 5,
            39 => 2,
            _ => 0,
        };
        let mut whole = rest.to_vec();
        whole.resize(rest.len() + lists, 0);
        let (table, left): (SiteTable, _) =
            postcard::take_from_bytes(&whole).map_err(|error| SiteTableError::Damaged(error.to_string()))?;
        if !left.is_empty() {
            return Err(damaged("something stands behind it"));
        }
        table.check().map_err(|what| SiteTableError::Damaged(what.into()))?;
        Ok(table)
    }

    /// Returns the additional facts of a site.
    pub fn hint(&self, site: u32) -> Hint {
        let found = self.hints.binary_search_by_key(&site, |hint| hint.site);
        found.map_or(Hint { site, ..Hint::default() }, |index| self.hints[index])
    }

    /// Returns the operand of a site.
    pub fn operand(&self, site: u32) -> Option<&Operand> {
        let found = self.operands.binary_search_by_key(&site, |operand| operand.site);
        found.ok().map(|index| &self.operands[index])
    }

    /// Returns whether one of a chain's positions is at this line of a file whose path ends with `file`.
    pub fn is_at_line(&self, chain: &[FrameId], file: &str, line: u32) -> bool {
        let frames = chain.iter().filter_map(|&frame| self.frames.get(frame as usize));
        let mut here = frames.filter(|frame| frame.line == line);
        here.any(|frame| self.files.get(frame.file as usize).is_some_and(|known| ends_with(&known.path, file)))
    }

    /// Returns the address of a site, if it has an expression.
    pub fn address(&self, site: u32) -> Option<&AddressExpression> {
        let found = self.addresses.binary_search_by_key(&site, |address| address.site);
        found.ok().map(|index| &self.addresses[index])
    }

    /// Returns the kind of an atomic operation; `None` if it is unknown, or if the site is not atomic.
    pub fn atomic(&self, site: u32) -> Option<AtomicKind> {
        let found = self.atomics.binary_search_by_key(&site, |atomic| atomic.site);
        found.ok().map(|index| self.atomics[index].kind)
    }

    /// Returns the element that a site transfers.
    pub fn element(&self, site: u32) -> Element {
        self.elements.get(site as usize).copied().unwrap_or_default()
    }

    /// Returns whether any site certainly accesses a local variable.
    pub fn has_local_accesses(&self) -> bool {
        self.sites.iter().any(|site| site.space == Space::Local)
    }

    /// Marks the local accesses of functions (mangled names) whose local variables `ptxas` keeps in registers.
    pub fn keep_in_registers(&mut self, functions: &BTreeSet<String>) {
        let kept = |site: &Site| {
            site.space == Space::Local && functions.contains(&self.functions[site.function as usize].mangled)
        };
        self.in_registers = (0..).zip(&self.sites).filter(|(_, site)| kept(site)).map(|(number, _)| number).collect();
    }

    /// Returns whether a site is an access to a local variable that `ptxas` keeps in registers.
    pub fn is_in_registers(&self, site: u32) -> bool {
        self.in_registers.binary_search(&site).is_ok()
    }

    /// Returns the condition of a branch; `None` if it was not analysed.
    pub fn condition(&self, branch: u32) -> Option<&Condition> {
        self.conditions.get(branch as usize)
    }

    /// Returns the parts of a block; empty if the whole block belongs to one line.
    pub fn parts_of(&self, block: u32) -> &[BlockPart] {
        let first = self.parts.partition_point(|part| part.block < block);
        let parts = &self.parts[first..];
        &parts[..parts.partition_point(|part| part.block == block)]
    }

    /// Returns the branches that a block depends on directly.
    pub fn decisions_of(&self, block: u32) -> &[Decision] {
        let first = self.decisions.partition_point(|decision| decision.block < block);
        let decisions = &self.decisions[first..];
        &decisions[..decisions.partition_point(|decision| decision.block == block)]
    }

    fn check(&self) -> Result<(), &'static str> {
        let functions = self.functions.len() as u32;
        let chain = |chain: &[FrameId]| chain.iter().all(|&frame| (frame as usize) < self.frames.len());
        let bundle = |bundle: &Bundle| {
            let members = &bundle.members;
            (1..=MOST_MEMBERS).contains(&members.len())
                && members[0].offset == 0
                && members.iter().all(|member| (member.site as usize) < self.sites.len())
        };
        if !self.digests.is_empty() && self.digests.len() != self.files.len() {
            return Err("digests of other files");
        }
        if self.sites.len() > MOST_SITES || self.bundles.len() > MOST_BUNDLES || !self.bundles.iter().all(bundle) {
            return Err("sites or bundles that no record can name");
        }
        let shared = |hint: &Hint| hint.shared.is_none_or(|name| (name as usize) < self.shared.len());
        let rising = self.hints.windows(2).all(|pair| pair[0].site < pair[1].site);
        let named = |hint: &Hint| (hint.site as usize) < self.sites.len() && shared(hint);
        if !rising || !self.hints.iter().all(named) {
            return Err("hints about sites or variables that it does not have");
        }
        let parts_rise = self.parts.windows(2).all(|pair| pair[0].block <= pair[1].block);
        let part = |part: &BlockPart| (part.block as usize) < self.blocks.len() && chain(&part.chain);
        if !parts_rise || !self.parts.iter().all(part) {
            return Err("parts of blocks that it does not have");
        }
        let decisions_rise = self.decisions.windows(2).all(|pair| pair[0].block <= pair[1].block);
        let decision = |one: &Decision| {
            (one.block as usize) < self.blocks.len()
                && self.branches.get(one.branch as usize).is_some_and(|branch| one.side < branch.sides)
        };
        let ends = self.branch_blocks.is_empty() && self.decisions.is_empty()
            || self.branch_blocks.len() == self.branches.len();
        let ended = |block: &u32| (*block as usize) < self.blocks.len();
        if !decisions_rise || !self.decisions.iter().all(decision) || !ends || !self.branch_blocks.iter().all(ended) {
            return Err("decisions over blocks, or by branches, that it does not have");
        }
        let name = |name: &Option<u32>| name.is_none_or(|name| (name as usize) < self.names.len());
        let step = |step: &Step| !matches!(step, Step::Times(Some(factor)) if *factor as usize >= self.names.len());
        let operand = |operand: &Operand| {
            (operand.site as usize) < self.sites.len()
                && [operand.variable, operand.member, operand.structure].iter().all(name)
                && operand.steps.iter().all(step)
        };
        let operands_rise = self.operands.windows(2).all(|pair| pair[0].site < pair[1].site);
        if !operands_rise || !self.operands.iter().all(operand) {
            return Err("operands of sites, or names, that it does not have");
        }
        check_expressions(self)?;
        self.check_conflict_hints()?;
        self.check_members()?;
        if !self.conditions.is_empty() && self.conditions.len() != self.branches.len() {
            return Err("conditions of other branches");
        }
        let atomics_rise = self.atomics.windows(2).all(|pair| pair[0].site < pair[1].site);
        if !atomics_rise || !self.atomics.iter().all(|atomic| (atomic.site as usize) < self.sites.len()) {
            return Err("atomic operations of sites that it does not have");
        }
        if self.elements.len() > self.sites.len() {
            return Err("elements of sites that it does not have");
        }
        let local = |site: &u32| self.sites.get(*site as usize).is_some_and(|site| site.space == Space::Local);
        if !self.in_registers.windows(2).all(|pair| pair[0] < pair[1]) || !self.in_registers.iter().all(local) {
            return Err("local accesses that it does not have");
        }
        let named = |one: &ParameterName| one.function < functions && name(&one.name);
        if !self.parameters.is_sorted() || !self.parameters.iter().all(named) {
            return Err("parameters of functions, or names, that it does not have");
        }
        let good = self.frames.iter().all(|frame| (frame.file as usize) < self.files.len())
            && self.functions.iter().all(|function| (function.frame as usize) < self.frames.len())
            && self.sites.iter().all(|site| site.function < functions && !site.chain.is_empty() && chain(&site.chain))
            && self.blocks.iter().all(|block| block.function < functions && chain(&block.chain))
            && self.branches.iter().all(|branch| branch.function < functions && chain(&branch.chain))
            && self.calls.iter().all(|call| call.caller < functions && chain(&call.chain))
            && self.globals.iter().all(|global| global.frame.is_none_or(|frame| (frame as usize) < self.frames.len()))
            && self.not_seen.iter().all(|entry| entry.function < functions && chain(&entry.chain))
            && self.operations.iter().all(|one| one.function < functions && chain(&one.chain));
        if good { Ok(()) } else { Err("an index points outside its table") }
    }
}

fn checksum(version: u8, table: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[version]);
    hasher.update(table);
    hasher.finalize()
}

#[cfg(test)]
#[path = "site_table_tests.rs"]
mod tests;
