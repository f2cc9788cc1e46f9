// Figures at the ends of lines, with the details in hovers.

import * as vscode from "vscode";

import { details, summary } from "./core/figures";
import { Finding, Profile, SourceFile } from "./core/profile";
import { Opened, Session, View } from "./session";
import { settings } from "./settings";
import { Located } from "./sources";

export class FiguresView implements View {
  private readonly type = vscode.window.createTextEditorDecorationType({
    after: { margin: "0 0 0 3em" },
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });

  constructor(private readonly session: Session) {}

  draw(opened: Opened | undefined): void {
    const files = opened && settings().showFigures ? this.filesByPath(opened.profile) : new Map<string, SourceFile[]>();
    for (const editor of vscode.window.visibleTextEditors) {
      const here = editor.document.uri.scheme === "file" ? (files.get(editor.document.uri.fsPath) ?? []) : [];
      editor.setDecorations(this.type, opened ? here.flatMap((file) => this.decorations(file, opened.profile)) : []);
    }
  }

  private filesByPath(profile: Profile): Map<string, SourceFile[]> {
    const files = new Map<string, SourceFile[]>();
    for (const file of profile.files.values()) {
      const path = file.figures.size > 0 ? this.session.sources.pathOf(file) : undefined;
      if (path !== undefined) files.set(path, [...(files.get(path) ?? []), file]);
    }
    return files;
  }

  private decorations(file: SourceFile, profile: Profile): vscode.DecorationOptions[] {
    const located = this.session.sources.locate(file);
    if (!located) return [];
    const findings = findingsByLine(file, profile);
    const decorations = [];
    for (const [number, line] of file.figures) {
      const text = summary(line, profile);
      const place = located.alignment.place(number);
      if (text === undefined || place.changed) continue;
      const here = findings.get(number) ?? [];
      decorations.push(decoration(located, place.line, text, details(line, here, profile), here));
    }
    return decorations;
  }

  dispose(): void {
    this.type.dispose();
  }
}

function findingsByLine(file: SourceFile, profile: Profile): Map<number, Finding[]> {
  const byLine = new Map<number, Finding[]>();
  for (const finding of profile.findings) {
    if (finding.file === file.path) byLine.set(finding.line, [...(byLine.get(finding.line) ?? []), finding]);
  }
  return byLine;
}

function decoration(
  located: Located,
  line: number,
  text: string,
  markdown: string,
  findings: readonly Finding[],
): vscode.DecorationOptions {
  const source = located.lines[line - 1] ?? "";
  const hover = new vscode.MarkdownString(markdown);
  // Texts of a profile are data: they contain neither commands nor HTML.
  hover.isTrusted = false;
  hover.supportHtml = false;
  const marked = findings.some((finding) => finding.severity !== "note");
  const color = new vscode.ThemeColor(marked ? "editorWarning.foreground" : "editorCodeLens.foreground");
  const start = source.length - source.trimStart().length;
  return {
    range: new vscode.Range(line - 1, Math.min(start, source.length), line - 1, source.length),
    hoverMessage: hover,
    renderOptions: { after: { contentText: text, color } },
  };
}
