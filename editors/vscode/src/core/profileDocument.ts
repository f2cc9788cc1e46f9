// Reads the output of `warpline report FILE --format json`.

import { count, elements, fields, finite, position, string } from "./json";
import * as format from "./format";
import {
  addSums,
  emptyLine,
  emptySums,
  fileOf,
  Finding,
  LineFigures,
  MOST_ACCESSES,
  MOST_CHARACTERS,
  MOST_FINDINGS,
  MOST_OF_A_NAME,
  MOST_OF_A_PATH,
  MOST_ROWS,
  Profile,
  RelatedPlace,
  SourceFile,
  Sums,
  toSeverity,
} from "./profile";
import { oneLine } from "./text";

const MOST_KERNELS = 100_000;
const MOST_RELATED = 20;

/** Reads a document with the schema `warpline.profile`. */
export function readProfileDocument(document: unknown): Profile {
  const root = fields(document);
  const run = fields(root["run"]);
  const kernels = readKernels(root["kernels"]);
  const files = new Map<string, SourceFile>();
  const totals = readLines(root["lines"], kernels, files);
  readSites(root["sites"], files);
  readSources(root["sources"], files);
  const rows = elements(root["findings"], Number.POSITIVE_INFINITY);
  return {
    origin: "profile",
    program: oneLine(elements(run["program"], 32).map(string).join(" "), MOST_OF_A_NAME),
    verdict: "",
    cautions: cautionsOf(run),
    findings: rows.slice(0, MOST_FINDINGS).map((row) => readFinding(fields(row))),
    omittedFindings: Math.max(0, rows.length - MOST_FINDINGS),
    files,
    totalSectors: totals.sectors,
    totalWarps: totals.warps,
  };
}

/** Removes the parameters of a demangled name. */
export function plainName(name: string): string {
  if (!name.endsWith(")")) return name;
  let depth = 0;
  for (let at = name.length - 1; at > 0; at -= 1) {
    if (name[at] === ")") depth += 1;
    if (name[at] === "(") depth -= 1;
    if (depth === 0) return name.slice(0, at).replace(/^void /, "");
  }
  return name;
}

function readKernels(value: unknown): Map<number, string> {
  const names = new Map<number, string>();
  for (const row of elements(value, MOST_KERNELS).map(fields)) {
    const id = finite(row["id"]);
    if (id !== undefined) names.set(id, oneLine(plainName(string(row["name"]).slice(0, 4096)), 64));
  }
  return names;
}

function cautionsOf(run: Record<string, unknown>): string[] {
  const cautions = [];
  if (run["complete"] === false) cautions.push("The profile is incomplete.");
  if (run["sampled"] === true) cautions.push("A part of the work was recorded; the figures are of this part.");
  if (run["mode"] === "counters") cautions.push("Counts per instruction only: no caches and no allocations.");
  const dropped = count(run["dropped_records"]);
  if (dropped > 0) cautions.push(`Counts are too low by ${format.count(dropped)} dropped records.`);
  const exit = finite(run["exit_code"]);
  if (exit !== undefined && exit !== 0) cautions.push(`The program returned ${exit}.`);
  return cautions;
}

/** Reads the figures of requests in one memory space. */
function readSums(value: unknown): Sums {
  const metrics = fields(value);
  const [shared, l1] = [fields(metrics["shared"]), fields(metrics["l1"])];
  return {
    requests: count(metrics["requests"]),
    sectors: count(metrics["sectors"]),
    idealSectors: count(metrics["ideal_sectors"]),
    loadLookups: count(l1["load_lookups"]),
    loadHits: count(l1["load_hits"]),
    passes: count(shared["wavefronts"]),
    idealPasses: count(shared["ideal_wavefronts"]),
  };
}

function pathOf(value: unknown): string {
  const path = string(value);
  return path.length <= MOST_OF_A_PATH ? path : "";
}

function lineOf(file: SourceFile, line: number): LineFigures {
  let figures = file.figures.get(line);
  if (!figures) {
    figures = emptyLine();
    file.figures.set(line, figures);
  }
  return figures;
}

