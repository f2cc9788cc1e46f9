// Documents that Warpline did not write: wrong types, huge texts, markup, control characters.

import assert from "node:assert/strict";
import { test } from "node:test";

import { align } from "../src/core/alignment";
import { details, summary } from "../src/core/figures";
import { message, pageOf, statusDetails, statusText, underline } from "../src/core/findingText";
import { MOST_CHARACTERS, MOST_FINDINGS, Profile } from "../src/core/profile";
import { InputError, readDocument } from "../src/core/readDocument";
import { recordedText } from "./support/recorded";

/** Makes every text that the editor would show, and checks its bounds. */
function show(profile: Profile): void {
  for (const file of profile.files.values()) {
    const alignment = align(file.recorded, ["__global__ void k() {", "}"]);
    for (const [number, line] of file.figures) {
      assert.ok((summary(line, profile) ?? "").length < 300);
      const text = details(line, profile.findings, profile);
      assert.ok(text.length <= 8000);
      assert.doesNotMatch(text, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
      assert.ok(alignment.place(number).line >= 1);
    }
  }
  for (const finding of profile.findings) {
    assert.ok(message(finding, true).length <= 4 * MOST_CHARACTERS);
    assert.ok(/^[a-z0-9-]+$/.test(pageOf(finding) ?? "x"));
    const [start, end] = underline("  x = y;", finding.column);
    assert.ok(start >= 0 && end >= start);
  }
  assert.ok(statusText(profile).length < 200);
  assert.ok(statusDetails(profile, { source: "s", changedLines: 0, absentFiles: 0 }).join("").length < 10_000);
}

function readAndShow(document: unknown): void {
  try {
    show(readDocument(document, "x"));
  } catch (error) {
    assert.ok(error instanceof InputError, String(error));
  }
}

const STRANGE: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  "",
  "x",
  "\0\x1b]8;;http://x\x07",
  "\u202e",
  "\ud800",
  "`".repeat(99),
  "[x](command:workbench.action.terminal.new)",
  "<img src=x onerror=alert(1)>",
  "$(sync~spin)",
  "../".repeat(500),
  "y".repeat(20_000),
  [],
  {},
  [null, [], {}],
  { __proto__: null, file: 1 },
  JSON.parse('{"__proto__": {"file": "/x"}, "constructor": 1}'),
];

test("wrong values at any position are survived", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (const name of ["transpose.json", "transpose.brief.json", "transpose.sarif"]) {
    const text = recordedText(name);
    for (let round = 0; round < 60; round += 1) {
      const document: unknown = JSON.parse(text);
      for (let change = 0; change < 1 + random(4); change += 1) spoil(document, random);
      readAndShow(document);
    }
  }
});

/** Replaces a random value in a document. */
function spoil(document: unknown, random: (below: number) => number): void {
  let at = document as Record<string, unknown>;
  for (let depth = 0; depth < 12; depth += 1) {
    const keys = Object.keys(at);
    const key = keys[random(Math.max(1, keys.length))];
    if (key === undefined) return;
    const next = at[key];
    if (typeof next !== "object" || next === null || random(5) === 0) {
      at[key] = STRANGE[random(STRANGE.length)];
      return;
    }
    at = next as Record<string, unknown>;
  }
}

function hostileFinding(text: string): unknown {
  return {
    id: text,
    rank: 1,
    severity: "error",
    kernel: 0,
    file: "/a.cu",
    line: 2,
    column: 1,
    title: text,
    reason: text,
    cure: text,
    gain: { factor: 2, seconds: 1, assumption: text },
    lines: Array.from({ length: 500 }, () => ({ line: 1, column: 1 })),
  };
}

function hostileProfile(text: string, findings: number): unknown {
  const metrics = { requests: 1, sectors: 8, ideal_sectors: 1, l1: { load_lookups: 2, load_hits: 1 } };
  return {
    schema: "warpline.profile",
    version: 1,
    run: { program: [text], complete: true },
    kernels: [{ id: 0, name: text }],
    lines: [
      {
        file: "/a.cu",
        line: 2,
        kernel: 0,
        metrics: { global: metrics },
        instructions: { [text]: { warps: 1, lanes: 32 } },
      },
    ],
    sites: Array.from({ length: 1000 }, (_, index) => ({
      kernel: 0,
      file: "/a.cu",
      line: 2,
      column: index,
      op: text,
      space: text,
      operand: { variable: text },
      metrics,
    })),
    findings: Array.from({ length: findings }, () => hostileFinding(text)),
    sources: { "/a.cu": { 2: text, x: text, "-1": text } },
  };
}

test("markup in texts stays text", () => {
  for (const text of [
    "[x](command:a?%22b%22)",
    "<script>alert(1)</script>",
    "![a](https://example.org/x.png)",
    "https://example.org",
    "a@b.org",
    "`[x](command:y)`",
    "\n\n# x\n\n- [y](command:z)",
    "x`\n\n[z](command:q)",
  ]) {
    const profile = readDocument(hostileProfile(text, 2), "x");
    show(profile);
    const line = profile.files.get("/a.cu")?.figures.get(2);
    assert.ok(line);
    // Outside code spans, brackets, angles and colons of links are escaped.
    const outside = details(line, profile.findings, profile).replace(/`[^`\n]*`/g, "");
    assert.doesNotMatch(outside, /(?<!\\)[[\]<>]|(?<!\\)command:|https:\/\/|(?<!\\)@/, text);
    assert.doesNotMatch(outside.replace(/^- /gm, ""), /^(?:#|- )/m, text);
  }
});

test("huge texts and lists are bounded", () => {
  const before = process.cpuUsage();
  const profile = readDocument(hostileProfile("\x1b`[".repeat(300_000), 3000), "x");
  assert.equal(profile.findings.length, MOST_FINDINGS);
  assert.equal(profile.omittedFindings, 2000);
  for (const finding of profile.findings) assert.ok(finding.related.length <= 21);
  show(profile);
  assert.ok(process.cpuUsage(before).user < 10e6, "more than ten seconds");
});

test("nested documents and prototypes change nothing", () => {
  const deep = JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`) as unknown;
  readAndShow({ schema: "warpline.profile", version: 1, lines: deep, findings: deep, sources: deep, run: deep });
  const text =
    '{"schema":"warpline.profile","version":1,"sources":{"__proto__":{"1":"x"}},"findings":[{"__proto__":{"id":"a"}}]}';
  const profile = readDocument(JSON.parse(text), "x");
  assert.equal(profile.findings[0]?.id, "");
  assert.equal(profile.files.get("__proto__")?.recorded.get(1), "x");
  assert.equal(({} as Record<string, unknown>)["1"], undefined);
});

test("URIs of SARIF become paths only if they are file URIs or relative", () => {
  const at = (uri: unknown) => {
    const location = { physicalLocation: { artifactLocation: { uri }, region: { startLine: 1 } } };
    const results = [{ ruleId: "race", level: "error", message: { text: "x" }, locations: [location] }];
    return readDocument({ version: "2.1.0", runs: [{ results }] }, "x").findings[0]?.file;
  };
  assert.equal(at("file:///a%20b/c.cu"), "/a b/c.cu");
  assert.equal(at("src/a%23.cu"), "src/a#.cu");
  for (const uri of ["https://example.org/a.cu", "command:x", "file://host/a.cu", "file:///a%2fb", "%E0%A4", 5, null])
    assert.equal(at(uri), "");
});
