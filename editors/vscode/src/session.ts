// The profile that is shown, and the events after which views are updated.

import * as vscode from "vscode";

import { Profile } from "./core/profile";
import { Sources } from "./sources";

/** Time without changes after which views are drawn again. */
const PAUSE_MILLISECONDS = 250;

/** A profile and where it came from. */
export interface Opened {
  profile: Profile;
  /** Path of the file that was opened. */
  source: string;
  /** It is a profile's own file, of which `warpline report` makes a page. */
  hasPage: boolean;
}

/** A view of the profile. */
export interface View extends vscode.Disposable {
  /** Draws the view; without a profile it is empty. */
  draw(opened: Opened | undefined): void;
}

export class Session implements vscode.Disposable {
  private opened: Opened | undefined;
  private readonly views: View[] = [];
  private readonly subscriptions: vscode.Disposable[] = [];
  private timer: NodeJS.Timeout | undefined;
  readonly sources = new Sources();

  constructor() {
    const soon = () => this.drawSoon();
    const workspace = () => {
      this.sources.workspaceChanged();
      this.drawSoon();
    };
    this.subscriptions.push(
      vscode.workspace.onDidChangeTextDocument(soon),
      vscode.workspace.onDidSaveTextDocument(soon),
      vscode.workspace.onDidOpenTextDocument(workspace),
      vscode.workspace.onDidCloseTextDocument(workspace),
      vscode.workspace.onDidChangeWorkspaceFolders(workspace),
      vscode.window.onDidChangeVisibleTextEditors(soon),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("warpline")) this.drawSoon();
      }),
    );
  }

  get current(): Opened | undefined {
    return this.opened;
  }

  add(view: View): void {
    this.views.push(view);
  }

  /** Shows a profile instead of the current one; without one, nothing is shown any more. */
  show(opened: Opened | undefined): void {
    this.opened = opened;
    this.sources.clear();
    this.draw();
  }

  private drawSoon(): void {
    if (!this.opened) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(), PAUSE_MILLISECONDS);
  }

  private draw(): void {
    clearTimeout(this.timer);
    for (const view of this.views) view.draw(this.opened);
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const disposable of [...this.subscriptions, ...this.views]) disposable.dispose();
  }
}
