// Replaces `warpline` in tests: prints the recorded documents, and writes its arguments to the file FAKE_LOG. FAKE_ROOT
// replaces /project in paths. Arguments that begin with --fake select the behaviour of `profile`.

import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";

import { recordedText } from "./recorded";

const args = process.argv.slice(2);
const log = process.env["FAKE_LOG"];
if (log) appendFileSync(log, `${JSON.stringify({ args, folder: process.cwd() })}\n`);

function fail(code: number, message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

function after(option: string): string {
  return args[args.indexOf(option) + 1] ?? "";
}

function report(): void {
  const path = after("--");
  if (!existsSync(path)) fail(3, `warpline: ${path}: cannot read: No such file or directory (os error 2)`);
  if (readFileSync(path, "utf8").startsWith("damaged")) fail(3, `warpline: ${path}: the file is damaged`);
  const names: Record<string, string> = { json: "transpose.json", "brief-json": "transpose.brief.json" };
  const format = after("--format");
  if (format === "html") return writeFileSync(after("-o"), "<!doctype html>");
  process.stdout.write(
    recordedText(names[format] ?? "").replaceAll("/project/", `${process.env["FAKE_ROOT"] ?? "/project"}/`),
  );
}

function profile(): void {
  if (args.includes("--fake-error")) {
    fail(1, `${args[1]}:3:5: error: use of undeclared identifier 'q'\n    3 | q;\n1 error generated.`);
  }
  if (args.includes("--fake-wait")) {
    const child = spawn("sleep", ["600"], { stdio: "ignore" });
    writeFileSync(after("--fake-wait"), String(child.pid));
    process.stderr.write("warpline: waiting\n");
    setInterval(() => undefined, 1000);
    return;
  }
  process.stdout.write("transpose: ok\n");
  writeFileSync(after("-o"), "a profile");
  process.stderr.write("warpline: wrote it\n");
  if (args.includes("--fake-crash")) process.exit(7);
}

if (args[0] === "report") report();
else if (args[0] === "profile") profile();
else if (args[0] === "explain" && args[1] === "strided-access") process.stdout.write("# strided-access\n");
else if (args[0] === "explain") fail(2, `warpline: \`${args[1]}\` is no finding; \`warpline explain\` lists them`);
else if (args[0] === "fake-flood")
  process.stdout.write("x".repeat(1 << 20), () => setInterval(() => process.stdout.write("x".repeat(1 << 16)), 1));
else fail(2, "warpline: wrong usage");
