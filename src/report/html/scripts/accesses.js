// Table of memory instructions.

function siteRows(sites) {
  return sites.map((site) => ({ site, sum: sums(site.metrics, site.space) }));
}

function siteTable(sites, { id, kernel = true } = {}) {
  const rows = side().once(`siteRows ${id} ${sites[0]?.kernel} ${state.model}`, () => siteRows(sites));
  const total = side().once(`siteSum ${id} ${sites[0]?.kernel} ${state.model}`, () => sumOf(rows.map((row) => row.sum)));
  const some = (key) => rows.some((row) => row.sum[key] > 0);
  const options = (key) => [...new Set(rows.map((row) => row.site[key]))].sort().map((name) => [name, name]);
  return dataTable({
    id,
    label: "Accesses",
    rows,
    sort: { key: COSTS.avoidable.of(total) > 0 ? "avoidable" : COSTS.conflicts.of(total) > 0 ? "conflicts" : "requests", down: true },
    open: (row) => sourceRoute(row.site.file, row.site.line),
    none: "No memory instruction was executed, or none was recorded.",
    filters: [
      { key: "op", label: "Operation", options: options("op"), keep: (row, value) => row.site.op === value },
      { key: "space", label: "Space", options: options("space"), keep: (row, value) => row.site.space === value },
      ...(kernel ? [{ key: "kernel", label: "Kernel", options: [...new Set(rows.map((row) => row.site.kernel))].slice(0, 500).map((id) => [String(id), side().kernelLabel(id)]), keep: (row, value) => row.site.kernel === Number(value) }] : []),
    ],
    columns: [
      { key: "place", label: "Line", value: (row) => place(row.site.file, row.site.line) + (row.site.approximate ? " ~" : "") },
      { key: "source", label: "Source", code: true, plain: true, value: (row) => side().sourceLine(row.site.file, row.site.line)?.trim() ?? "" },
      { key: "op", label: "Access", plain: true, value: (row) => `${row.site.op} ${row.site.bytes} B ${row.site.space}` },
      ...(kernel ? [{ key: "kernel", label: "Kernel", plain: true, value: (row) => side().kernelLabel(row.site.kernel) }] : []),
      { key: "operand", label: "Variable", plain: true, off: true, value: (row) => operandText(row.site) },
      { key: "avoidable", label: "Avoidable", unit: "bytes", bar: "heat", off: COSTS.avoidable.of(total) === 0 && COSTS.conflicts.of(total) > 0, value: (row) => COSTS.avoidable.of(row.sum) },
      { key: "conflicts", label: "Extra passes", unit: "count", bar: COSTS.conflicts.of(total) > 0 ? "heat" : null, off: !some("passes"), value: (row) => COSTS.conflicts.of(row.sum) },
      { key: "sectors", label: "Traffic", unit: "bytes", value: (row) => row.sum.sectors * 32 },
      { key: "share", label: "Share", unit: "share", help: "sectors", off: true, value: (row) => ratio(row.sum.sectors, total.sectors) },
      { key: "sectors_per_request", label: "Per request", unit: "mean", value: (row) => RATIOS.sectors_per_request.of(row.sum) },
      { key: "efficiency", label: "Coalesced", unit: "share", low: true, value: (row) => RATIOS.efficiency.of(row.sum) },
      { key: "l1_rate", label: "L1 hit", unit: "share", low: true, value: (row) => RATIOS.l1_rate.of(row.sum) },
      { key: "l2_rate", label: "L2 hit", unit: "share", low: true, off: true, value: (row) => RATIOS.l2_rate.of(row.sum) },
      { key: "dram", label: "DRAM", unit: "bytes", off: true, value: (row) => row.sum.dram * 32 },
      { key: "requests", label: "Requests", unit: "count", value: (row) => row.sum.requests },
      { key: "lanes_per_request", label: "Lanes", unit: "mean", low: true, value: (row) => RATIOS.lanes_per_request.of(row.sum) },
    ],
  });
}

function accessesView() {
  return [heading("Accesses", "Every memory instruction that ran, by kernel and space."), siteTable(profile().sites, { id: "accesses" })];
}
