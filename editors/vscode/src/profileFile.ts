// The command that profiles the current file.

import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";

import { nameOf } from "./core/paths";
import { InputError } from "./core/readDocument";
import { oneLine } from "./core/text";
import { expand, Outcome, profile } from "./core/warpline";
import { read } from "./openProfile";
import { Output } from "./output";
import { withProgress } from "./progress";
import { Session } from "./session";
import { settings } from "./settings";

export class ProfileCommand {
  private running = false;

  constructor(
    private readonly session: Session,
    private readonly output: Output,
    private readonly storage: string,
  ) {}

  /** Profiles the file of the active editor and shows the profile. One run at a time. */
  async run(): Promise<void> {
    if (this.running)
      throw new InputError("a file is being profiled already. Wait for it, or cancel it in its notification.");
    this.running = true;
    try {
      const file = await currentFile();
      const path = join(this.storage, "profiles", profileName(file));
      const outcome = await withProgress(`Profiling ${nameOf(file)}`, (signal, report) =>
        this.profile(file, path, signal, report),
      );
      if (!outcome || outcome.cancelled) return;
      this.session.show(await read(path, new AbortController().signal));
      if (outcome.note !== "") void vscode.window.showWarningMessage(`Warpline: ${outcome.note}`);
    } finally {
      this.running = false;
    }
  }

  private async profile(
    file: string,
    path: string,
    signal: AbortSignal,
    report: (message: string) => void,
  ): Promise<Outcome> {
    const { path: program, args } = settings();
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file))?.uri.fsPath ?? dirname(file);
    const expanded = expand(args, { file, workspaceFolder: folder });
    this.output.start([program, "profile", file, "-o", path, ...expanded]);
    const onText = (text: string) => {
      this.output.append(text);
      const last = text.trimEnd().split("\n").pop() ?? "";
      if (last.trim() !== "") report(oneLine(last, 80));
    };
    return profile({ program, file, args: expanded, folder, output: path, onText, signal });
  }
}

/** Returns the path of the active editor's file, saved. */
async function currentFile(): Promise<string> {
  if (!vscode.workspace.isTrusted) {
    throw new InputError("in restricted mode, no program is started. Trust the workspace to profile its files.");
  }
  const document = vscode.window.activeTextEditor?.document;
  if (!document) throw new InputError("no file is open. Open a CUDA source file, then profile it.");
  if (document.uri.scheme !== "file") {
    throw new InputError(
      `'${oneLine(document.uri.toString(), 200)}' is not a file on this machine. Save it to a file, then profile it.`,
    );
  }
  if (document.isDirty && !(await document.save())) {
    throw new InputError(`'${nameOf(document.uri.fsPath)}' could not be saved. Save it, then profile it.`);
  }
  return document.uri.fsPath;
}

/** Returns a name for a file's profile that files of the same name in other folders do not have. */
function profileName(file: string): string {
  const folder = createHash("sha256").update(dirname(file)).digest("hex").slice(0, 8);
  return `${basename(file)}-${folder}.wlprof`;
}
