// The command that opens the report page in a browser.

import { join } from "node:path";
import * as vscode from "vscode";

import { nameOf } from "./core/paths";
import { InputError } from "./core/readDocument";
import { writePage } from "./core/warpline";
import { withProgress } from "./progress";
import { Session } from "./session";
import { settings } from "./settings";

/** Writes the page of the shown profile and opens it. */
export async function openReportPage(session: Session, storage: string): Promise<void> {
  const opened = session.current;
  if (!opened) throw new InputError("no profile is open. Profile the current file, or open a profile.");
  if (!opened.hasPage) {
    throw new InputError(
      `'${nameOf(opened.source)}' has no report page, because it is not a profile. Open the profile (.wlprof) that it was made from.`,
    );
  }
  if (!vscode.workspace.isTrusted)
    throw new InputError("in restricted mode, no program is started. Trust the workspace to open the page.");
  const page = join(storage, "pages", `${nameOf(opened.source)}.html`);
  const written = await withProgress("Writing the report page", async (signal) => {
    await writePage(settings().path, opened.source, page, signal);
    return true;
  });
  if (!written) return;
  if (vscode.env.remoteName !== undefined) {
    void vscode.window.showInformationMessage(
      `Warpline: the page is '${page}' on the remote machine. Copy it, and open it in a browser.`,
    );
    return;
  }
  if (!(await vscode.env.openExternal(vscode.Uri.file(page)))) {
    throw new InputError(`the page could not be opened. Open '${page}' in a browser.`);
  }
}
