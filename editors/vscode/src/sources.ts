// The files of a profile in this workspace: their paths, their current text, and the positions of the profile's lines
// in this text.

import { readFileSync, statSync } from "node:fs";
import * as vscode from "vscode";

import { align, Alignment } from "./core/alignment";
import { resolve, Resolved } from "./core/paths";
import { SourceFile } from "./core/profile";

/** Larger files are no sources. */
const MOST_SOURCE_BYTES = 8 * 1024 * 1024;

/** A file of a profile that is in the workspace or open. */
export interface Located {
  path: string;
  lines: readonly string[];
  alignment: Alignment;
}

interface Cached {
  file: SourceFile;
  /** The open document. Versions start again when a document is opened again. */
  document: vscode.TextDocument | undefined;
  stamp: string;
  located: Located | undefined;
}

/** Finds files of a profile and keeps what was found until a text or the workspace changes. */
export class Sources {
  private readonly resolved = new Map<string, Resolved | undefined>();
  private readonly aligned = new Map<string, Cached>();

  /** Discards what depends on the folders and on which documents are open. */
  workspaceChanged(): void {
    this.resolved.clear();
  }

  /** Discards everything: another profile is shown. */
  clear(): void {
    this.resolved.clear();
    this.aligned.clear();
  }

  /** Returns the path of a file without accessing its text. */
  pathOf(file: SourceFile): string | undefined {
    return this.resolve(file)?.path;
  }

  /** Returns a file with its text; nothing if it is absent, unreadable, or another file of the same name. */
  locate(file: SourceFile): Located | undefined {
    const resolved = this.resolve(file);
    if (!resolved) return undefined;
    const document = vscode.workspace.textDocuments.find((open) => isFile(open) && open.uri.fsPath === resolved.path);
    const stamp = document ? `version ${document.version}` : stampOf(resolved.path);
    const cached = this.aligned.get(file.path);
    if (cached && cached.file === file && cached.document === document && cached.stamp === stamp) return cached.located;
    const text = document ? document.getText() : read(resolved.path);
    const located = text === undefined ? undefined : fit(file, resolved, text);
    this.aligned.set(file.path, { file, document, stamp, located });
    return located;
  }

  private resolve(file: SourceFile): Resolved | undefined {
    if (!this.resolved.has(file.path)) {
      this.resolved.set(
        file.path,
        resolve(file.path, {
          folders: (vscode.workspace.workspaceFolders ?? [])
            .filter((folder) => folder.uri.scheme === "file")
            .map((folder) => folder.uri.fsPath),
          documents: vscode.workspace.textDocuments.filter(isFile).map((document) => document.uri.fsPath),
          isFile: (path) => stampOf(path) !== "",
        }),
      );
    }
    return this.resolved.get(file.path);
  }
}

/** Aligns a file. One that was found by the end of its path must have at least half of the recorded lines. */
function fit(file: SourceFile, resolved: Resolved, text: string): Located | undefined {
  const lines = text.split(/\r\n|\r|\n/);
  const alignment = align(file.recorded, lines);
  const other = !resolved.exact && alignment.unchanged < alignment.changed;
  return other ? undefined : { path: resolved.path, lines, alignment };
}

function isFile(document: vscode.TextDocument): boolean {
  return document.uri.scheme === "file";
}

/** Returns size and time of a regular file of a source's size; an empty string for everything else. */
function stampOf(path: string): string {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= MOST_SOURCE_BYTES ? `${found.size} ${found.mtimeMs}` : "";
  } catch {
    return "";
  }
}

function read(path: string): string | undefined {
  try {
    return stampOf(path) === "" ? undefined : readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
