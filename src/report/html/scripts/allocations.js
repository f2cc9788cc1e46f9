// Device allocations: a table of all, and a page for each with its data.

function allocationRows() {
  return side().once(`allocationRows ${state.model}`, () => profile().allocations.map((allocation) => ({ allocation, sum: sums(allocation.metrics, "global") })));
}

/** Allocations of one name, kind and line, which a loop made, as one row: the one with most traffic stands for them. */
function allocationGroups() {
  return side().once(`allocationGroups ${state.model}`, () => {
    const groups = new Map();
    for (const { allocation, sum } of allocationRows()) {
      const key = groupKey(allocation);
      const group = groups.get(key) ?? { members: [], sum: new Sums(), bytes: 0, touched: 0, count: 0, most: -1, kernels: new Set(), copies: [] };
      group.members.push(allocation);
      group.sum.merge(sum);
      group.bytes += allocation.bytes;
      group.touched += allocation.touched_bytes ?? 0;
      group.count += allocation.count ?? 1;
      group.copies.push(...allocation.copies);
      for (const part of allocation.by_kernel) group.kernels.add(part.kernel);
      if (sum.sectors > group.most) [group.most, group.allocation] = [sum.sectors, allocation];
      groups.set(key, group);
    }
    return [...groups.values()];
  });
}

/** What has no place may be anything, and stands for itself. */
function groupKey(allocation) {
  const frame = allocation.path.length > 0 ? userFrame(allocation.path) : null;
  return frame ? `${allocation.name} ${allocation.kind} ${frame.file}:${frame.line}` : `id ${allocation.id}`;
}

function copiesText(copies) {
  const list = [...copiesByDirection(copies)].map(([direction, row]) => `${spaced(direction)} ${bytes(row.bytes)}${row.count > 1 ? ` in ${count(row.count)}` : ""}`);
  return list.join(", ");
}

function copiesByDirection(copies) {
  const rows = new Map();
  for (const copy of copies) {
    const row = rows.get(copy.direction) ?? { bytes: 0, count: 0 };
    row.bytes += copy.bytes;
    row.count += copy.count;
    rows.set(copy.direction, row);
  }
  return rows;
}

function allocationsView() {
  const rows = allocationGroups();
  const total = sumOf(rows.map((row) => row.sum)).sectors;
  const kinds = [...new Set(rows.map((row) => row.allocation.kind))].sort();
  return [
    heading("Allocations", "Device memory by the variable that takes its address, and the traffic to it."),
    dataTable({
      id: "allocations", label: "Allocations", rows, sort: { key: "sectors", down: true },
      open: (row) => `allocation/${row.allocation.id}`,
      none: profile().run.mode === "counters" ? "Not recorded: requests were counted without their addresses." : "The program made no device allocation that was recorded.",
      filters: [{ key: "kind", label: "Kind", options: kinds.map((kind) => [kind, kind]), keep: (row, value) => row.allocation.kind === value }],
      columns: [
        { key: "name", label: "Allocation", value: (row) => `${row.count > 1 ? `${row.count} × ` : ""}${side().allocationLabel(row.allocation.id)}` },
        { key: "kind", label: "Kind", plain: true, value: (row) => row.allocation.kind },
        { key: "size", label: "Size", unit: "bytes", value: (row) => row.bytes },
        { key: "touched", label: "Touched", unit: "share", off: true, value: (row) => ratio(row.touched, row.bytes) },
        { key: "sectors", label: "Traffic", unit: "bytes", value: (row) => row.sum.sectors * 32 },
        { key: "traffic_share", label: "Share", unit: "share", bar: "heat", value: (row) => ratio(row.sum.sectors, total) },
        { key: "efficiency", label: "Coalesced", unit: "share", bar: "plain", low: true, value: (row) => RATIOS.efficiency.of(row.sum) },
        { key: "l1_rate", label: "L1 hit", unit: "share", low: true, value: (row) => RATIOS.l1_rate.of(row.sum) },
        { key: "l2_rate", label: "L2 hit", unit: "share", low: true, off: true, value: (row) => RATIOS.l2_rate.of(row.sum) },
        { key: "kernels", label: "Kernels", unit: "count", off: true, value: (row) => row.kernels.size },
        { key: "copies", label: "Copies", plain: true, value: (row) => copiesText(row.copies) },
      ],
    }),
  ];
}

