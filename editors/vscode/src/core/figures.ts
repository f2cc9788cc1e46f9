// The figures of a line: the text at its end, and the details as Markdown.

import * as format from "./format";
import { Access, Finding, LineFigures, Profile, Sums } from "./profile";
import { cut, escapeMarkdown, toMarkdown } from "./text";

const MOST_IN_A_HOVER = 8;
const MOST_HOVER_CHARACTERS = 8000;

/** Makes the text at the end of a line; nothing if the line does not access memory. */
export function summary(line: LineFigures, profile: Profile): string | undefined {
  const { memory, shared } = line;
  const parts = [];
  if (memory.sectors > 0) parts.push(`${format.wholePercent(ratio(memory.sectors, profile.totalSectors))} of traffic`);
  if (memory.requests > 0) parts.push(perRequest(memory.sectors, memory.idealSectors, memory.requests, "sectors"));
  if (memory.loadLookups > 0) parts.push(`L1 hit ${format.wholePercent(ratio(memory.loadHits, memory.loadLookups))}`);
  if (shared.passes > 0) parts.push(perRequest(shared.passes, shared.idealPasses, shared.requests, "passes"));
  return parts.length > 0 ? parts.join(" · ") : undefined;
}

/** Makes Markdown with the figures of a line, its accesses, kernels and findings. */
export function details(line: LineFigures, findings: readonly Finding[], profile: Profile): string {
  const paragraphs = [
    `**Warpline** ${escapeMarkdown(`${total(line, profile)}.`)}`,
    list([...line.accesses.values()].sort((one, other) => one.column - other.column).map(access)),
    list(
      findings.map((finding) => `**${finding.severity}** ${escapeMarkdown(finding.id)}: ${toMarkdown(finding.title)}`),
    ),
    kernels(line),
  ];
  const text = paragraphs.filter((paragraph) => paragraph !== "").join("\n\n");
  // A cut must not leave an open code span or half an escape.
  return text.length <= MOST_HOVER_CHARACTERS
    ? text
    : escapeMarkdown(cut(text.replace(/[\\`*]/g, ""), MOST_HOVER_CHARACTERS / 2));
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

/** Writes a mean per request and, if it is less, what the request needs. */
function perRequest(amount: number, ideal: number, requests: number, what: string): string {
  const text = `${ratio(amount, requests).toFixed(1)} ${what} per request`;
  return ideal < amount ? `${text}, ${ratio(ideal, requests).toFixed(1)} needed` : text;
}

function total(line: LineFigures, profile: Profile): string {
  const { memory, shared } = line;
  const parts = [];
  if (memory.requests > 0) {
    const share = format.percent(ratio(memory.sectors, profile.totalSectors));
    parts.push(
      `${share} of the traffic (${format.bytes(32 * memory.sectors)})`,
      `${format.count(memory.requests)} requests`,
    );
    if (memory.sectors > 0) parts.push(`${format.percent(ratio(memory.idealSectors, memory.sectors))} coalesced`);
  }
  if (shared.requests > 0) parts.push(`${format.count(shared.requests)} requests to shared memory`);
  if (line.warps > 0) {
    const lanes = ratio(line.lanes, line.warps).toFixed(1);
    parts.push(
      `${format.percent(ratio(line.warps, profile.totalWarps))} of the issued instructions, ${lanes} lanes active`,
    );
  }
  return parts.join("; ");
}

function access(row: Access): string {
  const what = [row.space, row.operation].filter((word) => word !== "").join(" ");
  const name = row.name !== "" && !row.name.includes("`") ? ` \`${row.name}\`` : "";
  const place = row.column > 0 ? ` in column ${row.column}` : "";
  const near = row.approximate ? ", position approximate" : "";
  return `${escapeMarkdown(what)}${name}${escapeMarkdown(`${place}: ${requests(row.sums)}${near}`)}`;
}

function requests(sums: Sums): string {
  const parts = [`${format.count(sums.requests)} requests`];
  if (sums.passes > 0) parts.push(perRequest(sums.passes, sums.idealPasses, sums.requests, "passes"));
  else parts.push(perRequest(sums.sectors, sums.idealSectors, sums.requests, "sectors"));
  if (sums.loadLookups > 0) parts.push(`L1 hit ${format.percent(ratio(sums.loadHits, sums.loadLookups))}`);
  return parts.join(", ");
}

function kernels(line: LineFigures): string {
  const names = [...line.kernels].slice(0, MOST_IN_A_HOVER);
  const more = line.kernels.size > names.length ? `, and ${line.kernels.size - names.length} more` : "";
  return names.length > 0 ? escapeMarkdown(`In ${names.join(", ")}${more}.`) : "";
}

function list(items: readonly string[]): string {
  const shown = items.slice(0, MOST_IN_A_HOVER).map((item) => `- ${item}`);
  if (items.length > shown.length) shown.push(`- and ${items.length - shown.length} more`);
  return shown.join("\n");
}
