// Findings as diagnostics.

import * as vscode from "vscode";

import { message, pageOf, underline } from "./core/findingText";
import { Finding, Profile, RelatedPlace, Severity } from "./core/profile";
import { explainUri } from "./explain";
import { Opened, Session, View } from "./session";
import { Located } from "./sources";

const SEVERITIES: Record<Severity, vscode.DiagnosticSeverity> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  note: vscode.DiagnosticSeverity.Information,
};

export class DiagnosticsView implements View {
  private readonly collection = vscode.languages.createDiagnosticCollection("warpline");

  constructor(private readonly session: Session) {}

  draw(opened: Opened | undefined): void {
    this.collection.clear();
    if (!opened) return;
    const byPath = new Map<string, vscode.Diagnostic[]>();
    for (const finding of opened.profile.findings) {
      const located = finding.line > 0 ? this.locate(finding.file, opened.profile) : undefined;
      if (!located) continue;
      const list = byPath.get(located.path) ?? [];
      byPath.set(located.path, list);
      list.push(this.diagnostic(finding, located, opened.profile));
    }
    for (const [path, diagnostics] of byPath) this.collection.set(vscode.Uri.file(path), diagnostics);
  }

  private locate(path: string, profile: Profile): Located | undefined {
    const file = profile.files.get(path);
    return file && this.session.sources.locate(file);
  }

  private diagnostic(finding: Finding, located: Located, profile: Profile): vscode.Diagnostic {
    const place = located.alignment.place(finding.line);
    const range = rangeOf(located, place.line, place.changed ? 0 : finding.column, profile);
    // A rewritten line may no longer have the problem.
    const severity = place.changed ? vscode.DiagnosticSeverity.Information : SEVERITIES[finding.severity];
    const diagnostic = new vscode.Diagnostic(range, message(finding, place.changed), severity);
    diagnostic.source = "Warpline";
    const page = pageOf(finding);
    diagnostic.code = page === undefined ? finding.id : { value: page, target: explainUri(page) };
    const related = finding.related.flatMap((other) => this.related(other, profile));
    if (related.length > 0) diagnostic.relatedInformation = related;
    return diagnostic;
  }

  private related(other: RelatedPlace, profile: Profile): vscode.DiagnosticRelatedInformation[] {
    const located = this.locate(other.file, profile);
    if (!located) return [];
    const place = located.alignment.place(other.line);
    const range = rangeOf(located, place.line, place.changed ? 0 : other.column, profile);
    return [
      new vscode.DiagnosticRelatedInformation(new vscode.Location(vscode.Uri.file(located.path), range), other.message),
    ];
  }

  dispose(): void {
    this.collection.dispose();
  }
}

function rangeOf(located: Located, line: number, column: number, profile: Profile): vscode.Range {
  const [start, end] = underline(located.lines[line - 1] ?? "", column, profile.origin);
  return new vscode.Range(line - 1, start, line - 1, end);
}