/** Hit rate, share of the traffic and coalescing, of each kernel that touches it, in one diagram. */
function threeMeasures(allocation) {
  const parts = allocation.by_kernel.map((row) => ({ label: side().kernelLabel(row.kernel), kernel: row.kernel, sum: sums(row.metrics, "global") }));
  const all = sums(allocation.metrics, "global");
  if (all.requests === 0) return nothing("No kernel touched it, or accesses were counted without their addresses.");
  const program = sumOf(allocationRows().map((row) => row.sum)).sectors;
  const rows = [{ label: "all kernels", sum: all, share: ratio(all.sectors, program) }, ...(parts.length > 1 ? parts.sort((one, other) => other.sum.sectors - one.sum.sectors).slice(0, 8).map((part) => ({ ...part, share: ratio(part.sum.sectors, sumOfKernel(part.kernel)) })) : [])];
  const measures = [
    ["l1_rate", "L1 hit rate of loads", (row) => RATIOS.l1_rate.of(row.sum), kindColor(0)],
    ["traffic_share", "share of traffic", (row) => row.share, kindColor(1)],
    ["efficiency", "coalescing efficiency", (row) => RATIOS.efficiency.of(row.sum), kindColor(2)],
  ];
  return h("div", { class: "three" },
    h("div", { class: "three-head", "aria-hidden": "true" }, h("span"), h("span", { class: "three-scale" }, ["0", "25", "50", "75", "100 %"].map((text) => h("span", null, text)))),
    rows.map((row, at) => h("div", { class: at === 0 ? "three-row first" : "three-row" },
      h("span", { class: "three-name" }, row.kernel === undefined ? row.label : link(`kernel/${row.kernel}`, row.label)),
      h("div", { class: "three-bars" }, measures.map(([key, label, of, color]) => {
        const value = of(row);
        return h("div", { class: "three-bar" }, h("span", { class: "three-track" }, h("span", { class: `three-fill ${key}`, style: { width: `${100 * (value ?? 0)}%`, background: color } })), term(label, key), figure(key, value, "share", `${row.kernel === undefined ? "allocation" : "part"}.${key}`));
      })))),
    parts.length > 8 ? h("p", { class: "note" }, `and ${plural(parts.length - 8, "more kernel")}`) : null,
    parts.length > 1 ? h("p", { class: "note" }, "The share of a kernel's row is of that kernel's traffic.") : null);
}

function sumOfKernel(id) {
  const kernel = side().kernels.get(id);
  return kernel ? spacesSum(kernel.metrics).sectors : 0;
}

/** Which parts of the allocation kernels touched. */
function touchedMap(allocation) {
  const { touched_map: map, touched_bytes: touched = 0, bytes: size } = allocation;
  const share = ratio(touched, size);
  const said = h("p", null, figure("touched", touched, "bytes", "allocation.touched_bytes"), ` of ${bytes(size)} touched (${percent(share)}).`);
  if (profile().run.mode === "counters" || Object.keys(profile().run.lookup_bytes ?? {}).length === 0) return nothing("Not recorded: the profile was made without simulating caches.");
  if (!map) return [said, h("p", { class: "note" }, allocation.count > 1 ? `This row stands for ${count(allocation.count)} allocations; a map is kept for single ones.` : "Which parts these are was not recorded in this profile.")];
  const parts = map.touched.length;
  const drawing = svg("svg", { viewBox: `0 0 ${parts * 10} 44`, class: "touched", preserveAspectRatio: "none", role: "img", "aria-label": `Touched parts of ${parts}: ${map.touched.filter((bytes) => bytes > 0).length}` });
  map.touched.forEach((bytesOfPart, at) => {
    const [begin, end] = [at * map.part_bytes, Math.min(size, (at + 1) * map.part_bytes)];
    const full = Math.min(1, ratio(bytesOfPart, end - begin) ?? 0);
    drawing.append(svg("rect", {
      x: at * 10, y: 0, width: 10, height: 44, class: full === 0 ? "untouched" : "part", style: full === 0 ? {} : { fill: heat(full) },
      hint: [`${bytes(begin)} to ${bytes(end)}`, `${bytes(bytesOfPart)} touched (${percent(full)})`], data: { figure: "touched.part", value: bytesOfPart },
    }));
  });
  return [said, drawing, h("div", { class: "touched-scale" }, h("span", null, "first byte"), h("span", null, "last byte")), legend([[heat(1), "all of it"], [heat(0.5), "half"], [heat(0), "little"], ["var(--track)", "nothing"]])];
}

