//! The report of a stopped program.

use warpline_format::abi::SharedVariable;
use warpline_format::access::{LANES, Space};
use warpline_format::event::FaultKind;
use warpline_format::site_table::{FrameId, SiteTable};
use warpline_format::stop::{CodePlace, HostPath, Stopped, StoppedLane, Target};

use crate::device::execution::warp::Warp;
use crate::device::faults::access::Access;
use crate::memory::registry::Registry;
use crate::memory::windows::{Region, region};
use crate::modules::module::{name, shared_variables};

/// Returns the report of an access, without its call paths.
///
/// # Safety
/// `warp` is the running one.
pub(super) unsafe fn take(warp: *mut Warp, access: &Access, fault: Option<FaultKind>) -> Stopped {
    // SAFETY: by the contract; the launch's module lives as long as it runs.
    unsafe {
        let (running, context) = (&*(*warp).running, &(*warp).context);
        let module = &*running.module;
        let site = module.table.sites.get(access.site as usize);
        let (structure, structure_bytes) = structure(&module.table, access.site);
        let lane = |lane: usize| StoppedLane {
            lane: lane as u32,
            thread: [&context.thread_x, &context.thread_y, &context.thread_z].map(|axis| axis.0[lane]),
            address: access.addresses[lane],
            counted: counted(access.addresses[lane], &(*running.memory).registry),
            target: target(warp, access, lane),
        };
        Stopped {
            launch: running.launch,
            kernel: module.kernel_name(running.kernel),
            grid: context.grid_dim,
            block_size: context.block_dim,
            block: context.block_index,
            warp: context.warp,
            live: context.live,
            op: site.map(|site| site.op),
            space: site.map_or(Space::Generic, |site| site.space),
            bytes: access.bytes,
            object: object(&module.table, access.site),
            structure,
            structure_bytes,
            fault,
            lanes: (0..LANES).filter(|lane| access.mask >> lane & 1 != 0).map(lane).collect(),
            code: site.map_or(Vec::new(), |site| places(&module.table, &site.chain)),
            calls: Vec::new(),
            path: HostPath::default(),
        }
    }
}

/// Returns the address that goes into the trace. For registered host memory, this is an address that is the same in
/// each run.
fn counted(address: u64, registry: &Registry) -> u64 {
    registry.find(address).map_or(address, |live| live.address + (address - live.start()))
}

/// Returns the variable and the member that an access touches, as the source names them.
fn object(table: &SiteTable, site: u32) -> String {
    let Some(operand) = table.operand(site) else { return String::new() };
    let name = |name: Option<u32>| name.and_then(|name| table.names.get(name as usize)).map_or("", String::as_str);
    format!("{}{}", name(operand.variable), name(operand.member))
}

/// Returns the structure that contains the accessed member, and its size in bytes.
fn structure(table: &SiteTable, site: u32) -> (String, u32) {
    let operand = table.operand(site).filter(|operand| operand.structure_bytes > 0);
    let named = operand.and_then(|operand| Some((table.names.get(operand.structure? as usize)?, operand)));
    named.map_or_else(Default::default, |(name, operand)| (name.clone(), operand.structure_bytes))
}

/// Returns the source positions of a chain of frames, innermost first.
pub(super) fn places(table: &SiteTable, chain: &[FrameId]) -> Vec<CodePlace> {
    let frames = chain.iter().filter_map(|&frame| table.frames.get(frame as usize));
    let place = |frame: &warpline_format::site_table::Frame| {
        let file = table.files.get(frame.file as usize);
        CodePlace {
            function: frame.function.clone(),
            file: file.map_or(String::new(), |file| file.path.clone()),
            line: frame.line,
            column: frame.column,
            system: file.is_none_or(|file| file.system),
        }
    };
    frames.map(place).collect()
}

/// # Safety
/// `warp` is the running one.
unsafe fn target(warp: *mut Warp, access: &Access, lane: usize) -> Target {
    let address = access.addresses[lane];
    // SAFETY: by the contract.
    let (running, context) = unsafe { (&*(*warp).running, &(*warp).context) };
    // SAFETY: while the kernel runs, only the device heap changes the registry, and it does so on this thread.
    let registry = unsafe { &(*running.memory).registry };
    let shared = || {
        let offset = address.wrapping_sub(context.shared as u64);
        // SAFETY: the launch's module lives as long as the launch runs.
        let kernel = unsafe { &*running.module }.kernels().get(running.kernel);
        let variable =
            kernel.and_then(|kernel| shared_variable(shared_variables(kernel), context.shared_bytes, offset));
        variable.unwrap_or(Target::Shared(offset as i64, context.shared_bytes))
    };
    // For a local access, the address is already an offset.
    if access.space == Space::Local as u32 {
        return Target::Local(address);
    }
    if access.space == Space::Shared as u32 {
        return shared();
    }
    match region(address) {
        Region::Shared => shared(),
        Region::Local => {
            let own = context.local as u64 + lane as u64 * context.local_stride;
            Target::Local(address.wrapping_sub(own))
        }
        Region::Arguments => Target::Parameters,
        _ if running.parameters.contains(&address) => Target::Parameters,
        _ => {
            if let Some(live) = registry.find(address) {
                Target::Allocation { name: live.label(), bytes: live.bytes, offset: address - live.start() }
            } else if let Some(old) = registry.find_freed(address) {
                Target::Freed { name: old.label(), bytes: old.bytes, offset: address - old.start() }
            } else if let Some(near) = registry.nearest(address).filter(|_| region(address) == Region::Device) {
                let of = near.allocation;
                Target::Outside { name: of.label(), bytes: of.bytes, distance: near.offset }
            } else {
                Target::Unknown
            }
        }
    }
}

/// Returns the variable at `offset` in a block's `size` bytes of shared memory. If several `extern` arrays start at the
/// same offset, the intended one is unknown.
fn shared_variable(variables: &[SharedVariable], size: u64, offset: u64) -> Option<Target> {
    let bytes = |one: &SharedVariable| match one.size {
        0 => size.saturating_sub(one.offset.into()),
        bytes => bytes.into(),
    };
    let mut around = variables.iter().filter(|one| {
        let inside = offset.checked_sub(one.offset.into());
        inside.is_some_and(|inside| inside < bytes(one))
    });
    let (found, further) = (around.next()?, around.next());
    further.is_none().then(|| Target::SharedVariable {
        name: name(found.name),
        bytes: bytes(found),
        offset: offset - u64::from(found.offset),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_reported_by_the_variable_that_lies_there() {
        let variable =
            |name: &'static std::ffi::CStr, offset, size| SharedVariable { name: name.as_ptr(), offset, size };
        let variables = [variable(c"tile", 0, 64), variable(c"flag", 64, 4), variable(c"rest", 80, 0)];
        let at = |offset| match shared_variable(&variables, 128, offset) {
            Some(Target::SharedVariable { name, bytes, offset }) => format!("{name} {bytes} {offset}"),
            _ => String::new(),
        };
        assert_eq!([at(0), at(63), at(64)], ["tile 64 0", "tile 64 63", "flag 4 0"]);
        assert_eq!([at(68), at(80), at(127), at(128)], ["", "rest 48 0", "rest 48 47", ""]);
        assert_eq!(at(u64::MAX), "");
        let several = [variable(c"a", 0, 0), variable(c"b", 0, 0)];
        assert!(shared_variable(&several, 16, 4).is_none());
    }
}
