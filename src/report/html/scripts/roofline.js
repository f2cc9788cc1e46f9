// Rooflines (Williams, Waterman and Patterson, "Roofline", Communications of the ACM 52(4), 2009): results per byte and
// results per second of each kernel on the selected model. Results are counted; bytes and times are modelled.

/** Classes of instructions whose results are arithmetic of floating-point numbers, by the limit that serves them. */
const ARITHMETIC = ["fp16", "fp32", "fp64", "special"];
/** Memories, with how a limit of the estimate names them. */
const MEMORIES = [["dram", "DRAM"], ["l2", "L2"]];
/** Kernels that are drawn, those that take longest first. */
const MOST_POINTS = 24;

/** Results of active lanes. */
function results(instructions) {
  return ARITHMETIC.reduce((sum, name) => sum + (instructions?.[name]?.lanes ?? 0), 0);
}

/** What a kernel does per byte of each memory and per second; null without results or an estimate. */
function rooflinePoint(kernel) {
  const row = estimate(kernel);
  const all = results(kernel.instructions);
  if (!row || all === 0 || row.seconds === 0) return null;
  const intensity = Object.fromEntries(MEMORIES.map(([name]) => [name, ratio(all, row.bytes[name])]));
  return { kernel, row, results: all, intensity, rate: all / row.seconds };
}

/** Rates of the model that any kernel's estimate states: results or bytes per second, by name. */
function modelRates() {
  const rates = {};
  for (const kernel of profile().kernels) {
    for (const limit of estimate(kernel)?.limits ?? []) rates[limit.name] = limit.rate;
  }
  return rates;
}

/** The highest rate that the roof allows at an intensity, for the arithmetic that the kernel has most of. */
function roofOf(point, rates) {
  const classes = ARITHMETIC.filter((name) => rates[name] && point.kernel.instructions[name]);
  const main = classes.sort((one, other) => point.kernel.instructions[other].lanes - point.kernel.instructions[one].lanes)[0];
  const roofs = [main ? rates[main] : Infinity];
  for (const [name] of MEMORIES) {
    if (rates[name] && point.intensity[name] !== null) roofs.push(point.intensity[name] * rates[name]);
  }
  const least = Math.min(...roofs);
  return Number.isFinite(least) ? least : null;
}

/** The drawing, with logarithmic axes. */
function rooflineDrawing(points, rates) {
  const [width, height, left, bottom, top, right] = [innerWidth < 600 ? 340 : 620, 300, 52, 40, 14, 12];
  const tops = ARITHMETIC.map((name) => rates[name]).filter(Boolean);
  const xs = points.flatMap((point) => MEMORIES.map(([name]) => point.intensity[name])).filter((value) => value > 0);
  const knees = MEMORIES.flatMap(([name]) => (rates[name] ? tops.map((most) => most / rates[name]) : []));
  const ys = [...points.map((point) => point.rate), ...tops];
  const decades = (values) => [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)) + 0.01)];
  const [x0, x1] = decades([...xs, ...knees]);
  const [y0, y1] = decades(ys);
  const x = (value) => left + ((width - left - right) * (Math.log10(value) - x0)) / (x1 - x0);
  const y = (value) => top + (height - top - bottom) * (1 - (Math.log10(value) - y0) / (y1 - y0));
  const label = points.slice(0, 8).map((point) => `${side().kernelLabel(point.kernel.id)} ${short(point.rate)} results per second`).join(", ");
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "histogram roofline", role: "img", "aria-label": `Roofline: ${label}` });
  for (let power = x0; power <= x1; power += 1) {
    drawing.append(svg("line", { x1: x(10 ** power), x2: x(10 ** power), y1: top, y2: height - bottom, class: "grid" }));
    drawing.append(svg("text", { x: x(10 ** power), y: height - bottom + 14, class: "axis", "text-anchor": "middle" }, short(10 ** power)));
  }
  for (let power = y0; power <= y1; power += 1) {
    drawing.append(svg("line", { x1: left, x2: width - right, y1: y(10 ** power), y2: y(10 ** power), class: "grid" }));
    drawing.append(svg("text", { x: left - 6, y: y(10 ** power) + 4, class: "axis", "text-anchor": "end" }, short(10 ** power)));
  }
  roofLines(drawing, rates, { x, y, ends: [10 ** x0, 10 ** x1, 10 ** y0], top: Math.max(...tops, 10 ** y0) });
  for (const point of points) {
    for (const [name, text] of MEMORIES) {
      const at = point.intensity[name];
      if (!at) continue;
      const hint = [side().kernelLabel(point.kernel.id), `${digits(at)} results per byte of ${text}, ${short(point.rate)} results per second.`];
      drawing.append(svg("circle", { cx: x(at), cy: y(point.rate), r: 5, class: `roofline-point ${name}`, hint, data: { figure: `roofline.${name}.${point.kernel.id}`, value: at } }));
    }
  }
  drawing.append(svg("text", { x: (left + width) / 2, y: height - 6, class: "axis", "text-anchor": "middle" }, "results per byte"));
  return drawing;
}

