// Long lists: only visible rows are in the page, so that a hundred thousand rows are as fast as ten.

/** Rows that a printed list shows at most. */
const MOST_PRINTED = 400;
/** Rows beyond the edges, so that scrolling shows no gaps. */
const MARGIN = 12;

const liveRows = new Set();

/**
 * Fills `body` (a `tbody`) with the rows of `scroller` that are in sight. `make(index)` gives a row's element, all of the
 * same height. `show(count)` sets how many there are.
 */
function virtualRows(scroller, body, { height, columns, make }) {
  let count = 0;
  let shown = [-1, -1];
  let printing = false;
  const gap = (rows) =>
    h("tr", { class: "gap", "aria-hidden": "true" }, h("td", { colspan: columns(), style: { height: `${rows * height()}px` } }));
  const draw = (force = false) => {
    const size = height();
    const top = Math.max(0, scroller.scrollTop);
    const sight = scroller.clientHeight || 600;
    const first = printing ? 0 : Math.max(0, Math.floor(top / size) - MARGIN);
    const last = printing ? Math.min(count, MOST_PRINTED) : Math.min(count, Math.ceil((top + sight) / size) + MARGIN);
    if (!force && first === shown[0] && last === shown[1]) return;
    shown = [first, last];
    const rows = [];
    if (first > 0) rows.push(gap(first));
    for (let index = first; index < last; index += 1) rows.push(make(index));
    if (last < count && !printing) rows.push(gap(count - last));
    if (last < count && printing) {
      rows.push(h("tr", null, h("td", { colspan: columns(), class: "note" }, `… and ${count - last} more rows, left out in print`)));
    }
    body.replaceChildren(...rows);
  };
  scroller.addEventListener("scroll", () => draw(), { passive: true });
  const api = {
    show(rows) {
      count = rows;
      draw(true);
    },
    draw,
    print(on) {
      printing = on;
      draw(true);
    },
    /** Brings a row into sight. */
    reveal(index, where = "nearest") {
      const size = height();
      const [top, bottom] = [index * size, (index + 1) * size];
      const head = scroller.querySelector("thead")?.offsetHeight ?? 0;
      const sight = scroller.clientHeight - head;
      if (where === "center") scroller.scrollTop = Math.max(0, top - sight / 2);
      else if (top < scroller.scrollTop) scroller.scrollTop = top;
      else if (bottom > scroller.scrollTop + sight) scroller.scrollTop = bottom - sight;
      draw();
    },
    connected: () => scroller.isConnected,
  };
  liveRows.add(api);
  return api;
}

/** Forgets lists that left the page. */
function dropRows() {
  for (const rows of liveRows) if (!rows.connected()) liveRows.delete(rows);
}

function startRows() {
  const each = (call) => {
    dropRows();
    for (const rows of liveRows) call(rows);
  };
  addEventListener("resize", () => each((rows) => rows.draw(true)));
  addEventListener("beforeprint", () => each((rows) => rows.print(true)));
  addEventListener("afterprint", () => each((rows) => rows.print(false)));
}
