// Tests the whole extension with substitutes for VS Code and for `warpline`.

import "./support/register";

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, beforeEach, test } from "node:test";
import type { ExtensionContext } from "vscode";

import { activate } from "../src/extension";
import { FakeProgram, isAlive, until } from "./support/program";
import { example, extensionFolder } from "./support/recorded";
import { commands, Diagnostic, editor, env, TextDocument, Uri, window, workspace } from "./support/vscode";

const root = new FakeProgram().folder;
const program = new FakeProgram(root);
const source = join(root, "examples/transpose/transpose.cu");
const storage = join(program.folder, "storage");
const profile = program.file("app.wlprof", "a profile");
const recordings = join(extensionFolder, "test/recorded");

mkdirSync(dirname(source), { recursive: true });
cpSync(example, source);
const context = { subscriptions: [] as { dispose(): void }[], globalStorageUri: Uri.file(storage) };
activate(context as unknown as ExtensionContext);

beforeEach(async () => {
  await commands.executeCommand("warpline.closeProfile");
  editor.reset();
  editor.set("warpline.path", program.path);
  workspace.openFolder(root);
});

after(() => {
  for (const disposable of context.subscriptions) disposable.dispose();
  assert.equal(editor.commands.size, 0);
  assert.ok(Object.values(editor.events).every((event) => event.size === 0));
});

const open = (path: string) => commands.executeCommand("warpline.openProfile", Uri.file(path));
const diagnostics = (path = source): Diagnostic[] => editor.diagnostics.get(path) ?? [];
const figures = () =>
  (window.visibleTextEditors[0]?.decorations ?? []).map(
    (shown) => `${shown.range.start.line + 1}: ${shown.renderOptions.after.contentText}`,
  );

/** Lines from 1, columns from 0, as VS Code has them. */
const place = ({ range }: Diagnostic) => [range.start.line + 1, range.start.character, range.end.character];

test("a profile puts findings on their lines", async () => {
  editor.show(TextDocument.open(source));
  await open(profile);
  assert.deepEqual(editor.messages, []);
  assert.deepEqual(
    diagnostics().map((shown) => [...place(shown), shown.severity]),
    [
      [25, 12, 38, 1],
      [47, 26, 30, 1],
      [69, 15, 25, 2],
    ],
  );
  const [first] = diagnostics();
  assert.match(first?.message ?? "", /^Strided access to `out`.*\n.*\nChange: .*\nGain: /);
  assert.equal(first?.source, "Warpline");
  assert.ok(first && typeof first.code === "object");
  assert.equal(first.code.value, "strided-access");
  assert.equal(String(first.code.target), "warpline:/explain/strided-access.md");
});

test("figures are at the ends of their lines, with details in hovers", async () => {
  editor.show(TextDocument.open(source));
  await open(profile);
  assert.deepEqual(
    figures().map((text) => Number.parseInt(text, 10)),
    [24, 25, 38, 39, 47, 48],
  );
  assert.equal(figures()[1], "25: 62 % of traffic · 32.0 sectors per request, 4.0 needed");
  const shown = window.visibleTextEditors[0]?.decorations[1];
  assert.ok(shown);
  assert.equal(shown.hoverMessage.isTrusted, false);
  assert.equal(shown.hoverMessage.supportHtml, false);
  assert.match(shown.hoverMessage.value, /store `out`/);
  assert.equal(shown.renderOptions.after.color.id, "editorWarning.foreground");
});

test("the setting hides the figures and keeps the findings", async () => {
  editor.show(TextDocument.open(source));
  await open(profile);
  editor.set("warpline.showFigures", false);
  await until(() => figures().length === 0);
  assert.equal(diagnostics().length, 3);
  editor.set("warpline.showFigures", true);
  await until(() => figures().length === 6);
});

test("the status bar has the verdict", async () => {
  await open(profile);
  assert.ok(editor.status.visible);
  assert.match(editor.status.text, /^Warpline: transpose_naive takes/);
  assert.match(editor.status.tooltip?.value.replace(/\\/g, "") ?? "", /2 warnings, 1 note\.[^]*From .*app\.wlprof$/);
  assert.equal(editor.status.command, "warpline.openReportPage");
  await commands.executeCommand("warpline.closeProfile");
  assert.equal(editor.status.visible, false);
  assert.equal(editor.diagnostics.size, 0);
});

test("an edit moves the figures, and a changed line loses its own", async () => {
  const document = TextDocument.open(source);
  editor.show(document);
  await open(profile);
  document.edit(`// new\n${document.getText()}`);
  await until(() => diagnostics()[0]?.range.start.line === 25);
  assert.equal(figures()[1], "26: 62 % of traffic · 32.0 sectors per request, 4.0 needed");
  document.edit(document.getText().replace("out[x * rows + y] = value;", "out[y * columns + x] = value;"));
  await until(() => figures().length === 5);
  assert.deepEqual([diagnostics()[0]?.severity, place(diagnostics()[0] as Diagnostic)[0]], [2, 26]);
  assert.match(diagnostics()[0]?.message ?? "", /this line has changed since the profile/);
  assert.match(
    editor.status.tooltip?.value.replace(/\\/g, "") ?? "",
    /1 line changed since the profile: profile again/,
  );
});

