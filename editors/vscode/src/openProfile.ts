// The commands that open and close profiles.

import { open, readFile, stat } from "node:fs/promises";
import * as vscode from "vscode";

import { nameOf } from "./core/paths";
import { InputError, MOST_DOCUMENT_BYTES, parse, readDocument } from "./core/readDocument";
import { readProfile } from "./core/warpline";
import { withProgress } from "./progress";
import { Opened, Session } from "./session";
import { settings } from "./settings";

/** Opens a file: that of the argument, or one that the user chooses. */
export async function openProfile(session: Session, argument: unknown): Promise<void> {
  const path = argument instanceof vscode.Uri ? argument.fsPath : await choose();
  if (path === undefined) return;
  const opened = await withProgress(`Reading ${nameOf(path)}`, (signal) => read(path, signal));
  if (opened) session.show(opened);
}

async function choose(): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title: "Open Profile",
    canSelectMany: false,
    filters: { "Profiles and reports": ["wlprof", "json", "sarif"], "All files": ["*"] },
  });
  return chosen?.[0]?.fsPath;
}

/** Reads a profile, or a document that `warpline report` wrote. */
export async function read(path: string, signal: AbortSignal): Promise<Opened> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile())
    throw new InputError(`cannot read '${path}': there is no such file. Choose a profile (.wlprof).`);
  if (await isJson(path)) {
    if (found.size > MOST_DOCUMENT_BYTES) {
      throw new InputError(
        `cannot read '${path}': it has more than ${MOST_DOCUMENT_BYTES / 1024 / 1024} MiB. Open the profile (.wlprof) instead.`,
      );
    }
    const profile = readDocument(parse(await readFile(path, "utf8"), nameOf(path)), nameOf(path));
    return { profile, source: path, hasPage: false };
  }
  if (!vscode.workspace.isTrusted) {
    throw new InputError(
      `cannot read '${path}' in restricted mode, in which no program is started. Trust the workspace, or open what 'warpline report --format json' wrote.`,
    );
  }
  return { profile: await readProfile(settings().path, path, signal), source: path, hasPage: true };
}

/** Returns whether a file begins as JSON does. Profiles are binary files. */
async function isJson(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    return /^\ufeff?\s*[{[]/.test(buffer.toString("utf8", 0, bytesRead));
  } finally {
    await file.close();
  }
}
