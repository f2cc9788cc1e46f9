// Explanations on hover and focus. A single element shows all of them, next to the explained element.

const hints = new WeakMap();

/** Gives an element an explanation: `[title, text]`, or a function that makes nodes on demand. */
function hint(element, content) {
  hints.set(element, content);
  element.dataset.hint = "";
}

/** A word with its explanation from the glossary, to point at or to reach by Tab. */
function term(label, key, extra = {}) {
  return h("button", { type: "button", class: "term", hint: GLOSSARY[key] ?? [label, ""], ...extra }, label);
}

/** A figure with its explanation; the exact value is in `data-value`. */
function figure(key, value, unit, name) {
  const exact = value === null || value === undefined ? NONE : unit === "share" || unit === "mean" ? String(value) : unit === "seconds" ? `${value} s` : count(value);
  return h(
    "span",
    { class: "figure", data: { figure: name ?? key, value: value ?? "" }, title: exact },
    inUnit(value, unit),
  );
}

function hintNodes(content) {
  if (typeof content === "function") return content();
  const [title, text] = content;
  return [h("strong", null, title), text ? h("p", null, text) : null];
}

function showHint(element) {
  const box = document.getElementById("hint");
  empty(box);
  add(box, [hintNodes(hints.get(element))]);
  box.hidden = false;
  element.setAttribute("aria-describedby", "hint");
  const anchor = element.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const gap = 8;
  const left = Math.max(gap, Math.min(anchor.left, innerWidth - width - gap));
  const below = anchor.bottom + gap + height <= innerHeight;
  const top = below ? anchor.bottom + gap : Math.max(gap, anchor.top - height - gap);
  box.style.left = `${left}px`;
  box.style.top = `${top}px`;
}

function hideHint() {
  const box = document.getElementById("hint");
  if (box.hidden) return;
  box.hidden = true;
  for (const element of document.querySelectorAll('[aria-describedby="hint"]')) element.removeAttribute("aria-describedby");
}

function startHints() {
  const over = (event) => {
    const element = event.target instanceof Element ? event.target.closest("[data-hint]") : null;
    if (element && hints.has(element)) showHint(element);
    else if (!document.getElementById("hint").contains(event.target)) hideHint();
  };
  document.addEventListener("mouseover", over);
  document.addEventListener("focusin", over);
  document.addEventListener("click", over);
  document.addEventListener("scroll", hideHint, true);
}
