// Reads SARIF 2.1.0: the output of `warpline report FILE --format sarif`, or of `warpline gate`.

import { fileURLToPath } from "node:url";

import { elements, fields, position, string } from "./json";
import {
  Finding,
  MOST_CHARACTERS,
  MOST_FINDINGS,
  MOST_OF_A_NAME,
  MOST_OF_A_PATH,
  Profile,
  RelatedPlace,
  toSeverity,
} from "./profile";
import { oneLine } from "./text";

/** Reads a SARIF log. It has neither figures of lines nor their text. */
export function readSarifDocument(document: unknown): Profile {
  const runs = elements(fields(document)["runs"], 100).map(fields);
  const all = runs.flatMap((run) => {
    const summaries = summariesOf(run);
    return elements(run["results"], 10 * MOST_FINDINGS).map((row) => ({ row: fields(row), summaries }));
  });
  return {
    origin: "sarif",
    program: "",
    verdict: "",
    cautions: [],
    findings: all.slice(0, MOST_FINDINGS).map(({ row, summaries }) => readResult(row, summaries)),
    omittedFindings: Math.max(0, all.length - MOST_FINDINGS),
    files: new Map(),
    totalSectors: 0,
    totalWarps: 0,
  };
}

/** Reads the sentences that describe the rules, by id. */
function summariesOf(run: Record<string, unknown>): Map<string, string> {
  const rules = elements(fields(fields(run["tool"])["driver"])["rules"], MOST_FINDINGS).map(fields);
  return new Map(rules.map((rule) => [string(rule["id"]), string(fields(rule["shortDescription"])["text"])]));
}

function readResult(row: Record<string, unknown>, summaries: Map<string, string>): Finding {
  const id = string(row["ruleId"]);
  const place = placeOf(elements(row["locations"], 1)[0]);
  return {
    id: oneLine(id, 64),
    severity: toSeverity(row["level"]),
    title: oneLine(summaries.get(id) || id, MOST_OF_A_NAME),
    reason: oneLine(string(fields(row["message"])["text"]), MOST_CHARACTERS),
    change: "",
    gain: "",
    file: place.file,
    line: place.line,
    column: place.column,
    related: elements(row["relatedLocations"], 20)
      .map(placeOf)
      .filter((related) => related.line > 0),
  };
}

function placeOf(value: unknown): RelatedPlace {
  const location = fields(value);
  const physical = fields(location["physicalLocation"]);
  const region = fields(physical["region"]);
  return {
    file: pathOf(string(fields(physical["artifactLocation"])["uri"])),
    line: position(region["startLine"]),
    column: position(region["startColumn"]),
    message: oneLine(string(fields(location["message"])["text"]), MOST_OF_A_NAME),
  };
}

/** Returns the path of a `file:` URI or of a relative one; nothing for other schemes and malformed URIs. */
function pathOf(uri: string): string {
  if (uri.length > 3 * MOST_OF_A_PATH) return "";
  try {
    if (uri.startsWith("file:")) return fileURLToPath(uri);
    return /^[a-z][a-z0-9+.-]*:/i.test(uri) ? "" : decodeURIComponent(uri);
  } catch {
    return "";
  }
}
