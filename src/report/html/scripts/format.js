// Formats numbers and names. Each figure has a unit and three digits; the exact number is in the element's
// `data-value`.

const NONE = "–";
const thin = "\u202f";

/** 1081472 as `1 081 472`. */
function count(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return NONE;
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, thin);
}

/** Three digits: 1.08 M. */
function short(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return NONE;
  if (Math.abs(value) < 10000) return Number.isInteger(value) || Math.abs(value) >= 1000 ? count(value) : digits(value);
  return scaled(value, 1000, ["", "k", "M", "G", "T", "P", "E"]);
}

function scaled(value, base, units) {
  let place = 0;
  let rest = value;
  // A value that rounds up to the next unit is shown in that unit.
  while (Math.abs(rest) >= base * 0.9995 && place < units.length - 1) {
    rest /= base;
    place += 1;
  }
  const shown = place === 0 && Number.isInteger(rest) ? count(rest) : digits(rest);
  return units[place] ? `${shown}${thin}${units[place]}` : shown;
}

function digits(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  return size >= 0.01 ? value.toFixed(2) : value.toPrecision(2);
}

function bytes(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return NONE;
  return scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
}

function seconds(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return NONE;
  if (value === 0) return "0 s";
  const units = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"], [1e-12, "ps"]];
  const [size, unit] = units.find(([size]) => Math.abs(value) >= size * 0.9995) ?? units[4];
  return `${digits(value / size)}${thin}${unit}`;
}

/** A share of 1; what is not nothing or all does not look so. */
function percent(share) {
  if (share === null || share === undefined || Number.isNaN(share)) return NONE;
  const value = 100 * share;
  if (value > 0 && value < 0.05) return `<${thin}0.1${thin}%`;
  if (value < 100 && value >= 99.95) return `>${thin}99.9${thin}%`;
  return `${value.toFixed(value >= 99.95 ? 0 : 1)}${thin}%`;
}

function mean(value) {
  return value === null || value === undefined || Number.isNaN(value) ? NONE : digits(value);
}

const UNITS = { count: short, bytes, seconds, share: percent, mean };

/** A value in its unit: `count`, `bytes`, `seconds`, `share`, `mean`. */
function inUnit(value, unit) {
  return (UNITS[unit] ?? short)(value);
}

function ratio(part, whole) {
  return whole > 0 ? part / whole : null;
}

function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** A function without its parameters and return type: `operator()` and `(anonymous namespace)` are no lists of these. */
function plainName(name) {
  const text = name.replace(/^void /, "");
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === "<" || letter === "{") depth += 1;
    if (letter === ">" || letter === "}") depth -= 1;
    const before = text.slice(0, at);
    if (letter === "(" && depth <= 0 && at > 0 && !before.endsWith("operator") && !text.startsWith("(anonymous", at)) {
      return before.trimEnd();
    }
  }
  return text;
}

function baseName(file) {
  return file.slice(file.lastIndexOf("/") + 1);
}

/** Three numbers as `4 × 1 × 1`, without ones at the end. */
function shape(sides) {
  if (!sides) return "several";
  const kept = sides.slice();
  while (kept.length > 1 && kept[kept.length - 1] === 1) kept.pop();
  return kept.map(count).join(" × ");
}

/** `l1_data` as `l1 data`. */
function spaced(name) {
  return String(name).replace(/[_-]/g, " ");
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