function readLines(value: unknown, kernels: Map<number, string>, files: Map<string, SourceFile>) {
  const totals = { sectors: 0, warps: 0 };
  for (const row of elements(value, MOST_ROWS).map(fields)) {
    const [path, number] = [pathOf(row["file"]), position(row["line"])];
    if (path === "" || number === 0) continue;
    const line = lineOf(fileOf(files, path), number);
    const kernel = kernels.get(count(row["kernel"]));
    if (kernel !== undefined) line.kernels.add(kernel);
    const spaces = fields(row["metrics"]);
    for (const sums of ["global", "local", "constant"].map((space) => readSums(spaces[space]))) {
      addSums(line.memory, sums);
      totals.sectors += sums.sectors;
    }
    addSums(line.shared, readSums(spaces["shared"]));
    for (const sum of Object.values(fields(row["instructions"])).map(fields)) {
      line.warps += count(sum["warps"]);
      line.lanes += count(sum["lanes"]);
      totals.warps += count(sum["warps"]);
    }
  }
  return totals;
}

function readSites(value: unknown, files: Map<string, SourceFile>): void {
  for (const row of elements(value, MOST_ROWS).map(fields)) {
    const line = files.get(pathOf(row["file"]))?.figures.get(position(row["line"]));
    if (!line) continue;
    const column = position(row["column"]);
    const [space, operation] = [oneLine(string(row["space"]), 16), oneLine(string(row["op"]), 16)];
    const key = `${column} ${space} ${operation}`;
    let access = line.accesses.get(key);
    if (!access) {
      if (line.accesses.size >= MOST_ACCESSES) continue;
      const operand = fields(row["operand"]);
      const name = oneLine(string(operand["variable"]) + string(operand["member"]), 64);
      access = { column, space, operation, name, approximate: true, sums: emptySums() };
      line.accesses.set(key, access);
    }
    access.approximate &&= row["approximate"] === true;
    addSums(access.sums, readSums(row["metrics"]));
  }
}

function readSources(value: unknown, files: Map<string, SourceFile>): void {
  let left = MOST_ROWS;
  for (const [path, lines] of Object.entries(fields(value))) {
    if (path.length > MOST_OF_A_PATH) continue;
    for (const [number, text] of Object.entries(fields(lines))) {
      const line = position(Number(number));
      if (line === 0 || typeof text !== "string" || text.length > 4096) continue;
      if (left === 0) return;
      left -= 1;
      fileOf(files, path).recorded.set(line, text);
    }
  }
}

function readFinding(row: Record<string, unknown>): Finding {
  const text = (key: string) => oneLine(string(row[key]), MOST_CHARACTERS);
  const file = pathOf(row["file"]);
  return {
    id: oneLine(string(row["id"]), 64),
    severity: toSeverity(row["severity"]),
    title: oneLine(string(row["title"]) || string(row["id"]), MOST_OF_A_NAME),
    reason: text("reason"),
    change: text("cure"),
    gain: gainOf(row),
    file,
    line: position(row["line"]),
    column: position(row["column"]),
    related: relatedOf(row, file),
  };
}

/** Writes the gain as reports do; nothing if there is none. */
function gainOf(row: Record<string, unknown>): string {
  const gain = fields(row["gain"]);
  const [factor, saved] = [finite(gain["factor"]), finite(gain["seconds"])];
  if (factor === undefined || saved === undefined) return "";
  const what = typeof row["kernel"] === "number" ? "the kernel" : "the program";
  const faster = factor >= 1.1 ? `${factor.toFixed(1)} x faster` : `${(100 * (factor - 1)).toFixed(1)} % faster`;
  const assumption = oneLine(string(gain["assumption"]), MOST_CHARACTERS);
  return `${what} ${faster}, ${format.seconds(saved)} saved (modelled: ${assumption})`;
}

function relatedOf(row: Record<string, unknown>, file: string): RelatedPlace[] {
  const related: RelatedPlace[] = [];
  for (const place of elements(row["lines"], MOST_RELATED).map(fields)) {
    const line = position(place["line"]);
    const message = "the same happens here";
    if (line > 0) related.push({ file, line, column: position(place["column"]), message });
  }
  const inside = fields(row["inside_library"]);
  const line = position(inside["line"]);
  if (line > 0) {
    const message = "where it happens inside the library";
    related.push({ file: pathOf(inside["file"]), line, column: position(inside["column"]), message });
  }
  return related;
}
