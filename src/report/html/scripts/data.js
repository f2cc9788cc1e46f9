// The documents in the page, and functions to find data in them.

async function unpacked(element) {
  if (element.type === "application/json") return JSON.parse(element.textContent);
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot unpack gzip (DecompressionStream); any of 2023 or later can");
  }
  const text = atob(element.textContent);
  const packed = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) packed[at] = text.charCodeAt(at);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** All that the views need of one profile, found once. */
class Side {
  constructor({ name, profile, kernel_labels, ranks, trust }) {
    this.trust = trust;
    this.name = name;
    this.profile = profile;
    this.ranks = ranks ?? null;
    this.kernels = new Map(profile.kernels.map((kernel) => [kernel.id, kernel]));
    this.labels = new Map(Object.entries(kernel_labels).map(([id, label]) => [Number(id), label]));
    this.allocations = new Map(profile.allocations.map((row) => [row.id, row]));
    this.hosts = new Map(profile.host_allocations.map((row) => [row.id, row]));
    this.found = new Map();
  }

  /** Made at the first use. */
  once(name, make) {
    if (!this.found.has(name)) this.found.set(name, make());
    return this.found.get(name);
  }

  kernelLabel(id) {
    if (id === null || id === undefined) return "the program";
    return this.labels.get(id) ?? `kernel ${id}`;
  }

  allocationLabel(id) {
    if (id === null || id === undefined) return "outside all allocations";
    const row = this.allocations.get(id);
    if (!row) return `allocation ${id}`;
    return row.name ?? `${row.kind} of ${bytes(row.bytes)}`;
  }

  /** Source files, those of device code first, with the name by which links know each. */
  get files() {
    return this.once("files", () => {
      const device = new Set();
      const host = new Set();
      for (const row of this.profile.lines) device.add(row.file);
      for (const row of this.profile.sites) device.add(row.file);
      for (const row of this.profile.branches) device.add(row.file);
      for (const file of Object.keys(this.profile.sources)) if (!device.has(file)) host.add(file);
      device.delete("");
      const files = [...[...device].sort(), ...[...host].sort()];
      const keys = shortest(files);
      return files.map((file, at) => ({ file, key: keys[at], device: device.has(file) }));
    });
  }

  fileKey(file) {
    return this.once("fileKeys", () => new Map(this.files.map((row) => [row.file, row.key]))).get(file) ?? baseName(file);
  }

  /** Rows of an array by the value of a key. */
  by(array, key) {
    return this.once(`${array} by ${key}`, () => {
      const groups = new Map();
      for (const row of this.profile[array]) {
        const value = key === "place" ? `${row.file}:${row.line}` : row[key];
        if (!groups.has(value)) groups.set(value, []);
        groups.get(value).push(row);
      }
      return groups;
    });
  }

  at(array, file, line) {
    return this.by(array, "place").get(`${file}:${line}`) ?? [];
  }

  sourceLine(file, line) {
    return this.profile.sources[file]?.[line] ?? null;
  }

  /** Sites by the allocation that they touch. */
  get sitesOfAllocation() {
    return this.once("sitesOfAllocation", () => {
      const groups = new Map();
      for (const site of this.profile.sites) {
        for (const part of site.by_allocation) {
          if (!groups.has(part.allocation)) groups.set(part.allocation, []);
          groups.get(part.allocation).push({ site, metrics: part.metrics });
        }
      }
      return groups;
    });
  }
}

/** The shortest ends of paths that distinguish them, each from a whole part on. */
function shortest(files) {
  const shared = new Map();
  const ends = files.map((file) => {
    const parts = file.split("/");
    return parts.map((_, at) => parts.slice(parts.length - 1 - at).join("/"));
  });
  for (const list of ends) for (const end of list) shared.set(end, (shared.get(end) ?? 0) + 1);
  return ends.map((list, at) => list.find((end) => shared.get(end) === 1) ?? files[at]);
}

/** What is shown: the side of a comparison and the GPU model. */
const state = { document: null, sides: [], side: 0, model: "" };

function side() {
  return state.sides[state.side];
}

function profile() {
  return side().profile;
}

async function load() {
  state.document = await unpacked(document.getElementById("data"));
  state.sides = state.document.sides.map((data) => new Side(data));
  state.side = state.sides.length - 1;
  state.model = profile().run.models[0] ?? "";
}

function isComparison() {
  return state.document.comparison !== null;
}

/** Route of a source line. */
function sourceRoute(file, line) {
  return `source/${encodeURIComponent(side().fileKey(file))}${line ? `:${line}` : ""}`;
}

function place(file, line) {
  if (!file) return "unknown place";
  return line ? `${side().fileKey(file)}:${line}` : side().fileKey(file);
}
