import assert from "node:assert/strict";
import { test } from "node:test";

import * as format from "../src/core/format";
import { cut, escapeMarkdown, oneLine, toMarkdown, visible, withoutIcons } from "../src/core/text";

test("hidden characters are written out as in profiles", () => {
  assert.equal(visible("a\x1b[2J\u009b1m\u202eb\0\x7f"), "a\\x1b[2J\\x9b1m\\u{202e}b\\x00\\x7f");
  assert.equal(visible("\tif (x)\r\n"), " if (x)  ");
  const plain = "operator<=>(größe, 漢字 \u{1f600})";
  assert.equal(visible(plain), plain);
  assert.equal(visible("\ud800x"), "\\u{d800}x");
});

test("a line has a bounded length and no half characters", () => {
  assert.equal(oneLine("a\n\n  b", 10), "a b");
  assert.equal(oneLine("x".repeat(11), 10), `${"x".repeat(9)}…`);
  assert.equal(cut("ab\u{1f600}cd", 4), "ab…");
  const hidden = oneLine("\x1b".repeat(1_000_000), 100);
  assert.equal(hidden.length, 100);
  assert.ok(oneLine(" ".repeat(1000) + "end", 10).length <= 10);
});

test("Markdown of other people's text is literal", () => {
  assert.equal(escapeMarkdown("[a](command:x) <b>"), "\\[a\\]\\(command\\:x\\) \\<b\\>");
  assert.equal(escapeMarkdown("www.example.org"), "www\\.example\\.org");
  assert.equal(toMarkdown("Strided access to `a`: 32 sectors"), "Strided access to `a`\\: 32 sectors");
  assert.equal(toMarkdown("one ` alone"), "one \\` alone");
  assert.equal(toMarkdown("`a`b`"), "`a`b\\`");
  assert.equal(toMarkdown("empty `` code"), "empty \\`\\` code");
});

test("text of the status bar has no icons", () => {
  assert.equal(withoutIcons("$(sync~spin) x $($(a)"), "$ (sync~spin) x $ ($ (a)");
});

test("numbers are those of the reports", () => {
  assert.equal(format.bytes(1023), "1023 B");
  assert.equal(format.bytes(1024), "1.00 KiB");
  assert.equal(format.bytes(5632 * 1024), "5.50 MiB");
  assert.equal(format.bytes(2 ** 64), "16.0 EiB");
  assert.equal(format.count(9_999), "9999");
  assert.equal(format.count(123_456), "123 456");
  assert.equal(format.count(100_001), "100 001");
  assert.equal(format.count(1_234_567), "1.23 M");
  assert.equal(format.percent(0.125), "12.5 %");
  assert.equal(format.percent(0.0001), "<0.1 %");
  assert.equal(format.wholePercent(0.004), "<1 %");
  assert.equal(format.seconds(1.5e-4), "150 us");
  assert.equal(format.seconds(2), "2.00 s");
  assert.equal(format.seconds(0), "0.00 ns");
});
