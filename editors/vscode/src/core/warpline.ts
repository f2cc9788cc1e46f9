// The commands of `warpline` that the editor uses.

import { mkdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { readVerdict } from "./briefDocument";
import { plural } from "./format";
import { nameOf } from "./paths";
import { Printed, Result, run } from "./process";
import { FINDING_ID, Profile } from "./profile";
import { InputError, MOST_DOCUMENT_BYTES, parse, readDocument } from "./readDocument";
import { oneLine } from "./text";

const MOST_PAGE_BYTES = 1024 * 1024;
const MOST_MESSAGE_CHARACTERS = 600;

/** Reads a profile by `warpline report`. */
export async function readProfile(program: string, path: string, signal?: AbortSignal): Promise<Profile> {
  const profile = readDocument(parse(await report(program, path, "json", signal), path), path);
  const brief = parse(await report(program, path, "brief-json", signal), path);
  return { ...profile, verdict: readVerdict(brief) };
}

async function report(program: string, path: string, format: string, signal?: AbortSignal): Promise<string> {
  const options = { mostOutput: MOST_DOCUMENT_BYTES, ...(signal ? { signal } : {}) };
  const result = await run(program, ["report", "--format", format, "--", path], options);
  if (result.cancelled) throw new InputError(`reading '${nameOf(path)}' was cancelled.`);
  if (result.tooMuch) {
    throw new InputError(
      `cannot show '${nameOf(path)}': its report has more than ${MOST_DOCUMENT_BYTES / 1024 / 1024} MiB. Profile fewer kernels (--kernels REGEX), or open the report page.`,
    );
  }
  if (result.code !== 0) throw new InputError(failure(`cannot read '${nameOf(path)}'`, result));
  return result.output;
}

/** Writes the report page of a profile. */
export async function writePage(program: string, path: string, page: string, signal?: AbortSignal): Promise<void> {
  await mkdir(dirname(page), { recursive: true });
  const result = await run(program, ["report", "--format", "html", "-o", page, "--", path], signal ? { signal } : {});
  if (result.cancelled) throw new InputError("the report page was cancelled.");
  if (result.code !== 0) throw new InputError(failure(`cannot write the report page of '${nameOf(path)}'`, result));
}

/** Returns the page of a finding, as Markdown. */
export async function explain(program: string, id: string): Promise<string> {
  if (!FINDING_ID.test(id) || id.length > 64) throw new InputError("this is not the id of a finding.");
  const result = await run(program, ["explain", id], { mostOutput: MOST_PAGE_BYTES });
  if (result.code !== 0) throw new InputError(failure(`cannot explain '${id}'`, result));
  return result.output;
}

/** What to profile, and how. */
export interface Job {
  program: string;
  file: string;
  args: readonly string[];
  /** Folder in which the program runs. */
  folder: string;
  /** File of the profile. */
  output: string;
  onText: Printed;
  signal: AbortSignal;
}

/** The outcome of a run: a profile was written, and perhaps the program failed. */
export interface Outcome {
  cancelled: boolean;
  /** What the user should read about a run that failed but has a profile; empty if there is nothing. */
  note: string;
}

/** Compiles and runs a source file, and writes its profile. */
export async function profile(job: Job): Promise<Outcome> {
  await mkdir(dirname(job.output), { recursive: true });
  const partial = join(dirname(job.output), `.${process.pid}.${Date.now()}.${basename(job.output)}`);
  try {
    const args = ["profile", job.file, "-o", partial, ...job.args];
    const result = await run(job.program, args, { folder: job.folder, onText: job.onText, signal: job.signal });
    if (result.cancelled) return { cancelled: true, note: "" };
    if (
      !(await stat(partial).then(
        (found) => found.isFile(),
        () => false,
      ))
    ) {
      throw new InputError(failure(`no profile of '${nameOf(job.file)}' was written`, result));
    }
    await rename(partial, job.output);
    const ended = result.signal ?? (result.code === 0 ? undefined : `exit code ${result.code ?? "unknown"}`);
    return {
      cancelled: false,
      note: ended
        ? `The run of '${nameOf(job.file)}' ended with ${ended}; the profile has what it did until then.`
        : "",
    };
  } finally {
    await rm(partial, { force: true });
  }
}

/** Makes a message of the program's own one. */
function failure(what: string, result: Result): string {
  return `${what}: ${cause(result)}`;
}

/** Returns the part of standard error that is most likely the cause: errors of the compiler, else the last lines. */
export function cause(result: Pick<Result, "errors" | "code" | "signal">): string {
  const lines = result.errors
    .split("\n")
    .map((line) => oneLine(line, 400))
    .filter((line) => line !== "");
  const errors = lines.filter((line) => /(?:^|: )(?:fatal )?error: /.test(line));
  const own = lines.filter((line) => /^warpline(?:-cc)?: /.test(line) && !/: (?:note|warning): /.test(line));
  const chosen = errors.length > 0 ? errors : own.length > 0 ? own.slice(-3) : lines.slice(-3);
  if (chosen.length === 0)
    return result.signal
      ? `it ended by signal ${result.signal}`
      : `it returned ${result.code ?? "no code"} without a message`;
  const more = errors.length > 3 ? ` (and ${plural(errors.length - 3, "more error")})` : "";
  return oneLine(chosen.slice(0, 3).join(" · "), MOST_MESSAGE_CHARACTERS) + more;
}

/** Values of the variables in `warpline.arguments`. */
export interface Variables {
  file: string;
  workspaceFolder: string;
}

/** Replaces the variables in arguments. What is replaced is not searched again. */
export function expand(args: readonly string[], variables: Variables): string[] {
  const values: Record<string, string> = {
    file: variables.file,
    fileDirname: dirname(variables.file),
    workspaceFolder: variables.workspaceFolder,
  };
  return args.map((arg) =>
    arg.replace(/\$\{(file|fileDirname|workspaceFolder)\}/g, (_, name: string) => values[name] ?? ""),
  );
}
