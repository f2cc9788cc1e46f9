// Call paths from `main` through the launch to the line on the device, as a flame graph and as a tree with the same
// figures.

/** The tree of call paths. A node: `name`, `detail`, `kind`, `children`, `sum`, and where it leads. */
function callTree() {
  return side().once(`tree ${state.model}`, () => {
    const root = { name: programName(), kind: "program", children: new Map(), sum: sumOf([]), parent: null };
    const enter = (node, key, make) => {
      if (!node.children.has(key)) node.children.set(key, { children: new Map(), sum: sumOf([]), parent: node, ...make() });
      return node.children.get(key);
    };
    const frameNode = (node, frame, kind) => enter(node, `${kind} ${frame.function} ${frame.file} ${frame.line}`, () => ({ name: plainName(frame.function), detail: frame.file ? `${baseName(frame.file)}:${frame.line}` : "", kind, file: frame.file, line: frame.line }));
    const begins = new Map();
    for (const kernel of profile().kernels) {
      // Sites are not counted by launch. A host path can be shown above the kernel only if all launches share it.
      const paths = kernelPaths(kernel);
      let node = root;
      if (paths.length === 1) for (const frame of paths[0].path) node = frameNode(node, frame, "host");
      begins.set(kernel.id, enter(node, `kernel ${kernel.id}`, () => ({ name: side().kernelLabel(kernel.id), detail: paths.length > 1 ? `from ${count(paths.length)} call paths` : plural(kernel.launch_count, "launch", "launches"), kind: "kernel", kernel: kernel.id })));
    }
    for (const site of profile().sites) {
      const begin = begins.get(site.kernel);
      if (!begin) continue;
      const own = { function: site.function, file: site.file, line: site.line };
      const inlined = [...site.inlined_at].reverse();
      const contexts = site.contexts.length > 0 ? site.contexts : [{ calls: [], metrics: site.metrics }];
      for (const context of contexts) {
        const sum = sums(context.metrics, site.space);
        let node = begin;
        const frames = [...context.calls, ...inlined, own];
        const nodes = [begin];
        for (const frame of frames.slice(0, -1)) nodes.push((node = frameNode(node, frame, "device")));
        nodes.push(enter(node, `line ${own.file} ${own.line}`, () => ({ name: place(own.file, own.line), detail: side().sourceLine(own.file, own.line)?.trim() ?? "", kind: "line", file: own.file, line: own.line })));
        for (const one of nodes) one.sum.merge(sum);
        for (let above = begin.parent; above; above = above.parent) above.sum.merge(sum);
      }
    }
    return root;
  });
}

const pathChoice = { metric: "sectors", root: null };

function children(node, metric) {
  return [...node.children.values()].map((child) => [child, COSTS[metric].of(child.sum)]).filter(([, cost]) => cost > 0).sort((one, other) => other[1] - one[1]);
}

const PATH_KINDS = { program: "var(--kind-program)", host: "var(--kind-host)", kernel: "var(--kind-kernel)", device: "var(--kind-device)", line: "var(--kind-line)" };

/** Boxes below this share of the width are too thin to see or hit. */
const THINNEST = 0.0015;
const MOST_BOXES = 3000;
/** Rows of the tree below one node, at first. */
const MOST_CHILDREN = 40;

function flameGraph(root, metric, zoom) {
  const total = COSTS[metric].of(root.sum);
  if (total === 0) return nothing("No access has this figure.");
  const [height, boxes] = [22, []];
  let deepest = 0;
  const place = (node, left, width, depth) => {
    if (width < THINNEST || boxes.length >= MOST_BOXES) return;
    boxes.push({ node, left, width, depth });
    deepest = Math.max(deepest, depth);
    let at = left;
    const all = COSTS[metric].of(node.sum);
    for (const [child, cost] of children(node, metric)) {
      place(child, at, (width * cost) / all, depth + 1);
      at += (width * cost) / all;
    }
  };
  place(root, 0, 1, 0);
  const whole = COSTS[metric].of(callTree().sum);
  const graph = h("div", { class: "flame", role: "group", "aria-label": `Flame graph by ${labelOf(metric)}`, style: { height: `${(deepest + 1) * height}px` } });
  for (const { node, left, width, depth } of boxes) {
    const cost = COSTS[metric].of(node.sum);
    const box = h("button", {
      type: "button",
      class: `flame-box ${node.kind}`,
      tabindex: depth === 0 ? "0" : "-1",
      style: { left: `${100 * left}%`, width: `${100 * width}%`, top: `${depth * height}px`, background: PATH_KINDS[node.kind] },
      "aria-label": visible(`${node.name}, ${percent(cost / whole)}`),
      hint: () => [h("strong", null, node.name), node.detail ? h("p", null, node.kind === "line" ? h("code", null, node.detail) : node.detail) : null, h("p", null, `${labelOf(metric)}: ${inUnit(cost, unitOf(metric))}, ${percent(cost / whole)} of the program`)],
      on: {
        click: () => {
          if (node.kind === "line" && node.line) location.hash = `#/${sourceRoute(node.file, node.line)}`;
          else zoom(node === root && node.parent ? node.parent : node);
        },
        keydown: (event) => flameKeys(event, graph),
      },
    }, width > 0.03 ? node.name : "");
    graph.append(box);
  }
  return graph;
}

