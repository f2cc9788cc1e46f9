// Search over all items with a page: kernels, findings, lines, allocations, functions.

function searchEntries() {
  return side().once("search", () => {
    const list = [];
    const enter = (kind, title, detail, route) => list.push({ kind, title, detail, route, text: `${title}\n${detail}`.toLowerCase() });
    for (const finding of profile().findings) enter("finding", spaced(finding.id), `${place(finding.file, finding.line)} ${finding.object ?? ""} ${finding.reason}`, `finding/${finding.rank}`);
    for (const kernel of profile().kernels) enter("kernel", side().kernelLabel(kernel.id), kernel.name, `kernel/${kernel.id}`);
    for (const allocation of profile().allocations) enter("allocation", side().allocationLabel(allocation.id), `${allocation.kind}, ${bytes(allocation.bytes)}`, `allocation/${allocation.id}`);
    const functions = new Set();
    const lines = new Set();
    for (const site of profile().sites) {
      if (!functions.has(site.function)) {
        functions.add(site.function);
        enter("function", plainName(site.function), place(site.file, site.line), sourceRoute(site.file, site.line));
      }
      const key = `${site.file}:${site.line}`;
      if (lines.has(key)) continue;
      lines.add(key);
      enter("line", place(site.file, site.line), `${side().sourceLine(site.file, site.line)?.trim() ?? ""} ${operandText(site)}`, sourceRoute(site.file, site.line));
    }
    for (const { file, key } of side().files) enter("file", key, file, `source/${encodeURIComponent(key)}`);
    for (const [route, { label }] of Object.entries(VIEWS)) if (label) enter("view", label, "", route);
    return list;
  });
}

const MOST_FOUND = 40;

function openSearch() {
  const dialog = document.getElementById("search");
  const input = h("input", { type: "search", "aria-label": "Search", placeholder: "Kernel, line, allocation, finding …", "aria-controls": "found", role: "combobox", "aria-expanded": "true", "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false" });
  const list = h("ul", { id: "found", class: "found", role: "listbox", "aria-label": "Results" });
  const said = h("p", { class: "note", role: "status" });
  let at = 0;
  let found = [];
  const mark = () => {
    [...list.children].forEach((item, index) => {
      item.setAttribute("aria-selected", String(index === at));
      if (index === at) { item.scrollIntoView({ block: "nearest" }); input.setAttribute("aria-activedescendant", item.id); }
    });
  };
  const go = (entry) => {
    dialog.close();
    if (entry) location.hash = `#/${entry.route}`;
  };
  const look = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = [];
    let more = 0;
    for (const entry of searchEntries()) {
      if (!words.every((word) => entry.text.includes(word))) continue;
      if (found.length < 400) found.push(entry);
      else more += 1;
    }
    // Titles that start with the search text come first.
    const score = (entry) => (entry.title.toLowerCase().startsWith(words[0] ?? "") ? 0 : entry.title.toLowerCase().includes(words[0] ?? "") ? 1 : 2);
    if (words.length > 0) found.sort((one, other) => score(one) - score(other));
    more += Math.max(0, found.length - MOST_FOUND);
    found = found.slice(0, MOST_FOUND);
    at = 0;
    list.replaceChildren(...found.map((entry, index) => h("li", { id: `found-${index}`, role: "option", on: { click: () => go(entry) } }, h("span", { class: "tag" }, entry.kind), h("span", { class: "found-title" }, entry.title), h("span", { class: "found-detail" }, entry.detail.slice(0, 160)))));
    said.textContent = found.length === 0 ? "Nothing matches." : more > 0 ? `and ${count(more)} more` : "";
    mark();
  };
  input.addEventListener("input", look);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      at = Math.max(0, Math.min(found.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)));
      mark();
      event.preventDefault();
    } else if (event.key === "Enter") {
      go(found[at]);
      event.preventDefault();
    }
  });
  empty(dialog).append(h("form", { method: "dialog", on: { submit: (event) => event.preventDefault() } }, input, list, said));
  look();
  dialog.showModal();
  input.focus();
}
