// A small substitute for VS Code's API: the part that the extension uses, in memory. Tests set and inspect `editor`.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";

type Listener<T> = (event: T) => unknown;

export class Disposable {
  constructor(private readonly action: () => void) {}
  dispose(): void {
    this.action();
  }
}

export class EventEmitter<T> {
  private readonly listeners = new Set<Listener<T>>();
  readonly event = (listener: Listener<T>): Disposable => {
    this.listeners.add(listener);
    return new Disposable(() => this.listeners.delete(listener));
  };
  fire(event: T): void {
    for (const listener of [...this.listeners]) listener(event);
  }
  get size(): number {
    return this.listeners.size;
  }
}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly path: string,
  ) {}
  static file(path: string): Uri {
    return new Uri("file", path);
  }
  static from(parts: { scheme: string; path: string }): Uri {
    return new Uri(parts.scheme, parts.path);
  }
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return this.scheme === "file" ? pathToFileURL(this.path).href : `${this.scheme}:${this.path}`;
  }
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {
    if (!(Number.isInteger(line) && Number.isInteger(character) && line >= 0 && character >= 0))
      throw new Error("illegal position");
  }
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(startLine: number, startCharacter: number, endLine: number, endCharacter: number) {
    this.start = new Position(startLine, startCharacter);
    this.end = new Position(endLine, endCharacter);
  }
}

export class Location {
  constructor(
    readonly uri: Uri,
    readonly range: Range,
  ) {}
}

export class DiagnosticRelatedInformation {
  constructor(
    readonly location: Location,
    readonly message: string,
  ) {}
}

export class Diagnostic {
  source?: string;
  code?: string | { value: string; target: Uri };
  relatedInformation?: DiagnosticRelatedInformation[];
  constructor(
    readonly range: Range,
    readonly message: string,
    readonly severity: number,
  ) {}
}

export class MarkdownString {
  isTrusted?: boolean;
  supportHtml?: boolean;
  supportThemeIcons?: boolean;
  constructor(readonly value: string) {}
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 };
export const DecorationRangeBehavior = { OpenOpen: 0, ClosedClosed: 1, OpenClosed: 2, ClosedOpen: 3 };
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const ProgressLocation = { SourceControl: 1, Window: 10, Notification: 15 };

export class TextDocument {
  version = 1;
  isDirty = false;
  saved = 0;
  constructor(
    readonly uri: Uri,
    private text: string,
  ) {}
  static open(path: string): TextDocument {
    return new TextDocument(Uri.file(path), readFileSync(path, "utf8"));
  }
  getText(): string {
    return this.text;
  }
  get lines(): string[] {
    return this.text.split(/\r\n|\r|\n/);
  }
  /** Changes the text, as the user would. */
  edit(text: string): void {
    this.text = text;
    this.version += 1;
    this.isDirty = true;
    events.change.fire({ document: this });
  }
  async save(): Promise<boolean> {
    this.saved += 1;
    this.isDirty = !editor.canSave;
    return editor.canSave;
  }
}

export interface DecorationOptions {
  range: Range;
  hoverMessage: MarkdownString;
  renderOptions: { after: { contentText: string; color: ThemeColor } };
}

export class TextEditor {
  decorations: DecorationOptions[] = [];
  constructor(readonly document: TextDocument) {}
  setDecorations(_type: unknown, decorations: DecorationOptions[]): void {
    for (const { range } of decorations) {
      const line = this.document.lines[range.start.line];
      if (line === undefined || range.end.character > line.length)
        throw new Error("a decoration is outside the document");
    }
    this.decorations = decorations;
  }
}

export interface StatusBarItem {
  text: string;
  tooltip?: MarkdownString;
  command?: string;
  visible: boolean;
}

const events = {
  change: new EventEmitter<unknown>(),
  save: new EventEmitter<unknown>(),
  open: new EventEmitter<unknown>(),
  close: new EventEmitter<unknown>(),
  folders: new EventEmitter<unknown>(),
  visible: new EventEmitter<unknown>(),
  configuration: new EventEmitter<{ affectsConfiguration(name: string): boolean }>(),
};

