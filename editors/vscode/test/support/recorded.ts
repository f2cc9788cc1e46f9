// The recorded documents, and the example from which they were made.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { Profile } from "../../src/core/profile";
import { parse, readDocument } from "../../src/core/readDocument";

/** The folder of the extension: tests run from out/test/support. */
export const extensionFolder = resolve(__dirname, "../../..");
export const repository = resolve(extensionFolder, "../..");
export const example = join(repository, "examples/transpose/transpose.cu");
/** Path of the example in the recorded documents. */
export const recordedPath = "/project/examples/transpose/transpose.cu";

export function recordedText(name: string): string {
  return readFileSync(join(extensionFolder, "test/recorded", name), "utf8");
}

export function recorded(name = "transpose.json"): Profile {
  return readDocument(parse(recordedText(name), name), name);
}