test("files that are not open have findings, and figures once they are shown", async () => {
  await open(profile);
  assert.equal(diagnostics().length, 3);
  editor.show(TextDocument.open(source));
  await until(() => figures().length === 6);
});

test("a document that is opened again is read again", async () => {
  editor.show(TextDocument.open(source));
  await open(profile);
  editor.show(new TextDocument(Uri.file(source), "int main() {}\n"));
  await until(() => figures().length === 0 && editor.status.tooltip?.value.includes("lines changed") === true);
});

test("a profile from another machine fits files of the same path below the workspace", async () => {
  const other = new FakeProgram("/builds/elsewhere");
  editor.set("warpline.path", other.path);
  editor.show(TextDocument.open(source));
  await open(profile);
  assert.equal(diagnostics().length, 3);
  assert.equal(figures().length, 6);
});

test("a file of the same name with other content has nothing", async () => {
  const folder = new FakeProgram().folder;
  mkdirSync(join(folder, "transpose"));
  const path = join(folder, "transpose/transpose.cu");
  cpSync(join(extensionFolder, "package.json"), path);
  workspace.openFolder(folder);
  editor.show(TextDocument.open(path));
  await open(profile);
  assert.equal(editor.diagnostics.size, 0);
  assert.equal(figures().length, 0);
  assert.match(editor.status.tooltip?.value.replace(/\\/g, "") ?? "", /1 file of the profile not in this workspace/);
});

test("briefs and SARIF show findings without starting a program", async () => {
  editor.trusted = false;
  const before = program.calls().length;
  for (const name of ["transpose.brief.json", "transpose.sarif", "transpose.json"]) {
    await open(join(recordings, name));
    assert.deepEqual(
      diagnostics().map((shown) => place(shown)[0]),
      [25, 47, 69],
      name,
    );
    assert.equal(editor.status.command, undefined);
  }
  await commands.executeCommand("warpline.openReportPage");
  assert.match(
    editor.messages.pop() ?? "",
    /'transpose\.json' has no report page, because it is not a profile\. Open the profile/,
  );
  await open(profile);
  assert.match(editor.messages.pop() ?? "", /restricted mode.*Trust the workspace/);
  await commands.executeCommand("warpline.profileCurrentFile");
  assert.match(editor.messages.pop() ?? "", /restricted mode/);
  assert.equal(program.calls().length, before);
});

