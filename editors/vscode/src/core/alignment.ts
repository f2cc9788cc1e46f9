// Finds the recorded lines of a source file in its current text. Lines that an edit moved keep their figures; lines
// that an edit changed lose them.

import { visible } from "./text";

/** Profiles cut longer lines. */
const MOST_RECORDED_CHARACTERS = 400;

/** Position of a recorded line in the current text, both from 1. */
export interface Place {
  line: number;
  /** The text of the line differs from the recorded one, so that `line` is an assumption. */
  changed: boolean;
}

/** The result of a comparison of recorded lines with a text. */
export class Alignment {
  constructor(
    private readonly positions: Map<number, number>,
    private readonly recorded: number[],
    private readonly textLines: number,
  ) {}

  /** Recorded lines that are in the text. */
  get unchanged(): number {
    return this.positions.size;
  }

  /** Recorded lines that are not in the text. */
  get changed(): number {
    return this.recorded.length - this.positions.size;
  }

  /**
   * Returns where a line is. If its text was not recorded, it moved as the recorded line before it; outside the text it
   * counts as changed.
   */
  place(line: number): Place {
    const found = this.positions.get(line);
    if (found !== undefined) return { line: found, changed: false };
    const before = this.matchedBefore(line);
    const moved = line + (before === undefined ? 0 : (this.positions.get(before) ?? before) - before);
    const changed = this.isRecorded(line) || moved < 1 || moved > this.textLines;
    return { line: Math.min(Math.max(1, moved), Math.max(1, this.textLines)), changed };
  }

  private isRecorded(line: number): boolean {
    const at = lowerBound(this.recorded, line);
    return this.recorded[at] === line;
  }

  private matchedBefore(line: number): number | undefined {
    for (let at = lowerBound(this.recorded, line) - 1; at >= 0; at -= 1) {
      const candidate = this.recorded[at];
      if (candidate !== undefined && this.positions.has(candidate)) return candidate;
    }
    return undefined;
  }
}

/** Aligns recorded lines with a text: lines that occur once in both are anchors, others have to be where anchors lead. */
export function align(recorded: ReadonlyMap<number, string>, text: readonly string[]): Alignment {
  const wanted = [...recorded]
    .map(([line, content]) => ({ line, content: comparable(content) }))
    .filter((row) => row.content !== "")
    .sort((one, other) => one.line - other.line);
  const current = text.map(comparable);
  const lines = wanted.map((row) => row.line);
  const positions = new Map<number, number>();
  let from = { line: 0, position: 0 };
  for (const to of [...anchorsOf(wanted, current), { line: Infinity, position: current.length + 1 }]) {
    const between = wanted.slice(lowerBound(lines, from.line + 1), lowerBound(lines, to.line));
    fillGap(between, current, positions, from, to);
    if (to.line !== Infinity) positions.set(to.line, to.position);
    from = to;
  }
  return new Alignment(positions, lines, text.length);
}

/** The part of a line that is compared: indentation does not matter. */
function comparable(line: string): string {
  const short = line.length > 8192 ? line.slice(0, 8192) : line;
  const characters = [...short.trimEnd()].slice(0, MOST_RECORDED_CHARACTERS).join("");
  return visible(characters.trim());
}

interface Row {
  line: number;
  content: string;
}

interface Anchor {
  line: number;
  position: number;
}

/** Returns the longest sequence of lines that occur once in both texts and have the same order in both. */
function anchorsOf(wanted: readonly Row[], current: readonly string[]): Anchor[] {
  const positions = unique(current.map((content, index) => ({ content, line: index + 1 })));
  const lines = unique(wanted);
  const pairs: Anchor[] = [];
  for (const row of wanted) {
    const position = positions.get(row.content);
    if (position !== undefined && lines.has(row.content)) pairs.push({ line: row.line, position });
  }
  return longestIncreasing(pairs);
}

/** Returns the lines of texts that occur once. */
function unique(rows: readonly Row[]): Map<string, number> {
  const lines = new Map<string, number>();
  const repeated = new Set<string>();
  for (const { content, line } of rows) {
    if (lines.has(content)) repeated.add(content);
    lines.set(content, line);
  }
  for (const content of repeated) lines.delete(content);
  return lines;
}

/** Returns the longest subsequence of pairs, sorted by line, whose positions increase. */
function longestIncreasing(pairs: readonly Anchor[]): Anchor[] {
  const ends: number[] = [];
  const ranks: number[] = [];
  const previous: number[] = [];
  pairs.forEach((pair, index) => {
    const rank = lowerBound(ranks, pair.position);
    previous[index] = ends[rank - 1] ?? -1;
    ends[rank] = index;
    ranks[rank] = pair.position;
  });
  const chain: Anchor[] = [];
  for (let at = ends[ends.length - 1] ?? -1; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at];
    if (pair) chain.push(pair);
  }
  return chain.reverse();
}

/** Places the lines between two anchors at the distance of either anchor, if their text is there. */
function fillGap(
  between: readonly Row[],
  current: readonly string[],
  positions: Map<number, number>,
  from: Anchor,
  to: Anchor,
): void {
  const distances = [from.position - from.line, ...(to.line === Infinity ? [] : [to.position - to.line])];
  let last = from.position;
  for (const row of between) {
    const found = distances
      .map((distance) => row.line + distance)
      .find((position) => position > last && position < to.position && current[position - 1] === row.content);
    if (found === undefined) continue;
    positions.set(row.line, found);
    last = found;
  }
}

/** Returns the index of the first element that is at least `value`. */
function lowerBound(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? Infinity) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
