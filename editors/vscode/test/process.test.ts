import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { run } from "../src/core/process";
import { InputError } from "../src/core/readDocument";
import { cause, expand, explain, Job, profile, readProfile, writePage } from "../src/core/warpline";
import { FakeProgram, isAlive, until } from "./support/program";

const program = new FakeProgram();

function job(args: string[], more: Partial<Job> = {}): Job {
  const output = join(program.folder, "storage/a.wlprof");
  return {
    program: program.path,
    file: "/x/a.cu",
    args,
    folder: program.folder,
    output,
    onText: () => undefined,
    signal: new AbortController().signal,
    ...more,
  };
}

test("arguments are passed as they are, without a shell", async () => {
  const args = ["explain", "a b", "$(touch x)", "; rm -rf y", "*", "'\"`"];
  await run(program.path, args, { mostOutput: 1000 });
  assert.deepEqual(program.calls().at(-1)?.args, args);
});

test("a program that cannot be started is an error with the next step", async () => {
  const fails = (name: string, message: RegExp) =>
    assert.rejects(run(name, []), (error: Error) => error instanceof InputError && message.test(error.message));
  await fails(
    "/nowhere/warpline",
    /'\/nowhere\/warpline': there is no such program\. Install Warpline, or set warpline\.path/,
  );
  await fails(program.file("text", "no program"), /it is not executable/);
  await fails("a\0b", /zero byte/);
  await assert.rejects(run(program.path, [], { folder: "/nowhere" }), /in '\/nowhere': there is no such folder/);
});

test("output is bounded", async () => {
  const result = await run(program.path, ["fake-flood"], { mostOutput: 2 << 20 });
  assert.ok(result.tooMuch);
  assert.ok(result.output.length <= 2 << 20);
});

test("reading a profile combines the document with the verdict", async () => {
  const path = program.file("a.wlprof", "a profile");
  const read = await readProfile(program.path, path);
  assert.equal(read.findings.length, 3);
  assert.match(read.verdict, /^transpose_naive takes/);
  assert.deepEqual(program.calls().at(-1)?.args, ["report", "--format", "brief-json", "--", path]);
});

test("errors have the program's own message", async () => {
  await assert.rejects(
    readProfile(program.path, "/nowhere.wlprof"),
    /cannot read 'nowhere\.wlprof': warpline: \/nowhere\.wlprof: cannot read: No such file/,
  );
  const damaged = program.file("b.wlprof", "damaged");
  await assert.rejects(
    writePage("/bin/false", damaged, join(program.folder, "p/b.html")),
    /cannot write the report page of 'b\.wlprof': it returned 1 without a message/,
  );
  await assert.rejects(explain(program.path, "nothing"), /`nothing` is no finding/);
  await assert.rejects(explain(program.path, "--help"), /not the id of a finding/);
});

test("a cause is the compiler's errors, the program's message, or the last lines", () => {
  const result = (errors: string) => ({ errors, code: 1, signal: undefined });
  assert.equal(
    cause(result("a.cu:1:2: error: x\n  | code\na.cu:2:1: error: y\n2 errors generated.\n")),
    "a.cu:1:2: error: x · a.cu:2:1: error: y",
  );
  assert.match(cause(result("e: error: a\n".repeat(6))), /\(and 3 more errors\)$/);
  assert.equal(cause(result("PASS\nwarpline: note: x\nwarpline: no kernel ran\n")), "warpline: no kernel ran");
  assert.equal(cause(result("1\n2\n3\n4\n")), "2 · 3 · 4");
  assert.equal(cause({ errors: "", code: undefined, signal: "SIGSEGV" }), "it ended by signal SIGSEGV");
  assert.ok(cause(result(`error: ${"x".repeat(100_000)}\x1b[2J`)).length < 700);
});

test("profiling writes the profile and shows what is printed", async () => {
  let printed = "";
  const outcome = await profile(
    job(["-O3", "--", "17"], {
      onText: (text) => {
        printed += text;
      },
    }),
  );
  assert.deepEqual(outcome, { cancelled: false, note: "" });
  assert.equal(readFileSync(join(program.folder, "storage/a.wlprof"), "utf8"), "a profile");
  assert.match(printed, /transpose: ok/);
  const call = program.calls().at(-1);
  assert.equal(call?.folder, program.folder);
  assert.deepEqual(
    call?.args.filter((_, index) => index !== 3),
    ["profile", "/x/a.cu", "-o", "-O3", "--", "17"],
  );
});

test("a failing compilation writes nothing; a failing program has a profile and a note", async () => {
  await assert.rejects(
    profile(job(["--fake-error"])),
    /no profile of 'a\.cu' was written: \/x\/a\.cu:3:5: error: use of undeclared/,
  );
  const outcome = await profile(job(["--fake-crash"]));
  assert.match(outcome.note, /'a\.cu' ended with exit code 7; the profile has what it did/);
  assert.deepEqual(readdirSync(join(program.folder, "storage")), ["a.wlprof"]);
});

test("cancelling ends the program and the processes that it started", async () => {
  const controller = new AbortController();
  const pidFile = join(program.folder, "pid");
  const running = profile(job(["--fake-wait", pidFile], { signal: controller.signal }));
  await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "");
  const pid = Number(readFileSync(pidFile, "utf8"));
  assert.ok(isAlive(pid));
  controller.abort();
  assert.deepEqual(await running, { cancelled: true, note: "" });
  await until(() => !isAlive(pid));
});

test("a cancelled reading is over", async () => {
  await assert.rejects(readProfile(program.path, program.file("c.wlprof", ""), AbortSignal.abort()), /was cancelled/);
});

test("variables in arguments are replaced once", () => {
  const variables = { file: "/w/a/${file}.cu", workspaceFolder: "/w" };
  assert.deepEqual(
    expand(["-I${workspaceFolder}/include", "${file}", "${fileDirname}", "${other}", "$file"], variables),
    ["-I/w/include", "/w/a/${file}.cu", "/w/a", "${other}", "$file"],
  );
});
