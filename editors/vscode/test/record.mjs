// Records the documents that the tests read: `npm run record`, with `warpline` on PATH or its path in WARPLINE.
//
// It profiles examples/transpose/transpose.cu and writes what `warpline report` prints, without the fields that the
// extension does not read. Paths below the repository start with /project.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../../..");
const warpline = process.env.WARPLINE ?? "warpline";
const folder = mkdtempSync(join(tmpdir(), "warpline-record-"));

function report(profile, format) {
  const text = execFileSync(warpline, ["report", "--format", format, "--", profile], { maxBuffer: 1 << 28 }).toString();
  return JSON.parse(text.replaceAll(`${root}/`, "/project/"));
}

function pick(row, keys) {
  return Object.fromEntries(keys.filter((key) => key in row).map((key) => [key, row[key]]));
}

const COUNTS = ["requests", "lanes", "bytes", "sectors", "ideal_sectors", "shared", "l1", "l2"];

function shorten(document) {
  const { environment: _, ...run } = document.run;
  const spaces = (metrics) =>
    Object.fromEntries(Object.entries(metrics).map(([space, counts]) => [space, pick(counts, COUNTS)]));
  return {
    schema: document.schema,
    version: document.version,
    run,
    kernels: document.kernels.map((row) => pick(row, ["id", "name", "file", "line"])),
    lines: document.lines.map((row) => ({ ...row, metrics: spaces(row.metrics) })),
    sites: document.sites.map((row) => ({
      ...pick(row, ["id", "kernel", "file", "line", "column", "op", "space", "bytes", "approximate", "operand"]),
      metrics: pick(row.metrics, COUNTS),
    })),
    findings: document.findings,
    sources: Object.fromEntries(Object.entries(document.sources).filter(([path]) => path.startsWith("/project/"))),
  };
}

function withoutHelp(sarif) {
  for (const run of sarif.runs) for (const rule of run.tool.driver.rules) delete rule.help;
  return sarif;
}

/** Writes JSON with a line for each row of its lists, so that differences are short. */
function write(name, document) {
  const text = JSON.stringify(document).replace(/(\},|":\[)(?=\{")/g, "$1\n");
  writeFileSync(join(here, "recorded", name), `${text}\n`);
}

try {
  const profile = join(folder, "transpose.wlprof");
  execFileSync(warpline, ["profile", join(root, "examples/transpose/transpose.cu"), "-o", profile], {
    cwd: folder,
    stdio: "ignore",
  });
  write("transpose.json", shorten(report(profile, "json")));
  write("transpose.brief.json", report(profile, "brief-json"));
  write("transpose.sarif", withoutHelp(report(profile, "sarif")));
} finally {
  rmSync(folder, { recursive: true });
}