/** From birth to end, among the launches of the program. */
function lifetime(allocation) {
  const launches = profile().kernels.reduce((sum, kernel) => sum + kernel.launch_count, 0);
  const kernels = allocation.by_kernel.length;
  const text = [];
  const { count: many = 1, freed_count: freed = allocation.freed ? many : 0, live_at_once: live = 0 } = allocation;
  if (many > 1) text.push(`${count(many)} allocations, ${count(freed)} of them freed before the end.`);
  else text.push(allocation.freed ? "Freed before the end of the program." : "Not freed before the end of the program.");
  if (live > 1) text.push(`At most ${count(live)} from its call path were live at the same time.`);
  text.push(`${plural(kernels, "kernel")} touched it.`);
  const life = allocation.lifetime;
  if (!life) return [h("p", null, text.join(" ")), h("p", { class: "note" }, "Between which launches it lived was not recorded in this profile.")];
  const from = life.first_launch;
  const to = life.last_launch ?? launches;
  const scale = Math.max(1, launches);
  return [
    h("p", null, text.join(" "), " ", `Made after ${plural(from, "launch", "launches")}, ${life.last_launch === null || life.last_launch === undefined ? "kept to the end" : `freed after ${plural(to, "launch", "launches")}`} of ${count(launches)}.`),
    h("div", { class: "life", role: "img", "aria-label": `from launch ${from} to ${to} of ${launches}` }, h("span", { class: "life-bar", style: { left: `${(100 * from) / scale}%`, width: `${Math.max(0.6, (100 * (to - from)) / scale)}%` }, data: { figure: "life", value: `${from}-${to}` } })),
    h("div", { class: "touched-scale" }, h("span", null, "first launch"), h("span", null, "last launch")),
  ];
}

function copyTable(allocation) {
  return dataTable({
    id: "copies", label: "Copies", rows: allocation.copies, sort: { key: "bytes", down: true }, search: false,
    none: "Nothing was copied to or from it, and it was not filled by a call.",
    columns: [
      { key: "direction", label: "Direction", help: "copies", value: (row) => spaced(row.direction) },
      { key: "bytes", label: "Bytes", unit: "bytes", help: "copies", value: (row) => row.bytes },
      { key: "count", label: "Times", unit: "count", help: "copies", value: (row) => row.count },
      { key: "unchanged", label: "Unchanged", unit: "count", value: (row) => row.unchanged_count ?? 0 },
      { key: "host", label: "Host memory", plain: true, value: (row) => (row.host === null || row.host === undefined ? "" : side().hosts.get(row.host)?.name ?? `${side().hosts.get(row.host)?.kind ?? "host memory"} ${row.host}`) },
      { key: "from", label: "From", plain: true, value: (row) => { const frame = userFrame(row.path); return frame ? `${plainName(frame.function)} ${baseName(frame.file)}:${frame.line}` : ""; } },
    ],
  });
}

