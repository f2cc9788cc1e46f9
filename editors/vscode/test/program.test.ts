// Tests the extension with the real program, whose path is in WARPLINE. The test is skipped without it.

import "./support/register";

import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ExtensionContext } from "vscode";

import { activate } from "../src/extension";
import { repository } from "./support/recorded";
import { commands, editor, TextDocument, Uri, window, workspace } from "./support/vscode";

const warpline = process.env["WARPLINE"];

test(
  "the current file is profiled, and its problem is on its line",
  { skip: warpline ? false : "WARPLINE is not set" },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "warpline-editor-"));
    try {
      for (const name of ["bicg", "common"]) {
        mkdirSync(join(folder, name));
        cpSync(join(repository, "examples", name), join(folder, name), { recursive: true });
      }
      const context = { subscriptions: [], globalStorageUri: Uri.file(join(folder, "storage")) };
      activate(context as unknown as ExtensionContext);
      const path = join(folder, "bicg/bicg.cu");
      workspace.openFolder(folder);
      editor.set("warpline.path", warpline);
      editor.set("warpline.arguments", ["-O2", "--", "256"]);
      editor.show(TextDocument.open(path));
      await commands.executeCommand("warpline.profileCurrentFile");
      assert.deepEqual(editor.messages, []);

      const planted = readFileSync(path, "utf8")
        .split("\n")
        .findIndex((line) => line.includes("* p[column]"));
      const found = editor.diagnostics
        .get(path)
        ?.find((shown) => typeof shown.code === "object" && shown.code.value === "strided-access");
      assert.equal(found?.range.start.line, planted);
      const figures = window.visibleTextEditors[0]?.decorations.find((shown) => shown.range.start.line === planted);
      assert.match(
        figures?.renderOptions.after.contentText ?? "",
        /^\d+ % of traffic · 16\.5 sectors per request, 2\.5 needed · L1 hit \d+ %$/,
      );
      assert.match(editor.status.text, /^Warpline: bicg_q takes/);

      await commands.executeCommand("warpline.openReportPage");
      assert.match(readFileSync(editor.opened[0] ?? "", "utf8"), /^<!doctype html>/i);
      const page = await editor.providers
        .get("warpline")
        ?.provideTextDocumentContent(Uri.from({ scheme: "warpline", path: "/explain/strided-access.md" }));
      assert.match(page ?? "", /^# strided-access\n/);

      writeFileSync(path, "__global__ void k() { undeclared; }\n");
      editor.show(TextDocument.open(path));
      await commands.executeCommand("warpline.profileCurrentFile");
      assert.match(
        editor.messages.pop() ?? "",
        /no profile of 'bicg\.cu' was written: .*bicg\.cu:1:\d+: error: use of undeclared identifier/,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
