// Two profiles side by side: the rows of `diff --format json`, improvements and deteriorations, and links to each
// side's views.

function wordsOf(name) {
  return state.document.figures[name] ?? { label: spaced(name), unit: "count", better: "neither", rank: null };
}

/** The figure that a share or mean is about: fewer requests in all may be less favourable ones each. */
function totalOf(name) {
  const dot = name.lastIndexOf(".");
  const totals = { sectors_per_request: "sectors", coalescing_efficiency: "sectors", wavefronts_per_request: "wavefronts", divergent_share: "divergent" };
  const total = totals[name.slice(dot + 1)];
  return total ? name.slice(0, dot + 1) + total : null;
}

function plainVerdict(name, [before, after]) {
  const { better } = wordsOf(name);
  if (before === null || after === null || before === after || better === "neither" || /hit_rate$|lanes_per_request$/.test(name)) return "";
  return (after < before) === (better === "less") ? "better" : "worse";
}

function verdictOf(name, metrics) {
  const verdict = plainVerdict(name, metrics[name]);
  const total = totalOf(name);
  if (verdict && total && metrics[total]) {
    const other = plainVerdict(total, metrics[total]);
    if (other && other !== verdict) return "";
  }
  return verdict;
}

const VERDICTS = { better: ["●", "better"], worse: ["▲", "worse"], "": ["", ""] };

function verdictMark(verdict) {
  const [sign, word] = VERDICTS[verdict];
  return word ? h("span", { class: `verdict-mark ${verdict}` }, h("span", { "aria-hidden": "true" }, sign), " ", h("span", { class: "verdict-word" }, word)) : null;
}

function changeText([before, after], unit) {
  if (before === null) return "new";
  if (after === null) return "gone";
  if (unit === "share") return `${after >= before ? "+" : "−"}${Math.abs(100 * (after - before)).toFixed(1)} points`;
  if (before === 0) return after === 0 ? "" : "from 0";
  const factor = after / before;
  if (factor >= 2) return `× ${mean(factor)}`;
  if (factor > 0 && factor <= 0.5) return `÷ ${mean(1 / factor)}`;
  return `${after >= before ? "+" : "−"}${Math.abs(100 * (factor - 1)).toFixed(1)} %`;
}

/** Names of significant figures, the most significant first. */
function ranked(metrics, all) {
  const names = Object.keys(metrics).filter((name) => all || wordsOf(name).rank !== null);
  return names.sort((one, other) => (wordsOf(one).rank ?? 1e9) - (wordsOf(other).rank ?? 1e9) || (one < other ? -1 : 1));
}

/** Figures before and after, each with a pair of bars. */
function changeTable(metrics, most, label) {
  const all = ranked(metrics, false);
  const names = all.length > 0 ? all : ranked(metrics, true);
  const rows = (list) => list.map((name) => {
    const [before, after] = metrics[name];
    const { label, unit } = wordsOf(name);
    const top = Math.max(before ?? 0, after ?? 0) || 1;
    const verdict = verdictOf(name, metrics);
    return h("tr", null,
      h("th", { scope: "row" }, capital(label)),
      h("td", { class: "number" }, figure("before", before, unit, `${name}.before`)),
      h("td", { class: "number" }, figure("after", after, unit, `${name}.after`)),
      h("td", { class: "pair-cell" }, h("span", { class: "pair", "aria-hidden": "true" }, h("span", { class: "pair-bar before", style: { width: `${(100 * (before ?? 0)) / top}%` } }), h("span", { class: `pair-bar after ${verdict}`, style: { width: `${(100 * (after ?? 0)) / top}%` } }))),
      h("td", { class: "number" }, changeText([before, after], unit)),
      h("td", null, verdictMark(verdict)));
  });
  const body = h("tbody", null, rows(names.slice(0, most)));
  const rest = Object.keys(metrics).length - Math.min(most, names.length);
  const more = rest > 0 ? h("button", { type: "button", class: "button quiet", on: { click: () => { empty(body).append(...rows(ranked(metrics, true))); more.remove(); } } }, `${plural(rest, "more figure")}`) : null;
  return [h("div", { class: "scroller whole", tabindex: "0", role: "region", "aria-label": `Figures of ${visible(label)}` }, h("table", { class: "data changes" }, h("thead", null, h("tr", null, h("th", { scope: "col" }, "Figure"), h("th", { scope: "col", class: "number" }, "Before"), h("th", { scope: "col", class: "number" }, "After"), h("th", { scope: "col" }, h("span", { class: "visually-hidden" }, "Bars")), h("th", { scope: "col", class: "number" }, h("button", { type: "button", class: "sort", hint: GLOSSARY.change }, "Change")), h("th", { scope: "col" }, h("span", { class: "visually-hidden" }, "Verdict")))), body)), more];
}

