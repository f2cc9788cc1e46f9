// A profile in the form that the editor shows, from any kind of document.

/** Most findings that are kept; a profile lists the most important ones first. */
export const MOST_FINDINGS = 1000;
/** Most rows of lines, accesses and sources that are read. The largest document has fewer. */
export const MOST_ROWS = 5_000_000;
/** Most accesses that are kept of a line. */
export const MOST_ACCESSES = 64;
/** Most characters of the texts of a finding, each. */
export const MOST_CHARACTERS = 2000;
/** Most characters of names and titles. */
export const MOST_OF_A_NAME = 200;
/** Most characters of a path. Linux permits 4096 bytes. */
export const MOST_OF_A_PATH = 4096;
/** Form of the ids of findings. Only such an id becomes an argument of a program or a part of a URI. */
export const FINDING_ID = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Severity of a finding, in the words of profiles. */
export type Severity = "error" | "warning" | "note";

/** Counts of memory requests that can be added. */
export interface Sums {
  requests: number;
  sectors: number;
  idealSectors: number;
  loadLookups: number;
  loadHits: number;
  passes: number;
  idealPasses: number;
}

/** Memory instructions at one column, in one space, of one kind. */
export interface Access {
  column: number;
  space: string;
  operation: string;
  /** Variable in the source; empty if it is not known. */
  name: string;
  /** The column and line are the nearest known ones. */
  approximate: boolean;
  sums: Sums;
}

/** Figures of a source line over all kernels. */
export interface LineFigures {
  /** Global, local and constant memory. */
  memory: Sums;
  /** Shared memory. */
  shared: Sums;
  /** Issued warp instructions and the lanes that were active in them. */
  warps: number;
  lanes: number;
  kernels: Set<string>;
  accesses: Map<string, Access>;
}

/** What a profile contains about a source file. */
export interface SourceFile {
  /** The path as the compiler saw it. */
  path: string;
  figures: Map<number, LineFigures>;
  /** Lines of the source at the time of the profile, by number. */
  recorded: Map<number, string>;
}

/** A position to which a finding refers in addition to its own. */
export interface RelatedPlace {
  file: string;
  line: number;
  column: number;
  message: string;
}

/** A finding. Its texts are single visible lines of bounded length. */
export interface Finding {
  id: string;
  severity: Severity;
  title: string;
  reason: string;
  /** The suggested change. */
  change: string;
  gain: string;
  /** Empty if the finding has no position. */
  file: string;
  /** 0 if it has no line or column. Columns count bytes of UTF-8 from 1. */
  line: number;
  column: number;
  related: RelatedPlace[];
}

/** The document that a profile was read from. */
export type Origin = "profile" | "brief" | "sarif";

/** A profile. */
export interface Profile {
  origin: Origin;
  program: string;
  /** What limits the program, in a sentence or two. */
  verdict: string;
  /** What restricts the figures: the run was incomplete, sampled, … */
  cautions: string[];
  findings: Finding[];
  /** Findings beyond the bounds, which are not shown. */
  omittedFindings: number;
  /** By path. */
  files: Map<string, SourceFile>;
  /** Sectors outside shared memory and issued instructions of all lines. */
  totalSectors: number;
  totalWarps: number;
}

export function emptySums(): Sums {
  return { requests: 0, sectors: 0, idealSectors: 0, loadLookups: 0, loadHits: 0, passes: 0, idealPasses: 0 };
}

export function addSums(sum: Sums, more: Sums): void {
  sum.requests += more.requests;
  sum.sectors += more.sectors;
  sum.idealSectors += more.idealSectors;
  sum.loadLookups += more.loadLookups;
  sum.loadHits += more.loadHits;
  sum.passes += more.passes;
  sum.idealPasses += more.idealPasses;
}

export function emptyLine(): LineFigures {
  return { memory: emptySums(), shared: emptySums(), warps: 0, lanes: 0, kernels: new Set(), accesses: new Map() };
}

/** Returns the file of a path; creates it if the profile does not have it yet. */
export function fileOf(files: Map<string, SourceFile>, path: string): SourceFile {
  let file = files.get(path);
  if (!file) {
    file = { path, figures: new Map(), recorded: new Map() };
    files.set(path, file);
  }
  return file;
}

/** Returns the number of findings of each severity. */
export function countSeverities(findings: Finding[]): Record<Severity, number> {
  const counts = { error: 0, warning: 0, note: 0 };
  for (const finding of findings) counts[finding.severity] += 1;
  return counts;
}

export function toSeverity(value: unknown): Severity {
  return value === "error" || value === "warning" ? value : "note";
}
