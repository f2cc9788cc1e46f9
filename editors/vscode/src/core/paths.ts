// Finds the files of a workspace to which the paths of a profile refer. A profile from another folder or machine has
// different paths. In this case, the longest end of a path that names a file below a folder of the workspace counts.

import { basename, isAbsolute, join, normalize, sep } from "node:path";

/** Most components of a path that are tried. */
const MOST_COMPONENTS = 24;

/** A file that a profile's path means. */
export interface Resolved {
  path: string;
  /** The profile has this path. Otherwise the file is another one of that name, unless its text fits. */
  exact: boolean;
}

/** What is open in the editor. */
export interface Surroundings {
  /** Folders of the workspace. Files elsewhere are not accessed. */
  folders: readonly string[];
  /** Paths of the open documents, which can be anywhere. */
  documents: readonly string[];
  /** Returns whether a path is a regular file. */
  isFile(path: string): boolean;
}

/** Returns the file that a profile's path means, if it is in the workspace or open. */
export function resolve(recorded: string, surroundings: Surroundings): Resolved | undefined {
  if (recorded === "" || recorded.includes("\0")) return undefined;
  const path = normalize(recorded);
  if (isAbsolute(path)) {
    if (surroundings.documents.includes(path)) return { path, exact: true };
    const inside = surroundings.folders.some((folder) => isBelow(path, folder));
    if (inside && surroundings.isFile(path)) return { path, exact: true };
  }
  return byItsEnd(path, surroundings);
}

function byItsEnd(path: string, surroundings: Surroundings): Resolved | undefined {
  const components = path.split(sep).filter((component) => component !== "" && component !== ".");
  if (components.includes("..")) return undefined;
  for (const end of ends(components)) {
    for (const folder of surroundings.folders) {
      const candidate = join(folder, end);
      // A complete relative path, as gates write it, is as good as an absolute path.
      if (surroundings.isFile(candidate)) return { path: candidate, exact: end === path };
    }
    const open = surroundings.documents.find((document) => document.endsWith(sep + end));
    if (open !== undefined) return { path: open, exact: false };
  }
  return undefined;
}

/** Returns the ends of a path, longest first. */
function ends(components: readonly string[]): string[] {
  const kept = components.slice(-MOST_COMPONENTS);
  return kept.map((_, index) => kept.slice(index).join(sep));
}

/** Returns whether a normalised path is below a folder. */
export function isBelow(path: string, folder: string): boolean {
  const root = folder.endsWith(sep) ? folder : folder + sep;
  return path.startsWith(root);
}

/** Returns the last component of a path, for messages. */
export function nameOf(path: string): string {
  return basename(path) || path;
}
