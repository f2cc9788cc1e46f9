// Figures from the counts of the document: which cache figures belong to the chosen model, sums, and ratios.

/** Cache figures of the chosen model. */
function caches(metrics) {
  if (state.model === profile().run.models[0]) return metrics;
  return metrics.other_models?.[state.model] ?? {};
}

function level(metrics, name) {
  return caches(metrics)[name] ?? null;
}

/** Whether the space's requests go to device memory. */
function isGlobal(space) {
  return space === "global" || space === "local";
}

/** Sums that the views work with; of a set of requests in a space. */
function sums(metrics, space) {
  const outside = space !== "shared" && space !== "constant";
  const l1 = level(metrics, "l1");
  const l2 = level(metrics, "l2");
  const dram = level(metrics, "dram");
  return {
    requests: metrics.requests,
    lanes: metrics.lanes,
    bytes: metrics.bytes,
    sectors: outside ? metrics.sectors : 0,
    ideal_sectors: outside ? metrics.ideal_sectors : 0,
    outside_requests: outside ? metrics.requests : 0,
    passes: metrics.shared?.wavefronts ?? 0,
    ideal_passes: metrics.shared?.ideal_wavefronts ?? 0,
    shared_requests: metrics.shared ? metrics.requests : 0,
    l1_lookups: l1?.lookups ?? 0,
    l1_load_lookups: l1?.load_lookups ?? 0,
    l1_load_hits: l1?.load_hits ?? 0,
    l2_lookups: l2?.lookups ?? 0,
    l2_hits: l2?.hits ?? 0,
    dram: (dram?.read_sectors ?? 0) + (dram?.write_sectors ?? 0),
    simulated: l1 || l2 ? 1 : 0,
  };
}

function addSums(into, more) {
  for (const key of Object.keys(more)) into[key] = (into[key] ?? 0) + more[key];
  return into;
}

const SUMS = [
  "requests", "lanes", "bytes", "sectors", "ideal_sectors", "outside_requests", "passes", "ideal_passes", "shared_requests",
  "l1_lookups", "l1_load_lookups", "l1_load_hits", "l2_lookups", "l2_hits", "dram", "simulated",
];

function sumOf(list) {
  return list.reduce(addSums, Object.fromEntries(SUMS.map((name) => [name, 0])));
}

/** Sums over the spaces of a kernel, line or launch. */
function spacesSum(spaces) {
  return sumOf(Object.entries(spaces).map(([space, metrics]) => sums(metrics, space)));
}

/** Warp instructions of all classes. */
function issued(instructions) {
  let warps = 0;
  let lanes = 0;
  for (const row of Object.values(instructions ?? {})) {
    warps += row.warps;
    lanes += row.lanes;
  }
  return { warps, lanes };
}

/** Figures that can be chosen: key, unit and how they follow from sums. Costs add up; ratios do not. */
const COSTS = {
  sectors: { unit: "bytes", of: (s) => s.sectors * 32 },
  avoidable: { unit: "bytes", of: (s) => Math.max(0, s.sectors - s.ideal_sectors) * 32 },
  requests: { unit: "count", of: (s) => s.requests },
  lanes: { unit: "count", of: (s) => s.lanes },
  bytes: { unit: "bytes", of: (s) => s.bytes },
  l2_lookups: { unit: "count", of: (s) => s.l2_lookups },
  dram: { unit: "bytes", of: (s) => s.dram * 32 },
  passes: { unit: "count", of: (s) => s.passes },
  conflicts: { unit: "count", of: (s) => Math.max(0, s.passes - s.ideal_passes) },
  instructions: { unit: "count", of: (s) => s.instructions ?? 0 },
};

const RATIOS = {
  efficiency: { unit: "share", of: (s) => ratio(s.ideal_sectors, s.sectors) },
  sectors_per_request: { unit: "mean", of: (s) => ratio(s.sectors, s.outside_requests) },
  lanes_per_request: { unit: "mean", of: (s) => ratio(s.lanes, s.requests) },
  l1_rate: { unit: "share", of: (s) => ratio(s.l1_load_hits, s.l1_load_lookups) },
  l2_rate: { unit: "share", of: (s) => ratio(s.l2_hits, s.l2_lookups) },
  pass_efficiency: { unit: "share", of: (s) => ratio(s.ideal_passes, s.passes) },
};

function figureOf(key, sum) {
  return (COSTS[key] ?? RATIOS[key]).of(sum);
}

function unitOf(key) {
  return (COSTS[key] ?? RATIOS[key]).unit;
}

function labelOf(key) {
  return GLOSSARY[key]?.[0] ?? spaced(key);
}

/** Costs that the program has at all, for lists to choose from. */
function costChoices(total, keys = Object.keys(COSTS)) {
  return keys.filter((key) => COSTS[key].of(total) > 0).map((key) => [key, labelOf(key)]);
}

/** The estimate of a kernel on the chosen model. */
function estimate(kernel) {
  return kernel.estimates?.find((row) => row.model === state.model) ?? null;
}

/** What limits, where enough rates are known to say so. */
function limiter(row) {
  if (!row) return null;
  const known = (name) => row.limits.some((limit) => limit.name === name);
  if (row.unknown.includes("bus") || (!known("instructions") && !known("l1_data"))) return null;
  return row.limiter;
}

function programSeconds() {
  return profile().kernels.reduce((sum, kernel) => sum + (estimate(kernel)?.seconds ?? 0), 0);
}

/** Sums of the whole program. */
function programSum() {
  return side().once(`program ${state.model}`, () => {
    const total = sumOf(profile().kernels.map((kernel) => spacesSum(kernel.metrics)));
    total.instructions = profile().kernels.reduce((sum, kernel) => sum + issued(kernel.instructions).warps, 0);
    return total;
  });
}
