// Reads the output of `warpline report FILE --format brief-json`.

import { elements, fields, position, string, count } from "./json";
import {
  fileOf,
  Finding,
  MOST_CHARACTERS,
  MOST_FINDINGS,
  MOST_OF_A_NAME,
  MOST_OF_A_PATH,
  Profile,
  SourceFile,
  toSeverity,
} from "./profile";
import { oneLine } from "./text";

/** Reads the verdict of a brief. */
export function readVerdict(document: unknown): string {
  return oneLine(string(fields(document)["verdict"]), MOST_CHARACTERS);
}

/** Reads a document with the schema `warpline.brief`. It has no figures of lines. */
export function readBriefDocument(document: unknown): Profile {
  const root = fields(document);
  const files = new Map<string, SourceFile>();
  const rows = elements(root["findings"], MOST_FINDINGS).map(fields);
  for (const row of rows) {
    const [path, line, code] = [string(row["file"]), position(row["line"]), row["code"]];
    const known = path !== "" && path.length <= MOST_OF_A_PATH && line > 0;
    if (known && typeof code === "string" && code.length <= 4096) fileOf(files, path).recorded.set(line, code);
  }
  return {
    origin: "brief",
    program: oneLine(string(root["program"]), MOST_OF_A_NAME),
    verdict: readVerdict(root),
    cautions: root["complete"] === false ? ["The profile is incomplete."] : [],
    findings: rows.map(readFinding),
    omittedFindings: Math.max(0, count(root["findings_total"]) - rows.length),
    files,
    totalSectors: 0,
    totalWarps: 0,
  };
}

function readFinding(row: Record<string, unknown>): Finding {
  const text = (value: unknown) => oneLine(string(value), MOST_CHARACTERS);
  const path = string(row["file"]);
  const file = path.length <= MOST_OF_A_PATH ? path : "";
  const others = elements(row["also_lines"], 20)
    .map(position)
    .filter((line) => line > 0);
  return {
    id: oneLine(string(row["id"]), 64),
    severity: toSeverity(row["severity"]),
    title: oneLine(string(row["title"]) || string(row["id"]), MOST_OF_A_NAME),
    reason: text(row["reason"]),
    change: text(row["change"]),
    gain: text(fields(row["gain"])["text"]),
    file,
    line: position(row["line"]),
    column: position(row["column"]),
    related: others.map((line) => ({ file, line, column: 0, message: "the same happens here" })),
  };
}
