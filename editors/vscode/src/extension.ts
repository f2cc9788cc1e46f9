// Entry point of the extension: connects the commands with the session and its views.

import * as vscode from "vscode";

import { DiagnosticsView } from "./diagnostics";
import { EXPLAIN_SCHEME, ExplainProvider } from "./explain";
import { FiguresView } from "./figures";
import { openProfile } from "./openProfile";
import { Output } from "./output";
import { ProfileCommand } from "./profileFile";
import { openReportPage } from "./reportPage";
import { Session } from "./session";
import { StatusView } from "./status";

export function activate(context: vscode.ExtensionContext): void {
  const output = new Output();
  const session = new Session();
  const storage = (context.storageUri ?? context.globalStorageUri).fsPath;
  session.add(new FiguresView(session));
  session.add(new DiagnosticsView(session));
  session.add(new StatusView(session));
  const profileCommand = new ProfileCommand(session, output, storage);
  const command = (name: string, action: (argument: unknown) => Promise<void>) =>
    vscode.commands.registerCommand(name, async (argument: unknown) =>
      action(argument).catch((error: unknown) => output.fail(error)),
    );
  context.subscriptions.push(
    output,
    session,
    vscode.workspace.registerTextDocumentContentProvider(EXPLAIN_SCHEME, new ExplainProvider()),
    command("warpline.profileCurrentFile", () => profileCommand.run()),
    command("warpline.openProfile", (argument) => openProfile(session, argument)),
    command("warpline.closeProfile", async () => session.show(undefined)),
    command("warpline.openReportPage", () => openReportPage(session, storage)),
  );
}