function stateWord(before, after) {
  if (before === null) return h("span", { class: "tag new" }, "new");
  if (after === null) return h("span", { class: "tag gone" }, "gone");
  return null;
}

/** What there is on both sides, once where it is the same. */
function arrow(before, after) {
  if (before !== null && after !== null && before !== after) return `${before} → ${after}`;
  return after ?? before ?? "?";
}

function positionText(before, after) {
  const text = (position) => (position ? `${baseName(position.file)}:${position.line}` : null);
  return arrow(text(before), text(after));
}

function sideLink(at, route, text) {
  return h("a", { href: `#/${route}`, on: { click: () => { chooseSide(at); } } }, text);
}

function codeChange(before, after) {
  const [one, other] = [before?.text ?? "", after?.text ?? ""];
  if (!one && !other) return null;
  if (one === other) return h("pre", { class: "code-block" }, h("code", null, highlighted(other.trim())));
  return h("div", { class: "code-block code-diff" }, one ? h("pre", { class: "removed" }, h("span", { class: "sign" }, "−"), h("code", null, highlighted(one.trim()))) : null, other ? h("pre", { class: "added" }, h("span", { class: "sign" }, "+"), h("code", null, highlighted(other.trim()))) : null);
}

const MOST_CHANGES = 20;

/** Cards of rows, the first ones at once. */
function changeCards(rows, card, none) {
  if (rows.length === 0) return nothing(none);
  const box = h("div", { class: "changes-list" }, rows.slice(0, MOST_CHANGES).map(card));
  if (rows.length <= MOST_CHANGES) return box;
  let at = MOST_CHANGES;
  const more = h("button", { type: "button", class: "button", on: { click: () => {
    box.append(...rows.slice(at, at + 100).map(card));
    at += 100;
    if (at >= rows.length) more.remove();
    else more.textContent = `Show more of ${count(rows.length)}`;
  } } }, `Show more of ${count(rows.length)}`);
  return [box, more];
}

let changes = 0;

function changeCard(title, sub, row, most, code = null) {
  return h("article", { class: "change-card" }, h("header", null, h("h3", null, title), stateWord(row.before, row.after), row.modelled ? h("span", { class: "tag", hint: ["Modelled", "Only cache, DRAM and time figures differ: caches behave otherwise for what runs before or beside it."] }, "modelled") : null, h("span", { class: "note" }, sub)), code, changeTable(row.metrics, most, `${[title].flat().join("")}, ${sub ? [sub].flat(3).map((one) => one?.textContent ?? one ?? "").join("") : ""} ${changes += 1}`));
}

/** Estimates of whole runs, where a budget recorded some launches of a side. */
function estimatesPanel(whole) {
  if (!whole) return null;
  const of = (side) => side ? `${count(side.recorded_launches)} of ${count(side.launches)} launches` : "all launches";
  const rows = Object.entries(whole.figures).map(([name, one]) => ({ name, ...one }));
  const unit = (name) => wordsOf(name).unit;
  const column = (key, title) => ({ key, label: title, unit: "count", value: (row) => row[key].estimate, cell: (row) => estimated(row[key], unit(row.name)) });
  return panel("Whole runs, estimated", { note: `Recorded: ${of(whole.before)} before, ${of(whole.after)} after (--budget). All other figures are of what was recorded.` }, dataTable({
    id: "whole-runs", label: "Whole runs, estimated", rows, none: "Nothing.",
    columns: [
      { key: "name", label: "Figure", plain: true, value: (row) => wordsOf(row.name).label },
      column("before", "Before"),
      column("after", "After"),
      { key: "apart", label: "Differs", plain: true, value: (row) => row.apart === null || row.apart === undefined ? "not known" : row.apart ? "by more than the bounds" : "within the bounds" },
    ],
  }));
}

