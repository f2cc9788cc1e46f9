//! The site table: what every number in a module's records stands for. The pass makes it, the
//! executable carries it as bytes, the trace hands it on, the analyzer reads it.

use crate::access::{MOST_BUNDLES, MOST_MEMBERS, MOST_SITES, Space};
use crate::condition::{AtomicKind, AtomicSite, Condition};
use crate::conflict::ConflictHint;
use crate::expression::{AddressExpression, Expression, LoopExpression, check_expressions};
use crate::matrix::Product;
use crate::operation::Operation;
use crate::values::Element;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Version of the encoding; the first byte of the bytes. Version 2 added bundles, version 4 the checksum and the digests of
/// source files, version 8 hints, version 16 the parts of blocks and operands, version 33 the expressions of addresses, version 36 what
/// decides over branches, version 37 loads that are to be cached in all levels and the local accesses that ptxas keeps in registers,
/// version 38 floating-point operations, version 39 hints about conflicts and the elements of sites. A flipped bit of the version is found by the checksum, which
/// covers it.
pub const VERSION: u8 = 39;
/// Bytes before the encoded table: the version and, since version 4, the CRC-32 of the version and the encoded table.
#[cfg(test)]
const HEAD_BYTES: usize = 5;

/// MD5 of a source file, which is what DWARF 5 has of it too.
pub type Digest = [u8; 16];

/// Index into [`SiteTable::files`].
pub type FileId = u32;
/// Index into [`SiteTable::frames`].
pub type FrameId = u32;

/// All numbered things of one device module (a translation unit, or a whole program with `-rdc`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteTable {
    /// The module's main source file, absolute.
    pub module: String,
    /// Hash of the hooked device code, hexadecimal; distinguishes modules of one name.
    pub hash: String,
    /// Device architecture the code was compiled for, as 75 for `sm_75`.
    pub arch: u32,
    /// Files that frames refer to.
    pub files: Vec<File>,
    /// Interned source positions.
    pub frames: Vec<Frame>,
    /// Device functions, kernels among them.
    pub functions: Vec<Function>,
    /// Instrumented memory instructions; a record's site field is an index into it.
    pub sites: Vec<Site>,
    /// Basic blocks; count records use the index.
    pub blocks: Vec<Block>,
    /// Conditional branches and switches; count records use the index.
    pub branches: Vec<Branch>,
    /// Calls that survived inlining; `Call` records use the index.
    pub calls: Vec<CallSite>,
    /// Device variables and compiler-made globals, in the order of the module's descriptor.
    pub globals: Vec<Global>,
    /// Memory operations that are executed and not recorded.
    pub not_seen: Vec<NotSeen>,
    /// Accesses that share a record. Since version 2.
    pub bundles: Vec<Bundle>,
    /// Of each file in [`Self::files`] as the compiler read it, where it could be read; empty if they were not
    /// computed. Since version 4.
    pub digests: Vec<Option<Digest>>,
    /// Additional facts of sites, by rising site. Since version 8.
    pub hints: Vec<Hint>,
    /// Shared variables that hints name. Since version 8.
    pub shared: Vec<String>,
    /// What the instructions of blocks with several source lines belong to, by rising block. A block without any
    /// belongs to its own position as a whole. Since version 16.
    pub parts: Vec<BlockPart>,
    /// What some sites access, in the words of the source, by rising site. Since version 16.
    pub operands: Vec<Operand>,
    /// Names that operands refer to. Since version 16.
    pub names: Vec<String>,
    /// Which branches blocks depend on directly, by rising block. Since version 32.
    pub decisions: Vec<Decision>,
    /// The block that each branch in [`Self::branches`] ends; empty in older tables. Since version 32.
    pub branch_blocks: Vec<u32>,
    /// Values that addresses and guards are made of, each after its operands. Since version 33.
    pub expressions: Vec<Expression>,
    /// Addresses of the sites of kernels, by rising site. Since version 33.
    pub addresses: Vec<AddressExpression>,
    /// Loops that expressions count the iterations of. Since version 33.
    pub loops: Vec<LoopExpression>,
    /// Names of the parameters that expressions read, by function, parameter and offset. Since version 33.
    pub parameters: Vec<ParameterName>,
    /// The compiler, as `LLVM 22.1.0`; empty in older tables. Since version 34.
    pub compiler: String,
    /// Options that decide how device code is generated, as `-O3 -ffast-math`. Since version 34.
    pub options: String,
    /// What decides over each branch in [`Self::branches`]; empty in older tables. Since version 36.
    pub conditions: Vec<Condition>,
    /// What atomic operations do, by rising site. Since version 36.
    pub atomics: Vec<AtomicSite>,
    /// Accesses to local variables that `ptxas` keeps in registers, by rising site: they are checked and cause no
    /// memory traffic, so they have no records. Since version 37.
    pub in_registers: Vec<u32>,
    /// Operations that are followed, in code that follows values. Since version 38.
    pub operations: Vec<Operation>,
    /// Sites with hints about conflicts, by rising site. Since version 39.
    pub conflict_hints: Vec<ConflictHint>,
    /// Functions with memory fences, rising; `None` where that is unknown. Since version 39.
    pub fencing: Option<Vec<u32>>,
    /// What each site moves; sites without an entry are not followed. Since version 39.
    pub elements: Vec<Element>,
}

