// Properties of the extension's files.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { extensionFolder, repository } from "./support/recorded";

interface Manifest {
  version: string;
  dependencies?: unknown;
  devDependencies: Record<string, string>;
  engines: { vscode: string };
  contributes: {
    commands: { command: string }[];
    configuration: { properties: Record<string, { default: unknown }> };
  };
}

const read = (name: string) => readFileSync(join(extensionFolder, name), "utf8");
const manifest = JSON.parse(read("package.json")) as Manifest;
const sources = readdirSync(join(extensionFolder, "src"), { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".ts"),
);

test("the modules in core do not need VS Code", () => {
  const core = sources.filter((name) => name.startsWith("core"));
  assert.ok(core.length > 8);
  for (const name of core) assert.doesNotMatch(read(join("src", name)), /"vscode"|from "\.\.\//, name);
});

test("each command and setting of the manifest is in the code, and each in the code is in the manifest", () => {
  const code = sources.map((name) => read(join("src", name))).join("\n");
  const registered = [...code.matchAll(/command\("(warpline\.\w+)"/g)].map((match) => match[1]);
  assert.deepEqual(registered.sort(), manifest.contributes.commands.map((row) => row.command).sort());
  const settings = [...code.matchAll(/section\.get\("(\w+)"\)/g)].map((match) => `warpline.${match[1]}`);
  assert.deepEqual(settings.sort(), Object.keys(manifest.contributes.configuration.properties).sort());
});

test("there are no dependencies at run time, and all packages are from the public registry", () => {
  assert.equal(manifest.dependencies, undefined);
  assert.deepEqual(Object.keys(manifest.devDependencies).sort(), ["@types/node", "@types/vscode", "typescript"]);
  assert.equal(`^${manifest.devDependencies["@types/vscode"]}`, manifest.engines.vscode);
  const lock = read("package-lock.json");
  for (const [, host] of lock.matchAll(/https?:\/\/([^/"]+)/g)) assert.equal(host, "registry.npmjs.org");
  assert.match(lock, /"integrity": "sha512-/);
});

test("the version is that of Warpline", () => {
  const version = /^version = "(.*)"$/m.exec(readFileSync(join(repository, "Cargo.toml"), "utf8"))?.[1];
  assert.equal(manifest.version, version);
});
