// Colours for amounts: ten steps of cividis (style/theme.css), which looks similar with and without colour vision
// deficiencies and increases steadily in lightness. Larger amounts contrast more with the page: they are darker in the
// light theme and lighter in the dark theme.

const HEATS = 10;

/** The colour of a share from 0 to 1. */
function heat(share) {
  return `var(--heat-${Math.min(HEATS - 1, Math.floor(Math.max(0, share) * HEATS))})`;
}

// Colours by Okabe and Ito for kinds, which can be distinguished with any colour vision.
const KINDS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b0a000", "#7f7f7f"];

function kindColor(index) {
  return KINDS[index % KINDS.length];
}

/** A bar for a share, with its number next to it. */
function meter(share, text, { hot = false, label } = {}) {
  const width = `${(100 * Math.max(0, Math.min(1, share ?? 0))).toFixed(2)}%`;
  const color = hot ? heat(Math.sqrt(Math.max(0, share ?? 0))) : null;
  return h(
    "span",
    { class: "meter", role: label ? "img" : null, "aria-label": label },
    h("span", { class: "meter-track" }, h("span", { class: "meter-fill", style: { width, ...(color ? { background: color } : {}) } })),
    text === null ? null : h("span", { class: "meter-text" }, text),
  );
}