/// What the source calls a kernel parameter, or a member of one, that expressions read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ParameterName {
    /// Index into [`SiteTable::functions`].
    pub function: u32,
    /// Number of the parameter.
    pub parameter: u32,
    /// Bytes from its start.
    pub offset: u32,
    /// Bytes that are read.
    pub bytes: u32,
    /// Its name, an index into [`SiteTable::names`]; `None` without debug information.
    pub name: Option<u32>,
}

/// A side of a branch that leads to a block for certain, while its other sides need not (control dependence).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Index into [`SiteTable::blocks`].
    pub block: u32,
    /// Index into [`SiteTable::branches`].
    pub branch: u32,
    /// The branch's side, as in its records.
    pub side: u32,
}

/// The instructions of a block that belong to one source line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockPart {
    /// Index into [`SiteTable::blocks`].
    pub block: u32,
    /// Positions, innermost first; empty when unknown.
    pub chain: Vec<FrameId>,
    /// Instructions per execution.
    pub mix: InstructionMix,
}

/// What a site accesses, in the words of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    /// Index into [`SiteTable::sites`].
    pub site: u32,
    /// Variable that the address comes from, an index into [`SiteTable::names`].
    pub variable: Option<u32>,
    /// Member that is accessed, as `.velocity.x`; a name.
    pub member: Option<u32>,
    /// Structure that it is a member of, or that is accessed as a whole; a name.
    pub structure: Option<u32>,
    /// Its size; 0 where there is none.
    pub structure_bytes: u32,
    /// How the address changes with `threadIdx.x`, `.y` and `.z`.
    pub steps: [Step; 3],
    /// The address depends on a value that was loaded from memory: an index out of an array.
    pub loaded: bool,
}

/// How an address changes when a thread index grows by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Does not change.
    #[default]
    None,
    /// Changes by this many bytes.
    Bytes(i64),
    /// Changes by a multiple of a value that is the same for all threads; contains its name, if it has one.
    Times(Option<u32>),
    /// Changes in another way.
    Other,
}

/// What helps to judge whether two accesses of one place get in each other's way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// Index into [`SiteTable::sites`].
    pub site: u32,
    /// Variable in shared memory that is accessed, an index into [`SiteTable::shared`].
    pub shared: Option<u32>,
    /// What a store stores.
    pub stored: Stored,
    /// The result of an atomic operation is unused, so no thread waits for it.
    pub unused: bool,
}

/// What is known of the value that a store stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stored {
    /// Nothing.
    #[default]
    Anything,
    /// The same constant in all threads, as the bits of an integer or a double.
    Constant(u64),
    /// An argument of the kernel, so that all threads of a launch store the same.
    Argument,
}

/// Accesses of one basic block that lie at constant distances from each other and have one record
/// ([`crate::access::bundle_field`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// In the order in which they happen. The record has the addresses of the first, whose offset is 0.
    pub members: Vec<Member>,
}

/// One access of a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Index into [`SiteTable::sites`].
    pub site: u32,
    /// Bytes from the first member's address to this one's, in every lane.
    pub offset: i32,
}

