// Launches and copies in the order of the program: one lane per kernel, drawn in columns of pixels so that any number
// fits.

const LAUNCH_FIGURES = {
  sectors: ["Traffic", "bytes", (row) => row.sum.sectors * 32],
  requests: ["Requests", "count", (row) => row.sum.requests],
  efficiency: ["Coalescing efficiency", "share", (row) => RATIOS.efficiency.of(row.sum)],
  l1_rate: ["L1 hit rate of loads", "share", (row) => RATIOS.l1_rate.of(row.sum)],
  l2_lookups: ["L2 lookups", "count", (row) => row.sum.l2_lookups],
  dram: ["DRAM", "bytes", (row) => row.sum.dram * 32],
  passes: ["Shared-memory passes", "count", (row) => row.sum.passes],
};

/** Launches, and groups of them as one row. */
function launchRows(kernels) {
  const rows = [];
  for (const kernel of kernels) {
    for (const launch of kernel.launches) rows.push({ kernel: kernel.id, first: launch.id, last: launch.id, launches: 1, launch, sum: spacesSum(launch.metrics) });
    for (const group of kernel.launch_groups ?? []) rows.push({ kernel: kernel.id, first: group.first, last: group.last, launches: group.launches, launch: group, group: true, sum: spacesSum(group.metrics) });
  }
  return rows.sort((one, other) => one.first - other.first);
}

function launchesOf(kernel) {
  return side().once(`launches of ${kernel.id} ${state.model}`, () => launchRows([kernel]));
}

function allLaunches() {
  return side().once(`launches ${state.model}`, () => profile().kernels.flatMap(launchesOf).sort((one, other) => one.first - other.first));
}

function launchTable(kernels, id) {
  const rows = id === "launches" ? allLaunches() : launchesOf(kernels[0]);
  return dataTable({
    id, label: "Launches", rows, sort: { key: "first", down: false },
    open: (row) => `kernel/${row.kernel}`,
    none: "No launch was recorded.",
    filters: [{ key: "kernel", label: "Kernel", options: kernels.slice(0, 500).map((kernel) => [String(kernel.id), side().kernelLabel(kernel.id)]), keep: (row, value) => row.kernel === Number(value) }],
    columns: [
      { key: "first", label: "Launch", unit: "count", help: "launches", low: true, value: (row) => row.first, cell: (row) => (row.group ? `${count(row.first)} to ${count(row.last)}` : count(row.first)) },
      { key: "kernel", label: "Kernel", value: (row) => `${side().kernelLabel(row.kernel)}${row.group ? ` (${count(row.launches)} launches)` : ""}` },
      { key: "grid", label: "Grid", plain: true, value: (row) => shape(row.launch.grid) },
      { key: "block", label: "Block", plain: true, value: (row) => shape(row.launch.block) },
      { key: "sectors", label: "Traffic", unit: "bytes", bar: "heat", value: (row) => row.sum.sectors * 32 },
      { key: "efficiency", label: "Coalesced", unit: "share", low: true, value: (row) => RATIOS.efficiency.of(row.sum) },
      { key: "l1_rate", label: "L1 hit", unit: "share", low: true, value: (row) => RATIOS.l1_rate.of(row.sum) },
      { key: "l2_rate", label: "L2 hit", unit: "share", low: true, value: (row) => RATIOS.l2_rate.of(row.sum) },
      { key: "dram", label: "DRAM", unit: "bytes", value: (row) => row.sum.dram * 32 },
      { key: "passes", label: "Passes", unit: "count", off: true, value: (row) => row.sum.passes },
      { key: "stream", label: "Stream", unit: "count", off: true, low: true, value: (row) => row.launch.stream ?? null },
      { key: "registers", label: "Registers", unit: "count", off: true, value: (row) => row.launch.registers ?? null },
      { key: "error", label: "Error", plain: true, off: !rows.some((row) => row.launch.error), value: (row) => (row.launch.error ? `CUDA error ${row.launch.error}` : row.launch.error === null ? "did not end" : "") },
    ],
  });
}

/** Copies with the launches they stand between, where the profile has that. */
function placedCopies() {
  return side().once("placed copies", () => {
    const rows = [];
    for (const allocation of profile().allocations) {
      for (const copy of allocation.copies) {
        if (copy.first_launch === undefined || copy.first_launch === null) continue;
        rows.push({ allocation: allocation.id, copy, first: copy.first_launch, last: copy.last_launch ?? copy.first_launch });
      }
    }
    return rows;
  });
}

