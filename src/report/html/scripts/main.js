// The frame around the views: header, routes by the address's hash, keys, colours, printing.

/** Every view by the first part of its route; those with a label stand in the list of views, reached by `g` and the key. */
const VIEWS = {
  comparison: { label: "Comparison", key: "c", make: comparisonView, only: isComparison },
  overview: { label: "Overview", key: "o", make: overviewView },
  findings: { label: "Findings", key: "f", make: findingsView, tally: () => profile().findings.length },
  kernels: { label: "Kernels", key: "k", make: kernelsView, tally: () => profile().kernels.length },
  source: { label: "Source", key: "s", make: sourceView },
  accesses: { label: "Accesses", key: "a", make: accessesView, tally: () => profile().sites.length },
  allocations: { label: "Allocations", key: "m", make: allocationsView, tally: () => allocationGroups().length },
  paths: { label: "Call paths", key: "p", make: pathsView },
  distributions: { label: "Distributions", key: "d", make: distributionsView },
  launches: { label: "Launches", key: "l", make: launchesView, tally: () => profile().kernels.reduce((sum, kernel) => sum + kernel.launch_count, 0) },
  divergence: { label: "Divergence", key: "v", make: divergenceView },
  rounding: { label: "Rounding", key: "e", make: roundingView, only: hasRounding, tally: () => profile().rounded_allocations.length },
  ranks: { label: "Ranks", key: "r", make: ranksView, only: hasRanks },
  about: { label: "About", key: "i", make: aboutView },
  kernel: { under: "kernels", make: kernelView },
  allocation: { under: "allocations", make: allocationView },
  finding: { under: "findings", make: findingView },
};

function shownViews() {
  return Object.entries(VIEWS).filter(([, view]) => view.label && (!view.only || view.only()));
}

function findingView(parts) {
  const rank = Number(parts[0]);
  const findings = profile().findings;
  const at = findings.findIndex((finding) => finding.rank === rank);
  if (at < 0) return missing("finding", "findings");
  return [
    heading(`Finding ${rank} of ${findings.length}`),
    h("h2", { class: "visually-hidden" }, spaced(findings[at].id)),
    findingCard(findings[at]),
    h("p", { class: "tools" }, at > 0 ? link(`finding/${findings[at - 1].rank}`, "← before") : null, at + 1 < findings.length ? link(`finding/${findings[at + 1].rank}`, "next →") : null, link("findings", "all findings")),
  ];
}

