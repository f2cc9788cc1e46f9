// Histograms of a set of requests: reuse distances with marks for cache sizes, pieces per request, lanes, passes.

/** Names of 0, 1, 2–3, 4–7 … as the buckets have it. */
function bucketLabel(buckets, at) {
  const low = at === 0 ? 0 : buckets[at - 1].upto + 1;
  const high = buckets[at].upto;
  return low === high ? short(low) : `≤${short(high)}`;
}

/** Where in the buckets a distance lies: 2.5 is the middle of the third. */
function placeOf(buckets, distance) {
  for (let at = 0; at < buckets.length; at += 1) {
    if (distance <= buckets[at].upto) {
      const low = at === 0 ? 0 : buckets[at - 1].upto + 1;
      return at + (distance - low) / Math.max(1, buckets[at].upto - low + 1);
    }
  }
  return null;
}

const GRAINS = { sector: ["sectors of 32 bytes", 32], line: ["lines of 128 bytes", 128], element: ["elements", null] };

/** Distances of reuse at one granularity. */
function reuseChart(reuse, grain) {
  const distances = reuse[grain];
  const [words, size] = GRAINS[grain];
  const bars = distances.buckets.map((bucket, at) => ({
    label: bucketLabel(distances.buckets, at),
    title: `Distance ${at === 0 ? 0 : count(distances.buckets[at - 1].upto + 1)} to ${count(bucket.upto)} ${words}`,
    value: bucket.count,
  }));
  const buckets = distances.buckets.slice();
  // The axis includes distances that a mark needs, even if no use has them.
  const cache = profile().run.cache_bytes?.[profile().run.models[0]];
  const wanted = size && cache ? [["L1", cache.l1], ["L2", cache.l2]].filter(([, bytes]) => bytes > 0) : [];
  for (const [, bytes] of wanted) {
    let last = buckets.length > 0 ? buckets[buckets.length - 1].upto : 0;
    while (last < bytes / size) {
      last = last === 0 ? 1 : last * 2 + (last % 2 === 1 ? 1 : 0);
      buckets.push({ upto: last, count: 0 });
      bars.push({ label: `≤${short(last)}`, title: `Distance up to ${count(last)} ${words}`, value: 0 });
    }
  }
  const marks = wanted.map(([name, bytes]) => ({ at: placeOf(buckets, bytes / size), label: `${name} ${scaled(bytes, 1024, ["B", "KiB", "MiB"])}` })).filter((mark) => mark.at !== null);
  bars.push({ label: "first", title: "First uses", value: distances.infinite, kind: "apart", note: "Not used before, or not since it was stored to" });
  const all = bars.reduce((sum, bar) => sum + bar.value, 0);
  const notes = [];
  if (distances.beyond) {
    notes.push(`${percent(ratio(distances.beyond.l1, all))} of the uses come back at a distance beyond L1, ${percent(ratio(distances.beyond.l2, all))} beyond L2.`);
  }
  if (distances.mean !== null) notes.push(`Mean distance ${mean(distances.mean)}.`);
  if (size && wanted.length === 0) notes.push("The profile does not contain the sizes of its model's caches, so they are not marked.");
  return [histogram({ label: `Reuse distances of ${words}`, bars, marks, axis: `distance in ${words}` }), h("p", { class: "note" }, notes.join(" "))];
}

/** Requests by the number of pieces of memory that each touches. */
function piecesChart(metrics, size) {
  const list = metrics.lines_touched[size];
  if (!list || list.length === 0) return nothing("Not recorded: requests were counted without their addresses.");
  const bars = [];
  for (let at = list[0] > 0 ? 0 : 1; at < Math.max(list.length, 5); at += 1) {
    bars.push({ label: String(at), title: `${plural(at, size === "32" ? "sector" : "line")} per request`, value: list[at] ?? 0 });
  }
  return histogram({ label: `Requests by ${size === "32" ? "sectors" : "lines"} touched`, bars, axis: size === "32" ? "sectors of 32 bytes per request" : "lines of 128 bytes per request" });
}

/** Requests of accesses by a mean of theirs. */
function meansChart(sites, value, highest, label, axis) {
  const bars = Array.from({ length: highest }, (_, at) => ({ label: String(at + 1), title: `About ${at + 1}`, value: 0 }));
  for (const site of sites) {
    const mean = value(site.metrics);
    if (mean === null) continue;
    bars[Math.max(0, Math.min(highest - 1, Math.round(mean) - 1))].value += site.metrics.requests;
  }
  return histogram({ label, bars, axis });
}

