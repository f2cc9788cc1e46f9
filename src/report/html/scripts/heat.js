// Colours for amounts. Cividis, which looks alike to people with and without colour vision deficiencies and grows
// steadily in lightness; cut at its ends so that it stands out from the page.
// Nuñez, Anderton, Renslow: Optimizing colormaps with consideration for color vision deficiency, PLoS ONE 13 (2018).

const CIVIDIS = [
  [0, 48, 111], [42, 63, 108], [71, 79, 107], [95, 95, 110], [117, 111, 115],
  [140, 128, 117], [165, 146, 112], [192, 166, 102], [219, 187, 85], [246, 209, 60],
];

/** The colour of a share from 0 to 1. */
function heat(share) {
  const place = Math.max(0, Math.min(1, share)) * (CIVIDIS.length - 1);
  const low = Math.min(CIVIDIS.length - 2, Math.floor(place));
  const mix = CIVIDIS[low].map((part, at) => Math.round(part + (CIVIDIS[low + 1][at] - part) * (place - low)));
  return `rgb(${mix.join(" ")})`;
}

/** Black or white, whichever can be read on the colour of a share. */
function onHeat(share) {
  return share > 0.42 ? "#16181d" : "#ffffff";
}

// Okabe and Ito's colours for kinds, which people with any colour vision can tell apart.
const KINDS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b0a000", "#7f7f7f"];

function kindColor(index) {
  return KINDS[index % KINDS.length];
}

/** A bar for a share, with its number beside it. */
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
