// The pages of findings as virtual Markdown documents.

import * as vscode from "vscode";

import { explain } from "./core/warpline";
import { FINDING_ID } from "./core/profile";
import { settings } from "./settings";

export const EXPLAIN_SCHEME = "warpline";

/** Returns the URI of a finding's page. The id has the form of ids. */
export function explainUri(id: string): vscode.Uri {
  return vscode.Uri.from({ scheme: EXPLAIN_SCHEME, path: `/explain/${id}.md` });
}

/** Provides the pages by `warpline explain`. */
export class ExplainProvider implements vscode.TextDocumentContentProvider {
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const id = /^\/explain\/([a-z0-9-]{1,64})\.md$/.exec(uri.path)?.[1];
    if (id === undefined || !FINDING_ID.test(id)) return "This is not the page of a finding.\n";
    if (!vscode.workspace.isTrusted)
      return "In restricted mode, no program is started. Trust the workspace to read this page.\n";
    try {
      return await explain(settings().path, id);
    } catch (error) {
      return `${error instanceof Error ? error.message : String(error)}\n`;
    }
  }
}
