// The verdict in the status bar.

import * as vscode from "vscode";

import { statusDetails, statusText } from "./core/findingText";
import { countSeverities, Profile } from "./core/profile";
import { escapeMarkdown } from "./core/text";
import { Opened, Session, View } from "./session";

export class StatusView implements View {
  private readonly item = vscode.window.createStatusBarItem("warpline.verdict", vscode.StatusBarAlignment.Left, 10);

  constructor(private readonly session: Session) {
    this.item.name = "Warpline";
  }

  draw(opened: Opened | undefined): void {
    if (!opened) return this.item.hide();
    const { profile } = opened;
    const lines = statusDetails(profile, { source: opened.source, ...this.counts(profile) });
    const tooltip = new vscode.MarkdownString(lines.map(escapeMarkdown).join("\n\n"));
    tooltip.isTrusted = false;
    this.item.text = statusText(profile);
    this.item.tooltip = tooltip;
    this.item.command = opened.hasPage ? "warpline.openReportPage" : undefined;
    this.item.backgroundColor =
      countSeverities(profile.findings).error > 0 ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.show();
  }

  /** Counts changed lines and absent files. Only files that are open or have findings are read. */
  private counts(profile: Profile): { changedLines: number; absentFiles: number } {
    const open = new Set(vscode.workspace.textDocuments.map((document) => document.uri.fsPath));
    const named = new Set(profile.findings.map((finding) => finding.file));
    let [changedLines, absentFiles] = [0, 0];
    for (const file of profile.files.values()) {
      const path = this.session.sources.pathOf(file);
      const shown = file.figures.size > 0 || named.has(file.path);
      if (path === undefined && shown) absentFiles += 1;
      if (path === undefined || !shown || !(open.has(path) || named.has(file.path))) continue;
      const located = this.session.sources.locate(file);
      if (located) changedLines += located.alignment.changed;
      else absentFiles += 1;
    }
    return { changedLines, absentFiles };
  }

  dispose(): void {
    this.item.dispose();
  }
}
