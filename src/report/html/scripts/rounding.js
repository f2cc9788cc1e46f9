// Elements that the run rounded to a smaller type (`--what-if-type`), and results that it compared.

function hasRounding() {
  return (profile().rounded_allocations ?? []).length > 0;
}

function roundingView() {
  const rows = profile().rounded_allocations;
  const results = profile().compared_results ?? [];
  const others = rows.flatMap((row) => (row.other_accesses ?? []).map((access) => ({ row, access })));
  return [
    heading("Rounded elements", "Allocations whose elements the program computed with in a smaller type, and the relative errors."),
    panel("Allocations", { help: "rounding_error" }, roundedTable("rounded", "Rounded allocations", rows.map((row) => ({ row, errors: row.errors })))),
    panel("By writer", { help: "rounding_error" }, roundedTable("rounded-writers", "Writers of rounded elements", rows.flatMap((row) => row.writes.map((writes) => ({ row, writes, errors: writes.errors }))))),
    panel("Examples", {}, roundedExamples(rows)),
    others.length > 0 ? panel("Not rounded", {}, otherAccessTable(others)) : null,
    results.length > 0 ? panel("Results compared with a run without rounding", {}, resultTable(results)) : null,
  ];
}

function roundedTypes({ from, to }) {
  return from && to ? `${from} as ${to}` : "not rounded";
}

/** Who wrote the elements, as in the text report. */
function writerText(writes) {
  if (writes.writer === "store") return `${side().kernelLabel(writes.kernel)} ${place(writes.frame.file, writes.frame.line)}`;
  if (writes.writer === "kernel") return `${side().kernelLabel(writes.kernel)}, stores without hooks`;
  if (writes.writer === "host") return "the host, or initial values";
  const frame = writes.path?.length > 0 ? userFrame(writes.path) : null;
  return frame ? `${writes.writer} ${place(frame.file, frame.line)}` : writes.writer;
}

/** Allocations or writers with the errors of their elements. */
function roundedTable(id, label, rows) {
  const isWriter = rows.some((one) => one.writes);
  const route = ({ row, writes }) => (writes?.writer === "store" ? sourceRoute(writes.frame.file, writes.frame.line) : `allocation/${row.allocation}`);
  const value = (key, label, unit, of) => ({ key, label, unit, help: "rounding_error", value: ({ errors }) => of(errors), cell: (row, shown) => figure(key, shown, unit, `${id}.${key}`) });
  return dataTable({
    id, label, rows, sort: { key: "largest_error", down: true }, open: route,
    none: "No element was written.",
    columns: [
      { key: "allocation", label: "Allocation", plain: isWriter, value: ({ row }) => side().allocationLabel(row.allocation) },
      ...(isWriter ? [{ key: "writer", label: "Written by", value: ({ writes }) => writerText(writes) }] : [{ key: "types", label: "Types", plain: true, value: ({ row }) => roundedTypes(row) }]),
      value("elements", "Elements", "count", (errors) => errors.elements),
      value("inexact", "Inexact", "count", (errors) => errors.inexact),
      value("largest_error", "Largest", "mean", (errors) => errors.largest_error),
      value("mean_error", "Mean", "mean", (errors) => errors.mean_error),
      value("overflows", "Overflow", "count", (errors) => errors.overflows),
      value("underflows", "Underflow", "count", (errors) => errors.zeros + errors.subnormals),
    ],
  });
}

function elementText({ element, value, launch }) {
  return `element ${count(element)} with value ${value ?? "not finite"}${launch === undefined ? "" : ` in launch ${launch}`}`;
}

/** The first elements with the largest error, an overflow and an underflow. */
function roundedExamples(rows) {
  const all = rows.flatMap((row) => [["largest error", "worst"], ["first overflow", "first_overflow"], ["first underflow", "first_underflow"]]
    .filter(([, key]) => row.errors[key])
    .map(([what, key]) => ({ row, what, example: row.errors[key] })));
  return dataTable({
    id: "rounded-examples", label: "Examples of rounded elements", rows: all, none: "Every element is exact in the smaller type.",
    open: ({ row }) => `allocation/${row.allocation}`,
    columns: [
      { key: "allocation", label: "Allocation", value: ({ row }) => side().allocationLabel(row.allocation) },
      { key: "what", label: "Example of", plain: true, value: ({ what }) => what },
      { key: "element", label: "Element", plain: true, value: ({ example }) => elementText(example) },
    ],
  });
}

/** Accesses to other elements, whose stores are not rounded. */
function otherAccessTable(rows) {
  return dataTable({
    id: "unrounded", label: "Accesses to other elements", rows,
    open: ({ access }) => sourceRoute(access.frame.file, access.frame.line),
    columns: [
      { key: "place", label: "Line", value: ({ access }) => place(access.frame.file, access.frame.line) },
      { key: "allocation", label: "Allocation", plain: true, value: ({ row }) => side().allocationLabel(row.allocation) },
      { key: "op", label: "Access", plain: true, value: ({ access }) => `${access.op} of ${access.element || "other elements"}` },
      { key: "kernel", label: "Kernel", plain: true, value: ({ access }) => side().kernelLabel(access.kernel) },
    ],
  });
}

/** Copies to the host in runs with and without rounding. */
function resultTable(results) {
  const value = (key, label, unit) => ({ key, label, unit, help: "compared_result", value: (row) => row[key], cell: (row, shown) => figure(key, shown, unit, `results.${key}`) });
  return dataTable({
    id: "results", label: "Compared results", rows: results, sort: { key: "largest_difference", down: true },
    open: (row) => `allocation/${row.allocation}`,
    columns: [
      { key: "allocation", label: "Allocation", value: (row) => side().allocationLabel(row.allocation) },
      { key: "from", label: "Copied at", plain: true, value: (row) => { const frame = row.path.length > 0 ? userFrame(row.path) : null; return frame ? place(frame.file, frame.line) : ""; } },
      { key: "element", label: "Type", plain: true, value: (row) => row.element },
      value("copies", "Copies", "count"),
      value("elements", "Elements", "count"),
      value("different", "Different", "count"),
      value("largest_difference", "Largest", "mean"),
      value("mean_difference", "Mean", "mean"),
      value("not_finite", "Not finite", "count"),
      value("from_zero", "From 0", "count"),
      { key: "worst", label: "Largest difference", plain: true, off: true, value: (row) => (row.worst ? elementText(row.worst) : "") },
    ],
  });
}
