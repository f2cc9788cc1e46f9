// Makes `require("vscode")` find the substitute. It must be imported before the extension.

import Module from "node:module";
import { join } from "node:path";

type Resolve = (request: string, ...rest: unknown[]) => string;

const loader = Module as unknown as { _resolveFilename: Resolve };
const original = loader._resolveFilename;
loader._resolveFilename = (request, ...rest) =>
  request === "vscode" ? join(__dirname, "vscode.js") : original.call(loader, request, ...rest);