test("positions outside a file are inside the document, and texts are no markup", async () => {
  editor.show(TextDocument.open(source));
  const text = "[x](command:y) <b> $(bug) `\u202e\x1b";
  const metrics = { global: { requests: 1, sectors: 9, ideal_sectors: 1 } };
  const lines = [1, 24, 25, 1e6, 2 ** 31 - 1, 2 ** 31, -1, 0.5].map((line) => ({
    file: source,
    line,
    kernel: 0,
    metrics,
  }));
  const findings = lines.map(({ line }) => ({
    id: text,
    severity: "error",
    title: text,
    file: source,
    line,
    column: 1e6,
  }));
  const document = { schema: "warpline.profile", version: 1, kernels: [{ id: 0, name: text }], lines, findings };
  await open(program.file("hostile.json", JSON.stringify(document)));
  assert.deepEqual(editor.messages, []);
  assert.deepEqual(
    figures().map((shown) => Number.parseInt(shown, 10)),
    [1, 24, 25],
  );
  assert.equal(diagnostics().length, 5);
  for (const shown of diagnostics()) assert.equal(typeof shown.code, "string");
  for (const shown of window.visibleTextEditors[0]?.decorations ?? []) {
    assert.equal(shown.hoverMessage.isTrusted, false);
    assert.doesNotMatch(shown.hoverMessage.value.replace(/`[^`\n]*`/g, ""), /(?<!\\)[[<]/);
  }
  assert.doesNotMatch(editor.status.text, /\$\(/);
});

test("the dialog chooses a profile", async () => {
  editor.dialog = undefined;
  await commands.executeCommand("warpline.openProfile");
  assert.equal(editor.status.visible, false);
  editor.dialog = [Uri.file(profile)];
  await commands.executeCommand("warpline.openProfile");
  assert.ok(editor.status.visible);
});

test("errors name the input, the cause and the next step", async () => {
  const fails = async (path: string, message: RegExp) => {
    await open(path);
    assert.match(editor.messages.pop() ?? "", message);
  };
  await fails("/nowhere.wlprof", /error: Warpline: cannot read '\/nowhere\.wlprof': there is no such file\. Choose/);
  await fails(root, /there is no such file/);
  await fails(program.file("d.wlprof", "damaged"), /cannot read 'd\.wlprof': warpline: .*: the file is damaged/);
  await fails(program.file("e.json", "{"), /'e\.json': it is not JSON/);
  await fails(program.file("f.json", "{}"), /'f\.json': it is neither/);
  editor.set("warpline.path", "/nowhere/warpline");
  await fails(profile, /cannot start '\/nowhere\/warpline'.*set warpline\.path/);
  await commands.executeCommand("warpline.openReportPage");
  assert.match(editor.messages.pop() ?? "", /no profile is open/);
});

test("profiling saves the file, runs in the workspace folder and shows the profile", async () => {
  const document = TextDocument.open(source);
  editor.show(document);
  document.isDirty = true;
  editor.set("warpline.arguments", ["-I${fileDirname}", 5, "--", "64"]);
  await commands.executeCommand("warpline.profileCurrentFile");
  assert.deepEqual(editor.messages, []);
  assert.equal(document.saved, 1);
  const call = program.calls().find(({ args }) => args[0] === "profile" && args.includes("64"));
  assert.equal(call?.folder, root);
  assert.deepEqual(call?.args.slice(4), [`-I${dirname(source)}`, "--", "64"]);
  assert.equal(diagnostics().length, 3);
  assert.match(editor.output, /^> .*warpline profile .*transpose\.cu -o [^]*transpose: ok\n/m);
  assert.ok(editor.progress.includes("Warpline: Profiling transpose.cu"));
});

test("a failed compilation shows the compiler's message and keeps the shown profile", async () => {
  await open(profile);
  editor.show(TextDocument.open(source));
  editor.set("warpline.arguments", ["--fake-error"]);
  await commands.executeCommand("warpline.profileCurrentFile");
  assert.match(
    editor.messages.pop() ?? "",
    /no profile of 'transpose\.cu' was written: .*:3:5: error: use of undeclared identifier 'q'/,
  );
  assert.equal(diagnostics().length, 3);
});

test("a program that fails has a profile and a warning", async () => {
  editor.show(TextDocument.open(source));
  editor.set("warpline.arguments", ["--fake-crash"]);
  await commands.executeCommand("warpline.profileCurrentFile");
  assert.match(editor.messages.pop() ?? "", /^warning: .*ended with exit code 7/);
  assert.equal(diagnostics().length, 3);
});

test("a run can be cancelled, and there is one at a time", async () => {
  editor.show(TextDocument.open(source));
  const pidFile = join(program.folder, "pid");
  editor.set("warpline.arguments", ["--fake-wait", pidFile]);
  const running = commands.executeCommand("warpline.profileCurrentFile");
  await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "");
  await commands.executeCommand("warpline.profileCurrentFile");
  assert.match(editor.messages.pop() ?? "", /being profiled already/);
  editor.cancel?.();
  await running;
  await until(() => !isAlive(Number(readFileSync(pidFile, "utf8"))));
  assert.deepEqual(editor.messages, []);
  assert.equal(editor.status.visible, false);
});

test("only a saved file of this machine can be profiled", async () => {
  const fails = async (message: RegExp) => {
    await commands.executeCommand("warpline.profileCurrentFile");
    assert.match(editor.messages.pop() ?? "", message);
  };
  await fails(/no file is open/);
  editor.show(new TextDocument(Uri.from({ scheme: "untitled", path: "Untitled-1" }), ""));
  await fails(/'untitled:Untitled-1' is not a file/);
  const document = TextDocument.open(source);
  editor.show(document);
  document.isDirty = true;
  editor.canSave = false;
  await fails(/'transpose\.cu' could not be saved/);
});

test("the report page is written and opened; on a remote machine its path is shown", async () => {
  await open(profile);
  await commands.executeCommand("warpline.openReportPage");
  const page = join(storage, "pages/app.wlprof.html");
  assert.deepEqual(editor.opened, [page]);
  assert.match(readFileSync(page, "utf8"), /^<!doctype html>/);
  env.remoteName = "ssh-remote";
  await commands.executeCommand("warpline.openReportPage");
  assert.equal(editor.opened.length, 1);
  assert.match(editor.messages.pop() ?? "", /information: .*app\.wlprof\.html' on the remote machine/);
});

test("pages of findings are virtual documents", async () => {
  const provider = editor.providers.get("warpline");
  assert.ok(provider);
  const page = (path: string) => provider.provideTextDocumentContent(Uri.from({ scheme: "warpline", path }));
  assert.equal(await page("/explain/strided-access.md"), "# strided-access\n");
  assert.match(await page("/explain/nothing.md"), /cannot explain 'nothing': warpline: `nothing` is no finding/);
  const before = program.calls().length;
  for (const path of ["/explain/--help.md", "/explain/a b.md", "/other", "/explain/../x.md"])
    assert.match(await page(path), /not the page of a finding/);
  editor.trusted = false;
  assert.match(await page("/explain/strided-access.md"), /restricted mode/);
  assert.equal(program.calls().length, before);
});