const LANE = 34;
const LANE_GAP = 8;
const MOST_LANES = 12;
/** Width of a copy. */
const COPY_MARK = 4;
const timelineChoice = { figure: "sectors" };

function timeline() {
  const rows = allLaunches();
  if (rows.length === 0) return nothing("No launch was recorded.");
  const [label, unit, of] = LAUNCH_FIGURES[timelineChoice.figure];
  const kernels = kernelsByTime().filter((kernel) => kernel.launch_count > 0).slice(0, MOST_LANES);
  const copies = placedCopies();
  const lanes = [...(copies.length > 0 ? [{ copies: true }] : []), ...kernels.map((kernel) => ({ kernel: kernel.id }))];
  const laneOf = new Map(lanes.map((lane, at) => [lane.kernel, at]));
  const total = rows.reduce((max, row) => Math.max(max, row.last), 0) + 1;
  const mostOf = unit === "share" ? 1 : rows.reduce((max, row) => Math.max(max, (of(row) ?? 0) / row.launches), 0) || 1;
  const canvas = h("canvas", { class: "timeline", role: "img", "aria-label": `${label} of ${plural(total, "launch", "launches")} in ${plural(lanes.length, "lane")}; the table below has every launch` });
  const names = h("div", { class: "timeline-names" }, lanes.map((lane) => h("div", { class: "timeline-name" }, lane.copies ? h("span", null, "copies") : link(`kernel/${lane.kernel}`, side().kernelLabel(lane.kernel)))));
  let columns = [];
  const draw = () => {
    const width = canvas.clientWidth || 800;
    const height = lanes.length * (LANE + LANE_GAP);
    const scale = devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    context.scale(scale, scale);
    lanes.forEach((_, at) => {
      context.fillStyle = style.getPropertyValue("--track");
      context.fillRect(0, at * (LANE + LANE_GAP), width, LANE);
    });
    // One value per lane and column: the maximum over the launches in it.
    columns = lanes.map(() => new Array(Math.ceil(width)).fill(null));
    const enter = (lane, first, last, value, row) => {
      const from = Math.floor((first / total) * width);
      const to = Math.max(from + 1, Math.min(Math.ceil(width), Math.floor(((last + 1) / total) * width)));
      const inset = to - from > 4 ? 1 : 0;
      for (let x = from; x < to - inset; x += 1) {
        const known = columns[lane][x];
        if (known === null || known.value < value) columns[lane][x] = { value, row, many: (known?.many ?? 0) + 1 };
        else known.many += 1;
      }
    };
    for (const row of rows) {
      const lane = laneOf.get(row.kernel);
      if (lane !== undefined) enter(lane, row.first, row.last, ((of(row) ?? 0) / (unit === "share" ? 1 : row.launches)) / mostOf, row);
    }
    const largest = copies.reduce((max, row) => Math.max(max, row.copy.bytes / row.copy.count), 0) || 1;
    // Copies are placed between launches. A single copy is a mark; several copies are a pale band from the first to the
    // last.
    for (const row of copies) {
      const [from, to] = [row.first, row.last].map((at) => Math.min(width - COPY_MARK, Math.round((at / total) * width)));
      for (let x = from; x < to + COPY_MARK; x += 1) {
        const known = columns[0][x];
        const value = row.copy.bytes / row.copy.count / largest;
        if (!known || known.value < value) columns[0][x] = { value, row, many: (known?.many ?? 0) + 1 };
        else known.many += 1;
      }
    }
    columns.forEach((lane, at) => lane.forEach((column, x) => {
      if (!column) return;
      const size = Math.max(2, LANE * Math.min(1, column.value));
      context.fillStyle = lanes[at].copies ? kindColor(1) : kindColor(at % 2 === 0 ? 0 : 2);
      context.globalAlpha = column.row.group || column.row.last - column.row.first > 0 && column.row.copy ? 0.5 : 1;
      context.fillRect(x, at * (LANE + LANE_GAP) + LANE - size, 1, size);
    }));
    context.globalAlpha = 1;
  };
  const find = (event) => {
    const box = canvas.getBoundingClientRect();
    const lane = Math.floor((event.clientY - box.top) / (LANE + LANE_GAP));
    return columns[lane]?.[Math.floor(event.clientX - box.left)] ?? null;
  };
  hint(canvas, GLOSSARY.order);
  canvas.addEventListener("mousemove", (event) => {
    const column = find(event);
    if (!column) { hint(canvas, GLOSSARY.order); return; }
    const { row } = column;
    const text = row.copy
      ? [`${capital(spaced(row.copy.direction))}, ${side().allocationLabel(row.allocation)}`, `${bytes(row.copy.bytes)} in ${plural(row.copy.count, "copy", "copies")}, ${row.first === 0 ? "before the first launch" : `after ${plural(row.first, "launch", "launches")}`}${row.last > row.first ? `, the last after ${count(row.last)}` : ""}`]
      : [`${side().kernelLabel(row.kernel)}, launch ${count(row.first)}${row.group ? ` to ${count(row.last)}` : ""}`, `${label} ${inUnit(unit === "share" ? of(row) : of(row) / row.launches, unit)}${row.group ? ` in the mean of ${plural(row.launches, "launch", "launches")}` : ""}. ${column.many > 1 ? `The largest of ${count(column.many)} here.` : ""}`];
    hint(canvas, text);
    showHint(canvas);
    const tip = document.getElementById("hint");
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.clientY + 16}px`;
  });
  canvas.addEventListener("click", (event) => {
    const row = find(event)?.row;
    if (row) location.hash = row.copy ? `#/allocation/${row.allocation}` : `#/kernel/${row.kernel}`;
  });
  requestAnimationFrame(draw);
  redraws.add({ canvas, draw });
  return [
    h("div", { class: "timeline-frame" }, names, canvas),
    h("div", { class: "touched-scale timeline-scale" }, h("span", null, "launch 0"), h("span", null, `launch ${count(total - 1)}`)),
    copies.length === 0 ? h("p", { class: "note" }, profile().allocations.some((row) => row.copies.length > 0) ? "Between which launches copies were made was not recorded in this profile; the allocations' pages list them." : "Nothing was copied.") : null,
    profile().kernels.length > kernels.length ? h("p", { class: "note" }, `${plural(profile().kernels.length - kernels.length, "more kernel")} only in the table.`) : null,
    copies.some((row) => row.last > row.first) ? h("p", { class: "note" }, "Copies that were made several times are a pale band from the first to the last, as high as their mean.") : null,
    rows.some((row) => row.group) ? h("p", { class: "note" }, "Pale: launches that the profile sums up; their mean is drawn.") : null,
  ];
}

