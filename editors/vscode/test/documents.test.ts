import assert from "node:assert/strict";
import { test } from "node:test";

import { readVerdict } from "../src/core/briefDocument";
import { plainName } from "../src/core/profileDocument";
import { InputError, parse, readDocument } from "../src/core/readDocument";
import { recorded, recordedPath, recordedText } from "./support/recorded";

test("a profile has the figures of its lines", () => {
  const profile = recorded();
  assert.equal(profile.program, "transpose");
  assert.deepEqual(profile.cautions, []);
  const file = profile.files.get(recordedPath);
  assert.ok(file);
  const naive = file.figures.get(25);
  assert.ok(naive);
  assert.equal(naive.memory.requests, 8192);
  assert.equal(naive.memory.sectors, 262144);
  assert.equal(naive.memory.idealSectors, 32768);
  assert.deepEqual([...naive.kernels], ["transpose_naive"]);
  // Line 47 is in two kernels: 32 passes in one, one in the other.
  const shared = file.figures.get(47);
  assert.ok(shared);
  assert.deepEqual([...shared.kernels], ["transpose_tiled", "transpose_padded"]);
  assert.equal(shared.shared.passes, 262144 + 8192);
  assert.equal(shared.shared.requests, 2 * 8192);
  assert.equal(shared.memory.requests, 0);
  const [access] = [...naive.accesses.values()];
  assert.deepEqual([access?.space, access?.operation, access?.name, access?.column], ["global", "store", "out", 31]);
});

test("the totals are sums of the lines", () => {
  const profile = recorded();
  const lines = [...profile.files.values()].flatMap((file) => [...file.figures.values()]);
  assert.equal(
    profile.totalSectors,
    lines.reduce((sum, line) => sum + line.memory.sectors, 0),
  );
  assert.equal(
    profile.totalWarps,
    lines.reduce((sum, line) => sum + line.warps, 0),
  );
  assert.equal(profile.totalSectors, 262144 + 5 * 32768);
});

test("findings have positions and texts", () => {
  const { findings } = recorded();
  const summary = findings.map((finding) => [finding.id, finding.severity, finding.line, finding.column]);
  assert.deepEqual(summary, [
    ["strided-access", "warning", 25, 31],
    ["bank-conflict", "warning", 47, 27],
    ["redundant-fill", "note", 69, 16],
  ]);
  assert.match(findings[0]?.title ?? "", /^Strided access to `out`: 32 sectors per request, 4 needed$/);
  assert.match(findings[0]?.gain ?? "", /^the kernel 3\.9 x faster, 5\.23 us saved \(modelled: /);
  assert.equal(findings[2]?.gain, "");
});

test("a brief has the same findings, texts and gains", () => {
  const [profile, brief] = [recorded(), recorded("transpose.brief.json")];
  const shown = (from: typeof profile) => from.findings.map(({ related: _, ...rest }) => rest);
  assert.deepEqual(shown(brief), shown(profile));
  assert.match(brief.verdict, /^transpose_naive takes .* of the estimated .* us of all kernels/);
  assert.equal(readVerdict(parse(recordedText("transpose.brief.json"), "brief")), brief.verdict);
  assert.equal(brief.files.get(recordedPath)?.recorded.get(25), "out[x * rows + y] = value;");
});

test("SARIF has the same positions", () => {
  const [profile, sarif] = [recorded(), recorded("transpose.sarif")];
  const places = (from: typeof profile) =>
    from.findings.map(({ id, severity, file, line, column }) => ({ id, severity, file, line, column }));
  assert.deepEqual(places(sarif), places(profile));
  assert.match(sarif.findings[0]?.reason ?? "", /^Consecutive threads write `out`/);
  assert.match(sarif.findings[0]?.title ?? "", /^Consecutive threads access global memory at a stride/);
});

test("further lines and positions in libraries are related places", () => {
  const finding = {
    id: "strided-access",
    rank: 1,
    severity: "error",
    kernel: null,
    file: "/a.cu",
    line: 3,
    column: 1,
    allocation: null,
    object: null,
    evidence: {},
    reason: "r",
    cure: "c",
    gain: { factor: 1.05, seconds: 0.5, assumption: "all" },
    lines: [
      { line: 5, column: 7 },
      { line: 0, column: 1 },
    ],
    inside_library: { function: "f", file: "/lib.h", line: 9, column: 2 },
  };
  const profile = readDocument({ schema: "warpline.profile", version: 1, findings: [finding] }, "p");
  assert.deepEqual(
    profile.findings[0]?.related.map(({ file, line, column }) => [file, line, column]),
    [
      ["/a.cu", 5, 7],
      ["/lib.h", 9, 2],
    ],
  );
  assert.equal(profile.findings[0]?.title, "strided-access");
  assert.equal(profile.findings[0]?.gain, "the program 5.0 % faster, 500 ms saved (modelled: all)");
  assert.ok(profile.files.has("/a.cu") && profile.files.has("/lib.h"));
});

test("traffic is global, local and constant memory", () => {
  const metrics = {
    global: { sectors: 1 },
    local: { sectors: 10 },
    constant: { sectors: 100 },
    shared: { sectors: 1000 },
  };
  const lines = [{ file: "/a.cu", line: 1, kernel: 0, metrics }];
  const profile = readDocument({ schema: "warpline.profile", version: 1, lines }, "p");
  assert.equal(profile.totalSectors, 111);
  assert.equal(profile.files.get("/a.cu")?.figures.get(1)?.memory.sectors, 111);
});

test("restrictions of a run are cautions", () => {
  const run = { complete: false, sampled: true, mode: "counters", dropped_records: 12, exit_code: 3 };
  const { cautions } = readDocument({ schema: "warpline.profile", version: 1, run }, "p");
  assert.equal(cautions.length, 5);
});

test("unknown documents are refused with the input, the cause and the next step", () => {
  const refused = (document: unknown, message: RegExp) =>
    assert.throws(
      () => readDocument(document, "a.json"),
      (error: Error) => error instanceof InputError && message.test(error.message),
    );
  refused({}, /'a\.json': it is neither .*Write one with/);
  refused(null, /neither/);
  refused([], /neither/);
  refused({ schema: "warpline.profile", version: 2 }, /version.*Update the extension/);
  refused({ schema: "warpline.brief", version: "1" }, /version/);
  refused({ runs: [], version: "2.2.0" }, /SARIF/);
  assert.throws(() => parse("{", "b.json"), /'b\.json': it is not JSON/);
});

test("names of kernels lose their parameters", () => {
  assert.equal(plainName("k(float const*, int)"), "k");
  assert.equal(plainName("void f<(int)3>(float (*)(int))"), "f<(int)3>");
  assert.equal(plainName("plain"), "plain");
  assert.equal(plainName(")"), ")");
});
