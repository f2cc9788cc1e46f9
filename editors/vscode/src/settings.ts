// The extension's settings, checked.

import * as vscode from "vscode";

export interface Settings {
  path: string;
  args: string[];
  showFigures: boolean;
}

/** Reads the settings; values of wrong types count as the defaults. */
export function settings(): Settings {
  const section = vscode.workspace.getConfiguration("warpline");
  const path: unknown = section.get("path");
  const args: unknown = section.get("arguments");
  return {
    path: typeof path === "string" && path.trim() !== "" ? path.trim() : "warpline",
    args: Array.isArray(args) ? args.filter((arg): arg is string => typeof arg === "string") : [],
    showFigures: section.get("showFigures") !== false,
  };
}
