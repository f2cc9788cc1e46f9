// Access to parsed JSON documents that are not trusted: each function returns a value of its type, whatever the
// document contains.

/** Returns an object's fields; none if the value is not an object. */
export function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** Returns the elements of an array, at most `most`; none if the value is not an array. */
export function elements(value: unknown, most: number): unknown[] {
  return Array.isArray(value) ? value.slice(0, most) : [];
}

/** Returns a count; 0 if the value is not a number that can be one. */
export function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Returns a line or column number; 0, as in profiles, if it is not known. */
export function position(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= 0x7fffffff ? value : 0;
}

/** Returns a finite number, or nothing. */
export function finite(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Returns a string; an empty one if the value is not a string. */
export function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}
