// Kernels: a table of all, and a page for each.

function kernelRows() {
  return side().once(`kernelRows ${state.model}`, () => profile().kernels.map((kernel) => ({ kernel, sum: spacesSum(kernel.metrics), estimate: estimate(kernel), instructions: issued(kernel.instructions) })));
}

function kernelTable() {
  const total = programSeconds();
  return dataTable({
    id: "kernels",
    label: "Kernels",
    rows: kernelRows(),
    sort: total > 0 ? { key: "seconds", down: true } : { key: "sectors", down: true },
    open: (row) => `kernel/${row.kernel.id}`,
    none: "The program launched no kernel that was recorded.",
    columns: [
      { key: "name", label: "Kernel", value: (row) => side().kernelLabel(row.kernel.id) },
      { key: "seconds", label: "At least", unit: "seconds", value: (row) => row.estimate?.seconds ?? null },
      { key: "share", label: "Share", unit: "share", bar: "plain", help: "seconds", value: (row) => (row.estimate && total > 0 ? row.estimate.seconds / total : null) },
      { key: "limiter", label: "Limited by", value: (row) => (limiter(row.estimate) ? limitName(limiter(row.estimate)) : "not known"), plain: true },
      { key: "sectors", label: "Traffic", unit: "bytes", value: (row) => row.sum.sectors * 32 },
      { key: "efficiency", label: "Coalesced", unit: "share", bar: "plain", value: (row) => RATIOS.efficiency.of(row.sum) },
      { key: "l1_rate", label: "L1 hit", unit: "share", value: (row) => RATIOS.l1_rate.of(row.sum) },
      { key: "l1_store_rate", label: "L1 stores", unit: "share", off: true, value: (row) => RATIOS.l1_store_rate.of(row.sum) },
      { key: "l2_rate", label: "L2 hit", unit: "share", value: (row) => RATIOS.l2_rate.of(row.sum) },
      { key: "pass_efficiency", label: "Banks", unit: "share", value: (row) => RATIOS.pass_efficiency.of(row.sum) },
      { key: "dram", label: "DRAM", unit: "bytes", off: true, value: (row) => row.sum.dram * 32 },
      { key: "instructions", label: "Instructions", unit: "count", off: true, value: (row) => row.instructions.warps },
      { key: "launches", label: "Launches", unit: "count", value: (row) => row.kernel.launch_count },
    ],
  });
}

function kernelsView() {
  return [heading("Kernels", "Times are estimates and lower bounds; what limits follows from them."), kernelTable(), rooflinePanel()];
}

/** Figures of the chosen model and of the others. */
function modelTable(kernel) {
  const { models } = profile().run;
  if (models.length < 2) return null;
  const chosen = state.model;
  const rows = models.map((model) => {
    state.model = model;
    const row = { model, sum: spacesSum(kernel.metrics), estimate: estimate(kernel) };
    row.limiter = limiter(row.estimate);
    return row;
  });
  state.model = chosen;
  return panel("Models side by side", { note: "Each in its own order of blocks." }, dataTable({
    id: "models", label: "Models", rows, search: false, current: (row) => row.model === chosen,
    columns: [
      { key: "model", label: "Model", value: (row) => row.model },
      { key: "seconds", label: "At least", unit: "seconds", value: (row) => row.estimate?.seconds ?? null },
      { key: "limiter", label: "Limited by", value: (row) => (row.limiter ? limitName(row.limiter) : "not known") },
      { key: "l1_rate", label: "L1 hit", unit: "share", bar: "plain", value: (row) => RATIOS.l1_rate.of(row.sum) },
      { key: "l2_rate", label: "L2 hit", unit: "share", bar: "plain", value: (row) => RATIOS.l2_rate.of(row.sum) },
      { key: "l2_lookups", label: "To L2", unit: "count", value: (row) => row.sum.l2_lookups },
      { key: "dram", label: "DRAM", unit: "bytes", value: (row) => row.sum.dram * 32 },
    ],
  }));
}