function route() {
  const parts = location.hash.replace(/^#\/?/, "").split("/");
  const known = Object.hasOwn(VIEWS, parts[0]) && (VIEWS[parts[0]].only?.() ?? true);
  const name = known ? parts[0] : isComparison() ? "comparison" : "overview";
  return { name, parts: known ? parts.slice(1) : [] };
}

/** Draws the view of the address; `stay` keeps the place on the page. */
function show(stay = false) {
  hideHint();
  const { name, parts } = route();
  const view = VIEWS[name];
  const main = document.getElementById("main");
  const focused = document.activeElement?.getAttribute?.("aria-label");
  const sameView = main.dataset.view === name;
  const [x, y] = [scrollX, scrollY];
  let content;
  try {
    content = view.make(parts);
  } catch (error) {
    console.error(error);
    content = [heading("This view cannot be drawn"), nothing(`The profile holds something that it does not expect: ${error.message}`)];
  }
  main.replaceChildren(...content.flat(4).filter(Boolean));
  main.dataset.view = name;
  dropRows();
  drawBar();
  const title = main.querySelector("h1")?.textContent ?? "";
  document.title = `${title} – Warpline ${programName()}`;
  // In the source view, the scroll position is kept when a line is selected; other pages start at the top.
  if (stay || (sameView && name === "source")) scrollTo(x, y);
  else {
    scrollTo(0, 0);
    if (drawn) main.focus({ preventScroll: true });
  }
  if (stay && focused) main.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  drawn = true;
}

let drawn = false;

function chooseSide(at) {
  if (state.side === at) return;
  state.side = at;
  if (!profile().run.models.includes(state.model)) state.model = profile().run.models[0] ?? "";
}

function drawBar() {
  const { name } = route();
  const current = VIEWS[name].under ?? name;
  const { models } = profile().run;
  empty(document.getElementById("bar")).append(
    h("a", { class: "brand", href: `#/${isComparison() ? "comparison" : "overview"}` }, "Warpline"),
    h("span", { class: "program", title: visible(profile().run.program.join(" ")) }, programName()),
    h("div", { class: "bar-tools" },
      isComparison() && name !== "comparison" ? choice("Profile", state.sides.map((one, at) => [String(at), one.name]), String(state.side), (value) => { chooseSide(Number(value)); show(); }) : null,
      models.length > 1 ? choice("Model", models.map((model) => [model, model]), state.model, (value) => { state.model = value; show(true); }) : models.length === 1 ? h("span", { class: "only-model" }, models[0]) : null,
      h("button", { type: "button", class: "button", "aria-keyshortcuts": "/", on: { click: openSearch } }, "Search", h("kbd", null, "/")),
      h("button", { type: "button", class: "button square", "aria-label": `Colours: ${theme()}`, hint: ["Colours", "As the system has them, light, or dark (t)."], on: { click: nextTheme } }, { system: "◐", light: "○", dark: "●" }[theme()]),
      h("button", { type: "button", class: "button square", "aria-label": "Keyboard", "aria-keyshortcuts": "?", on: { click: openKeys } }, "?")));
  empty(document.getElementById("views")).append(h("ul", null, shownViews().map(([key, view]) => h("li", null, h("a", { href: `#/${key}`, "aria-current": key === current ? "page" : null }, view.label, view.tally ? h("span", { class: "tally", "aria-hidden": "true" }, short(view.tally())) : null)))));
  // On narrow screens, the tabs form one row, and the current tab is scrolled into view.
  if (!matchMedia("(max-width: 1000px)").matches) return;
  const views = document.getElementById("views");
  const here = views.querySelector('[aria-current="page"]');
  if (here) views.scrollLeft = here.offsetLeft - views.clientWidth / 2 + here.offsetWidth / 2;
}

const THEMES = ["system", "light", "dark"];

function theme() {
  return document.documentElement.dataset.theme ?? "system";
}

function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  try {
    localStorage.setItem("warpline-theme", name);
  } catch {
    // A page opened from a file may have no storage. The choice then lasts until the page is closed.
  }
}

function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length]);
  drawBar();
  redraw();
  document.querySelector('[aria-label^="Colours"]')?.focus();
}

const KEYS = [
  ["/", "search for a kernel, line, allocation or finding"],
  ["g, then a letter", "go to a view"],
  ["[ and ]", "view before, view after"],
  ["n and p", "next and previous finding; in source the next and previous line that costs something"],
  ["m", "next GPU model"],
  ["t", "colours: system, light, dark"],
  ["arrows or j and k", "rows of a table that has the focus; Enter opens one"],
  ["arrows", "boxes of the flame graph; Enter zooms"],
  ["Esc", "close what is open"],
  ["?", "this list"],
];

function openKeys() {
  const dialog = document.getElementById("keys");
  empty(dialog).append(
    h("h2", null, "Keyboard"),
    h("dl", { class: "pairs keys" }, KEYS.map(([key, text]) => [h("dt", null, h("kbd", null, key)), h("dd", null, text)])),
    h("h3", null, "Views"),
    h("dl", { class: "pairs keys" }, shownViews().map(([, view]) => [h("dt", null, h("kbd", null, `g ${view.key}`)), h("dd", null, view.label)])),
    h("form", { method: "dialog" }, h("button", { class: "button" }, "Close")));
  dialog.showModal();
}

let pending = false;

