// Derives figures from the counts of the document: cache figures of the selected model, sums and ratios.

/** Cache figures of the chosen model. */
function caches(metrics) {
  if (state.model === profile().run.models[0]) return metrics;
  return metrics.other_models?.[state.model] ?? {};
}

/** Whether the space's requests go to device memory. */
function isGlobal(space) {
  return space === "global" || space === "local";
}

/** Sums that the views work with. Plain fields, always the same ones, as a hundred thousand launches are added up at a click. */
class Sums {
  constructor() {
    this.requests = 0;
    this.lanes = 0;
    this.bytes = 0;
    this.sectors = 0;
    this.ideal_sectors = 0;
    // Number of requests whose sectors are counted.
    this.outside_requests = 0;
    this.passes = 0;
    this.ideal_passes = 0;
    this.shared_requests = 0;
    this.l1_lookups = 0;
    this.l1_hits = 0;
    this.l1_load_lookups = 0;
    this.l1_load_hits = 0;
    this.l2_lookups = 0;
    this.l2_hits = 0;
    this.dram = 0;
    this.simulated = 0;
    this.instructions = 0;
    this.instruction_lanes = 0;
  }

  /** Adds the metrics of a set of requests in a space. */
  add(metrics, space) {
    this.requests += metrics.requests;
    this.lanes += metrics.lanes;
    this.bytes += metrics.bytes;
    if (space !== "shared") {
      this.sectors += metrics.sectors;
      this.ideal_sectors += metrics.ideal_sectors;
      this.outside_requests += metrics.requests;
    }
    if (metrics.shared) {
      this.passes += metrics.shared.wavefronts;
      this.ideal_passes += metrics.shared.ideal_wavefronts;
      this.shared_requests += metrics.requests;
    }
    const { l1, l2, dram } = caches(metrics);
    if (l1) {
      this.l1_lookups += l1.lookups;
      this.l1_hits += l1.hits;
      this.l1_load_lookups += l1.load_lookups;
      this.l1_load_hits += l1.load_hits;
      this.simulated += 1;
    }
    if (l2) {
      this.l2_lookups += l2.lookups;
      this.l2_hits += l2.hits;
    }
    if (dram) this.dram += dram.read_sectors + dram.write_sectors;
    return this;
  }

  /** Adds other sums. */
  merge(more) {
    for (const key of Object.keys(this)) this[key] += more[key];
    return this;
  }
}

function sums(metrics, space) {
  return new Sums().add(metrics, space);
}

function sumOf(list) {
  return list.reduce((sum, one) => sum.merge(one), new Sums());
}

/** Sums over the spaces of a kernel, line or launch. */
function spacesSum(spaces) {
  const sum = new Sums();
  for (const space of Object.keys(spaces)) sum.add(spaces[space], space);
  return sum;
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
  instructions: { unit: "count", of: (s) => s.instructions },
};

const RATIOS = {
  efficiency: { unit: "share", of: (s) => ratio(s.ideal_sectors, s.sectors) },
  sectors_per_request: { unit: "mean", of: (s) => ratio(s.sectors, s.outside_requests) },
  lanes_per_request: { unit: "mean", of: (s) => ratio(s.lanes, s.requests) },
  l1_rate: { unit: "share", of: (s) => ratio(s.l1_load_hits, s.l1_load_lookups) },
  l1_store_rate: { unit: "share", of: (s) => ratio(s.l1_hits - s.l1_load_hits, s.l1_lookups - s.l1_load_lookups) },
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

/** The limiter, if enough rates are known. */
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