/** Instructions by class. */
function instructionBars(instructions) {
  const rows = Object.entries(instructions).sort((one, other) => other[1].warps - one[1].warps);
  if (rows.length === 0) return nothing("No instructions were counted.");
  const all = rows.reduce((sum, [, row]) => sum + row.warps, 0);
  return h("ul", { class: "meters" }, rows.map(([name, row]) => h("li", null, h("span", { class: "meters-name" }, name), meter(row.warps / all, null), figure("instructions", row.warps, "count", `instructions.${name}`), h("span", { class: "note" }, `${mean(ratio(row.lanes, row.warps))} lanes`))));
}

/** Host call paths, outermost first. */
function pathList(frames, none = "The call path is not known.") {
  if (!frames || frames.length === 0) return nothing(none);
  return h("ol", { class: "path" }, frames.map((frame) => h("li", null, h("span", { class: "path-function", title: frame.function }, plainName(frame.function)), " ", frame.file && side().profile.sources[frame.file] ? link(sourceRoute(frame.file, frame.line), `${baseName(frame.file)}:${frame.line}`) : h("span", { class: "note" }, frame.file ? `${baseName(frame.file)}:${frame.line}` : ""))));
}

function kernelPaths(kernel) {
  return side().once(`paths of ${kernel.id}`, () => countPaths(kernel));
}

function countPaths(kernel) {
  const paths = new Map();
  const note = (path, launches) => {
    const key = path.map((frame) => `${frame.function} ${frame.file}:${frame.line}:${frame.column}`).join("\n");
    const row = paths.get(key) ?? { path, launches: 0 };
    row.launches += launches;
    paths.set(key, row);
  };
  for (const launch of kernel.launches) note(launch.path, 1);
  for (const group of kernel.launch_groups ?? []) note(group.path, group.launches);
  return [...paths.values()].sort((one, other) => other.launches - one.launches);
}

function kernelView(parts) {
  const kernel = side().kernels.get(Number(parts[0]));
  if (!kernel) return missing("kernel", "kernels");
  const sum = spacesSum(kernel.metrics);
  const row = estimate(kernel);
  const instructions = issued(kernel.instructions);
  const findings = profile().findings.filter((finding) => finding.kernel === kernel.id);
  const sites = side().by("sites", "kernel").get(kernel.id) ?? [];
  const first = kernel.launches[0];
  const list = [
    row ? { key: "seconds", value: row.seconds, unit: "seconds", name: "kernel.seconds" } : null,
    { key: "launches", value: kernel.launch_count, unit: "count", name: "kernel.launches" },
    { key: "requests", value: sum.requests, unit: "count", name: "kernel.requests" },
    { key: "sectors", value: sum.sectors * 32, unit: "bytes", name: "kernel.traffic" },
    ...["efficiency", "l1_rate", "l2_rate", "pass_efficiency"].map((key) => (RATIOS[key].of(sum) === null ? null : { key, value: RATIOS[key].of(sum), unit: "share", name: `kernel.${key}` })),
    sum.simulated ? { key: "dram", value: sum.dram * 32, unit: "bytes", name: "kernel.dram" } : null,
    { key: "lanes_per_instruction", value: ratio(instructions.lanes, instructions.warps), unit: "mean", name: "kernel.lanes_per_instruction" },
    first ? { key: "registers", value: first.registers, unit: "count" } : null,
    first?.resident_blocks ? { key: "occupancy", value: first.resident_blocks, unit: "count" } : null,
  ];
  const paths = kernelPaths(kernel);
  const share = kernel.recorded_launches;
  return [
    heading(side().kernelLabel(kernel.id), null, [
      h("p", { class: "lead" }, kernel.file ? link(sourceRoute(kernel.file, kernel.line), place(kernel.file, kernel.line)) : null, first ? ` · grid ${shape(first.grid)} · block ${shape(first.block)}${kernel.launch_count > 1 ? " at first" : ""}` : ""),
      kernel.name === side().kernelLabel(kernel.id) ? null : h("p", { class: "signature" }, h("code", null, kernel.name)),
    ]),
    share !== undefined && share < kernel.launch_count ? h("p", { class: "note" }, `${count(share)} of its ${plural(kernel.launch_count, "launch", "launches")} were recorded; all figures are of these.`) : null,
    figures(list),
    h("div", { class: "grid-2" }, panel("What limits it", { help: "limiter" }, limiterBars(kernel)), panel("Instructions", { help: "instructions" }, instructionBars(kernel.instructions))),
    lineIntensities(kernel),
    panel("Findings", {}, findingCards(findings, { none: "Nothing was found in this kernel that asks for a change." })),
    panel("Accesses", { note: link("accesses", "of all kernels") }, siteTable(sites, { id: "kernel-accesses", kernel: false })),
    panel("Allocations it touches", {}, kernelAllocations(kernel)),
    modelTable(kernel),
    bypassPanel(kernel),
    pagesPanel(kernel),
    ...(kernel.tables ?? []).map((table) => panel(table.title, {}, analysisTable(table))),
    distributionPanels(kernel.metrics, sites),
    panel("Launched from", { note: paths.length > 1 ? `${count(paths.length)} call paths` : null }, paths.slice(0, 5).map((one) => h("div", { class: "launched" }, paths.length > 1 ? h("p", { class: "note" }, plural(one.launches, "launch", "launches")) : null, pathList(one.path))), paths.length > 5 ? h("p", { class: "note" }, `and ${plural(paths.length - 5, "more path")}`) : null),
    kernel.launch_count > 1 ? panel("Launches", { note: link("launches", "of all kernels") }, launchesOfPage(kernel)) : null,
  ];
}