/** What is on the screen, and what the user does. */
export const editor = {
  settings: new Map<string, unknown>(),
  trusted: true,
  canSave: true,
  diagnostics: new Map<string, Diagnostic[]>(),
  messages: [] as string[],
  progress: [] as string[],
  opened: [] as string[],
  output: "",
  dialog: undefined as Uri[] | undefined,
  /** Cancels the operation that is in progress. */
  cancel: undefined as (() => void) | undefined,
  status: { text: "", visible: false } as StatusBarItem,
  commands: new Map<string, (...args: unknown[]) => unknown>(),
  providers: new Map<string, { provideTextDocumentContent(uri: Uri): Promise<string> }>(),
  events,

  /** Opens documents, each in an editor; the first one is active. */
  show(...documents: TextDocument[]): void {
    workspace.textDocuments = documents;
    window.visibleTextEditors = documents.map((document) => new TextEditor(document));
    window.activeTextEditor = window.visibleTextEditors[0];
    events.open.fire(undefined);
    events.visible.fire(undefined);
  },
  set(name: string, value: unknown): void {
    editor.settings.set(name, value);
    events.configuration.fire({ affectsConfiguration: (section) => section === "warpline" });
  },
  reset(): void {
    editor.settings.clear();
    editor.diagnostics.clear();
    Object.assign(editor, {
      trusted: true,
      canSave: true,
      messages: [],
      progress: [],
      opened: [],
      output: "",
      dialog: undefined,
    });
    env.remoteName = undefined;
    workspace.workspaceFolders = undefined;
    editor.show();
  },
};

export const window = {
  visibleTextEditors: [] as TextEditor[],
  activeTextEditor: undefined as TextEditor | undefined,
  onDidChangeVisibleTextEditors: events.visible.event,
  createTextEditorDecorationType: () => ({
    dispose: () =>
      window.visibleTextEditors.forEach((shown) => {
        shown.decorations = [];
      }),
  }),
  createStatusBarItem: () =>
    Object.assign(editor.status, {
      show: () => {
        editor.status.visible = true;
      },
      hide: () => {
        editor.status.visible = false;
      },
      dispose: () => {
        editor.status.visible = false;
      },
    }),
  createOutputChannel: () => ({
    append: (text: string) => {
      editor.output += text;
    },
    appendLine: (text: string) => {
      editor.output += `${text}\n`;
    },
    show: () => undefined,
    dispose: () => undefined,
  }),
  showErrorMessage: async (text: string) => void editor.messages.push(`error: ${text}`),
  showWarningMessage: async (text: string) => void editor.messages.push(`warning: ${text}`),
  showInformationMessage: async (text: string) => void editor.messages.push(`information: ${text}`),
  showOpenDialog: async () => editor.dialog,
  async withProgress<T>(
    options: { title: string },
    task: (progress: unknown, token: unknown) => Promise<T>,
  ): Promise<T> {
    editor.progress.push(options.title);
    const cancelled = new EventEmitter<void>();
    editor.cancel = () => cancelled.fire();
    const report = ({ message }: { message: string }) => editor.progress.push(message);
    return task({ report }, { onCancellationRequested: cancelled.event });
  },
};

export const workspace = {
  get isTrusted(): boolean {
    return editor.trusted;
  },
  textDocuments: [] as TextDocument[],
  workspaceFolders: undefined as { uri: Uri; name: string }[] | undefined,
  onDidChangeTextDocument: events.change.event,
  onDidSaveTextDocument: events.save.event,
  onDidOpenTextDocument: events.open.event,
  onDidCloseTextDocument: events.close.event,
  onDidChangeWorkspaceFolders: events.folders.event,
  onDidChangeConfiguration: events.configuration.event,
  getConfiguration: (section: string) => ({ get: (name: string) => editor.settings.get(`${section}.${name}`) }),
  getWorkspaceFolder: (uri: Uri) =>
    workspace.workspaceFolders?.find((folder) => uri.fsPath.startsWith(`${folder.uri.fsPath}/`)),
  /** Opens a folder as the workspace. */
  openFolder(path: string): void {
    workspace.workspaceFolders = [{ uri: Uri.file(path), name: basename(path) }];
    events.folders.fire(undefined);
  },
  registerTextDocumentContentProvider(
    scheme: string,
    provider: { provideTextDocumentContent(uri: Uri): Promise<string> },
  ): Disposable {
    editor.providers.set(scheme, provider);
    return new Disposable(() => editor.providers.delete(scheme));
  },
};

export const languages = {
  createDiagnosticCollection: () => ({
    clear: () => editor.diagnostics.clear(),
    set: (uri: Uri, diagnostics: Diagnostic[]) => editor.diagnostics.set(uri.fsPath, diagnostics),
    dispose: () => editor.diagnostics.clear(),
  }),
};

export const commands = {
  registerCommand(name: string, action: (...args: unknown[]) => unknown): Disposable {
    if (editor.commands.has(name)) throw new Error(`the command ${name} exists already`);
    editor.commands.set(name, action);
    return new Disposable(() => editor.commands.delete(name));
  },
  async executeCommand(name: string, ...args: unknown[]): Promise<unknown> {
    const action = editor.commands.get(name);
    if (!action) throw new Error(`there is no command ${name}`);
    return action(...args);
  },
};

export const env = {
  remoteName: undefined as string | undefined,
  openExternal: async (uri: Uri) => {
    editor.opened.push(uri.fsPath);
    return true;
  },
};