function comparisonView() {
  const diff = state.document.comparison;
  const [before, after] = state.sides;
  const kernelName = (row) => arrow(row.name.before ?? null, row.name.after ?? null) && arrow(row.before === null ? null : before.kernelLabel(row.before), row.after === null ? null : after.kernelLabel(row.after));
  const kernelOf = (ids) => arrow(ids.before === null ? null : before.kernelLabel(ids.before), ids.after === null ? null : after.kernelLabel(ids.after));
  const findings = diff.findings;
  const found = findings.gone.length + findings.new.length + findings.changed.length;
  const nothingChanged = found + diff.kernels.length + diff.lines.length + diff.branches.length + diff.allocations.length + Object.keys(diff.program).length === 0;
  const same = Object.entries(diff.unchanged).filter(([, number]) => number > 0).map(([what, number]) => plural(number, what === "branches" ? "branch" : what.slice(0, -1), what));
  return [
    heading("Comparison", null, h("p", { class: "lead" }, `${programName(before.profile)} → ${programName(after.profile)}`)),
    diff.comparable ? null : h("section", { class: "cautions", "aria-label": "Not made alike" }, h("p", null, h("strong", null, "Not made alike."), " What follows may be due to that alone."), h("dl", { class: "pairs" }, diff.differences.map((one) => [h("dt", null, spaced(one.what)), h("dd", null, `${one.before || "–"} → ${one.after || "–"}`)]))),
    diff.limits ? limitsPanel(diff.limits) : null,
    estimatesPanel(diff.whole_run),
    nothingChanged ? h("p", { class: "verdict" }, "Nothing changed.") : verdictOfChange(diff),
    Object.keys(diff.program).length > 0 ? panel("Program", {}, changeTable(diff.program, 8, "the program")) : null,
    found > 0 ? panel("Findings", {}, findingChanges(findings)) : null,
    diff.kernels.length > 0 ? panel("Kernels", {}, changeCards(diff.kernels, (row) => changeCard([kernelName(row)], [row.before !== null ? sideLink(0, `kernel/${row.before}`, "before") : null, row.before !== null && row.after !== null ? " · " : null, row.after !== null ? sideLink(1, `kernel/${row.after}`, "after") : null], row, 8), "No kernel changed.")) : null,
    diff.lines.length > 0 ? panel("Lines", {}, changeCards(diff.lines.filter((row) => !row.modelled).concat(diff.lines.filter((row) => row.modelled)), (row) => changeCard(positionText(row.before, row.after), kernelOf(row.kernel), row, 4, codeChange(row.before, row.after)), "No line changed.")) : null,
    diff.allocations.length > 0 ? panel("Allocations", {}, changeCards(diff.allocations, (row) => changeCard(arrow(row.before === null ? null : row.name.before ?? "an unnamed allocation", row.after === null ? null : row.name.after ?? "an unnamed allocation"), arrow(row.kind.before ?? null, row.kind.after ?? null), row, 5), "No allocation changed.")) : null,
    diff.branches.length > 0 ? panel("Branches", {}, changeCards(diff.branches, (row) => changeCard(positionText(row.before, row.after), kernelOf(row.kernel), row, 3, codeChange(row.before, row.after)), "No branch changed.")) : null,
    same.length > 0 ? h("p", { class: "note" }, `The same in both, and left out: ${same.join(", ")}.`) : null,
  ];
}

function verdictOfChange(diff) {
  const time = diff.program["estimate.seconds"];
  const gone = diff.findings.gone.filter((finding) => finding.severity !== "note").length;
  const fresh = diff.findings.new.filter((finding) => finding.severity !== "note").length;
  const parts = [];
  if (time && time[0] !== null && time[1] !== null) {
    const faster = time[1] < time[0];
    parts.push(h("strong", null, `${mean(faster ? time[0] / time[1] : time[1] / time[0])} × ${faster ? "faster" : "slower"}`), ` by the estimate: ${seconds(time[0])} before, ${seconds(time[1])} after. `);
  }
  if (gone + fresh > 0) parts.push(`${capital(plural(gone, "finding"))} gone, ${count(fresh)} new.`);
  return parts.length > 0 ? h("p", { class: "verdict" }, parts) : null;
}

function findingChanges(findings) {
  const card = (at, tag, word, finding) => {
    const shown = state.side;
    state.side = at;
    const element = h("div", { class: "finding-change" }, h("span", { class: `tag ${tag}` }, word), findingCard(finding, { key: `${tag}-finding` }));
    state.side = shown;
    for (const one of element.querySelectorAll('a[href^="#/"]')) one.addEventListener("click", () => chooseSide(at));
    return element;
  };
  return h("div", { class: "findings" },
    findings.gone.slice(0, 50).map((finding) => card(0, "gone", "gone", finding)),
    findings.new.slice(0, 50).map((finding) => card(1, "new", "new", finding)),
    findings.changed.slice(0, 50).map((change) => card(1, "changed", "changed", change.after)));
}

function limitsPanel(limits) {
  return panel("Limits", {},
    limits.broken.length === 0 ? h("p", null, `All hold (${count(limits.checked)} checked).`) : [h("p", null, h("strong", null, `${count(limits.broken.length)} of ${count(limits.checked)} broken.`)), h("ul", { class: "plain-list" }, limits.broken.map((row) => {
      const { unit } = wordsOf(row.metric);
      return h("li", null, h("code", null, row.limit), ` ${row.subject}: ${inUnit(row.before, unit)} before, ${inUnit(row.after, unit)} after, ${row.allowed === null ? "" : `${inUnit(row.allowed, unit)} allowed`}`);
    }))],
    limits.unmatched.map((limit) => h("p", { class: "note" }, `Unused: `, h("code", null, limit), ", nothing matches it.")));
}
