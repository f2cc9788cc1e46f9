//! The site table: what every number in a module's records stands for. The pass makes it, the
//! executable carries it as bytes, the trace hands it on, the analyzer reads it.

use crate::access::{MOST_BUNDLES, MOST_MEMBERS, MOST_SITES, Space};
use crate::condition::{AtomicKind, AtomicSite, Condition};
use crate::expression::{AddressExpression, Expression, LoopExpression, check_expressions};
use crate::matrix::Product;
use serde::{Deserialize, Serialize};

/// Version of the encoding; the first byte of the bytes. Version 2 added bundles, version 4 the checksum and the digests of
/// source files, version 8 hints, version 16 the parts of blocks and operands, version 33 the expressions of addresses, version 36 what
/// decides over branches, version 37 loads that are to be cached in all levels. A flipped bit of the version is found by the checksum, which covers it.
pub const VERSION: u8 = 37;
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
    /// Hash of the hooked device code, hexadecimal; tells modules of one name apart.
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
    /// Of each file in [`Self::files`] as the compiler read it, where it could be read; empty where nobody looked. Since
    /// version 4.
    pub digests: Vec<Option<Digest>>,
    /// What is known of some sites beside what they do, by rising site. Since version 8.
    pub hints: Vec<Hint>,
    /// Shared variables that hints name. Since version 8.
    pub shared: Vec<String>,
    /// What the instructions of blocks with several source lines belong to, by rising block. A block without any belongs to
    /// its own position as a whole. Since version 16.
    pub parts: Vec<BlockPart>,
    /// What some sites access, in the words of the source, by rising site. Since version 16.
    pub operands: Vec<Operand>,
    /// Names that operands refer to. Since version 16.
    pub names: Vec<String>,
    /// Which branches blocks depend on directly, by rising block. Since version 32.
    pub decisions: Vec<Decision>,
    /// The block that each branch in [`Self::branches`] ends; empty in older tables. Since version 32.
    pub branch_blocks: Vec<u32>,
    /// Values that addresses and guards are made of, each behind its operands. Since version 33.
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
    /// Not at all.
    #[default]
    None,
    /// By so many bytes.
    Bytes(i64),
    /// By a multiple of a value that is the same for all threads; its name, where it has one.
    Times(Option<u32>),
    /// In another way.
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
    /// Nobody uses what an atomic operation returns, so nobody waits for anything by it.
    pub unused: bool,
}

/// What is known of the value that a store stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stored {
    /// Nothing.
    #[default]
    Anything,
    /// This, in all threads; the bits of integers and of doubles.
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
    /// Whether loads with it go past L1, whatever the GPU caches there.
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
    /// Whether it does nothing that other warps can notice, and need not see at once what they do.
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

    /// Whether records of this device leave it out.
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