/** The roofs: a rising line for each memory, a level one for each arithmetic. */
function roofLines(drawing, rates, { x, y, ends: [least, most, lowest], top }) {
  for (const name of ARITHMETIC.filter((name) => rates[name])) {
    drawing.append(svg("line", { x1: x(least), x2: x(most), y1: y(rates[name]), y2: y(rates[name]), class: "roof" }));
    drawing.append(svg("text", { x: x(most) - 4, y: y(rates[name]) - 4, class: "mark-label", "text-anchor": "end" }, limitName(name)));
  }
  for (const [name, text] of MEMORIES.filter(([name]) => rates[name])) {
    const from = Math.max(least, lowest / rates[name]);
    const to = Math.min(most, top / rates[name]);
    if (from >= to) continue;
    drawing.append(svg("line", { x1: x(from), x2: x(to), y1: y(from * rates[name]), y2: y(to * rates[name]), class: `roof ${name}` }));
    drawing.append(svg("text", { x: x(from) + 4, y: y(from * rates[name]) - 6, class: "mark-label" }, text));
  }
}

/** The roofline of all kernels with its figures as a table. */
function rooflinePanel() {
  const all = profile().kernels.map(rooflinePoint).filter(Boolean);
  if (all.length === 0) return null;
  const rates = modelRates();
  const points = all.sort((one, other) => other.row.seconds - one.row.seconds);
  const drawable = ARITHMETIC.some((name) => rates[name]) && MEMORIES.some(([name]) => rates[name]);
  return panel(
    "Roofline",
    { help: "intensity" },
    drawable ? h("figure", { class: "chart" }, rooflineDrawing(points.slice(0, MOST_POINTS), rates)) : nothing(`${state.model} has no rates of arithmetic and memory to draw roofs from.`),
    drawable ? legend([["var(--bar)", "by bytes of DRAM"], ["var(--bar-apart)", "by bytes of L2"]]) : null,
    rooflineTable(points, rates),
  );
}

function rooflineTable(points, rates) {
  return dataTable({
    id: "roofline",
    label: "Roofline",
    rows: points,
    search: false,
    sort: { key: "seconds", down: true },
    open: (point) => `kernel/${point.kernel.id}`,
    columns: [
      { key: "name", label: "Kernel", value: (point) => side().kernelLabel(point.kernel.id) },
      { key: "results", label: "Results", unit: "count", help: "results", value: (point) => point.results },
      { key: "per_dram", label: "Per DRAM byte", unit: "mean", help: "intensity", value: (point) => point.intensity.dram },
      { key: "per_l2", label: "Per L2 byte", unit: "mean", help: "intensity", value: (point) => point.intensity.l2 },
      { key: "rate", label: "Results per second", unit: "count", help: "results", value: (point) => point.rate },
      { key: "roof", label: "Of the roof", unit: "share", bar: "plain", help: "roof", value: (point) => ratio(point.rate, roofOf(point, rates)) },
      { key: "seconds", label: "At least", unit: "seconds", value: (point) => point.row.seconds },
    ],
  });
}

/** Results per byte that each line of a kernel requests. */
function lineIntensities(kernel) {
  const rows = (side().by("lines", "kernel").get(kernel.id) ?? [])
    .map((line) => ({ line, results: results(line.instructions), bytes: (line.metrics.global?.sectors ?? 0) * 32 }))
    .filter((row) => row.results > 0);
  if (rows.length === 0) return null;
  const total = results(kernel.instructions);
  return panel("Arithmetic by line", { help: "intensity" }, dataTable({
    id: "line-intensity", label: "Arithmetic by line", rows, search: false, sort: { key: "results", down: true },
    open: (row) => sourceRoute(row.line.file, row.line.line),
    columns: [
      { key: "place", label: "Line", value: (row) => place(row.line.file, row.line.line) },
      { key: "results", label: "Results", unit: "count", value: (row) => row.results },
      { key: "share", label: "Share", unit: "share", bar: "plain", help: "results", value: (row) => ratio(row.results, total) },
      { key: "sectors", label: "Traffic", unit: "bytes", value: (row) => row.bytes },
      { key: "intensity", label: "Per byte", unit: "mean", value: (row) => ratio(row.results, row.bytes) },
    ],
  }));
}