/** Arrows walk over the boxes in their places. */
function flameKeys(event, graph) {
  const ways = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] };
  if (!(event.key in ways)) return;
  event.preventDefault();
  const [x, y] = ways[event.key];
  const at = (box) => ({ left: parseFloat(box.style.left), top: parseFloat(box.style.top), right: parseFloat(box.style.left) + parseFloat(box.style.width) });
  const here = at(event.currentTarget);
  const boxes = [...graph.children].map((box) => ({ box, ...at(box) }));
  const row = boxes.filter((one) => one.top === here.top + 22 * y);
  const next = y === 0
    ? row.filter((one) => (x > 0 ? one.left > here.left : one.left < here.left)).sort((one, other) => x * (one.left - other.left))[0]
    : row.filter((one) => one.left < here.right - 1e-9 && one.right > here.left + 1e-9)[0];
  next?.box.focus();
}

function treeTable(root, metric) {
  const open = side().once("open paths", () => new WeakSet());
  const total = COSTS[metric].of(root.sum) || 1;
  const costs = [metric, ...["sectors", "avoidable", "requests"].filter((key) => key !== metric)].slice(0, 3);
  const list = h("tbody");
  const shown = new Map();
  const draw = () => {
    const rows = [];
    const walk = (node, depth) => {
      const all = children(node, metric);
      const most = shown.get(node) ?? MOST_CHILDREN;
      for (const [child, cost] of all.slice(0, most)) {
        const has = children(child, metric).length > 0;
        const isOpen = open.has(child);
        rows.push(h("tr", null,
          h("td", { class: "tree-name" }, h("span", { style: { display: "inline-block", width: `${Math.min(depth, 12) * 1.1}em` } }),
            has ? h("button", { type: "button", class: "fold", "aria-expanded": String(isOpen), "aria-label": `${isOpen ? "Close" : "Open"} ${visible(child.name)}`, on: { click: () => { if (isOpen) open.delete(child); else open.add(child); draw(); } } }, isOpen ? "▾" : "▸") : h("span", { class: "fold none" }),
            h("span", { class: `kind-dot ${child.kind}`, style: { background: PATH_KINDS[child.kind] }, "aria-hidden": "true" }),
            child.kind === "kernel" ? link(`kernel/${child.kernel}`, child.name) : child.kind === "line" ? link(sourceRoute(child.file, child.line), child.name) : child.name, " ", h("span", { class: child.kind === "line" ? "note code" : "note" }, child.detail ?? "")),
          h("td", { class: "number" }, h("span", { class: "with-bar" }, meter(cost / total, null, { hot: true }), h("span", { class: "figure" }, percent(cost / total)))),
          costs.map((key) => h("td", { class: "number" }, figure(key, COSTS[key].of(child.sum), unitOf(key)))),
          h("td", { class: "number" }, percent(RATIOS.efficiency.of(child.sum)))));
        if (isOpen) walk(child, depth + 1);
      }
      if (all.length > most) {
        const more = h("button", { type: "button", class: "plain", on: { click: () => { shown.set(node, most + 10 * MOST_CHILDREN); draw(); } } }, `${count(all.length - most)} more below ${node.name}`);
        rows.push(h("tr", null, h("td", { colspan: 6, class: "note" }, more)));
      }
    };
    walk(root, 0);
    list.replaceChildren(...rows);
  };
  // The most expensive nodes are expanded initially.
  if (!open.has(root)) {
    open.add(root);
    let node = root;
    for (let depth = 0; depth < 12; depth += 1) {
      const [first] = children(node, metric);
      if (!first) break;
      [node] = first;
      open.add(node);
    }
  }
  draw();
  return h("div", { class: "scroller whole", tabindex: "0", role: "region", "aria-label": "Call tree, scrollable" }, h("table", { class: "data tree", "aria-label": "Call tree" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, "Call path"), h("th", { scope: "col", class: "number" }, "Share"), costs.map((key) => h("th", { scope: "col", class: "number" }, h("button", { type: "button", class: "sort", hint: GLOSSARY[key] }, labelOf(key)))), h("th", { scope: "col", class: "number" }, "Coalesced"))), list));
}

function pathsView() {
  const tree = callTree();
  const metrics = costChoices(tree.sum, Object.keys(COSTS).filter((key) => key !== "instructions"));
  if (metrics.length === 0) return [heading("Call paths"), nothing("No access was recorded, so no path has figures.")];
  if (!metrics.some(([key]) => key === pathChoice.metric)) pathChoice.metric = metrics[0][0];
  const holder = h("div");
  let zoomed = tree;
  const draw = () => {
    const trail = [];
    for (let node = zoomed; node; node = node.parent) trail.unshift(node);
    empty(holder).append(
      h("nav", { class: "trail", "aria-label": "Zoomed to" }, trail.map((node, at) => [at > 0 ? " › " : null, at === trail.length - 1 ? h("strong", null, node.name) : h("button", { type: "button", class: "plain", on: { click: () => { zoomed = node; draw(); } } }, node.name)])),
      flameGraph(zoomed, pathChoice.metric, (node) => { zoomed = node; draw(); holder.querySelector(".flame-box")?.focus(); }),
      legend(Object.entries(PATH_KINDS).map(([kind, color]) => [color, { program: "program", host: "host function", kernel: "kernel", device: "device function", line: "source line" }[kind]])));
  };
  draw();
  return [
    heading("Call paths", "From the host's main over the launch and device functions down to the line. Click a box to zoom, a line to see its source."),
    h("div", { class: "tools" }, choice("Figure", metrics, pathChoice.metric, (value) => { pathChoice.metric = value; show(true); })),
    panel("Flame graph", { help: "path" }, holder),
    panel("Call tree", {}, treeTable(tree, pathChoice.metric)),
  ];
}