/** Innermost frame in code that is no system's header. */
function userFrame(path) {
  return [...path].reverse().find((frame) => frame.file && !/^\/usr\/|\/include\/|\/lib\/gcc\//.test(frame.file)) ?? path[path.length - 1];
}

function allocationView(parts) {
  const allocation = side().allocations.get(Number(parts[0]));
  if (!allocation) return missing("allocation", "allocations");
  const sum = sums(allocation.metrics, "global");
  const findings = profile().findings.filter((finding) => finding.allocation === allocation.id);
  const touching = side().sitesOfAllocation.get(allocation.id) ?? [];
  const frame = userFrame(allocation.path);
  return [
    heading(`${allocation.count > 1 ? `${count(allocation.count)} × ` : ""}${side().allocationLabel(allocation.id)}`, null, h("p", { class: "lead" }, `${allocation.kind} · ${bytes(allocation.bytes)}`, frame ? [" · made at ", side().profile.sources[frame.file] ? link(sourceRoute(frame.file, frame.line), `${baseName(frame.file)}:${frame.line}`) : `${baseName(frame.file)}:${frame.line}`] : null)),
    figures([
      { key: "sectors", value: sum.sectors * 32, unit: "bytes", name: "allocation.traffic" },
      { key: "requests", value: sum.requests, unit: "count", name: "allocation.requests" },
      RATIOS.sectors_per_request.of(sum) === null ? null : { key: "sectors_per_request", value: RATIOS.sectors_per_request.of(sum), unit: "mean", name: "allocation.sectors_per_request" },
      sum.simulated ? { key: "dram", value: sum.dram * 32, unit: "bytes", name: "allocation.dram" } : null,
    ]),
    siblingPanel(allocation),
    panel("Hit rate, share of traffic, coalescing", { help: "traffic_share" }, threeMeasures(allocation)),
    intensityPanel(allocation),
    findings.length > 0 ? panel("Findings", {}, findingCards(findings)) : null,
    h("div", { class: "grid-2" }, panel("Touched bytes", { help: "touched_map" }, touchedMap(allocation)), panel("Lifetime", { help: "lifetime" }, lifetime(allocation))),
    panel("Copies", { help: "copies" }, copyTable(allocation)),
    panel("Accessed from", {}, allocationSites(touching)),
    allocation.metrics.reuse || allocation.metrics.lines_touched ? distributionPanels({ global: allocation.metrics }, []) : null,
    panel("Made at", {}, pathList(allocation.path)),
  ];
}

/** Floating-point results of the kernels per byte of the allocation. */
function intensityPanel(allocation) {
  const all = (profile().arithmetic_intensity ?? []).filter((row) => row.allocation === allocation.id);
  // The sum over one kernel is the kernel's row.
  const rows = all.length === 2 ? all.slice(1) : all;
  if (rows.length === 0) return null;
  const figureCell = (key, unit) => (row, value) => figure(key, value, unit, `intensity.${key}`);
  return panel("Arithmetic intensity", { help: "allocation_intensity" }, dataTable({
    id: "allocation-intensity", label: "Arithmetic intensity", rows, search: false, sort: { key: "results", down: true },
    open: (row) => (row.kernel === null ? null : `kernel/${row.kernel}`),
    columns: [
      { key: "kernel", label: "Kernel", value: (row) => (row.kernel === null ? "all of these" : side().kernelLabel(row.kernel)) },
      { key: "results", label: "Results", unit: "count", value: (row) => row.results, cell: figureCell("results", "count") },
      { key: "per_byte", label: "Per byte", unit: "mean", help: "allocation_intensity", value: (row) => row.per_requested_byte, cell: figureCell("per_byte", "mean") },
      { key: "per_dram", label: "Per DRAM byte", unit: "mean", help: "allocation_intensity", value: (row) => row.per_dram_byte ?? null, cell: figureCell("per_dram", "mean") },
    ],
  }));
}

/** The others of one name, kind and line. */
function siblingPanel(allocation) {
  const { members } = allocationGroups().find((group) => group.members.includes(allocation));
  if (members.length < 2) return null;
  return h("details", { class: "notes" }, h("summary", null, `One of ${plural(members.length, "row")} of this name that are made at the same line`), dataTable({
    id: "siblings", label: "Allocations of this name", rows: members, open: (row) => `allocation/${row.id}`, current: (row) => row === allocation,
    columns: [
      { key: "number", label: "Number", value: (row) => `${row.count > 1 ? `${row.count} × from ` : ""}${row.id}` },
      { key: "size", label: "Size", unit: "bytes", value: (row) => row.bytes },
      { key: "sectors", label: "Traffic", unit: "bytes", value: (row) => sums(row.metrics, "global").sectors * 32 },
      { key: "efficiency", label: "Coalesced", unit: "share", low: true, value: (row) => RATIOS.efficiency.of(sums(row.metrics, "global")) },
    ],
  }));
}

function allocationSites(touching) {
  return dataTable({
    id: "allocation-sites", label: "Accesses", rows: touching.map(({ site, metrics }) => ({ site, sum: sums(metrics, site.space) })), sort: { key: "sectors", down: true },
    open: (row) => sourceRoute(row.site.file, row.site.line),
    none: "No access to it was recorded.",
    columns: [
      { key: "place", label: "Line", value: (row) => place(row.site.file, row.site.line) },
      { key: "source", label: "Source", code: true, plain: true, value: (row) => side().sourceLine(row.site.file, row.site.line)?.trim() ?? "" },
      { key: "op", label: "Access", plain: true, value: (row) => row.site.op },
      { key: "kernel", label: "Kernel", plain: true, value: (row) => side().kernelLabel(row.site.kernel) },
      { key: "sectors", label: "Traffic", unit: "bytes", bar: "heat", value: (row) => row.sum.sectors * 32 },
      { key: "efficiency", label: "Coalesced", unit: "share", low: true, value: (row) => RATIOS.efficiency.of(row.sum) },
      { key: "l1_rate", label: "L1 hit", unit: "share", low: true, value: (row) => RATIOS.l1_rate.of(row.sum) },
    ],
  });
}
