// The output channel, and errors as messages.

import * as vscode from "vscode";

import { InputError } from "./core/readDocument";
import { visible } from "./core/text";

/** Most characters of a run that the channel shows. */
const MOST_CHARACTERS = 1024 * 1024;

export class Output implements vscode.Disposable {
  private readonly channel = vscode.window.createOutputChannel("Warpline");
  private left = MOST_CHARACTERS;

  /** Starts a new run with its command. */
  start(command: readonly string[]): void {
    this.left = MOST_CHARACTERS;
    this.channel.appendLine(`> ${command.map(visible).join(" ")}`);
  }

  /** Appends what a program printed, until the bound. */
  append(text: string): void {
    if (this.left <= 0) return;
    const shown = text
      .slice(0, this.left)
      .split(/\r?\n|\r/)
      .map(visible)
      .join("\n");
    this.left -= text.length;
    this.channel.append(this.left > 0 ? shown : `${shown}\n… further output is not shown\n`);
  }

  /** Shows an error. Those without a message for users are defects and have their stack in the channel. */
  async fail(error: unknown): Promise<void> {
    const known = error instanceof InputError;
    const text = error instanceof Error ? error.message : String(error);
    this.channel.appendLine(visible(`error: ${text}`));
    if (!known && error instanceof Error && error.stack) this.channel.appendLine(error.stack);
    const chosen = await vscode.window.showErrorMessage(`Warpline: ${visible(text)}`, "Show Output");
    if (chosen === "Show Output") this.channel.show(true);
  }

  dispose(): void {
    this.channel.dispose();
  }
}
