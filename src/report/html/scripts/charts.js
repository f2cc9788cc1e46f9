// Charts in SVG: bars of a kernel's limits, histograms, and rings of shares. The figures of each chart are also shown
// as text next to it or below it.

/** A kernel's work on each part of the GPU, longest first; by time. */
function limiterBars(kernel, { most = 12, compact = false } = {}) {
  const row = estimate(kernel);
  if (!row) return nothing(`No estimate on ${state.model || "any model"}: no launch of it was recorded whole, or the model has no rates.`);
  const longest = row.limits.reduce((max, limit) => Math.max(max, limit.seconds), 0) || 1;
  const slowest = limiter(row);
  const rows = row.limits.slice(0, most).map((limit) => {
    const [label, text] = LIMITS[limit.name] ?? [limit.name, ""];
    const first = limit.name === slowest;
    return h(
      "li",
      { class: first ? "limit first" : "limit" },
      h("button", { type: "button", class: "term limit-name", hint: [capital(label), `${text} Here ${short(limit.amount)} ${limit.unit} at ${short(limit.rate)} ${limit.unit} per second.`] }, label),
      h("span", { class: "limit-track" }, h("span", { class: "limit-fill", style: { width: `${(100 * limit.seconds) / longest}%` } })),
      h("span", { class: "limit-time", data: { figure: `limit.${limit.name}`, value: limit.seconds } }, seconds(limit.seconds), first ? h("span", { class: "visually-hidden" }, ", the limit") : null),
    );
  });
  const extras = [];
  if (!compact && row.unknown.length > 0) {
    extras.push(h("p", { class: "note" }, `Not in it, as the model has no rate: ${row.unknown.map(limitName).join(", ")}.`));
  }
  if (!compact && row.ideal.gain >= 1.005) {
    extras.push(h("p", { class: "note" }, term("With ideal requests", "ideal"), ` it would take ${seconds(row.ideal.seconds)}, ${mean(row.ideal.gain)} times less, limited by ${limitName(row.ideal.limiter)}.`));
  }
  return h("div", { class: "limits" }, h("ol", { class: "limit-list" }, rows), extras);
}

/**
 * Bars next to each other: `bars` have `label`, `value` and `text`; `marks` have `at` (place between bars), `label`.
 * The figures are in a table for readers that do not see the drawing.
 */
function histogram({ label, bars, marks = [], unit = "count", axis }) {
  const all = bars.reduce((sum, bar) => sum + bar.value, 0);
  if (all === 0) return nothing("Nothing to show here.");
  // The drawing has the size at which it is shown, so that text is not scaled.
  const [width, height, left, bottom, top] = [innerWidth < 600 ? 340 : 560, 190, 44, 38, marks.length > 0 ? 34 : 10];
  const inner = height - bottom - top;
  const highest = bars.reduce((max, bar) => Math.max(max, bar.value), 0);
  const step = (width - left - 6) / bars.length;
  const y = (value) => top + inner - (inner * value) / highest;
  const every = Math.ceil(bars.length / Math.floor((width - left) / 44));
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "histogram", role: "img", "aria-label": `${label}: ${bars.filter((bar) => bar.value > 0).slice(0, 12).map((bar) => `${bar.label} ${inUnit(bar.value, unit)}`).join(", ")}` });
  for (const share of [0.5, 1]) {
    drawing.append(svg("line", { x1: left, x2: width, y1: y(highest * share), y2: y(highest * share), class: "grid" }));
    drawing.append(svg("text", { x: left - 6, y: y(highest * share) + 4, class: "axis", "text-anchor": "end" }, inUnit(highest * share, unit)));
  }
  bars.forEach((bar, at) => {
    const x = left + at * step;
    const size = bar.value > 0 ? Math.max(1.5, top + inner - y(bar.value)) : 0;
    const group = svg(
      "g",
      { class: "bar-group", hint: [bar.title ?? bar.label, `${inUnit(bar.value, unit)} (${percent(bar.value / all)})${bar.note ? `. ${bar.note}` : ""}`], data: { figure: `bar.${bar.label}`, value: bar.value } },
      svg("rect", { x, y: top, width: step, height: inner, class: "bar-area" }),
      svg("rect", { x: x + step * 0.1, y: top + inner - size, width: Math.max(1, step * 0.8), height: size, rx: 1.5, class: `bar ${bar.kind ?? ""}` }),
    );
    drawing.append(group);
    const last = bars[bars.length - 1];
    const beside = last.kind === "apart" && at !== bars.length - 1 && (bars.length - 1 - at) * step < 52;
    if (bar.kind === "apart" || (at % every === 0 && !beside)) {
      drawing.append(svg("text", { x: x + step / 2, y: height - bottom + 14, class: "axis", "text-anchor": "middle" }, bar.label));
    }
  });
  drawing.append(svg("line", { x1: left, x2: width, y1: top + inner, y2: top + inner, class: "base" }));
  let before = -1000;
  for (const mark of marks) {
    const x = left + mark.at * step;
    // Labels that would overlap are placed above each other.
    const raised = x - before < 100 ? 12 : 0;
    before = x;
    drawing.append(svg("line", { x1: x, x2: x, y1: top - 6, y2: top + inner, class: "mark" }));
    const end = x > width - 90;
    drawing.append(svg("text", { x: end ? x - 4 : x + 4, y: top - 8 - raised, class: "mark-label", "text-anchor": end ? "end" : "start" }, mark.label));
  }
  if (axis) drawing.append(svg("text", { x: (left + width) / 2, y: height - 4, class: "axis", "text-anchor": "middle" }, axis));
  return h("figure", { class: "chart" }, drawing);
}

/** A few figures in a row, each with its name and explanation. */
function figures(list) {
  return h(
    "dl",
    { class: "figures" },
    list.filter(Boolean).map(({ key, label, value, unit, note, name }) =>
      h("div", { class: "figure-box" }, h("dt", null, term(label ?? labelOf(key), key)), h("dd", null, figure(key, value, unit, name), note ? h("span", { class: "figure-note" }, note) : null)),
    ),
  );
}

/** Colours and what they stand for. */
function legend(list) {
  return h("ul", { class: "legend" }, list.map(([color, text]) => h("li", null, h("span", { class: "swatch", style: { background: color } }), text)));
}
