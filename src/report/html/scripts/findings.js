// Findings as cards: the problem, its cost, the suggested change and the gain, as in the profile.

const SEVERITIES = { error: ["✕", "Error"], warning: ["▲", "Warning"], note: ["i", "Note"] };

function severityMark(severity) {
  const [sign, word] = SEVERITIES[severity] ?? ["·", severity];
  return h("span", { class: `severity is-${severity}`, hint: GLOSSARY.severity }, h("span", { "aria-hidden": "true", class: "severity-sign" }, sign), word);
}

function gainText(finding) {
  const { factor, seconds: saved } = finding.gain;
  const what = finding.kernel === null ? "the program" : "the kernel";
  const much = factor >= 1.1 ? `${factor.toFixed(1)} × faster` : `${(100 * (factor - 1)).toFixed(1)} % faster`;
  return `${what} ${much}, ${seconds(saved)} saved`;
}

/** Text in which names of the program stand between backticks. */
function withCode(text) {
  return text.split("`").map((part, at) => (at % 2 === 1 ? h("code", null, part) : part));
}

/** Source line of a finding or access, with where it is. */
function codeLine(file, line) {
  const text = side().sourceLine(file, line);
  return h(
    "a",
    { class: "code-line", href: `#/${sourceRoute(file, line)}` },
    h("span", { class: "code-place" }, place(file, line)),
    text === null ? h("span", { class: "note" }, "source not in the profile") : h("code", null, highlighted(text.trim())),
  );
}

function findingCard(finding, { brief = false, key = "finding" } = {}) {
  const about = [];
  if (finding.kernel !== null) about.push(link(`kernel/${finding.kernel}`, side().kernelLabel(finding.kernel)));
  if (finding.allocation !== null) about.push(link(`allocation/${finding.allocation}`, finding.object ?? side().allocationLabel(finding.allocation)));
  else if (finding.object) about.push(h("span", null, finding.object));
  if (finding.inside_library) about.push(h("span", null, `inside the library: ${baseName(finding.inside_library.file)}:${finding.inside_library.line}`));
  const evidence = Object.entries(finding.evidence);
  return h(
    "article",
    { class: `finding is-${finding.severity}`, id: `${key}-${finding.rank}`, tabindex: "-1", data: { finding: finding.id } },
    h(
      "header",
      null,
      severityMark(finding.severity),
      h("h3", null, spaced(finding.id)),
      finding.gain ? h("span", { class: "gain", hint: ["Gain", `Modelled: ${finding.gain.assumption}.`], data: { figure: "gain", value: finding.gain.factor } }, gainText(finding)) : null,
    ),
    finding.file ? codeLine(finding.file, finding.line) : null,
    finding.title ? h("p", { class: "headline" }, withCode(finding.title)) : null,
    about.length > 0 ? h("p", { class: "about" }, about.flatMap((one, at) => (at > 0 ? [" · ", one] : [one]))) : null,
    h("dl", { class: "why" },
      h("div", null, h("dt", { hint: ["Cause", spaced(finding.cause)] }, "Why"), h("dd", { class: "reason", data: { cause: finding.cause } }, withCode(finding.reason))),
      h("div", null, h("dt", { hint: ["Remedy", spaced(finding.remedy)] }, "Change"), h("dd", { class: "cure", data: { remedy: finding.remedy } }, withCode(finding.cure)))),
    !brief && evidence.length > 0
      ? h("details", { class: "evidence" }, h("summary", null, "Evidence"), h("dl", { class: "pairs" }, evidence.map(([name, value]) => [h("dt", null, spaced(name)), h("dd", { data: { figure: `evidence.${name}`, value } }, Number.isInteger(value) ? count(value) : mean(value))])))
      : null,
  );
}

/** Findings as cards, notes folded away. */
function findingCards(findings, { none = "Nothing was found that asks for a change." } = {}) {
  if (findings.length === 0) return nothing(none);
  const grave = findings.filter((finding) => finding.severity !== "note");
  const notes = findings.filter((finding) => finding.severity === "note");
  const most = 30;
  const cards = (list) => {
    const box = h("div", { class: "findings" }, list.slice(0, most).map((finding) => findingCard(finding)));
    if (list.length > most) {
      const more = h("button", { type: "button", class: "button", on: { click: () => { more.remove(); box.append(...list.slice(most).map((finding) => findingCard(finding))); } } }, `Show ${plural(list.length - most, "more finding")}`);
      return [box, more];
    }
    return box;
  };
  return [
    grave.length > 0 ? cards(grave) : nothing(none),
    notes.length > 0 ? h("details", { class: "notes", open: grave.length === 0 }, h("summary", null, plural(notes.length, "note")), cards(notes)) : null,
  ];
}

function findingsView() {
  const findings = profile().findings;
  return [
    heading("Findings", "What is wrong, why, what to do about it and what that brings; what matters most first."),
    h("h2", { class: "visually-hidden" }, "All of them"),
    findingCards(findings, { none: profile().run.complete ? "Nothing was found that asks for a change." : "Nothing was found in what was recorded. The profile is incomplete." }),
  ];
}