function keydown(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") hideHint();
  if (event.target instanceof Element && event.target.closest("input, select, textarea")) return;
  const views = shownViews();
  if (pending) {
    pending = false;
    const found = views.find(([, view]) => view.key === event.key);
    if (found) { location.hash = `#/${found[0]}`; event.preventDefault(); }
    return;
  }
  const { name, parts } = route();
  const step = (by) => {
    const current = VIEWS[name].under ?? name;
    const at = views.findIndex(([key]) => key === current);
    location.hash = `#/${views[(at + by + views.length) % views.length][0]}`;
  };
  const actions = {
    "/": openSearch,
    "?": openKeys,
    g: () => { pending = true; },
    t: nextTheme,
    m: () => {
      const { models } = profile().run;
      if (models.length < 2) return;
      state.model = models[(models.indexOf(state.model) + 1) % models.length];
      show(true);
    },
    "[": () => step(-1),
    "]": () => step(1),
    n: () => nextOf(name, parts, 1),
    p: () => nextOf(name, parts, -1),
  };
  if (!(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
}

/** The next finding; in source the next line with figures. */
function nextOf(name, parts, by) {
  if (name === "source") {
    const [, key, line] = decodeURIComponent(parts.join("/")).match(/^(.*?)(?::(\d+))?$/);
    const file = key ? sourceFile(key) : hottestFile();
    if (!file) return;
    const lines = [...lineCosts(file.file, sourceChoice.kernel)].filter(([, sum]) => sum.requests > 0).map(([at]) => at).sort((one, other) => one - other);
    const here = Number(line ?? 0);
    const next = by > 0 ? lines.find((at) => at > here) ?? lines[0] : lines.findLast((at) => at < here) ?? lines[lines.length - 1];
    if (next !== undefined) location.hash = `#/${sourceRoute(file.file, next)}`;
    return;
  }
  const findings = profile().findings;
  if (findings.length === 0) return;
  const at = name === "finding" ? findings.findIndex((finding) => finding.rank === Number(parts[0])) : by > 0 ? -1 : findings.length;
  location.hash = `#/finding/${findings[(at + by + findings.length) % findings.length].rank}`;
}

/** Makes what views need before they are opened, a little at a time, while nothing else is to do. */
function warmUp() {
  const tasks = [];
  const models = profile().run.models.length > 0 ? profile().run.models : [""];
  for (const model of models) {
    const as = (make) => () => {
      const chosen = state.model;
      state.model = model;
      make();
      state.model = chosen;
    };
    for (const kernel of profile().kernels.slice(0, 50)) tasks.push(as(() => launchesOf(kernel)));
    tasks.push(as(allLaunches), as(allocationGroups), as(callTree), as(programSum));
  }
  tasks.push(hottestFile, searchEntries, () => side().by("sites", "place"), () => side().by("sites", "kernel"));
  for (const kernel of profile().kernels.slice(0, 50)) tasks.push(() => kernelPaths(kernel));
  const step = (deadline) => {
    while (tasks.length > 0 && deadline.timeRemaining() > 5) tasks.shift()();
    if (tasks.length > 0) requestIdleCallback(step);
  };
  if (typeof requestIdleCallback === "function") requestIdleCallback(step);
}

async function start() {
  try {
    const kept = localStorage.getItem("warpline-theme");
    if (kept && kept !== "system") document.documentElement.dataset.theme = kept;
  } catch {
    // There may be no storage; see `setTheme`.
  }
  try {
    await load();
  } catch (error) {
    empty(document.getElementById("main")).append(nothing(`The profile in this page cannot be read: ${error.message}.`));
    return;
  }
  startHints();
  startRows();
  addEventListener("hashchange", () => show());
  addEventListener("keydown", keydown);
  addEventListener("resize", redraw);
  document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); document.getElementById("main").focus(); });
  show();
  warmUp();
  // Tests and scripts wait for this attribute.
  document.documentElement.dataset.ready = "";
}

start();
