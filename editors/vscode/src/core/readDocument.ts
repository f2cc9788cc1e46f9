// Reads a document of any form that the editor shows.

import { readBriefDocument } from "./briefDocument";
import { fields } from "./json";
import { fileOf, Profile } from "./profile";
import { readProfileDocument } from "./profileDocument";
import { readSarifDocument } from "./sarifDocument";

/** Most bytes of a document: strings of the editor's engine end at twice as many. */
export const MOST_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** A problem with an input. Its message names the input, the cause and the next step. */
export class InputError extends Error {}

/** Parses JSON. `name` is the input's name in messages. */
export function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InputError(
      `cannot read '${name}': it is not JSON. Open a profile (.wlprof) or what 'warpline report --format json|brief-json|sarif' wrote.`,
    );
  }
}

/** Reads a document by its schema. `name` is the input's name in messages. */
export function readDocument(document: unknown, name: string): Profile {
  const profile = readBySchema(document, name);
  // Documents without figures have positions in files that they do not list.
  for (const place of profile.findings.flatMap((finding) => [finding, ...finding.related])) {
    if (place.file !== "") fileOf(profile.files, place.file);
  }
  return profile;
}

function readBySchema(document: unknown, name: string): Profile {
  const root = fields(document);
  const [schema, version] = [root["schema"], root["version"]];
  const other = `cannot read '${name}'`;
  if (schema === "warpline.profile" || schema === "warpline.brief") {
    if (version !== 1) {
      throw new InputError(`${other}: unsupported version (this extension reads version 1). Update the extension.`);
    }
    return schema === "warpline.profile" ? readProfileDocument(root) : readBriefDocument(root);
  }
  if (Array.isArray(root["runs"])) {
    if (version !== "2.1.0")
      throw new InputError(`${other}: unsupported version of SARIF (this extension reads 2.1.0).`);
    return readSarifDocument(root);
  }
  throw new InputError(
    `${other}: it is neither a profile, a brief nor SARIF. Write one with 'warpline report FILE --format json'.`,
  );
}