/** Drawings to make anew when the window or the colours change. */
const redraws = new Set();

function redraw() {
  for (const one of redraws) {
    if (one.canvas.isConnected) one.draw();
    else redraws.delete(one);
  }
}

function launchesView() {
  const choices = Object.entries(LAUNCH_FIGURES).filter(([, [, , of]]) => allLaunches().some((row) => of(row) > 0)).map(([key, [label]]) => [key, label]);
  if (choices.length > 0 && !choices.some(([key]) => key === timelineChoice.figure)) timelineChoice.figure = choices[0][0];
  const holder = h("div", { class: "stack" });
  const draw = () => add(empty(holder), [timeline()]);
  draw();
  return [
    heading("Launches and copies", "In the order of the program."),
    panel("In order", { help: "order", actions: choices.length > 1 ? choice("Height", choices, timelineChoice.figure, (value) => { timelineChoice.figure = value; draw(); }) : null }, holder),
    panel("Launches", {}, launchTable(profile().kernels, "launches")),
    panel("Copies", {}, allCopies()),
  ];
}

function allCopies() {
  const rows = profile().allocations.flatMap((allocation) => allocation.copies.map((copy) => ({ allocation, copy })));
  return dataTable({
    id: "all-copies", label: "Copies", rows, sort: { key: "bytes", down: true },
    open: (row) => `allocation/${row.allocation.id}`,
    none: "Nothing was copied or filled.",
    columns: [
      { key: "name", label: "Allocation", value: (row) => side().allocationLabel(row.allocation.id) },
      { key: "direction", label: "Direction", plain: true, value: (row) => spaced(row.copy.direction) },
      { key: "bytes", label: "Bytes", unit: "bytes", bar: "heat", help: "copies", value: (row) => row.copy.bytes },
      { key: "count", label: "Times", unit: "count", help: "copies", value: (row) => row.copy.count },
      { key: "unchanged", label: "Unchanged", unit: "count", value: (row) => row.copy.unchanged_count ?? 0 },
      { key: "from", label: "From", plain: true, value: (row) => { const frame = userFrame(row.copy.path); return frame ? `${baseName(frame.file)}:${frame.line}` : ""; } },
    ],
  });
}
