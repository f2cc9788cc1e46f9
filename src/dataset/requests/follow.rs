//! Processes a trace, and returns each request as a row.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Addresses, Item, LANES, Space, bundle_of};
use warpline_format::device::Device;
use warpline_format::event::{Allocation, Event, Launch, LaunchId};

use super::places::Places;
use crate::tables::RequestRow;
use warpline_analyzer::analysis::{AllocationRows, space_name};
use warpline_analyzer::attribution::{AllocationError, AllocationMap, Module, ModuleError, Segment};
use warpline_analyzer::requests::{BatchError, LaunchShape, ShapeError, check_batch, decode, read_request};
use warpline_profile::op_name;
use warpline_simulator::metrics::{FootprintMemo, LineBytes, Scattered, footprint};

/// Reasons why a trace is rejected.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum Refusal {
    #[error("launch {0} comes before the program's own record")]
    NoProgram(LaunchId),
    #[error("launch {launch} is of kernel {function} of module {module}, which was not announced")]
    Kernel { launch: LaunchId, module: u32, function: u32 },
    #[error("accesses of launch {0}, which is not running")]
    NotRunning(LaunchId),
    #[error(transparent)]
    Module(#[from] ModuleError),
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The trace is complete but belongs to another program or run.
    #[error("kernel {number}, `{mangled}`, is not the profile's kernel of that number")]
    OtherProfile { number: u32, mangled: String },
}

/// A launch that is running.
struct Open<'a> {
    shape: LaunchShape,
    name: &'a str,
    /// Linear block and slot of its first warp, by warp slot. Only used slots have entries, because the numbers in
    /// records are untrusted.
    slots: FxHashMap<u32, (u64, u32)>,
}

/// A memory instruction in a kernel.
struct Site<'a> {
    file: &'a str,
    line: u32,
    op: &'static str,
    /// Segment of the last request.
    segment: Segment,
    name: Option<&'a str>,
    memo: FootprintMemo,
}

/// The state of the processing; see the module documentation.
pub(super) struct Follow<'a> {
    places: Places<'a>,
    device: Option<Device>,
    modules: FxHashMap<u32, Arc<Module>>,
    kernels: FxHashMap<(u32, u32), u32>,
    open: FxHashMap<LaunchId, Open<'a>>,
    map: AllocationMap,
    rows: AllocationRows,
    /// Sites that made a request, by kernel and site.
    sites: FxHashMap<(u32, u32), Site<'a>>,
    table: LineBytes,
}

impl<'a> Follow<'a> {
    pub(super) fn new(places: Places<'a>) -> Follow<'a> {
        Follow {
            places,
            device: None,
            modules: FxHashMap::default(),
            kernels: FxHashMap::default(),
            open: FxHashMap::default(),
            map: AllocationMap::default(),
            rows: AllocationRows::default(),
            sites: FxHashMap::default(),
            table: LineBytes::default(),
        }
    }

    pub(super) fn event(&mut self, event: Event) -> Result<(), Refusal> {
        match event {
            Event::Program { device, .. } => self.device = Some(device),
            Event::Module { id, site_table } => _ = self.modules.insert(id, Arc::new(Module::new(&site_table)?)),
            Event::Allocation(event) => self.allocated(&event)?,
            Event::Free { id, .. } => {
                self.rows.end(id);
                self.map.remove(id).into_iter().for_each(|part| self.rows.end(part));
                self.forget_segments();
            }
            Event::Launch(launch) => self.launch(&launch)?,
            Event::LaunchEnd(end) => _ = self.open.remove(&end.id),
            _ => {}
        }
        Ok(())
    }

    fn allocated(&mut self, event: &Allocation) -> Result<(), Refusal> {
        let row = self.rows.row(event);
        self.map.insert_for(event.id, row, event.address, event.bytes)?;
        self.forget_segments();
        Ok(())
    }

    fn forget_segments(&mut self) {
        self.sites.values_mut().for_each(|site| site.segment = Segment::EMPTY);
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), Refusal> {
        let device = self.device.as_ref().ok_or(Refusal::NoProgram(launch.id))?;
        let unknown = || Refusal::Kernel { launch: launch.id, module: launch.module, function: launch.function };
        let module = self.modules.get(&launch.module).ok_or_else(unknown)?;
        let function = module.table.functions.get(launch.function as usize).ok_or_else(unknown)?;
        let next = self.kernels.len() as u32;
        let number = *self.kernels.entry((launch.module, launch.function)).or_insert(next);
        let other = || Refusal::OtherProfile { number, mangled: function.mangled.clone() };
        let name = self.places.kernel(number, &function.mangled).ok_or_else(other)?;
        let shape = LaunchShape::new(launch, Arc::clone(module), number, device)?;
        self.open.insert(launch.id, Open { shape, name, slots: FxHashMap::default() });
        Ok(())
    }

    /// Validates a batch, and then processes each of its requests.
    pub(super) fn batch(
        &mut self,
        launch: LaunchId,
        items: &[u8],
        mut row: impl FnMut(RequestRow<'_>),
    ) -> Result<(), Refusal> {
        let open = self.open.get_mut(&launch).ok_or(Refusal::NotRunning(launch))?;
        check_batch(items, &open.shape)?;
        let module = Arc::clone(&open.shape.module.1);
        let (mut at, mut block, mut warp) = (0, 0, 0);
        while at < items.len() {
            if let Some((access, length)) = read_request(&items[at..]) {
                at += length;
                let mut one = |access: &Access<'_>| {
                    let kernel = open.shape.kernel;
                    let site = self.sites.entry((kernel, access.site)).or_insert_with(|| {
                        let (file, line) = self.places.site(kernel, access.site);
                        let op = op_name(module.table.sites[access.site as usize].op);
                        Site { file, line, op, segment: Segment::EMPTY, name: None, memo: FootprintMemo::default() }
                    });
                    let request = Request { access, block, warp };
                    row(request.row(
                        launch,
                        open.shape.kernel,
                        open.name,
                        &module,
                        site,
                        &self.map,
                        &self.places,
                        &mut self.table,
                    ));
                };
                match bundle_of(access.site) {
                    None => one(&access),
                    Some(index) => {
                        let mut spare = [0; 8 * LANES];
                        for member in &module.table.bundles[index as usize].members {
                            one(&access.member(member.site, member.offset, &mut spare));
                        }
                    }
                }
                continue;
            }
            if let Some((next, _)) = decode::turn(&items[at..]) {
                at += decode::TURN_BYTES;
                let first;
                (block, first) = open.slots.get(&next).copied().unwrap_or((0, next));
                warp = next - first;
                continue;
            }
            // The batch was checked before; anything after damage is ignored.
            let Some((Ok(item), length)) = decode::item(&items[at..]) else { break };
            at += length;
            if let Item::BlockStart { slot, warps, block } = item {
                open.slots.extend((slot..slot + warps).map(|warp| (warp, (block, slot))));
            }
        }
        Ok(())
    }
}

/// A request and the warp that makes it.
struct Request<'r> {
    access: &'r Access<'r>,
    block: u64,
    warp: u32,
}

