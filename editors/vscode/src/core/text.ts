// Makes text from profiles safe for editors: hidden characters are made visible, lengths are limited, and Markdown is
// escaped.

/** Controls, bidirectional formatting, zero-width characters and lone surrogates. */
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Writes out hidden characters as profiles do: `\x1b`, `\u{202e}`. Tabs and ends of lines become blanks. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    if (character === "\n" || character === "\r" || character === "\t") return " ";
    const number = character.charCodeAt(0);
    return number < 0x100 ? `\\x${number.toString(16).padStart(2, "0")}` : `\\u{${number.toString(16)}}`;
  });
}

/** Cuts a text to `most` characters, the last of which is then an ellipsis. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(0, most - 1);
  return `${/[\ud800-\udbff]$/.test(end) ? end.slice(0, -1) : end}…`;
}

/** Makes one visible line of bounded length. The input is cut first, so that the time is bounded, too. */
export function oneLine(text: string, most: number): string {
  const short = text.length > 4 * most ? text.slice(0, 4 * most) : text;
  const line = visible(short).replace(/ {2,}/g, " ").trim();
  return cut(short.length < text.length && line.length <= most ? `${line}…` : line, most);
}

/** Escapes all punctuation that Markdown, its extensions or links that are recognised without markup could use. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[!-/:-@[-`{-~]/g, "\\$&");
}

/** Makes Markdown of one line of a report, in which pairs of backticks mark code; everything else is literal. */
export function toMarkdown(line: string): string {
  const parts = line.split("`");
  const closed = parts.length % 2 === 1 ? parts.length : parts.length - 1;
  return parts
    .map((part, index) => {
      if (index >= closed) return escapeMarkdown(`\`${part}`);
      const code = index % 2 === 1 && part.trim() === part && part !== "";
      if (code) return `\`${part}\``;
      return index % 2 === 1 ? escapeMarkdown(`\`${part}\``) : escapeMarkdown(part);
    })
    .join("");
}

/** Prevents the icons `$(name)` that texts of status bar items can contain. */
export function withoutIcons(text: string): string {
  return text.replace(/\$\(/g, "$ (");
}
