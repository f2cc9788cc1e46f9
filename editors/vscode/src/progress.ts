// Long operations with progress and cancellation.

import * as vscode from "vscode";

/** Shows progress while an operation runs. The operation is over when the user cancels: then the result is nothing. */
export async function withProgress<T>(
  title: string,
  operation: (signal: AbortSignal, report: (message: string) => void) => Promise<T>,
): Promise<T | undefined> {
  const options = { location: vscode.ProgressLocation.Notification, title: `Warpline: ${title}`, cancellable: true };
  return vscode.window.withProgress(options, async (progress, token) => {
    const controller = new AbortController();
    const subscription = token.onCancellationRequested(() => controller.abort());
    try {
      return await operation(controller.signal, (message) => progress.report({ message }));
    } catch (error) {
      if (controller.signal.aborted) return undefined;
      throw error;
    } finally {
      subscription.dispose();
    }
  });
}