impl Request<'_> {
    #[expect(clippy::too_many_arguments, reason = "what a row is made of")]
    fn row<'r>(
        &self,
        launch: LaunchId,
        kernel: u32,
        kernel_name: &'r str,
        module: &Module,
        site: &mut Site<'r>,
        map: &AllocationMap,
        places: &Places<'r>,
        table: &mut LineBytes,
    ) -> RequestRow<'r> {
        let access = self.access;
        let width = module.widths[access.site as usize];
        let counted = match Scattered::from_access(access, width) {
            Some(scattered) => scattered.footprint(),
            None => footprint(access, width, &mut site.memo, table),
        };
        let (first_address, stride_bytes) = first_and_stride(access);
        let allocation = match access.space {
            Space::Shared | Space::Local => None,
            _ => {
                if first_address < site.segment.low || first_address > site.segment.high {
                    site.segment = map.find(first_address);
                    site.name = site.segment.allocation.and_then(|id| places.allocation(id));
                }
                site.segment.allocation
            }
        };
        let lanes = access.mask.count_ones();
        RequestRow {
            run: places.run,
            launch,
            kernel,
            kernel_name,
            block: self.block,
            warp: self.warp,
            site: access.site,
            file: site.file,
            line: site.line,
            op: site.op,
            space: space_name(access.space),
            mask: access.mask,
            lanes,
            bytes: u64::from(lanes) * u64::from(width.useful()),
            sectors: counted.sectors,
            lines_touched: counted.lines,
            ideal_sectors: counted.ideal_sectors(),
            allocation,
            allocation_name: site.name.filter(|_| allocation.is_some()),
            first_address,
            stride_bytes,
        }
    }
}

/// Returns the address of the first active lane, and the distance between adjacent lanes if the record marks it as
/// constant.
fn first_and_stride(access: &Access<'_>) -> (u64, Option<i64>) {
    let mut first = None;
    let stride = match access.addresses {
        Addresses::Uniform(_) => Some(0),
        Addresses::Affine { bases, stride } => {
            let low = access.mask & 0xffff != 0;
            let high = access.mask >> 16 != 0;
            let joined = bases[0].wrapping_add_signed(16 * i64::from(stride)) == bases[1];
            (!(low && high) || joined).then_some(i64::from(stride))
        }
        Addresses::Delta(..) | Addresses::Full(_) => None,
    };
    // One lane is sufficient; others would only cost time.
    let lane = access.mask & access.mask.wrapping_neg();
    Access { mask: lane, ..*access }.for_each_lane(|_, address| first = Some(address));
    (first.unwrap_or_default(), stride)
}