/// A source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct File {
    /// Absolute path as the compiler saw it.
    pub path: String,
    /// Not the user's code: clang's resource folder, toolkit or system headers, libdevice.
    pub system: bool,
}

/// A source position. `line` 0 means unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Demangled function name, with parameters.
    pub function: String,
    /// File of the position.
    pub file: FileId,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 unknown.
    pub column: u32,
}

/// A device function or kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Mangled name; kernels are known by (module, mangled name).
    pub mangled: String,
    /// Demangled name.
    pub name: String,
    /// Position of its definition.
    pub frame: FrameId,
    /// Launchable.
    pub kernel: bool,
    /// Part of libdevice or of Warpline itself.
    pub in_library: bool,
}

/// What an instruction does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Op {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes as one.
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
    /// Cached in all levels although the architecture's default may not be: what `-Xptxas -dlcm=ca` requests.
    All,
}

impl CacheOp {
    /// Returns whether loads with it go past L1, whatever the GPU caches there.
    pub fn is_past_l1(self) -> bool {
        matches!(self, CacheOp::Global | CacheOp::Volatile)
    }
}

/// One instrumented instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Function that holds it.
    pub function: u32,
    /// Kind of access.
    pub op: Op,
    /// Space as far as the compiler knew; `Generic` is resolved in the records.
    pub space: Space,
    /// Bytes per lane from first to last.
    pub bytes: u32,
    /// For accesses with holes (masked vectors): bit per byte that is really touched.
    pub byte_mask: Option<u64>,
    /// Alignment in bytes that the instruction requires.
    pub align: u32,
    /// Cache operator.
    pub cache: CacheOp,
    /// Positions, true innermost first, then the inlined-at chain outwards. Never empty.
    pub chain: Vec<FrameId>,
    /// Taken from the nearest known position; the instruction had lost its own.
    pub approximate: bool,
    /// Inside libdevice or another library function.
    pub in_library: bool,
}

impl Site {
    /// Returns whether it does nothing that other warps can notice, and need not see at once what they do.
    pub fn is_plain_load(&self) -> bool {
        self.op == Op::Load && self.cache != CacheOp::Volatile
    }
}

/// Instruction classes counted per block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionMix {
    /// Half precision.
    pub fp16: u32,
    /// Single precision.
    pub fp32: u32,
    /// Double precision.
    pub fp64: u32,
    /// Integer and logic.
    pub int: u32,
    /// Special function unit (reciprocal, square root, sine, …).
    pub special: u32,
    /// Conversions.
    pub conversion: u32,
    /// Branches, calls, returns.
    pub control: u32,
    /// Loads, stores, atomics.
    pub memory: u32,
    /// Barriers, fences, warp-wide operations.
    pub barrier: u32,
    /// Tensor core.
    pub tensor: u32,
    /// What those do: multiply-adds of a warp, by [`crate::matrix::Product`].
    pub products: [u32; Product::ALL.len()],
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Function that holds it.
    pub function: u32,
    /// First known positions, innermost first; empty when unknown.
    pub chain: Vec<FrameId>,
    /// Instructions per execution.
    pub mix: InstructionMix,
}

/// A conditional branch or switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Function that holds it.
    pub function: u32,
    /// Positions, innermost first; empty when unknown.
    pub chain: Vec<FrameId>,
    /// Number of sides: 2 (taken, not taken) or the distinct targets of a switch.
    pub sides: u32,
}

/// A call that survived inlining.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSite {
    /// Function that calls.
    pub caller: u32,
    /// Positions, innermost first.
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
    /// Made by the compiler: switch tables, constant arrays, strings, vtables.
    Compiler,
}

/// A device variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Global {
    /// Source name where known, else the mangled one.
    pub name: String,
    /// Kind.
    pub kind: GlobalKind,
    /// Size in bytes.
    pub bytes: u64,
    /// Declaration; 0 line when unknown.
    pub frame: Option<FrameId>,
}

/// Something executed that no record shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotSeen {
    /// Function that holds it.
    pub function: u32,
    /// Positions, innermost first.
    pub chain: Vec<FrameId>,
    /// What it is, as "inline assembly: cp.async…".
    pub what: String,
}

