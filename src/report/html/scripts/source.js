// Source with a heat gutter: each line shows its share of a figure and the operands of its accesses.

const KEYWORDS = new Set("alignas alignof auto bool break case catch char class const constexpr continue decltype default delete do double else enum extern false float for goto if inline int long namespace new noexcept nullptr operator private protected public return short signed sizeof static static_assert struct switch template this throw true try typedef typename union unsigned using virtual void volatile while __global__ __device__ __host__ __shared__ __constant__ __restrict__ __managed__ __forceinline__ __launch_bounds__ size_t".split(" "));
const TOKENS = /(\/\/.*$|\/\*.*?(?:\*\/|$)|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|^\s*#\s*\w+|\b\d[\w.']*|\b[A-Za-z_]\w*)/g;

/** Pieces of a line with their kind and place: enough of C++ for eyes. */
function tokens(text) {
  const list = [];
  let last = 0;
  for (const match of text.matchAll(TOKENS)) {
    if (match.index > last) list.push(["", text.slice(last, match.index), last]);
    const word = match[0];
    const kind = word.startsWith("//") || word.startsWith("/*") ? "comment" : /^["']/.test(word) ? "string" : /^\s*#/.test(word) ? "keyword" : /^\d/.test(word) ? "number" : KEYWORDS.has(word) ? "keyword" : /^(threadIdx|blockIdx|blockDim|gridDim|warpSize)$/.test(word) ? "builtin" : "name";
    list.push([kind, word, match.index]);
    last = match.index + word.length;
  }
  if (last < text.length) list.push(["", text.slice(last), last]);
  return list;
}

/** A line of source as nodes; `marks` has what stands at a column, from 1. */
function highlighted(text, marks = new Map()) {
  // Columns count bytes, which differ from characters if a line is not ASCII.
  const encoder = new TextEncoder();
  const plain = /^[\u0000-\u007f]*$/.test(text);
  return tokens(text).map(([kind, word, at]) => {
    const column = (plain ? at : encoder.encode(text.slice(0, at)).length) + 1;
    const mark = marks.get(column);
    if (mark && kind !== "") return mark(word);
    if (kind === "" && plain) return operators(word, at + 1, marks);
    return kind === "" || kind === "name" ? document.createTextNode(visible(word)) : h("span", { class: `token-${kind}` }, word);
  });
}

/** Operators, of which some are accesses: an assignment stands at its `=`. */
function operators(text, begin, marks) {
  const list = [];
  let last = 0;
  for (const match of text.matchAll(/[^\sA-Za-z0-9_]+/g)) {
    for (let at = match.index; at < match.index + match[0].length; at += 1) {
      const mark = marks.get(begin + at);
      if (!mark) continue;
      // `+=` is treated as one token.
      const word = text.slice(at).match(/^[-+*\/%&|^<>]*=|^./)[0];
      list.push(document.createTextNode(visible(text.slice(last, at))), mark(word));
      last = at + word.length;
      at = last - 1;
    }
  }
  list.push(document.createTextNode(visible(text.slice(last))));
  return list;
}

/** Accesses of a line, copies that unrolling made put together. */
function accessGroups(sites) {
  const groups = new Map();
  for (const site of sites) {
    const key = [site.kernel, site.column, site.op, site.space, site.bytes].join();
    const row = groups.get(key) ?? { sites: [], sum: sumOf([]), allocations: new Map(), site };
    row.sites.push(site);
    row.sum.merge(sums(site.metrics, site.space));
    for (const part of site.by_allocation) row.allocations.set(part.allocation, (row.allocations.get(part.allocation) ?? 0) + part.metrics.sectors);
    groups.set(key, row);
  }
  return [...groups.values()].sort((one, other) => other.sum.sectors + other.sum.passes - one.sum.sectors - one.sum.passes);
}

function operandText(site) {
  const operand = site.operand;
  if (!operand?.variable && !operand?.member) return "";
  return `${operand.variable ?? ""}${operand.member ?? ""}`;
}

function stepText(operand) {
  const names = ["threadIdx.x", "threadIdx.y", "threadIdx.z"];
  const list = (operand?.thread_steps ?? []).map((step, at) => {
    if (step === "none") return null;
    if (step === "other") return `${names[at]}: in another way`;
    if (step.bytes !== undefined) return `${names[at]}: ${step.bytes} bytes`;
    return `${names[at]}: times ${step.times || "a value that all threads share"}`;
  });
  return list.filter(Boolean).join(", ");
}

/** Shapes of an access's requests in words, the commonest first. */
function patternText(pattern) {
  if (!pattern) return "";
  const shapes = [["uniform", "all lanes at one address"], ["contiguous", "adjacent elements"], ["strided", pattern.stride_bytes !== undefined ? `a stride of ${count(pattern.stride_bytes)} bytes` : "a constant stride"], ["rows", pattern.row_lanes !== undefined ? `rows of ${pattern.row_lanes} lanes` : "rows of lanes"], ["irregular", "no regular shape"]];
  return shapes.filter(([key]) => pattern[key] > 0).sort((one, other) => pattern[other[0]] - pattern[one[0]]).map(([key, text]) => `${percent(ratio(pattern[key], pattern.requests))} ${text}`).join(", ");
}

/** All of an access, for the hint on it and for the panel of its line. */
function accessPairs(group) {
  const { sum, site } = group;
  const rows = [["requests", inUnit(sum.requests, "count")], ["lanes_per_request", mean(RATIOS.lanes_per_request.of(sum))]];
  if (sum.outside_requests > 0) {
    rows.push(["sectors_per_request", mean(RATIOS.sectors_per_request.of(sum))], ["efficiency", percent(RATIOS.efficiency.of(sum))], ["sectors", bytes(sum.sectors * 32)]);
    if (sum.l1_load_lookups > 0) rows.push(["l1_rate", percent(RATIOS.l1_rate.of(sum))]);
    if (sum.l2_lookups > 0) rows.push(["l2_rate", percent(RATIOS.l2_rate.of(sum))]);
  }
  if (sum.passes > 0) rows.push(["passes", `${count(sum.passes)}, ${mean(sum.passes / sum.shared_requests)} per request`], ["pass_efficiency", percent(RATIOS.pass_efficiency.of(sum))]);
  const allocations = [...group.allocations].sort((one, other) => other[1] - one[1]);
  return {
    title: `${capital(site.op)} of ${plural(site.bytes, "byte")}, ${site.space} memory`,
    operand: operandText(site),
    rows,
    pattern: patternText(site.pattern),
    steps: stepText(site.operand),
    allocations,
    copies: group.sites.length,
    approximate: group.sites.some((one) => one.approximate),
    library: site.library,
  };
}

function accessHint(groups) {
  return () => groups.slice(0, 4).map((group) => {
    const facts = accessPairs(group);
    return h("div", { class: "hint-access" },
      h("strong", null, facts.title),
      facts.operand ? h("p", null, h("code", null, facts.operand)) : null,
      h("dl", { class: "pairs" }, facts.rows.map(([key, text]) => [h("dt", null, labelOf(key)), h("dd", null, text)])),
      facts.pattern ? h("p", null, facts.pattern) : null,
      facts.allocations.length > 0 ? h("p", null, `touches ${facts.allocations.slice(0, 3).map(([id]) => side().allocationLabel(id)).join(", ")}`) : null);
  });
}

/** Costs of a line in the chosen kernels. */
function lineCosts(file, kernel) {
  return side().once(`lines ${file} ${kernel} ${state.model}`, () => {
    const lines = new Map();
    for (const row of profile().lines) {
      if (row.file !== file || (kernel !== "" && row.kernel !== Number(kernel))) continue;
      const sum = spacesSum(row.metrics);
      const { warps, lanes } = issued(row.instructions);
      sum.instructions = warps;
      sum.instruction_lanes = lanes;
      lines.set(row.line, lines.has(row.line) ? lines.get(row.line).merge(sum) : sum);
    }
    return lines;
  });
}

/** Lines of a file that are shown: those of the profile, with gaps between. */
function sourceLines(file) {
  return side().once(`source ${file}`, () => linesWithGaps(file));
}

function linesWithGaps(file) {
  const known = new Set(Object.keys(profile().sources[file] ?? {}).map(Number));
  for (const row of profile().lines) if (row.file === file && row.line > 0) known.add(row.line);
  const rows = [];
  let last = 0;
  for (const line of [...known].sort((one, other) => one - other)) {
    if (line > last + 1 && last > 0) rows.push({ gap: line - last - 1 });
    rows.push({ line });
    last = line;
  }
  return rows;
}

const sourceChoice = { metric: "", kernel: "" };

function sourceFile(key) {
  if (!key) return null;
  const files = side().files;
  return files.find((row) => row.key === key) ?? files.find((row) => row.file === key) ?? files.find((row) => row.file.endsWith(`/${key}`)) ?? null;
}

/** File whose lines cost most. */
function hottestFile() {
  return side().once("hottest file", () => {
    const costs = new Map();
    for (const row of profile().lines) costs.set(row.file, (costs.get(row.file) ?? 0) + spacesSum(row.metrics).sectors + 1);
    const [first] = [...costs].sort((one, other) => other[1] - one[1]);
    return first ? sourceFile(side().fileKey(first[0])) : side().files[0] ?? null;
  });
}

function sourceView(parts) {
  const asked = decodeURIComponent(parts.join("/"));
  const [, key, line] = asked.match(/^(.*?)(?::(\d+))?$/);
  const file = key ? sourceFile(key) : hottestFile();
  if (!file) {
    return [heading("Source"), nothing(key ? "The profile has nothing of that file. " : "The profile has no source lines: it was made without debug information, or the files were not readable. ", key ? link("source", "The file that costs most") : "")];
  }
  const chosen = line ? Number(line) : null;
  const files = side().files;
  const device = files.filter((row) => row.device);
  const kernelsHere = [...new Set(profile().lines.filter((row) => row.file === file.file).map((row) => row.kernel))];
  if (sourceChoice.kernel !== "" && !kernelsHere.includes(Number(sourceChoice.kernel))) sourceChoice.kernel = "";
  const costs = lineCosts(file.file, sourceChoice.kernel);
  const total = sumOf([...costs.values()]);
  const metrics = costChoices(total);
  if (!metrics.some(([key]) => key === sourceChoice.metric)) sourceChoice.metric = metrics[0]?.[0] ?? "sectors";
  const metric = sourceChoice.metric;
  const redraw = () => show(true);
  const rows = sourceLines(file.file);
  const tools = h("div", { class: "tools" },
    choice("File", (device.length > 0 ? files : files).map((row) => [row.key, row.device ? row.key : `${row.key} (host)`]), file.key, (value) => { location.hash = `#/source/${encodeURIComponent(value)}`; }),
    metrics.length > 0 ? choice("Heat", metrics, metric, (value) => { sourceChoice.metric = value; redraw(); }) : null,
    kernelsHere.length > 1 ? choice("Kernel", [["", "all"], ...kernelsHere.map((id) => [String(id), side().kernelLabel(id)])], sourceChoice.kernel, (value) => { sourceChoice.kernel = value; redraw(); }) : null,
    h("button", { type: "button", class: "button", on: { click: () => nextHot(file, costs, metric, chosen) } }, "Hottest ↓"));
  const absent = !profile().sources[file.file];
  return [
    heading("Source", file.file),
    tools,
    absent ? h("p", { class: "note" }, "The text of this file is not in the profile (it could not be read when the profile was made); its figures are.") : null,
    h("div", { class: chosen ? "source-split" : "source-whole" },
      sourceTable(file, rows, costs, metric, chosen),
      chosen ? linePanel(file, chosen) : null),
  ];
}

/** Goes to the line that costs most after the chosen one in the order of costs. */
function nextHot(file, costs, metric, chosen) {
  const order = [...costs].map(([line, sum]) => [line, COSTS[metric].of(sum)]).filter(([, cost]) => cost > 0).sort((one, other) => other[1] - one[1] || one[0] - other[0]);
  if (order.length === 0) return;
  const at = order.findIndex(([line]) => line === chosen);
  location.hash = `#/${sourceRoute(file.file, order[(at + 1) % order.length][0])}`;
}

function sourceTable(file, rows, costs, metric, chosen) {
  if (rows.length === 0) return nothing("The profile has no lines of this file.");
  const cost = (line) => (costs.has(line) ? COSTS[metric].of(costs.get(line)) : 0);
  const all = [...costs.keys()].reduce((sum, line) => sum + cost(line), 0);
  const most = [...costs.keys()].reduce((max, line) => Math.max(max, cost(line)), 0);
  const findings = new Map();
  for (const finding of profile().findings) {
    if (finding.file !== file.file) continue;
    if (!findings.has(finding.line)) findings.set(finding.line, []);
    findings.get(finding.line).push(finding);
  }
  const body = h("tbody");
  const unit = unitOf(metric);
  const head = h("thead", null, h("tr", null,
    h("th", { scope: "col", class: "number" }, "Line"),
    h("th", { scope: "col" }, h("button", { type: "button", class: "sort", hint: GLOSSARY.heat }, labelOf(metric))),
    h("th", { scope: "col", class: "number per-request" }, h("button", { type: "button", class: "sort", hint: GLOSSARY.sectors_per_request }, "Per request")),
    h("th", { scope: "col", class: "number wide" }, h("button", { type: "button", class: "sort", hint: GLOSSARY.efficiency }, "Coalesced")),
    h("th", { scope: "col", class: "number wide" }, h("button", { type: "button", class: "sort", hint: GLOSSARY.l1_rate }, "L1 hit")),
    h("th", { scope: "col" }, "Source")));
  const scroller = h("div", { class: "scroller source", tabindex: "0", role: "region", "aria-label": `${file.key}, scrollable` }, h("table", { class: "data", "aria-label": `Annotated source of ${file.key}` }, head, body));
  const make = (index) => {
    const row = rows[index];
    if (row.gap) return h("tr", { class: "skipped", style: { height: "26px" } }, h("td", { colspan: 6 }, h("span", { class: "skipped-text" }, `⋯ ${plural(row.gap, "line")} without figures`)));
    const { line } = row;
    const sum = costs.get(line);
    const value = cost(line);
    const text = side().sourceLine(file.file, line);
    const here = side().at("sites", file.file, line).filter((site) => sourceChoice.kernel === "" || site.kernel === Number(sourceChoice.kernel));
    const columns = new Map();
    if (here.length > 0) {
      const groups = accessGroups(here);
      for (const group of groups) {
        if (!columns.has(group.site.column)) {
          const list = groups.filter((one) => one.site.column === group.site.column);
          const eff = RATIOS.efficiency.of(group.sum) ?? RATIOS.pass_efficiency.of(group.sum) ?? 1;
          columns.set(group.site.column, (word) => h("a", { class: `access ${eff < 0.5 ? "poor" : ""}`, href: `#/${sourceRoute(file.file, line)}`, hint: accessHint(list) }, word));
        }
      }
    }
    const found = findings.get(line) ?? [];
    const per = sum ? (sum.outside_requests > 0 ? mean(RATIOS.sectors_per_request.of(sum)) : sum.passes > 0 ? mean(sum.passes / sum.shared_requests) : "") : "";
    const share = (key) => (sum && RATIOS[key].of(sum) !== null ? percent(RATIOS[key].of(sum)) : "");
    return h("tr", {
      class: [line === chosen ? "current" : "", sum ? "has-figures" : ""].join(" ").trim() || null,
      style: { height: "26px" },
      data: { line },
      on: sum || found.length > 0 ? { click: (event) => { if (!event.target.closest("a, button")) location.hash = `#/${sourceRoute(file.file, line)}`; } } : {},
    },
      h("td", { class: "number line-number" }, sum ? h("a", { href: `#/${sourceRoute(file.file, line)}`, "aria-label": `Line ${line}` }, String(line)) : String(line)),
      h("td", { class: "heat-cell", data: { figure: `line.${metric}`, value } }, value > 0 ? h("span", { class: "with-bar", title: inUnit(value, unit) }, h("span", { class: "meter" }, h("span", { class: "meter-track" }, h("span", { class: "meter-fill", style: { width: `${(100 * value) / most}%`, background: heat(value / most) } }))), h("span", { class: "figure" }, percent(value / all))) : null),
      h("td", { class: "number per-request" }, per),
      h("td", { class: "number wide" }, share("efficiency")),
      h("td", { class: "number wide" }, share("l1_rate")),
      h("td", { class: "code" }, found.length > 0 ? h("a", { class: `flag is-${found[0].severity}`, href: `#/${sourceRoute(file.file, line)}`, hint: () => found.map((finding) => h("div", null, h("strong", null, spaced(finding.id)), h("p", null, withCode(finding.reason)))), "aria-label": `${plural(found.length, "finding")}: ${spaced(found[0].id)}` }, SEVERITIES[found[0].severity]?.[0] ?? "!") : h("span", { class: "flag none" }), text === null ? h("span", { class: "note" }, "not in the profile") : h("code", null, highlighted(text.replace(/\t/g, "    "), /\t/.test(text) ? new Map() : columns))));
  };
  const virtual = virtualRows(scroller, body, { height: () => 26, columns: () => 6, make });
  virtual.show(rows.length);
  scroller.classList.toggle("whole", rows.length <= 40 && !chosen);
  const hot = chosen ?? [...costs.keys()].sort((one, other) => cost(other) - cost(one))[0];
  const at = rows.findIndex((row) => row.line === hot);
  requestAnimationFrame(() => { virtual.draw(true); if (at > 0) virtual.reveal(at, "center"); });
  return scroller;
}

/** Everything of a line: its findings, accesses, branches and instructions. */
function linePanel(file, line) {
  const groups = accessGroups(side().at("sites", file.file, line));
  const findings = profile().findings.filter((finding) => finding.file === file.file && finding.line === line);
  const branches = side().at("branches", file.file, line);
  const lines = side().at("lines", file.file, line);
  const instructions = lines.map((row) => issued(row.instructions)).reduce((sum, row) => ({ warps: sum.warps + row.warps, lanes: sum.lanes + row.lanes }), { warps: 0, lanes: 0 });
  const text = side().sourceLine(file.file, line);
  return h("aside", { class: "line-panel", "aria-label": `Line ${line}` },
    h("h2", null, `${file.key}:${line}`),
    text !== null ? h("pre", { class: "code-block" }, h("code", null, highlighted(text.trim()))) : null,
    instructions.warps > 0 ? h("p", { class: "note" }, `${short(instructions.warps)} warp instructions, ${mean(instructions.lanes / instructions.warps)} lanes each. In ${[...new Set(lines.map((row) => side().kernelLabel(row.kernel)))].slice(0, 4).join(", ")}.`) : null,
    findings.map((finding) => findingCard(finding, { key: "line-finding" })),
    groups.length > 0 ? h("h3", null, plural(groups.length, "access", "accesses")) : null,
    groups.slice(0, 20).map((group) => {
      const facts = accessPairs(group);
      return h("div", { class: "access-card" },
        h("p", null, h("strong", null, facts.title), facts.operand ? [" · ", h("code", null, facts.operand)] : null),
        h("dl", { class: "pairs" }, facts.rows.map(([key, value]) => [h("dt", null, term(labelOf(key), key)), h("dd", null, value)])),
        facts.pattern ? h("p", { class: "note" }, facts.pattern) : null,
        facts.steps ? h("p", { class: "note" }, `Address by ${facts.steps}.`) : null,
        facts.copies > 1 ? h("p", { class: "note" }, `${plural(facts.copies, "instruction")}, as the compiler unrolled or copied it.`) : null,
        facts.approximate ? h("p", { class: "note" }, "The compiler lost the exact position; this is the nearest known line.") : null,
        facts.allocations.length > 0 ? h("p", null, "Touches ", facts.allocations.slice(0, 6).flatMap(([id], at) => [at > 0 ? ", " : "", id === null ? "memory outside all allocations" : link(`allocation/${id}`, side().allocationLabel(id))])) : null);
    }),
    groups.length > 20 ? h("p", { class: "note" }, `and ${plural(groups.length - 20, "more")}`) : null,
    branches.length > 0 ? h("h3", null, plural(branches.length, "branch", "branches")) : null,
    branches.slice(0, 10).map((branch) => h("p", { class: "access-card" }, `Column ${branch.column}: ${short(branch.executions)} executions, `, h("strong", null, `${percent(ratio(branch.divergent, branch.executions))} divergent`), `; lanes by side ${branch.lanes.map(short).join(" / ")}`)),
    groups.length + findings.length + branches.length === 0 ? nothing("No access, branch or finding stands on this line.") : null,
    h("p", null, link(`source/${encodeURIComponent(file.key)}`, "Close")));
}
