// Creates elements. Texts of the program are inserted as text, never as markup: no script parses HTML.

/** Characters that would turn text around or hide are shown by their number. */
function visible(text) {
  return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (letter) => {
    return `\\u{${letter.codePointAt(0).toString(16)}}`;
  });
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    } else if (name === "style") {
      for (const [property, setting] of Object.entries(value)) element.style.setProperty(property, setting);
    } else if (name === "data") {
      for (const [key, setting] of Object.entries(value)) if (setting !== undefined && setting !== null) element.dataset[key] = setting;
    } else if (name === "hint") {
      hint(element, value);
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return element;
}

/** `h("p", { class: "note" }, "text", child)`. */
function h(name, properties, ...children) {
  return fill(document.createElement(name), properties, children);
}

/** The same in SVG. */
function svg(name, properties, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), properties, children);
}

function empty(element) {
  element.replaceChildren();
  return element;
}

/** Message for an empty list, with the reason. */
function nothing(...text) {
  return h("p", { class: "empty" }, ...text);
}

function link(route, ...children) {
  return h("a", { href: `#/${route}` }, ...children);
}

function panel(title, properties, ...children) {
  const { id, help, note, actions, ...rest } = properties ?? {};
  const heading = h("h2", { id }, help ? term(title, help) : title);
  return h(
    "section",
    { class: "panel", ...rest },
    h("div", { class: "panel-head" }, heading, note ? h("p", { class: "note" }, note) : null, actions ?? null),
    ...children,
  );
}

/** A choice among a few, as a list to pick from. */
function choice(label, options, value, change) {
  const select = h(
    "select",
    { "aria-label": label, on: { change: () => change(select.value) } },
    options.map(([key, text]) => h("option", { value: key, selected: key === String(value) }, text)),
  );
  return h("label", { class: "choice" }, h("span", null, label), select);
}