impl NotSeen {
    /// How `what` begins where the CPU device's records do show it.
    pub const ON_GPU: &str = "on a GPU: ";

    /// Returns whether records of this device leave it out.
    pub fn concerns(&self, cpu_device: bool) -> bool {
        !(cpu_device && self.what.starts_with(Self::ON_GPU))
    }
}

/// Why bytes are not a site table.
#[derive(Debug, thiserror::Error)]
pub enum SiteTableError {
    /// Another version wrote it.
    #[error("site table version {0}, this warpline reads {VERSION}: rebuild the program with the same release")]
    Version(u8),
    /// No bytes, or not the encoding.
    #[error("damaged site table: {0}; build the program again")]
    Damaged(String),
}

/// Returns whether a path ends with these components.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| end.starts_with('/') || rest.is_empty() || rest.ends_with('/'))
}

impl SiteTable {
    /// Returns the bytes that travel in the executable and the trace.
    pub fn to_bytes(&self) -> Vec<u8> {
        let table = postcard::to_stdvec(self).expect("plain data always encodes");
        let mut bytes = vec![VERSION];
        bytes.extend(checksum(VERSION, &table).to_le_bytes());
        bytes.extend(table);
        bytes
    }

    /// Reads [`Self::to_bytes`] and checks every index, so that users of a table need not.
    pub fn from_bytes(bytes: &[u8]) -> Result<SiteTable, SiteTableError> {
        let (&version, rest) = bytes.split_first().ok_or_else(|| SiteTableError::Damaged("empty".into()))?;
        let damaged = |what: &str| SiteTableError::Damaged(what.into());
        let rest = match version {
            VERSION | 38 | 37 | 36 | 35 | 33 | 32 | 16 | 8 | 4 => {
                let (stored, rest) = rest.split_first_chunk().ok_or_else(|| damaged("it is cut short"))?;
                if u32::from_le_bytes(*stored) != checksum(version, rest) {
                    return Err(damaged("its checksum does not match"));
                }
                rest
            }
            1 | 2 => rest,
            _ => return Err(SiteTableError::Version(version)),
        };
        // Each version ends before what the next ones added; a zero is a list without any, or an empty text.
        let lists = match version {
            1 => 22,
            2 => 21,
            4 => 20,
            8 => 18,
            16 => 15,
            32 => 13,
            33 => 9,
            35 => 7,
            36 => 5,
            37 => 4,
            38 => 3,
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

    /// What a site accesses.
    pub fn operand(&self, site: u32) -> Option<&Operand> {
        let found = self.operands.binary_search_by_key(&site, |operand| operand.site);
        found.ok().map(|index| &self.operands[index])
    }

    /// Returns whether one of a chain's positions is this line of a file whose path ends with `file`.
    pub fn is_at_line(&self, chain: &[FrameId], file: &str, line: u32) -> bool {
        let frames = chain.iter().filter_map(|&frame| self.frames.get(frame as usize));
        let mut here = frames.filter(|frame| frame.line == line);
        here.any(|frame| self.files.get(frame.file as usize).is_some_and(|known| ends_with(&known.path, file)))
    }

    /// Returns the address of a site, where it has an expression.
    pub fn address(&self, site: u32) -> Option<&AddressExpression> {
        let found = self.addresses.binary_search_by_key(&site, |address| address.site);
        found.ok().map(|index| &self.addresses[index])
    }

    /// What an atomic operation does; `None` where it is not known, and of other sites.
    pub fn atomic(&self, site: u32) -> Option<AtomicKind> {
        let found = self.atomics.binary_search_by_key(&site, |atomic| atomic.site);
        found.ok().map(|index| self.atomics[index].kind)
    }

    /// What a site moves.
    pub fn element(&self, site: u32) -> Element {
        self.elements.get(site as usize).copied().unwrap_or_default()
    }

    /// Returns whether any site accesses a local variable for certain.
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

    /// What decides over a branch; `None` if it was not analysed.
    pub fn condition(&self, branch: u32) -> Option<&Condition> {
        self.conditions.get(branch as usize)
    }

    /// Returns the parts of a block; none where it is one as a whole.
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