/** Rows of an analysis that has no view of its own. */
function analysisTable(table) {
  const cell = (value) => {
    if (value === null || typeof value !== "object") return value;
    if ("allocation" in value) return side().allocationLabel(value.allocation);
    return value.column > 0 ? `${place(value.file, value.line)}:${value.column}` : place(value.file, value.line);
  };
  return dataTable({
    id: `analysis-${table.id}`, label: table.title, rows: table.rows, search: false,
    columns: table.columns.map((column, index) => ({
      key: `column${index}`, label: column.name, value: (row) => cell(row[index]),
      ...(column.unit ? { unit: column.unit === "bytes" ? "bytes" : "count" } : {}),
    })),
  });
}

/** Launches that a kernel's page shows initially; the views of a kernel with more answer faster without. */
const MOST_LAUNCHES = 5000;

function launchesOfPage(kernel) {
  if (kernel.launches.length <= MOST_LAUNCHES) return launchTable([kernel], "kernel-launches");
  const button = h("button", { type: "button", class: "button", on: { click: () => button.replaceWith(launchTable([kernel], "kernel-launches")) } }, `Show its ${plural(kernel.launch_count, "launch", "launches")}`);
  return button;
}

function kernelAllocations(kernel) {
  const rows = [];
  for (const allocation of profile().allocations) {
    const part = allocation.by_kernel.find((one) => one.kernel === kernel.id);
    if (part) rows.push({ allocation, sum: sums(part.metrics, "global") });
  }
  return dataTable({
    id: "kernel-allocations", label: "Allocations of the kernel", rows, sort: { key: "sectors", down: true },
    open: (row) => `allocation/${row.allocation.id}`,
    none: "It touches no allocation, or accesses were counted without their addresses.",
    columns: [
      { key: "name", label: "Allocation", value: (row) => side().allocationLabel(row.allocation.id) },
      { key: "size", label: "Size", unit: "bytes", value: (row) => row.allocation.bytes },
      { key: "sectors", label: "Traffic", unit: "bytes", bar: "heat", value: (row) => row.sum.sectors * 32 },
      { key: "efficiency", label: "Coalesced", unit: "share", bar: "plain", value: (row) => RATIOS.efficiency.of(row.sum) },
      { key: "l1_rate", label: "L1 hit", unit: "share", value: (row) => RATIOS.l1_rate.of(row.sum) },
    ],
  });
}

function missing(what, back) {
  return [heading(`No such ${what}`), nothing(`This profile has no ${what} of that number. `, link(back, `All ${back}`))];
}
