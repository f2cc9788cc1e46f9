// Divergent branches, conflicts between warps, and bad accesses.

function divergenceView() {
  const { branches, conflicts, faults } = profile();
  const slots = profile().kernels.reduce((sum, kernel) => ({ issued: sum.issued + kernel.lane_slots.issued, active: sum.active + kernel.lane_slots.active, lost: sum.lost + kernel.lane_slots.lost_partial }), { issued: 0, active: 0, lost: 0 });
  return [
    heading("Divergence and faults", "Branches by which lanes of a warp diverge, conflicts between warps, and bad accesses."),
    slots.issued > 0 ? figures([
      { key: "lane_slots", value: ratio(slots.active, slots.issued), unit: "share", name: "program.lane_use" },
      { key: "idle_slots", label: "Lost to divergence, at most", value: ratio(slots.lost, slots.issued), unit: "share", name: "program.lost" },
    ]) : null,
    faults.length > 0 ? panel("Bad accesses", {}, faultTable(faults)) : null,
    panel("Branches", { help: "divergent" }, branchTable(branches)),
    panel("Conflicts between warps", { help: "conflict" }, conflictTable(conflicts)),
  ];
}

function branchTable(branches) {
  return dataTable({
    id: "branches", label: "Branches", rows: branches, sort: { key: "idle_slots", down: true },
    open: (row) => sourceRoute(row.file, row.line),
    none: "No conditional branch was executed.",
    columns: [
      { key: "place", label: "Line", value: (row) => `${place(row.file, row.line)}${row.column ? `:${row.column}` : ""}` },
      { key: "source", label: "Source", code: true, plain: true, value: (row) => side().sourceLine(row.file, row.line)?.trim() ?? "" },
      { key: "kernel", label: "Kernel", plain: true, value: (row) => side().kernelLabel(row.kernel) },
      { key: "branch_executions", label: "Executions", unit: "count", value: (row) => row.executions },
      { key: "divergent", label: "Divergent", unit: "share", bar: "plain", value: (row) => ratio(row.divergent, row.executions) },
      { key: "idle_slots", label: "Idle slots", unit: "count", bar: "heat", value: (row) => row.idle_lane_slots ?? 0 },
      { key: "sides", label: "Lanes by side", plain: true, value: (row) => row.lanes.map(short).join(" / ") },
    ],
  });
}

function conflictTable(conflicts) {
  const { race_check: checked } = profile().run;
  const none = checked === undefined ? "Not checked in this profile." : checked === "full" ? "None: every access was checked." : "None in the sample that was checked; --check-race checks every access.";
  return dataTable({
    id: "conflicts", label: "Conflicts", rows: conflicts, none,
    open: (row) => sourceRoute(row.accesses[0].frame.file, row.accesses[0].frame.line),
    columns: [
      { key: "severity", label: "Severity", value: (row) => row.severity },
      { key: "verdict", label: "Verdict", plain: true, value: (row) => spaced(row.verdict) },
      { key: "one", label: "Writes", plain: true, value: (row) => `${row.accesses[0].op} ${place(row.accesses[0].frame.file, row.accesses[0].frame.line)}` },
      { key: "other", label: "Other access", plain: true, value: (row) => `${row.accesses[1].op} ${place(row.accesses[1].frame.file, row.accesses[1].frame.line)}` },
      { key: "memory", label: "Memory", plain: true, value: (row) => row.variable ?? (row.allocation === null ? `${row.space} memory` : side().allocationLabel(row.allocation)) },
      { key: "kernel", label: "Kernel", plain: true, value: (row) => side().kernelLabel(row.kernel) },
      { key: "scope", label: "Within", plain: true, value: (row) => row.scope },
      { key: "count", label: "Words", unit: "count", help: "conflict", value: (row) => row.count },
    ],
  });
}

function faultTable(faults) {
  return dataTable({
    id: "faults", label: "Bad accesses", rows: faults,
    open: (row) => sourceRoute(row.frame.file, row.frame.line),
    columns: [
      { key: "kind", label: "Kind", value: (row) => spaced(row.kind) },
      { key: "place", label: "Line", plain: true, value: (row) => place(row.frame.file, row.frame.line) },
      { key: "op", label: "Access", plain: true, value: (row) => `${row.op}${row.bytes ? ` of ${row.bytes} bytes` : ""}` },
      { key: "kernel", label: "Kernel", plain: true, value: (row) => side().kernelLabel(row.kernel) },
      { key: "where", label: "Block, thread", plain: true, value: (row) => `${row.block}, ${row.thread}` },
      { key: "memory", label: "Nearest allocation", plain: true, value: (row) => row.member ? `byte ${count(row.member.offset)} of ${row.member.structure || "the structure"}, outside ${row.member.name}` : (row.allocation === null ? "" : `${side().allocationLabel(row.allocation)}${row.offset === null ? "" : ` ${row.offset < 0 ? "−" : "+"} ${count(Math.abs(row.offset))} bytes`}`) },
      { key: "address", label: "Address", plain: true, value: (row) => row.address },
    ],
  });
}
