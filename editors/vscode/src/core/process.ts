// Runs a program without a shell, with limits on its output, in a process group that can be ended as a whole.

import { ChildProcess, spawn } from "node:child_process";
import { stat } from "node:fs/promises";

import { InputError } from "./readDocument";
import { oneLine } from "./text";

/** Time between the request to end and its enforcement. */
const GRACE_MILLISECONDS = 3000;
const MOST_ERROR_BYTES = 64 * 1024;

/** Part of a standard stream that a program printed. */
export type Printed = (text: string) => void;

export interface Options {
  folder?: string;
  /** Most bytes of standard output that are kept; a program that prints more is ended. Without it, none is kept. */
  mostOutput?: number;
  /** Receives what the program prints to standard error and, if it is not kept, to standard output. */
  onText?: Printed;
  /** Ends the program. */
  signal?: AbortSignal;
}

export interface Result {
  code: number | undefined;
  /** Signal that ended it. */
  signal: string | undefined;
  output: string;
  /** The end of standard error. */
  errors: string;
  cancelled: boolean;
  /** It printed more than is kept. */
  tooMuch: boolean;
}

/** Runs a program to its end. Fails with an `InputError` if it cannot be started. */
export async function run(program: string, args: readonly string[], options: Options = {}): Promise<Result> {
  if ([program, ...args].some((text) => text.includes("\0"))) {
    throw new InputError(
      `cannot start '${shown(program)}': an argument contains a zero byte. Correct the settings warpline.path and warpline.arguments.`,
    );
  }
  if (options.folder !== undefined && !(await isFolder(options.folder))) {
    throw new InputError(`cannot start '${shown(program)}' in '${shown(options.folder)}': there is no such folder.`);
  }
  return new Promise((done, fail) => {
    const child = spawn(program, args, {
      cwd: options.folder,
      shell: false,
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    const collected = collect(child, options);
    const cancel = () => {
      collected.cancelled = true;
      end(child);
    };
    options.signal?.addEventListener("abort", cancel, { once: true });
    if (options.signal?.aborted) cancel();
    child.on("error", (error) => fail(notStarted(program, error)));
    child.on("close", (code, signal) => {
      options.signal?.removeEventListener("abort", cancel);
      const { output, errors, cancelled, tooMuch } = collected;
      done({
        code: code ?? undefined,
        signal: signal ?? undefined,
        output: Buffer.concat(output).toString(),
        errors: errors.text,
        cancelled,
        tooMuch,
      });
    });
  });
}

/** Connects the streams of a program with what is kept of them. */
function collect(child: ChildProcess, options: Options) {
  const collected = { output: [] as Buffer[], errors: { text: "" }, cancelled: false, tooMuch: false };
  let size = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    if (options.mostOutput === undefined) return options.onText?.(chunk.toString());
    size += chunk.length;
    if (size <= options.mostOutput) collected.output.push(chunk);
    else if (!collected.tooMuch) {
      collected.tooMuch = true;
      end(child);
    }
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    const text = chunk.toString();
    collected.errors.text = (collected.errors.text + text).slice(-MOST_ERROR_BYTES);
    options.onText?.(text);
  });
  return collected;
}

/** Ends a program and the processes that it started. */
function end(child: ChildProcess): void {
  kill(child, "SIGTERM");
  const timer = setTimeout(() => kill(child, "SIGKILL"), GRACE_MILLISECONDS);
  child.once("close", () => clearTimeout(timer));
}

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // The process has already ended.
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function notStarted(program: string, error: NodeJS.ErrnoException): InputError {
  const cause =
    error.code === "ENOENT"
      ? "there is no such program"
      : error.code === "EACCES"
        ? "it is not executable"
        : error.message;
  return new InputError(
    `cannot start '${shown(program)}': ${cause}. Install Warpline, or set warpline.path to the program.`,
  );
}

function shown(text: string): string {
  return oneLine(text, 200);
}
