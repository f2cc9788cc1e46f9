import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { align } from "../src/core/alignment";
import { example, recorded, recordedPath } from "./support/recorded";

const source = readFileSync(example, "utf8").split("\n");
const lines = recorded().files.get(recordedPath)?.recorded ?? new Map<number, string>();

/** Every line of a text, as a profile would record it. */
function allOf(text: readonly string[]): Map<number, string> {
  return new Map(text.map((content, index) => [index + 1, content]));
}

test("the recorded profile fits the example (otherwise: npm run record)", () => {
  const alignment = align(lines, source);
  assert.equal(alignment.changed, 0);
  assert.equal(alignment.unchanged, [...lines.values()].filter((line) => line.trim() !== "").length);
  for (const line of lines.keys()) assert.deepEqual(alignment.place(line), { line, changed: false });
});

test("lines move with insertions and removals before them", () => {
  const inserted = align(lines, [...source.slice(0, 10), "// one", "// two", ...source.slice(10)]);
  assert.deepEqual(inserted.place(25), { line: 27, changed: false });
  assert.equal(inserted.changed, 0);
  const removed = align(lines, source.slice(9));
  assert.deepEqual(removed.place(25), { line: 16, changed: false });
  assert.equal(removed.changed, 0);
});

test("a changed line is found to be changed, and the others stay", () => {
  const text = source.map((line, index) => (index === 24 ? "            out[y * columns + x] = value;" : line));
  const alignment = align(lines, text);
  assert.deepEqual(alignment.place(25), { line: 25, changed: true });
  assert.deepEqual(alignment.place(24), { line: 24, changed: false });
  assert.equal(alignment.changed, 1);
});

test("indentation and ends of lines do not matter", () => {
  const text = source.map((line) => `\t${line.trim()}  \r`);
  assert.equal(align(lines, text).changed, 0);
});

test("repeated lines are placed between their neighbours", () => {
  const recordedText = ["first {", "  x += 1;", "}", "second {", "  x += 1;", "}"];
  const text = ["first {", "  x += 1;", "}", "", "second {", "  y = 0;", "  x += 1;", "}"];
  const alignment = align(allOf(recordedText), text);
  assert.deepEqual(alignment.place(2), { line: 2, changed: false });
  assert.deepEqual(alignment.place(4), { line: 5, changed: false });
  // The line moved by one more than its neighbour before it, and no anchor follows.
  assert.deepEqual(alignment.place(5), { line: 6, changed: true });
});

test("another file does not fit", () => {
  const alignment = align(lines, ["int main() {", "}", ""]);
  assert.ok(alignment.unchanged < alignment.changed);
  assert.ok(alignment.place(25).line <= 3);
});

test("without recorded lines, positions stay and nothing is changed", () => {
  assert.deepEqual(align(new Map(), source).place(12), { line: 12, changed: false });
  assert.deepEqual(align(new Map(), [""]).place(1_000_000), { line: 1, changed: true });
});

test("hidden characters and long lines compare as profiles record them", () => {
  const long = `// ${"x".repeat(1000)}`;
  const alignment = align(
    new Map([
      [1, "a\\u{202e}b"],
      [2, long.slice(0, 400)],
    ]),
    ["a\u202eb", long],
  );
  assert.equal(alignment.changed, 0);
});

test("positions increase, whatever the edits are", () => {
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  for (let round = 0; round < 300; round += 1) {
    const before = Array.from({ length: 1 + random(30) }, () => `line ${random(12)}`);
    const after = before.flatMap(
      (line) => [[line], [], [line, `new ${random(3)}`], [`line ${random(12)}`]][random(6)] ?? [line],
    );
    const alignment = align(allOf(before), after);
    const kept = before.map((_, index) => alignment.place(index + 1)).filter((place) => !place.changed);
    kept.forEach((place, index) => assert.ok(index === 0 || (kept[index - 1]?.line ?? 0) < place.line));
    before.forEach((content, index) => {
      const place = alignment.place(index + 1);
      if (!place.changed) assert.equal(after[place.line - 1], content);
    });
  }
});