/** All histograms of a set of requests; `spaces` are metrics by space, `sites` the accesses in it. */
function distributionPanels(spaces, sites) {
  const panels = [];
  const outside = ["global", "local"].filter((space) => spaces[space]?.requests > 0);
  for (const space of outside) {
    const metrics = spaces[space];
    if (metrics.reuse) {
      const holder = h("div");
      const draw = (grain) => empty(holder).append(...reuseChart(metrics.reuse, grain));
      draw("sector");
      panels.push(panel(`Reuse distance, ${space} memory`, {
        help: "reuse",
        actions: choice("Of", Object.entries(GRAINS).map(([key, [words]]) => [key, words]), "sector", draw),
      }, holder));
    }
    const holder = h("div");
    const draw = (size) => empty(holder).append(piecesChart(metrics, size));
    draw("32");
    panels.push(panel(`Memory divergence, ${space} memory`, {
      help: "divergence",
      actions: choice("Pieces", [["32", "sectors of 32 bytes"], ["128", "lines of 128 bytes"]], "32", draw),
    }, holder));
  }
  const inGlobal = sites.filter((site) => isGlobal(site.space));
  if (inGlobal.length > 0) {
    panels.push(panel("Lanes of accesses", { help: "lanes_histogram" }, meansChart(inGlobal, (m) => ratio(m.lanes, m.requests), 32, "Requests by mean lanes of their access", "mean active lanes of the access")));
  }
  const inShared = sites.filter((site) => site.metrics.shared);
  if (inShared.length > 0) {
    panels.push(panel("Passes of accesses to shared memory", { help: "passes_histogram" }, meansChart(inShared, (m) => ratio(m.shared.wavefronts, m.requests), 32, "Requests by mean passes of their access", "mean passes of the access")));
  }
  if (panels.length === 0) panels.push(nothing("No requests to memory, so no distributions."));
  return h("div", { class: "grid-2" }, panels);
}

/** Requests to global memory of all kernels by the pieces that they touch; null where none were recorded. */
function divergenceOfProgram() {
  const all = {};
  for (const site of profile().sites) {
    if (site.space !== "global") continue;
    for (const op of [site.op, "all"]) {
      const sums = (all[op] ??= {});
      for (const [size, counts] of Object.entries(site.metrics.lines_touched)) {
        const sum = (sums[size] ??= []);
        counts.forEach((requests, at) => { sum[at] = (sum[at] ?? 0) + requests; });
      }
    }
  }
  if (!all.all) return null;
  const shown = { op: "all", size: "32" };
  const holder = h("div");
  const draw = (change) => {
    Object.assign(shown, change);
    empty(holder).append(piecesChart({ lines_touched: all[shown.op] }, shown.size));
  };
  draw({});
  const names = [["all", "all"], ["load", "loads"], ["store", "stores"], ["atomic", "atomic operations"]];
  return panel("Memory divergence of the whole program, global memory", {
    help: "divergence",
    actions: [
      choice("Requests", names.filter(([op]) => all[op]), "all", (op) => draw({ op })),
      choice("Pieces", [["32", "sectors of 32 bytes"], ["128", "lines of 128 bytes"]], "32", (size) => draw({ size })),
    ],
  }, holder);
}

/** The view: distributions of the program's kernels. */
function distributionsView(parts) {
  const kernels = profile().kernels;
  if (kernels.length === 0) return [heading("Distributions"), nothing("No kernel was profiled.")];
  const order = kernelsByTime();
  const id = parts[0] ? Number(parts[0]) : order[0].id;
  const kernel = side().kernels.get(id) ?? order[0];
  return [
    heading("Distributions", "How far apart uses of the same data are, and how many pieces of memory, lanes and passes requests take."),
    divergenceOfProgram(),
    h("div", { class: "tools" }, choice("Kernel", order.map((row) => [String(row.id), side().kernelLabel(row.id)]), String(kernel.id), (value) => { location.hash = `#/distributions/${value}`; })),
    distributionPanels(kernel.metrics, side().by("sites", "kernel").get(kernel.id) ?? []),
  ];
}
