// Formats numbers as Warpline's reports do.

function threeDigits(value: number): string {
  return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

/** Writes bytes as `1.50 MiB`. */
export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  if (count < 1024) return `${Math.round(count)} B`;
  let value = count;
  let unit = 0;
  while (value >= 1023.95 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return `${threeDigits(value)} ${units[unit] ?? ""}`;
}

/** Writes a count as `12 345` or `1.23 M`. */
export function count(number: number): string {
  if (number < 10_000) return String(Math.round(number));
  if (number < 1_000_000) {
    const digits = String(Math.round(number));
    return `${digits.slice(0, -3)} ${digits.slice(-3)}`;
  }
  const [scale, unit] = number >= 1e12 ? [1e12, "T"] : number >= 1e9 ? [1e9, "G"] : [1e6, "M"];
  return `${threeDigits(number / scale)} ${unit}`;
}

/** Writes a share as `12.5 %`. */
export function percent(share: number): string {
  return share > 0 && share < 0.00095 ? "<0.1 %" : `${(100 * share).toFixed(1)} %`;
}

/** Writes a share in whole percent. */
export function wholePercent(share: number): string {
  return share > 0 && share < 0.005 ? "<1 %" : `${(100 * share).toFixed(0)} %`;
}

/** Writes a time as `12.3 us`. */
export function seconds(time: number): string {
  const [scale, unit] = time >= 1 ? [1, "s"] : time >= 1e-3 ? [1e3, "ms"] : time >= 1e-6 ? [1e6, "us"] : [1e9, "ns"];
  return `${threeDigits(time * scale)} ${unit}`;
}

/** Writes a number with a noun: `1 note`, `2 notes`. */
export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