impl SiteTable {
    /// The bytes that travel in the executable and the trace.
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
            VERSION | 36 | 35 | 33 | 32 | 16 | 8 | 4 => {
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
            1 => 17,
            2 => 16,
            4 => 15,
            8 => 13,
            16 => 10,
            32 => 8,
            33 => 4,
            35 => 2,
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

    /// What is known of a site beside its entry.
    pub fn hint(&self, site: u32) -> Hint {
        let found = self.hints.binary_search_by_key(&site, |hint| hint.site);
        found.map_or(Hint { site, ..Hint::default() }, |index| self.hints[index])
    }

    /// What a site accesses.
    pub fn operand(&self, site: u32) -> Option<&Operand> {
        let found = self.operands.binary_search_by_key(&site, |operand| operand.site);
        found.ok().map(|index| &self.operands[index])
    }

    /// The address of a site, where it has an expression.
    pub fn address(&self, site: u32) -> Option<&AddressExpression> {
        let found = self.addresses.binary_search_by_key(&site, |address| address.site);
        found.ok().map(|index| &self.addresses[index])
    }

    /// What an atomic operation does; `None` where it is not known, and of other sites.
    pub fn atomic(&self, site: u32) -> Option<AtomicKind> {
        let found = self.atomics.binary_search_by_key(&site, |atomic| atomic.site);
        found.ok().map(|index| self.atomics[index].kind)
    }

    /// What decides over a branch; `None` where nobody looked.
    pub fn condition(&self, branch: u32) -> Option<&Condition> {
        self.conditions.get(branch as usize)
    }

    /// The parts of a block; none where it is one as a whole.
    pub fn parts_of(&self, block: u32) -> &[BlockPart] {
        let first = self.parts.partition_point(|part| part.block < block);
        let parts = &self.parts[first..];
        &parts[..parts.partition_point(|part| part.block == block)]
    }

    /// The branches that a block depends on directly.
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
        if !self.conditions.is_empty() && self.conditions.len() != self.branches.len() {
            return Err("conditions of other branches");
        }
        let atomics_rise = self.atomics.windows(2).all(|pair| pair[0].site < pair[1].site);
        if !atomics_rise || !self.atomics.iter().all(|atomic| (atomic.site as usize) < self.sites.len()) {
            return Err("atomic operations of sites that it does not have");
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
            && self.not_seen.iter().all(|entry| entry.function < functions && chain(&entry.chain));
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
mod tests {
    use super::*;

    fn table() -> SiteTable {
        let site = Site {
            function: 0,
            op: Op::Load,
            space: Space::Global,
            bytes: 4,
            byte_mask: None,
            align: 4,
            cache: CacheOp::Default,
            chain: vec![0],
            approximate: false,
            in_library: false,
        };
        SiteTable {
            files: vec![File::default()],
            frames: vec![Frame::default()],
            functions: vec![Function::default()],
            sites: vec![site.clone(), site],
            ..SiteTable::default()
        }
    }

    #[test]
    fn earlier_versions_are_read() {
        let now = table().to_bytes();
        for (version, added) in [(1, 17), (2, 16), (4, 15), (8, 13), (16, 10), (32, 8), (33, 4), (35, 2)] {
            let table_bytes = &now[HEAD_BYTES..now.len() - added];
            let mut bytes = vec![version];
            if version >= 4 {
                bytes.extend(checksum(version, table_bytes).to_le_bytes());
            }
            bytes.extend(table_bytes);
            assert_eq!(SiteTable::from_bytes(&bytes).unwrap(), table(), "version {version}");
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let good = SiteTable { digests: vec![Some([7; 16])], ..table() }.to_bytes();
        assert!(SiteTable::from_bytes(&good).is_ok());
        for bit in 0..good.len() * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(SiteTable::from_bytes(&bytes).is_err(), "bit {bit}");
        }
        for length in 0..good.len() {
            assert!(SiteTable::from_bytes(&good[..length]).is_err(), "{length} bytes");
        }
        assert!(SiteTable::from_bytes(&[&good[..], &[0]].concat()).is_err());
    }

    #[test]
    fn hints_are_checked() {
        let with = |hints: &[(u32, Option<u32>)]| {
            let hints = hints.iter().map(|&(site, shared)| Hint { site, shared, ..Hint::default() }).collect();
            SiteTable::from_bytes(&SiteTable { hints, shared: vec!["tile".into()], ..table() }.to_bytes())
        };
        assert!(with(&[(0, Some(0)), (1, None)]).is_ok());
        for wrong in [&[(2, None)][..], &[(0, Some(1))], &[(1, None), (0, None)], &[(1, None), (1, None)]] {
            assert!(matches!(with(wrong), Err(SiteTableError::Damaged(_))), "{wrong:?}");
        }
    }

    #[test]
    fn decisions_are_checked_and_found() {
        let decision = |block, branch, side| Decision { block, branch, side };
        let with = |decisions: &[Decision], branch_blocks: &[u32]| {
            let block = Block { chain: vec![0], ..Block::default() };
            let branch = Branch { chain: vec![0], sides: 2, ..Branch::default() };
            let (decisions, branch_blocks) = (decisions.to_vec(), branch_blocks.to_vec());
            let table =
                SiteTable { blocks: vec![block; 3], branches: vec![branch], decisions, branch_blocks, ..table() };
            SiteTable::from_bytes(&table.to_bytes())
        };
        let good = [decision(1, 0, 0), decision(2, 0, 1)];
        let read = with(&good, &[0]).unwrap();
        assert_eq!((read.decisions_of(0), read.decisions_of(2)), (&[][..], &good[1..]));
        for (decisions, ends) in [
            (&good[..], &[][..]),
            (&good[..], &[3][..]),
            (&[decision(3, 0, 0)][..], &[0][..]),
            (&[decision(1, 1, 0)][..], &[0][..]),
            (&[decision(1, 0, 2)][..], &[0][..]),
            (&[good[1], good[0]][..], &[0][..]),
        ] {
            assert!(matches!(with(decisions, ends), Err(SiteTableError::Damaged(_))), "{decisions:?} {ends:?}");
        }
    }

    #[test]
    fn operands_and_parts_are_checked_and_found() {
        let operand = |site, variable, step| Operand { site, variable, steps: [step; 3], ..Operand::default() };
        let part = |block, line| BlockPart { block, chain: vec![line], ..BlockPart::default() };
        let with = |operands: Vec<Operand>, parts: Vec<BlockPart>| {
            SiteTable::from_bytes(&SiteTable { operands, parts, names: vec!["in".into()], ..table() }.to_bytes())
        };
        let good = vec![operand(0, Some(0), Step::Times(Some(0))), operand(1, None, Step::Other)];
        let blocks = table().blocks.len() as u32;
        let parts: Vec<BlockPart> = if blocks == 0 { Vec::new() } else { vec![part(0, 0), part(0, 0)] };
        let read = with(good.clone(), parts.clone()).unwrap();
        assert_eq!((read.operand(1), read.operand(7)), (Some(&good[1]), None));
        assert_eq!((read.parts_of(0), read.parts_of(1)), (&parts[..], &[][..]));
        for operands in [
            vec![operand(2, None, Step::None)],
            vec![operand(0, Some(1), Step::None)],
            vec![operand(0, None, Step::Times(Some(1)))],
            vec![operand(1, None, Step::None), operand(0, None, Step::None)],
        ] {
            assert!(matches!(with(operands, Vec::new()), Err(SiteTableError::Damaged(_))));
        }
        for parts in [vec![part(blocks, 0)], vec![part(0, 99)]] {
            assert!(matches!(with(Vec::new(), parts), Err(SiteTableError::Damaged(_))));
        }
    }

    #[test]
    fn conditions_and_atomic_operations_are_checked_and_found() {
        use crate::condition::Decider;
        let with = |conditions: usize, sites: &[u32]| {
            let condition = Condition { deciders: vec![Decider::Thread, Decider::Data], ends_loop: true };
            let branch = Branch { chain: vec![0], sides: 2, ..Branch::default() };
            let atomics = sites.iter().map(|&site| AtomicSite { site, kind: AtomicKind::Lock }).collect();
            let conditions = vec![condition; conditions];
            SiteTable::from_bytes(&SiteTable { branches: vec![branch], conditions, atomics, ..table() }.to_bytes())
        };
        let read = with(1, &[1]).unwrap();
        assert_eq!(read.condition(0).map(|one| one.deciders.len()), Some(2));
        assert_eq!((read.atomic(1), read.atomic(0)), (Some(AtomicKind::Lock), None));
        assert_eq!(with(0, &[]).unwrap().condition(0), None);
        for (conditions, sites) in [(2, &[][..]), (1, &[2]), (1, &[1, 0]), (1, &[1, 1])] {
            assert!(matches!(with(conditions, sites), Err(SiteTableError::Damaged(_))), "{conditions} {sites:?}");
        }
    }

    #[test]
    fn expressions_are_checked_and_found() {
        use crate::expression::{Binary, ExpressionKind};
        let node = |kind| Expression { bits: 64, exact: false, kind };
        let thread = node(ExpressionKind::Thread(0));
        let with = |expressions: &[Expression], addresses: &[(u32, u32)], loops: &[LoopExpression]| {
            let address = |&(site, address): &(u32, u32)| AddressExpression { site, address, ..Default::default() };
            let addresses = addresses.iter().map(address).collect();
            let (expressions, loops) = (expressions.to_vec(), loops.to_vec());
            SiteTable::from_bytes(&SiteTable { expressions, addresses, loops, ..table() }.to_bytes())
        };
        let good = with(&[thread, node(ExpressionKind::Binary(Binary::Sum, 0, 0))], &[(1, 1)], &[]).unwrap();
        assert_eq!((good.address(1).map(|one| one.address), good.address(0)), (Some(1), None));
        let counted = node(ExpressionKind::Counter(0));
        let lap = LoopExpression { ends: vec![0], ..LoopExpression::default() };
        assert!(with(&[counted], &[(0, 0)], &[lap]).is_ok());
        let inside_itself = LoopExpression { around: vec![0], ..LoopExpression::default() };
        for (expressions, addresses, loops) in [
            (&[node(ExpressionKind::Signed(0))][..], &[][..], &[][..]),
            (&[node(ExpressionKind::Thread(3))], &[], &[]),
            (&[Expression { bits: 65, ..thread }], &[], &[]),
            (&[Expression { bits: 0, ..thread }], &[], &[]),
            (&[node(ExpressionKind::Global(0))], &[], &[]),
            (&[node(ExpressionKind::Shared(0))], &[], &[]),
            (&[counted], &[], &[]),
            (&[thread], &[(0, 1)], &[]),
            (&[thread], &[(2, 0)], &[]),
            (&[thread], &[(1, 0), (0, 0)], &[]),
            (&[thread], &[], &[inside_itself]),
        ] {
            let read = with(expressions, addresses, loops);
            assert!(matches!(read, Err(SiteTableError::Damaged(_))), "{expressions:?} {addresses:?} {loops:?}");
        }
    }

    #[test]
    fn bundles_are_checked() {
        let with = |members: &[(u32, i32)]| {
            let members = members.iter().map(|&(site, offset)| Member { site, offset }).collect();
            SiteTable::from_bytes(&SiteTable { bundles: vec![Bundle { members }], ..table() }.to_bytes())
        };
        assert!(with(&[(0, 0), (1, -4)]).is_ok());
        for wrong in [&[][..], &[(0, 4)], &[(0, 0), (2, 4)], &[(0, 0); MOST_MEMBERS + 1]] {
            assert!(matches!(with(wrong), Err(SiteTableError::Damaged(_))), "{wrong:?}");
        }
    }
}
