// Tables with sorting, filters and a choice of columns. A column has these properties: `key`, `label`, `unit` (for
// numbers; absent for text), `value(row)`, `cell(row)` if a cell shows more than its value, `help` (a key of the
// glossary), `off` if it is hidden by default, `bar` for a bar next to the number, and `low` if low values come first.

/** What a reader chose, by table, as long as the page is open. */
const tableChoices = new Map();

const highestOf = new WeakMap();

/** Tables of few rows are as high as they are. */
const MOST_WHOLE = 14;

function dataTable({ id, label, columns, rows, sort, open, none, filters, height = 36, search = true, current }) {
  const chosen = tableChoices.get(id) ?? { sort: sort ?? null, text: "", off: new Set(columns.filter((c) => c.off).map((c) => c.key)), picks: {} };
  tableChoices.set(id, chosen);
  if (rows.length === 0) return nothing(none ?? "There are none.");

  const shownColumns = () => columns.filter((column) => !chosen.off.has(column.key));
  let texts = null;
  const textOf = (row) => columns.filter((c) => !c.unit).map((c) => String(c.value(row) ?? "")).join("\n").toLowerCase();
  let order = [];
  let active = -1;
  // Views that are shown again use the same row objects.
  if (!highestOf.has(rows)) highestOf.set(rows, new Map());
  const most = highestOf.get(rows);
  const highest = (column) => {
    if (!most.has(column.key)) most.set(column.key, rows.reduce((max, row) => Math.max(max, column.value(row) ?? 0), 0));
    return most.get(column.key);
  };

  const select = () => {
    const words = chosen.text.toLowerCase().split(/\s+/).filter(Boolean);
    order = [];
    if (words.length > 0) texts ??= rows.map(textOf);
    for (let index = 0; index < rows.length; index += 1) {
      if (words.length > 0 && !words.every((word) => texts[index].includes(word))) continue;
      if (filters?.some((one) => chosen.picks[one.key] && !one.keep(rows[index], chosen.picks[one.key]))) continue;
      order.push(index);
    }
    const by = columns.find((column) => column.key === chosen.sort?.key);
    if (!by) return;
    const way = chosen.sort.down ? -1 : 1;
    if (by.unit) {
      const values = new Float64Array(rows.length);
      let last = -Infinity;
      let sorted = way > 0;
      for (const index of order) {
        values[index] = by.value(rows[index]) ?? NaN;
        sorted = sorted && values[index] >= last;
        last = values[index];
      }
      if (sorted) return;
      order.sort((one, other) => {
        const [a, b] = [values[one], values[other]];
        // Missing values come last in both directions.
        if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b) || one - other;
        return way * (a - b) || one - other;
      });
    } else {
      const values = rows.map((row) => String(by.value(row) ?? ""));
      const collator = new Intl.Collator("en", { numeric: true });
      order.sort((one, other) => way * collator.compare(values[one], values[other]) || one - other);
    }
  };

  const body = h("tbody");
  const head = h("thead");
  const tally = h("span", { class: "tally", role: "status" });
  const table = h("table", { class: "data", "aria-label": label, "aria-rowcount": rows.length + 1 }, head, body);
  const scroller = h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": `${label}, scrollable` }, table);
  const rowHeight = () => height;

  const cell = (column, row) => {
    const value = column.value(row);
    if (column.cell) return column.cell(row, value);
    if (!column.unit) return value ?? NONE;
    const shown = figure(column.key, value, column.unit);
    if (!column.bar || value === null || value === undefined) return shown;
    const share = column.unit === "share" ? value : value / (highest(column) || 1);
    return h("span", { class: "with-bar" }, meter(share, null, { hot: column.bar === "heat" }), shown);
  };
  const make = (place) => {
    const row = rows[order[place]];
    const target = open?.(row);
    const line = h("tr", {
      class: [place === active ? "active" : "", current?.(row) ? "current" : ""].join(" ").trim() || null,
      "aria-rowindex": place + 2,
      "aria-current": current?.(row) ? "true" : null,
      style: { height: `${height}px` },
      on: target ? { click: (event) => { if (!event.target.closest("a, button")) location.hash = `#/${target}`; } } : {},
    });
    let linked = false;
    for (const column of shownColumns()) {
      let content = cell(column, row);
      if (!linked && target && !column.unit && !column.plain) {
        content = link(target, content);
        linked = true;
      }
      const title = !column.unit && typeof column.value(row) === "string" ? visible(column.value(row)) : null;
      line.append(h("td", { class: column.unit ? "number" : column.code ? "code" : null, title }, content));
    }
    return line;
  };
  const virtual = virtualRows(scroller, body, { height: rowHeight, columns: () => shownColumns().length, make });

  const drawHead = () => {
    head.replaceChildren(
      h("tr", { "aria-rowindex": 1 }, shownColumns().map((column) => {
        const sorted = chosen.sort?.key === column.key;
        return h(
          "th",
          { scope: "col", class: column.unit ? "number" : null, "aria-sort": sorted ? (chosen.sort.down ? "descending" : "ascending") : null },
          h(
            "button",
            {
              type: "button",
              class: "sort",
              hint: GLOSSARY[column.help ?? column.key],
              on: {
                click: () => {
                  const first = Boolean(column.unit) && !column.low;
                  chosen.sort = { key: column.key, down: sorted ? !chosen.sort.down : first };
                  refresh();
                  head.querySelectorAll("button")[shownColumns().indexOf(column)]?.focus();
                },
              },
            },
            column.label,
            h("span", { class: "arrow", "aria-hidden": "true" }, sorted ? (chosen.sort.down ? "↓" : "↑") : ""),
          ),
        );
      })),
    );
    for (const button of head.querySelectorAll("button")) if (!hints.get(button)) button.removeAttribute("data-hint");
  };
  const refresh = () => {
    select();
    active = -1;
    drawHead();
    tally.textContent = order.length === rows.length ? plural(rows.length, "row") : `${count(order.length)} of ${plural(rows.length, "row")}`;
    scroller.classList.toggle("whole", order.length <= MOST_WHOLE);
    if (order.length === 0) {
      body.replaceChildren(h("tr", null, h("td", { colspan: shownColumns().length, class: "empty" }, "No row matches.")));
    } else {
      virtual.show(order.length);
    }
  };

  scroller.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 15, PageUp: -15, Home: -rows.length, End: rows.length };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.target === scroller && active >= 0) {
      const target = open?.(rows[order[active]]);
      if (target) location.hash = `#/${target}`;
    } else if (event.key in steps && event.target === scroller) {
      active = Math.max(0, Math.min(order.length - 1, active + steps[event.key]));
      virtual.draw(true);
      virtual.reveal(active);
      event.preventDefault();
    }
  });

  const tools = h("div", { class: "tools" });
  if (search && rows.length > 6) {
    const input = h("input", {
      type: "search", placeholder: "Filter rows", "aria-label": `Filter ${label}`, value: chosen.text,
      on: { input: () => { chosen.text = input.value; scroller.scrollTop = 0; refresh(); } },
    });
    tools.append(input);
  }
  for (const one of filters ?? []) {
    if (one.options.length < 2) continue;
    tools.append(choice(one.label, [["", "all"], ...one.options], chosen.picks[one.key] ?? "", (value) => {
      chosen.picks[one.key] = value;
      scroller.scrollTop = 0;
      refresh();
    }));
  }
  tools.append(tally);
  if (columns.length > 4) {
    tools.append(
      h("details", { class: "columns" }, h("summary", null, "Columns"), h("div", { class: "columns-list" }, columns.map((column, at) =>
        h("label", null, h("input", {
          type: "checkbox", checked: !chosen.off.has(column.key), disabled: at === 0,
          on: { change: (event) => { if (event.target.checked) chosen.off.delete(column.key); else chosen.off.add(column.key); refresh(); } },
        }), column.label)))),
    );
  }
  const wanted = rows.findIndex((row) => current?.(row));
  refresh();
  if (wanted >= 0) requestAnimationFrame(() => virtual.reveal(Math.max(0, order.indexOf(wanted)), "center"));
  requestAnimationFrame(() => virtual.draw(true));
  return h("div", { class: "table" }, tools, scroller);
}
