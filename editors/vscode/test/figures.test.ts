import assert from "node:assert/strict";
import { test } from "node:test";

import { details, summary } from "../src/core/figures";
import {
  findingCounts,
  message,
  pageOf,
  statusDetails,
  statusText,
  toCharacter,
  underline,
} from "../src/core/findingText";
import { emptyLine, Finding } from "../src/core/profile";
import { recorded, recordedPath } from "./support/recorded";

const profile = recorded();
const file = profile.files.get(recordedPath);

function line(number: number) {
  const figures = file?.figures.get(number);
  assert.ok(figures);
  return figures;
}

test("the end of a line has share, sectors, hit rate and passes", () => {
  assert.equal(summary(line(25), profile), "62 % of traffic · 32.0 sectors per request, 4.0 needed");
  assert.equal(summary(line(24), profile), "8 % of traffic · 4.0 sectors per request · L1 hit 0 %");
  assert.equal(summary(line(47), profile), "16.5 passes per request, 1.0 needed");
  assert.equal(summary(line(20), profile), undefined);
  assert.equal(summary(emptyLine(), profile), undefined);
});

test("details have the accesses, kernels and findings", () => {
  const findings = profile.findings.filter((finding) => finding.line === 25);
  const text = details(line(25), findings, profile).replace(/\\/g, "");
  assert.match(text, /61\.5 % of the traffic \(8\.00 MiB\); 8192 requests; 12\.5 % coalesced; /);
  assert.match(text, /- global store `out` in column 31: 8192 requests, 32\.0 sectors per request, 4\.0 needed/);
  assert.match(text, /- \*\*warning\*\* strided-access: Strided access to `out`: 32 sectors/);
  assert.match(text, /In transpose_naive\.$/);
});

test("messages have title, reason, change and gain", () => {
  const [finding] = profile.findings;
  assert.ok(finding);
  const parts = message(finding, false).split("\n");
  assert.equal(parts.length, 4);
  assert.match(parts[0] ?? "", /^Strided access to `out`/);
  assert.match(parts[2] ?? "", /^Change: /);
  assert.match(parts[3] ?? "", /^Gain: the kernel 3\.9 x faster/);
  assert.match(message(finding, true), /\(this line has changed since the profile\)/);
});

test("only ids of findings have pages", () => {
  const finding = (id: string) => ({ ...profile.findings[0], id }) as Finding;
  assert.equal(pageOf(finding("strided-access")), "strided-access");
  for (const id of ["", "--help", "a b", "a/../b", "A", "a-", "x;y", "é"])
    assert.equal(pageOf(finding(id)), undefined, id);
});

test("columns count bytes", () => {
  assert.equal(toCharacter("a = b;", 5), 4);
  assert.equal(toCharacter("/*ü*/ b", 8), 6);
  assert.equal(toCharacter("/*\u{1f600}*/ b", 10), 7);
  assert.equal(toCharacter("ab", 100), 2);
  assert.deepEqual(underline("    out[x] = value;", 5), [4, 7]);
  assert.deepEqual(underline("    out[x] = value;  ", 0), [4, 19]);
  assert.deepEqual(underline("  out[x] = 1;", 10), [2, 13]);
  assert.deepEqual(underline("  x", 100), [2, 3]);
  assert.deepEqual(underline("", 7), [0, 0]);
  assert.deepEqual(underline("/*\u{1f600}*/ out = 1;", 8, "sarif"), [7, 10]);
});

test("the status bar has the first sentence of the verdict", () => {
  const brief = recorded("transpose.brief.json");
  assert.match(
    statusText(brief),
    /^Warpline: transpose_naive takes \d+\.\d % of the estimated .* all kernels, limited by/,
  );
  assert.ok(statusText({ ...brief, verdict: "$(bug) ".repeat(1000) }).length <= 120);
  assert.doesNotMatch(statusText({ ...brief, verdict: "$(bug)" }), /\$\(/);
  assert.equal(statusText({ ...brief, verdict: "" }), "Warpline: 2 warnings, 1 note");
  assert.equal(findingCounts({ ...brief, findings: [] }), "no findings");
});

test("the tooltip has what restricts the figures", () => {
  const status = { source: "/a/b.wlprof", changedLines: 2, absentFiles: 1 };
  const placeless = { ...(profile.findings[0] as Finding), line: 0 };
  const lines = statusDetails(
    { ...profile, verdict: "v.", cautions: ["c."], findings: [placeless], omittedFindings: 3 },
    status,
  );
  assert.deepEqual(lines, [
    "v.",
    "1 warning.",
    "c.",
    "Without a position: warning Strided access to `out`: 32 sectors per request, 4 needed",
    "3 further findings: see the report page.",
    "2 lines changed since the profile: profile again.",
    "1 file of the profile not in this workspace.",
    "From /a/b.wlprof",
  ]);
});
