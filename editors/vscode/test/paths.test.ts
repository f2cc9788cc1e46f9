import assert from "node:assert/strict";
import { test } from "node:test";

import { isBelow, resolve, Surroundings } from "../src/core/paths";

function surroundings(
  files: string[],
  documents: string[] = [],
  folders = ["/code"],
): Surroundings & { seen: string[] } {
  const seen: string[] = [];
  return { folders, documents, seen, isFile: (path) => (seen.push(path), files.includes(path)) };
}

test("a path in the workspace is itself", () => {
  assert.deepEqual(resolve("/code/a/b.cu", surroundings(["/code/a/b.cu"])), { path: "/code/a/b.cu", exact: true });
  assert.deepEqual(resolve("/code/x/../a/b.cu", surroundings(["/code/a/b.cu"])), { path: "/code/a/b.cu", exact: true });
});

test("an open document can be anywhere", () => {
  assert.deepEqual(resolve("/tmp/b.cu", surroundings([], ["/tmp/b.cu"])), { path: "/tmp/b.cu", exact: true });
  assert.deepEqual(resolve("/other/tmp/b.cu", surroundings([], ["/home/tmp/b.cu"])), {
    path: "/home/tmp/b.cu",
    exact: false,
  });
});

test("a path from another machine is found by its longest end", () => {
  const files = ["/code/b.cu", "/code/src/b.cu"];
  assert.deepEqual(resolve("/build/project/src/b.cu", surroundings(files)), { path: "/code/src/b.cu", exact: false });
  assert.deepEqual(resolve("/build/b.cu", surroundings(files)), { path: "/code/b.cu", exact: false });
  assert.deepEqual(resolve("src/b.cu", surroundings(files)), { path: "/code/src/b.cu", exact: true });
  assert.equal(resolve("/build/c.cu", surroundings(files)), undefined);
});

test("files outside the workspace are not accessed", () => {
  const all: Surroundings & { seen: string[] } = { ...surroundings([]), isFile: () => false };
  for (const path of [
    "/etc/passwd",
    "../../etc/passwd",
    "/code/../etc/passwd",
    "a/../../x",
    "\0",
    "",
    "/",
    ".",
    "..",
  ]) {
    const seen: string[] = [];
    assert.equal(resolve(path, { ...all, isFile: (file) => (seen.push(file), false) }), undefined, path);
    assert.deepEqual(
      seen.filter((file) => !isBelow(file, "/code")),
      [],
      path,
    );
  }
});

test("long paths are tried a bounded number of times", () => {
  const where = surroundings([]);
  assert.equal(resolve(`/${"a/".repeat(2000)}b.cu`, where), undefined);
  assert.ok(where.seen.length <= 24);
});

test("a folder contains its own files only", () => {
  assert.ok(isBelow("/code/a", "/code"));
  assert.ok(isBelow("/a", "/"));
  assert.ok(!isBelow("/codeshop/a", "/code"));
});
