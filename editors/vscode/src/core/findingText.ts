// The text that editors show for a finding, and for all findings.

import * as format from "./format";
import { countSeverities, Finding, FINDING_ID, Profile } from "./profile";
import { cut, withoutIcons } from "./text";

const MOST_STATUS_CHARACTERS = 120;

/** Makes the message of a finding: title, reason, change, gain. */
export function message(finding: Finding, changed: boolean): string {
  const parts = [changed ? `${finding.title} (this line has changed since the profile)` : finding.title];
  if (finding.reason !== "") parts.push(finding.reason);
  if (finding.change !== "") parts.push(`Change: ${finding.change}`);
  if (finding.gain !== "") parts.push(`Gain: ${finding.gain}`);
  return parts.join("\n");
}

/** Returns the id of a finding whose page can be shown. */
export function pageOf(finding: Finding): string | undefined {
  return FINDING_ID.test(finding.id) ? finding.id : undefined;
}

/** Converts a column in bytes of UTF-8, from 1, to one in UTF-16 code units, from 0. */
export function toCharacter(line: string, column: number): number {
  let bytes = 1;
  let character = 0;
  for (const letter of line) {
    if (bytes >= column) break;
    bytes += Buffer.byteLength(letter);
    character += letter.length;
  }
  return character;
}

/**
 * Returns the part of a line to underline, from and to UTF-16 code units: the name at the column, or all text. The
 * column of a store is that of its assignment operator. Columns of profiles count bytes, those of SARIF code units.
 */
export function underline(line: string, column: number, origin: Profile["origin"] = "profile"): [number, number] {
  const first = line.length - line.trimStart().length;
  const end = Math.max(first, line.trimEnd().length);
  if (column <= 0) return [first, end];
  const start = origin === "sarif" ? Math.min(column - 1, line.length) : toCharacter(line, column);
  const name = /^[A-Za-z_]\w*/.exec(line.slice(start, start + 256));
  return name ? [start, start + name[0].length] : [first, end];
}

/** Makes the text of the status bar: the first sentence of the verdict. */
export function statusText(profile: Profile): string {
  const sentence = /^.*?[.!?](?= |$)/.exec(profile.verdict)?.[0];
  const text = sentence ?? profile.verdict;
  return cut(withoutIcons(`Warpline: ${text || findingCounts(profile)}`), MOST_STATUS_CHARACTERS);
}

/** Writes the numbers of findings: `1 error, 2 warnings`. */
export function findingCounts(profile: Profile): string {
  const counts = countSeverities(profile.findings);
  const parts = (["error", "warning", "note"] as const).filter((severity) => counts[severity] > 0);
  return parts.length > 0
    ? parts.map((severity) => format.plural(counts[severity], severity)).join(", ")
    : "no findings";
}

/** What the tooltip of the status bar shows in addition to the verdict. */
export interface Status {
  /** File that was opened. */
  source: string;
  /** Recorded lines that differ from the current text, in files of the workspace. */
  changedLines: number;
  /** Files of the profile that are not in the workspace. */
  absentFiles: number;
}

/** Makes the lines of the status bar's tooltip, as plain text. */
export function statusDetails(profile: Profile, status: Status): string[] {
  const lines = [
    profile.verdict || "The document has no verdict.",
    `${capital(findingCounts(profile))}.`,
    ...profile.cautions,
  ];
  const placeless = profile.findings.filter((finding) => finding.line === 0);
  for (const finding of placeless.slice(0, 5)) lines.push(`Without a position: ${finding.severity} ${finding.title}`);
  if (placeless.length > 5) lines.push(`${placeless.length - 5} more findings without a position.`);
  if (profile.omittedFindings > 0)
    lines.push(`${format.plural(profile.omittedFindings, "further finding")}: see the report page.`);
  if (status.changedLines > 0) {
    lines.push(`${format.plural(status.changedLines, "line")} changed since the profile: profile again.`);
  }
  if (status.absentFiles > 0)
    lines.push(`${format.plural(status.absentFiles, "file")} of the profile not in this workspace.`);
  if (profile.origin !== "profile") lines.push("This document has no figures of lines; a profile (.wlprof) has.");
  lines.push(`From ${status.source}`);
  return lines;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
