// Creates an executable that replaces `warpline`, in a folder that the test removes.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

export interface Call {
  args: string[];
  folder: string;
}

export class FakeProgram {
  readonly folder = mkdtempSync(join(tmpdir(), "warpline-editor-"));
  readonly path = join(this.folder, "warpline");
  private readonly log = join(this.folder, "calls");

  constructor(root = "/project") {
    const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
    const environment = `FAKE_LOG=${quote(this.log)} FAKE_ROOT=${quote(root)}`;
    const script = join(__dirname, "fakeWarpline.js");
    writeFileSync(this.path, `#!/bin/sh\n${environment} exec ${quote(process.execPath)} ${quote(script)} "$@"\n`);
    chmodSync(this.path, 0o755);
    after(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Writes a file in the program's folder and returns its path. */
  file(name: string, content: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  /** The calls so far. */
  calls(): Call[] {
    if (!existsSync(this.log)) return [];
    return readFileSync(this.log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Call);
  }
}

/** Waits until a condition is true, a minute at most. */
export async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 6000; tries += 1) {
    if (condition()) return;
    await new Promise((done) => setTimeout(done, 10));
  }
  throw new Error("the condition did not become true");
}

/** Returns whether a process exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
